"""Which file is analysed when: those that have changed, the one edited last first.

An edit marks its file; an engine that is free takes the file that was edited last, in its newest
version. What was found in a version that is no longer there is dropped.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Collection
from pathlib import Path

from distlint.engine.errors import Superseded
from distlint.server.documents import Documents
from distlint.server.engines import Engine, Engines
from distlint.server.messages import Messages
from distlint.server.open_files import OpenFiles, TooLong
from distlint.server.options import FolderOptions
from distlint.server.publisher import Publisher
from distlint.server.results import Mark, Results

COLLECTED_WHEN_IDLE, MOST_UNCOLLECTED = 8, 40
"""Files that are analysed before garbage is collected: with nothing to do, and with work left."""
PAUSE = 0.2
"""Seconds without an edit after which a file is analysed that takes long."""

Affected = Callable[[OpenFiles, Path, Collection[Path]], list[Path]]
"""Which of some open files the change of a file affects."""


class Scheduler:
    """Has each engine analyse its marked files, one after another."""

    def __init__(
        self,
        documents: Documents,
        engines: Engines,
        options: FolderOptions,
        results: Results,
        publisher: Publisher,
        messages: Messages,
    ) -> None:
        self._documents = documents
        self._engines = engines
        self._options = options
        self._results = results
        self._publisher = publisher
        self._messages = messages
        self._working: dict[Engine, asyncio.Task[None]] = {}
        self._spreading: set[asyncio.Task[None]] = set()
        self._analysed = 0
        """Files since garbage was last collected."""

    def mark(self, path: Path, *, own: bool) -> None:
        """A file is to be analysed again."""
        self._results.mark(path, own=own)
        self._start(self._engines.of(path))

    def mark_all(self, but: Path | None = None) -> None:
        for path in self._documents.uris:
            if path != but:
                self.mark(path, own=False)
        self._publisher.refresh()

    async def spread(self, affected: Affected, path: Path) -> None:
        """Mark the open files that a change of a file affects."""
        heavy = frozenset(self._engines.heavy)
        in_process, in_thread = self._engines.in_process, self._engines.in_thread
        if heavy - {path}:  # the process may be busy for long
            task = asyncio.get_running_loop().create_task(
                self._spread_among(in_process, heavy, affected, path)
            )
            self._spreading.add(task)
            task.add_done_callback(self._spreading.discard)
        others = frozenset(self._documents.versions) - heavy
        await self._spread_among(in_thread, others, affected, path)

    def move(self, path: Path) -> None:
        """A file takes too long for the thread."""
        if path in self._documents.versions:
            self._engines.heavy.add(path)
            self._start(self._engines.in_process)

    def close(self) -> None:
        """End all work."""
        self._results.dirty.clear()
        for task in self._working.values():
            task.cancel()

    def _start(self, engine: Engine) -> None:
        """Have an engine analyse what is to be analysed, if it does not already."""
        if engine not in self._working or self._working[engine].done():
            task = asyncio.get_running_loop().create_task(self._work(engine))
            self._working[engine] = task

    async def _work(self, engine: Engine) -> None:
        await self._options.known.wait()
        in_thread = self._engines.in_thread
        while (path := self._next_for(engine)) is not None:
            self._analysed += engine is in_thread
            mark = self._results.dirty[path]
            try:
                await self._analyse(path, mark, engine)
                newer = self._results.dirty.get(path)
                is_open = path in self._documents.uris
                if mark.own and is_open and not (newer and newer.own):
                    await self.spread(OpenFiles.concerned, path)
            except Superseded:
                continue  # the file is still dirty
            except TooLong:
                self.move(path)
            except Exception as error:  # a mistake of ours ends one analysis and not the server
                self._messages.failed(path, error)
                self._results.analyses.pop(path, None)
                self._results.done(path, mark)
            if self._analysed >= (MOST_UNCOLLECTED if self._results.dirty else COLLECTED_WHEN_IDLE):
                self._analysed = 0
                await in_thread.run(gc.collect)

    def _next_for(self, engine: Engine) -> Path | None:
        """The file that an engine is to analyse next: the one edited last."""
        dirty = reversed(self._results.dirty)
        return next((path for path in dirty if self._engines.of(path) is engine), None)

    async def _analyse(self, path: Path, mark: Mark, engine: Engine) -> None:
        """Analyse a file and publish what was found, unless the file is marked again meanwhile."""
        results = self._results
        if engine is self._engines.in_process:
            await asyncio.sleep(PAUSE)
            if results.dirty.get(path) is not mark:
                return
        patience = self._options.of(path).patience
        glance = await engine.ask(OpenFiles.glance, path, patience)
        if results.dirty.get(path) is mark and glance is not None:
            results.glances[path] = glance = results.numbered(glance)
            self._publisher.publish(path, glance)
            results.announce()
        analysis = await engine.ask(OpenFiles.check, path)
        for text in await engine.ask(OpenFiles.announced):
            self._messages.info(text)
        if results.dirty.get(path) is mark and analysis is not None:
            results.analyses[path] = analysis = results.numbered(analysis)
            if glance is None or not glance.says_the_same_as(analysis):
                self._publisher.publish(path, analysis)
                if glance is not None or path in results.unanswered:
                    self._publisher.refresh()
            results.unanswered.discard(path)
        results.done(path, mark)
        if await engine.ask(OpenFiles.noticed):
            self.mark_all(but=path)

    async def _spread_among(
        self, engine: Engine, others: Collection[Path], affected: Affected, path: Path
    ) -> None:
        found = await engine.ask(affected, path, others)
        for other in found:
            if other in self._documents.uris:
                self.mark(other, own=False)
        if found:
            self._publisher.refresh()
