"""Questions of the editor about the newest version of a document, answered within a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from distlint.engine.errors import Superseded
from distlint.server.client import Client
from distlint.server.documents import Documents
from distlint.server.engines import Engines
from distlint.server.open_files import Analysis, OpenFiles, TooLong
from distlint.server.options import FolderOptions
from distlint.server.reproducers import reproducer
from distlint.server.results import Results
from distlint.server.scheduler import Scheduler
from distlint.source.document import Document

ANSWER_WITHIN = 1.0
"""Seconds after which what is asked about a file is answered with what is known so far."""

P = ParamSpec("P")
T = TypeVar("T")

Question = Callable[[Analysis], Callable[[OpenFiles, Path, int], T]]
"""What an engine is to do about a version of a file, which can be sent to a process."""


class Questions:
    """Waits for results, and has engines find out what no analysis contains."""

    def __init__(
        self,
        client: Client,
        documents: Documents,
        engines: Engines,
        options: FolderOptions,
        results: Results,
        scheduler: Scheduler,
    ) -> None:
        self._client = client
        self._documents = documents
        self._engines = engines
        self._options = options
        self._results = results
        self._scheduler = scheduler
        self._background: dict[Path, asyncio.Task[Any]] = {}
        """Work on questions that were answered before it ended, the last one of each file."""

    def glanced(self, uri: str) -> Analysis | None:
        """What could be said at once of the newest version of a document."""
        path = self._documents.path_of(uri)
        return None if path is None else self._results.glances.get(path)

    async def at_once(self, uri: str) -> Analysis | None:
        """What is known of the newest version of a document, if only by a glance at it.

        Not for an editor that cannot be asked to come back when more is known.
        """
        path = self._documents.path_of(uri)
        if path is None or not self._client.refreshes_diagnostics:
            return await self._settled(uri)
        return await self._results.at_once(path)

    async def by_now(self, uri: str) -> Analysis | None:
        """What is known of the newest version of a document when an answer is due."""
        due = await self._due(self._documents.path_of(uri))
        try:
            return await asyncio.wait_for(self._settled(uri), due)
        except asyncio.TimeoutError:
            return self.glanced(uri)

    async def answer(self, uri: str, question: Question[T]) -> T | None:
        """What an engine says of the newest version of a document.

        Raises:
            asyncio.TimeoutError: when an answer is due; the work continues for the next question.
        """
        path = self._documents.path_of(uri)
        if path is None:
            return None
        due = await self._due(path)
        task = asyncio.get_running_loop().create_task(self._settled_answer(uri, path, question))
        try:
            await asyncio.wait({task}, timeout=due)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            return task.result()
        if path not in self._documents.versions:
            task.cancel()
            return None
        self.drop(path)
        self._background[path] = task
        self._results.unanswered.add(path)
        raise asyncio.TimeoutError

    async def repaired(self, path: Path) -> tuple[Document, Document, int] | None:
        """A file before and after all safe fixes that prove right, and its version."""
        return await self.of_engine(path, OpenFiles.repaired)

    async def reproducer(self, path: Path, row: int, code: str) -> tuple[str, str] | None:
        """The script that shows a hang, or why there is none."""
        return await self.of_engine(path, reproducer, row, code)

    async def of_engine(
        self,
        path: Path,
        job: Callable[Concatenate[OpenFiles, Path, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """What an engine does about a file, however long that takes."""
        while True:
            try:
                return await self._engines.of(path).ask(job, path, *args, **kwargs)
            except TooLong:
                self._scheduler.move(path)

    def drop(self, path: Path) -> None:
        """End the work on earlier questions about a file."""
        earlier = self._background.pop(path, None)
        if earlier is not None:
            earlier.cancel()

    async def _settled(self, uri: str) -> Analysis | None:
        """What was found in the newest version of a document, as soon as it is known."""
        path = self._documents.path_of(uri)
        return None if path is None else await self._results.settled(path)

    async def _due(self, path: Path | None) -> float:
        """Seconds after which a question about a file is answered with what is known."""
        await self._options.known.wait()
        if path is None:
            return ANSWER_WITHIN
        return max(ANSWER_WITHIN, self._options.of(path).patience)

    async def _settled_answer(self, uri: str, path: Path, question: Question[T]) -> T | None:
        while True:
            analysis = await self._settled(uri)
            if analysis is None:
                return None
            try:
                job = question(analysis)
                return await self._engines.of(path).ask(job, path, analysis.version)
            except Superseded:
                continue  # an edit comes first
            except TooLong:
                self._scheduler.move(path)
