"""The watch for a whole process, as ``DISTLINT_WATCH`` asks for it."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from distlint.runtime.collective_watch.table import KnownFinding

if TYPE_CHECKING:
    from distlint.runtime.collective_watch.watcher import Watcher

WATCH = "DISTLINT_WATCH"
PATIENCE = "DISTLINT_WATCH_PATIENCE"
TIMEOUT = "DISTLINT_WATCH_TIMEOUT"
FINDINGS = "DISTLINT_WATCH_FINDINGS"

_OFF = ("", "0", "false", "off", "no")
_stack = ExitStack()
_started = False
_watcher: Watcher | None = None
_error: BaseException | None = None


def start_from_environment() -> None:
    """Watch from here to the end of the process, if ``DISTLINT_WATCH`` is 1 or strict."""
    global _started, _watcher
    level = os.environ.get(WATCH, "").strip().lower()
    if _started or level in _OFF:
        return
    _started = True
    from distlint.runtime.collective_watch.api import watching

    _watcher = _stack.enter_context(
        watching(
            strict=level == "strict",
            patience=_number(PATIENCE) or 5.0,
            timeout=_number(TIMEOUT),
            findings=findings_of(os.environ.get(FINDINGS, "")),
        )
    )
    previous = sys.excepthook

    def remember(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        ends_with(error)
        previous(kind, error, trace)

    sys.excepthook = remember
    atexit.register(_end, os.getpid())
    if _watcher is not None:
        _report_on_sigterm(_watcher)


def ends_with(error: BaseException) -> None:
    """What ends this process, for the table; a SystemExit is seen by the launcher only."""
    global _error
    _error = error


def _report_on_sigterm(watcher: Watcher) -> None:
    """Print the table before SIGTERM ends this process, as launchers do when one rank has failed.

    Python's own handler would run on the main thread, which may be stuck in a collective; but the
    number of the signal is written to a descriptor at once, and a thread waits for that.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    if before != -1:  # somebody else listens
        signal.set_wakeup_fd(before)
        return
    signal.signal(signal.SIGTERM, _nothing)
    os.register_at_fork(after_in_child=_unwatched)

    def listen() -> None:
        while True:
            if signal.SIGTERM in os.read(reader, 1):
                watcher.last_call()
                if signal.getsignal(signal.SIGTERM) is _nothing:
                    os._exit(128 + signal.SIGTERM)

    threading.Thread(target=listen, name="distlint-sigterm", daemon=True).start()


def _unwatched() -> None:
    """A forked process, such as a worker of a DataLoader, has no thread that would act."""
    signal.set_wakeup_fd(-1)  # it would wake the thread of its parent
    if signal.getsignal(signal.SIGTERM) is _nothing:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _nothing(number: int, frame: FrameType | None) -> None:
    """Stands in for the default action, which the thread takes."""


def _end(pid: int) -> None:
    if os.getpid() != pid:
        return
    error = _error
    if error is None and _watcher is not None:
        _watcher.detach("finished")
    _stack.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)


def _number(name: str) -> float | None:
    text = os.environ.get(name, "")
    try:
        return float(text) if text else None
    except ValueError:
        print(f"distlint: {name} must be a number of seconds, not {text}", file=sys.stderr)
        return None


def findings_of(file: str) -> tuple[KnownFinding, ...]:
    """Read the table that ``distlint run`` has written; nothing where there is none."""
    if not file:
        return ()
    try:
        with open(file, encoding="utf-8") as stream:
            rows = json.load(stream)
        return tuple(
            KnownFinding(
                row["code"],
                row["name"],
                row["message"],
                row["file"],
                row["line"],
                tuple((place[0], place[1]) for place in row["related"]),
            )
            for row in rows
        )
    except (OSError, ValueError, LookupError, TypeError) as error:
        print(f"distlint: {FINDINGS}: {file}: {error}", file=sys.stderr)
        return ()
