"""``distlint server`` with an analysis of ``large.py`` that lasts until ``finish`` appears.

That happens in the process for large files, which here are all of that name; with ``--limit``
nothing else may take any time in the thread, either. The process leaves its number in ``process``.
With ``--marked`` another file concerns ``helper.py`` at the moment that its first analysis ends.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from distlint.cli import server as command
from distlint.engine.check import Session
from distlint.engine.results import FileResult
from distlint.engine.settings import Settings
from distlint.rules.find import Found
from distlint.server import engines, questions
from distlint.server.results import Mark, Results
from distlint.source.document import Document

LIMIT, MARKED = "--limit", "--marked"

_check = Session.check_source


def check(
    session: Session, document: Document, settings: Settings, known: Found | None = None
) -> FileResult:
    folder = document.path.parent
    if document.path.name == "large.py":
        (folder / "process").write_text(str(os.getpid()))
        while not (folder / "finish").exists():
            if session.proceed is not None:
                session.proceed()
            time.sleep(0.01)
    return _check(session, document, settings, known)


Session.check_source = check  # type: ignore[method-assign]

_done = Results.done


def done(results: Results, path: Path, mark: Mark) -> None:
    _done(results, path, mark)
    if path.name == "helper.py":
        Results.done = _done  # type: ignore[method-assign]
        results.mark(path, own=False)


if __name__ == "__main__":
    if MARKED in sys.argv:
        Results.done = done  # type: ignore[method-assign]
    questions.ANSWER_WITHIN = 0.3
    engines.LARGE = 1_000
    engines.LIMIT = 0.0 if LIMIT in sys.argv else 60.0
    command.run([])
