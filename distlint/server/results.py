"""What is known of each open file, and which files are to be analysed again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from distlint.server.open_files import Analysis


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A file is to be analysed; ``own`` when its own text has changed. Each change makes one."""

    own: bool


class Results:
    """The last analysis of each file, and a mark on each that has changed since.

    Marks are compared by identity: what was found before the newest mark of a file is dropped.
    """

    def __init__(self) -> None:
        self.analyses: dict[Path, Analysis] = {}
        self.glances: dict[Path, Analysis] = {}
        """What could be said at once of files whose analysis goes on."""
        self.dirty: dict[Path, Mark] = {}
        """Files to be analysed, the most urgent last."""
        self.unanswered: set[Path] = set()
        """Files of which more was asked than was known then."""
        self._serials = count(1)
        self._news = asyncio.Event()

    def mark(self, path: Path, *, own: bool) -> None:
        """A file is to be analysed: first if its own text has changed, else after others."""
        before = self.dirty.pop(path, None)
        self.glances.pop(path, None)
        mark = Mark(own or (before is not None and before.own))
        if mark.own:
            self.dirty[path] = mark
        else:
            self.dirty = {path: mark, **self.dirty}

    def done(self, path: Path, mark: Mark) -> None:
        """The analysis that a mark asked for has ended; a newer mark remains."""
        if self.dirty.get(path) is mark:
            del self.dirty[path]
            self.glances.pop(path, None)
        self.announce()

    def drop(self, path: Path) -> None:
        """Forget a file that was closed."""
        for table in (self.analyses, self.glances, self.dirty):
            table.pop(path, None)
        self.unanswered.discard(path)

    def numbered(self, analysis: Analysis) -> Analysis:
        """An analysis with the next serial."""
        return replace(analysis, serial=next(self._serials))

    def announce(self) -> None:
        """Have those who wait look again."""
        self._news.set()
        self._news = asyncio.Event()

    async def settled(self, path: Path) -> Analysis | None:
        """What was found in the newest version of a file, as soon as it is known."""
        while path in self.dirty:
            await self._news.wait()
        return self.analyses.get(path)

    async def at_once(self, path: Path) -> Analysis | None:
        """What is known of the newest version of a file, if only by a glance at it."""
        while path in self.dirty and path not in self.glances:
            await self._news.wait()
        return self.glances.get(path) or self.analyses.get(path)
