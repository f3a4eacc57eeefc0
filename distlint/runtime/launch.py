"""Start a script under the collective watch: ``python -m distlint.runtime.launch script.py args``.

This is what ``distlint run`` starts on each rank. Under another launcher it is used as in
``DISTLINT_WATCH=strict torchrun --nproc-per-node 8 -m distlint.runtime.launch train.py``.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

from distlint.runtime.collective_watch.environment import ends_with, start_from_environment

FOLDER = "DISTLINT_RUN_FOLDER"
"""Where to leave the process id and, at the end, the exit status."""


def main() -> None:
    """Run the script named by the arguments as ``__main__``."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m distlint.runtime.launch script.py [arguments]")
    del sys.argv[0]
    script = sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    with _recorded():
        start_from_environment()
        try:
            runpy.run_path(script, run_name="__main__")
        except BaseException as error:
            ends_with(error)
            raise


@contextlib.contextmanager
def _recorded() -> Iterator[None]:
    """Leave word for ``distlint run``, which can neither signal nor ask the launcher's children."""
    folder = os.environ.pop(FOLDER, "")
    if not folder:
        yield
        return
    note = Path(folder) / f"{os.getpid()}.pid"
    note.touch()
    status = 0
    try:
        yield
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        raise
    except BaseException:
        status = 1
        raise
    finally:
        with contextlib.suppress(OSError):
            note.with_suffix(".status").write_text(str(status))
            note.unlink()


if __name__ == "__main__":
    main()
