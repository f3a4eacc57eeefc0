"""Spread the files of a run over processes, which share nothing but settings."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from distlint.engine.check import Session
from distlint.engine.discovery import Target
from distlint.engine.lookups import Key, Lookups, Reporter
from distlint.engine.results import FileResult
from distlint.engine.settings import Resolver
from distlint.source.report import Notice

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.context import BaseContext

    from distlint.engine.cache import Cache

MANY_FILES = 32
OBJECTS_BETWEEN_COLLECTIONS = 400_000
GROWTH_BETWEEN_COLLECTIONS = 32 * 1024 * 1024
"""Bytes; a large syntax tree with its positions takes as much."""
TEXT_AT_ONCE = 8_000_000
"""Characters of modules that a process keeps at hand: some 300 MB."""

_CHUNKS_PER_WORKER = 16


class Progress(Protocol):
    """Is told how many files there are and each time that some are done."""

    def start(self, total: int) -> None: ...

    def advance(self, count: int) -> None: ...


def worker_count(jobs: int | None, files: int) -> int:
    """``jobs`` as on the command line: 0 for all cores, None for all cores when it pays."""
    if jobs is None:
        jobs = 0 if files >= MANY_FILES else 1
    return max(1, min(jobs or _cores(), files))


def check_files(
    targets: Sequence[Target],
    resolver: Resolver,
    jobs: int | None,
    progress: Progress | None,
    cache: Cache | None = None,
) -> list[FileResult]:
    """Check the files; the results are in the order of the files."""
    if progress:
        progress.start(len(targets))
    results: dict[Target, FileResult] = {}
    for target in targets if cache is not None else ():
        known = cache.recall(target) if cache is not None else None
        if known is not None:
            results[target] = known
            if progress:
                progress.advance(1)
    missing = [target for target in targets if target not in results]
    try:
        for target, result in _analysed(missing, resolver, jobs, cache):
            results[target] = result
            if cache is not None:
                cache.keep(result)
            if progress:
                progress.advance(1)
    finally:
        if cache is not None:
            cache.save()
    return [_told(results[target], target) for target in targets]


def _told(result: FileResult, target: Target) -> FileResult:
    """A result without a word about a file that need not be of our language: it was not named."""
    if target.named:
        return result
    kept = tuple(notice for notice in result.notices if notice.kind != "nothing")
    return result if kept == result.notices else replace(result, notices=kept)


def _analysed(
    targets: Sequence[Target], resolver: Resolver, jobs: int | None, cache: Cache | None
) -> Iterator[tuple[Target, FileResult]]:
    workers = worker_count(jobs, len(targets))
    if workers > 1:
        yield from _Pool(targets, resolver, workers, cache).run()
        return
    worker = _Worker(resolver, caching=cache is not None)
    with rare_collection() as tidy:
        for target in targets:
            result = worker.check(target)
            if cache is not None:
                cache.learn(worker.news())
            yield target, result
            tidy()


@contextmanager
def rare_collection() -> Iterator[Callable[[], None]]:
    """Collect garbage once in a while: there is little, and the trees that stay are large.

    Yields what is to be called after a file. What has been there for long is looked through when
    memory has grown by half.
    """
    collects = gc.isenabled()
    gc.disable()
    young, old = _limit(5 / 4), _limit(3 / 2)

    def tidy() -> None:
        nonlocal young, old
        size = _resident()
        if size > young if size else gc.get_count()[0] > OBJECTS_BETWEEN_COLLECTIONS:
            gc.collect(0)
            give_back()
            if _resident() > old or not size:
                gc.collect()
                give_back()
                old = _limit(3 / 2)
            young = _limit(5 / 4)

    try:
        yield tidy
    finally:
        if collects:
            gc.enable()


def _limit(growth: float) -> int:
    """How much memory may be in use before garbage is collected, by what is in use now."""
    return int(_resident() * growth) + GROWTH_BETWEEN_COLLECTIONS


def _resident() -> int:
    """The memory of this process in bytes, where the system tells it at once; else 0."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def give_back() -> None:
    """Give freed memory back: glibc keeps what lies between small things that are in use."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Worker:
    """Checks files one after another; what it knows of modules is let go of once it is much."""

    def __init__(self, resolver: Resolver, *, caching: bool) -> None:
        self.session = Session(resolver, caching=caching)
        self.reporter = Reporter(self.session)
        self._limit = TEXT_AT_ONCE

    def check(self, target: Target) -> FileResult:
        if self.session.volume > self._limit:
            self.session.release()
            self.session.shrink(TEXT_AT_ONCE)
            # what all files import may be more: it is not sorted out anew for each of them
            self._limit = max(TEXT_AT_ONCE, self.session.volume * 5 // 4)
        return self.session.check_file(target)

    def news(self) -> dict[Key, Lookups]:
        """What was looked up since this was asked last, which is to be after each file."""
        return self.reporter.news() if self.session.caching else {}


_worker: _Worker | None = None
_between_files = ExitStack()
_tidy: Callable[[], None]


def _start_worker(resolver: Resolver, caching: bool) -> None:
    import signal

    global _worker, _tidy
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    _worker = _Worker(resolver, caching=caching)
    _tidy = _between_files.enter_context(rare_collection())  # until the process ends


def _check_chunk(targets: Sequence[Target]) -> tuple[list[FileResult], list[dict[Key, Lookups]]]:
    assert _worker is not None
    results, news = [], []
    for target in targets:
        results.append(_worker.check(target))
        news.append(_worker.news())
        _tidy()
    return results, news


class _Pool:
    """Runs chunks of files; when a worker dies, finds the file that killed it and goes on."""

    def __init__(
        self, targets: Sequence[Target], resolver: Resolver, workers: int, cache: Cache | None
    ) -> None:
        self.targets = targets
        self.resolver = resolver
        self.workers = workers
        self.cache = cache
        self._done: set[Target] = set()

    def run(self) -> Iterator[tuple[Target, FileResult]]:
        yield from self._pass(chunks_of(self.targets, self.workers), self.workers)
        for target in self.targets:
            if target not in self._done:  # its chunk was lost with a worker
                yield from self._pass([[target]], 1)
        for target in self.targets:
            if target not in self._done:
                yield target, _killed(target)

    def _pass(
        self, chunks: Sequence[Sequence[Target]], workers: int
    ) -> Iterator[tuple[Target, FileResult]]:
        """One pool from start to end; what a dead worker takes along stays without a result."""
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        bystanders = set(multiprocessing.active_children())
        with ProcessPoolExecutor(
            workers, _context(), _start_worker, (self.resolver, self.cache is not None)
        ) as pool:
            try:
                for target, result in self._finished(pool, chunks):
                    self._done.add(target)
                    yield target, result
            except (KeyboardInterrupt, GeneratorExit):
                for child in set(multiprocessing.active_children()) - bystanders:
                    child.kill()  # which ends the pool, and at once
                raise

    def _finished(
        self, pool: ProcessPoolExecutor, chunks: Sequence[Sequence[Target]]
    ) -> Iterator[tuple[Target, FileResult]]:
        from concurrent.futures import BrokenExecutor, as_completed

        pending = {pool.submit(_check_chunk, chunk): chunk for chunk in chunks}
        for future in as_completed(pending):
            chunk = pending.pop(future)
            try:
                results, lookups = future.result()
            except BrokenExecutor:
                continue
            if self.cache is not None:
                for each in lookups:
                    self.cache.learn(each)
            yield from zip(chunk, results, strict=True)


def chunks_of(targets: Sequence[Target], workers: int) -> list[list[Target]]:
    """Files to check in one go: neighbours, which import the same, in shares of equal length.

    The longest come first, so that no worker is left with a long one when the others are done.
    """
    sizes = [_size(target) for target in targets]
    share = max(1, sum(sizes) // (workers * _CHUNKS_PER_WORKER))
    chunks: list[tuple[int, list[Target]]] = []
    for target, size in zip(targets, sizes, strict=True):
        if not chunks or chunks[-1][0] + size > share:
            chunks.append((0, []))
        filled, chunk = chunks[-1]
        chunk.append(target)
        chunks[-1] = (filled + size, chunk)
    return [chunk for _, chunk in sorted(chunks, key=lambda item: -item[0])]


def _size(target: Target) -> int:
    try:
        return target.path.stat().st_size
    except OSError:
        return 0


def _context() -> BaseContext:
    """How to start workers: a copy of this process where that is safe, which is ready at once.

    It is so on Linux in a process without threads; elsewhere workers start from nothing.
    """
    import multiprocessing
    import threading

    if sys.platform == "linux" and threading.active_count() == 1:
        with suppress(ImportError):  # read once, for all workers
            import_module("distlint.rules.find").source_rules()
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def _killed(target: Target) -> FileResult:
    message = "internal error: the process that analysed this file was killed"
    notice = Notice("failed", message, target.path)
    return FileResult(target.path, notices=(notice,), checked=False)
