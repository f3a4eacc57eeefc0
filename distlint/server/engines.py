"""Where analyses run: in a thread of the server, or in a process for files that take long.

A process keeps the server responsive whatever the analysis does: parsing a file of 20,000 lines
holds the interpreter's lock for seconds. It is started for the first such file and ended with the
last one, so that its memory is returned.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from distlint.engine.errors import Superseded
from distlint.engine.settings import Overrides
from distlint.engine.workers import give_back
from distlint.server.open_files import Content, OpenFiles
from distlint.source.document import Document

STACK = 64 * 1024 * 1024
"""Bytes of address space for the thread of an analysis, which recurses as deep as programs nest."""
LIMIT = 1.0
"""CPU seconds that an analysis may take in the thread, where it delays what is asked meanwhile."""
LARGE = 100_000
"""Characters of a file that is analysed in the process from the start."""

LONG = 0.5
"""CPU seconds of a job in the process after which garbage is collected."""

P = ParamSpec("P")
T = TypeVar("T")

Job = Callable[Concatenate[OpenFiles, P], T]


class Failure(Exception):
    """A job failed in the process: ``kind`` is the class of the error, ``detail`` its traceback."""

    def __init__(self, kind: str, message: str, detail: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.detail = detail

    def __reduce__(self) -> tuple[type[Failure], tuple[str, str, str]]:
        return Failure, (self.kind, str(self), self.detail)

    @classmethod
    def of(cls, error: Exception) -> Failure:
        detail = "".join(traceback.format_exception(error))
        return cls(type(error).__name__, str(error), detail)


class Engine(Protocol):
    """Takes note of changes at once, and does one job at a time."""

    def post(self, path: Path, content: Content | None, version: int = 0) -> None: ...

    def changed_on_disk(self, path: Path) -> None: ...

    def reset(
        self, folders: Mapping[Path, Overrides] | None = None, overrides: Overrides | None = None
    ) -> None: ...

    def watch(self, watched: bool) -> None: ...

    async def ask(self, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T: ...

    def close(self) -> None: ...


class ThreadEngine:
    """For files whose analysis is short."""

    def __init__(self) -> None:
        self.open_files = OpenFiles(LIMIT)
        self._thread = one_thread()

    def post(self, path: Path, content: Content | None, version: int = 0) -> None:
        self.open_files.post(path, content, version)

    def changed_on_disk(self, path: Path) -> None:
        self.open_files.changed_on_disk(path)

    def reset(
        self, folders: Mapping[Path, Overrides] | None = None, overrides: Overrides | None = None
    ) -> None:
        self.open_files.reset(folders, overrides)

    def watch(self, watched: bool) -> None:
        self.open_files.watch(watched)

    async def ask(self, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.run(lambda: job(self.open_files, *args, **kwargs))

    async def run(self, job: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


class ProcessEngine:
    """For files whose analysis is long; without any, there is no process.

    What changes is sent by a thread of its own: a pipe blocks while the process parses.
    """

    def __init__(self) -> None:
        self._posts: dict[Path, tuple[Content, int]] = {}
        self._folders: Mapping[Path, Overrides] = {}
        self._overrides = Overrides(runs_rules=True)
        self._watched = False
        self._link: _Link | None = None

    def post(self, path: Path, content: Content | None, version: int = 0) -> None:
        if content is None:
            self._posts.pop(path, None)
        else:
            self._posts[path] = content, version
        if self._link is not None:
            self._link.post(path)

    def changed_on_disk(self, path: Path) -> None:
        if self._link is not None:
            self._link.notify(OpenFiles.changed_on_disk, path)

    def reset(
        self, folders: Mapping[Path, Overrides] | None = None, overrides: Overrides | None = None
    ) -> None:
        self._folders = self._folders if folders is None else folders
        self._overrides = overrides or self._overrides
        if self._link is not None:
            self._link.notify(OpenFiles.reset, self._folders, self._overrides)

    def watch(self, watched: bool) -> None:
        self._watched = watched
        if self._link is not None:
            self._link.notify(OpenFiles.watch, watched)

    async def ask(self, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._link is None or self._link.broken:
            self._link = self._started()
        found: T = await self._link.ask(job, args, kwargs)
        return found

    def _started(self) -> _Link:
        link = _Link(self._posts)
        link.notify(OpenFiles.reset, self._folders, self._overrides)
        link.notify(OpenFiles.watch, self._watched)
        for path in self._posts:
            link.post(path)
        return link

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._link is not None:
            self._link.close()
            self._link = None


class Engines:
    """Both engines, and which of them analyses a file; both take note of every change."""

    def __init__(self) -> None:
        self.in_thread = ThreadEngine()
        self.in_process = ProcessEngine()
        self.heavy: set[Path] = set()
        """Open files that are analysed in the process."""
        self._all: tuple[Engine, ...] = (self.in_thread, self.in_process)

    def of(self, path: Path) -> Engine:
        return self.in_process if path in self.heavy else self.in_thread

    def post(self, path: Path, content: Content, version: int) -> None:
        size = len(content) if isinstance(content, str) else sum(len(text) for _, text in content)
        if size > LARGE:
            self.heavy.add(path)
        for engine in self._all:
            engine.post(path, content, version)

    def drop(self, path: Path) -> None:
        """Forget a file that was closed; the process ends with the last file that needs it."""
        self.heavy.discard(path)
        for engine in self._all:
            engine.post(path, None)
        if not self.heavy:
            self.in_process.close()

    def changed_on_disk(self, path: Path) -> None:
        for engine in self._all:
            engine.changed_on_disk(path)

    def reset(
        self, folders: Mapping[Path, Overrides] | None = None, overrides: Overrides | None = None
    ) -> None:
        """Settings, or files that decide about settings, have changed."""
        for engine in self._all:
            engine.reset(folders, overrides)

    def watch(self, watched: bool) -> None:
        for engine in self._all:
            engine.watch(watched)

    def read(self, path: Path) -> Document:
        """A file as it is, saved or not.

        Raises:
            OSError, DocumentError: if it cannot be read.
        """
        return self.in_thread.open_files.read(path)

    def close(self) -> None:
        """End all work, whatever it is doing."""
        for engine in self._all:
            engine.close()


class _Link:
    """The process and the way to it; ``posts`` are the open files as they are now."""

    def __init__(self, posts: Mapping[Path, tuple[Content, int]]) -> None:
        self.broken = False
        self._posts = posts
        self._loop = asyncio.get_running_loop()
        self._outbox: queue.SimpleQueue[tuple[Any, ...] | Path | None] = queue.SimpleQueue()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0
        self._here, there = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=serve, args=(there,), daemon=True)
        self._process.start()
        there.close()
        for work in (self._send, self._receive):
            threading.Thread(target=work, daemon=True).start()

    def notify(self, change: Callable[..., None], *args: object) -> None:
        self._outbox.put((change, args))

    def post(self, path: Path) -> None:
        """The newest text is sent once its turn comes, however many are posted until then."""
        self._outbox.put(path)

    async def ask(self, job: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        self._asked += 1
        number = self._asked
        answer = self._waiting[number] = self._loop.create_future()
        self._outbox.put((number, job, args, kwargs))
        try:
            return await answer
        except asyncio.CancelledError:
            self._outbox.put((number,))
            raise
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        self.broken = True
        self._outbox.put(None)
        self._process.kill()
        for answer in self._waiting.values():
            answer.cancel()

    def _send(self) -> None:
        sent: dict[Path, tuple[Content, int] | None] = {}
        while (message := self._outbox.get()) is not None:
            if isinstance(message, Path):
                path, newest = message, self._posts.get(message)
                if path in sent and sent[path] is newest:
                    continue
                sent[path] = newest
                message = (OpenFiles.post, (path, *(newest or (None, 0))))
            try:
                self._here.send(message)
            except OSError:
                return

    def _receive(self) -> None:
        try:
            while True:
                number, found, error = self._here.recv()
                self._loop.call_soon_threadsafe(self._answered, number, found, error)
        except (EOFError, OSError):
            pass
        self._process.join()
        self._here.close()
        try:
            self._loop.call_soon_threadsafe(self._lost)
        except RuntimeError:  # the server has ended first
            return

    def _answered(self, number: int, found: object, error: BaseException | None) -> None:
        answer = self._waiting.get(number)
        if answer is None or answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(found)

    def _lost(self) -> None:
        self.broken = True
        for answer in self._waiting.values():
            if not answer.done():
                what = f"the analysis process exited with status {self._process.exitcode}"
                answer.set_exception(Failure("EngineLost", what, what))


def serve(connection: Connection) -> None:
    """The process: changes are noted while a job runs, which looks for them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    open_files = OpenFiles(patient=True)
    dropped: set[int] = set()
    thread = one_thread()
    gc.freeze()
    gc.disable()
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            os._exit(0)  # the server is gone
        if len(message) == 2:
            change, args = message
            change(open_files, *args)
        elif len(message) == 1:
            dropped.add(message[0])
        else:
            thread.submit(_work, connection, open_files, dropped, message)


def _work(
    connection: Connection,
    open_files: OpenFiles,
    dropped: set[int],
    message: tuple[int, Callable[..., object], tuple[object, ...], dict[str, object]],
) -> None:
    number, job, args, kwargs = message
    started = time.thread_time()
    found: object = None
    error: BaseException | None = None
    if number not in dropped:
        try:
            found = job(open_files, *args, **kwargs)
        except Superseded as superseded:
            error = superseded
        except Exception as mistake:
            error = Failure.of(mistake)
    dropped.discard(number)
    try:
        connection.send((number, found, error))
    except OSError:
        return  # the server is gone
    except Exception as mistake:  # what cannot be sent
        connection.send((number, None, Failure.of(mistake)))
    if time.thread_time() - started > LONG:
        gc.collect()
        give_back()


def one_thread() -> ThreadPoolExecutor:
    """One thread with a large stack."""
    before = threading.stack_size(STACK)
    try:
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="distlint")
        thread.submit(lambda: None).result()  # it is made now, with this stack
    finally:
        threading.stack_size(before)
    return thread
