"""``distlint server``, which also reports the texts that it takes to be in the editor.

It answers what is asked once the analysis has ended, and with ``--process`` analyses every file in
the process for large ones.
"""

from __future__ import annotations

import sys

from distlint.cli import server as command
from distlint.server import engines, questions
from distlint.server import server as module
from distlint.server.open_files import OpenFiles
from distlint.server.server import Server

TEXTS = "test/texts"
PROCESS = "--process"

_make = module.make


def texts_of(open_files: OpenFiles) -> dict[str, object]:
    """What was posted last, taken up or not."""
    open_ = {path: each.content for path, each in open_files._open.items()}
    posted = {path: each[0] if each else None for path, each in open_files._posted.items()}
    return {str(path): text for path, text in (open_ | posted).items() if text is not None}


def make() -> Server:
    server = _make()

    @server.feature(TEXTS)
    def texts(*_: object) -> dict[str, object]:
        return texts_of(server.engines.in_thread.open_files)

    return server


if __name__ == "__main__":
    module.make = make
    questions.ANSWER_WITHIN = 1e9
    engines.LARGE = -1 if PROCESS in sys.argv else engines.LARGE
    command.run([])
