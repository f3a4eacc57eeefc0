"""A progress bar on standard error, once the work has lasted a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_DELAY = 1.0
_INTERVAL = 0.1


class Bar:
    """Counts files, or bytes; imports rich only when there is something to show.

    It is drawn by the calls to ``advance``: a thread of its own could not live with workers that
    are forked.
    """

    def __init__(self, what: str = "checking", *, size: bool = False) -> None:
        self.what = what
        self.size = size
        self.total = 0
        self.done = 0
        self._last = time.monotonic() + _DELAY - _INTERVAL
        self._shown: Progress | None = None
        self._task: TaskID | None = None

    def start(self, total: int) -> None:
        self.total = total

    def advance(self, count: int) -> None:
        self.done += count
        now = time.monotonic()
        if now - self._last >= _INTERVAL and self.total > 1:
            self._last = now
            self._draw()

    def stop(self) -> None:
        if self._shown is not None:
            self._shown.stop()

    def _draw(self) -> None:
        if self._shown is None or self._task is None:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
            )

            counter = DownloadColumn() if self.size else MofNCompleteColumn()
            columns = (TextColumn(self.what), BarColumn(), counter)
            console = Console(stderr=True)
            self._shown = Progress(*columns, console=console, auto_refresh=False, transient=True)
            self._shown.start()
            self._task = self._shown.add_task("", total=self.total)
        self._shown.update(self._task, completed=self.done, refresh=True)


@contextmanager
def progress_bar(
    *, wanted: bool, what: str = "checking", size: bool = False
) -> Iterator[Bar | None]:
    """A bar if it is wanted and standard error is a terminal; ``size`` counts bytes."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    bar = Bar(what, size=size)
    try:
        yield bar
    finally:
        bar.stop()
