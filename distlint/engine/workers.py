"""Spread the files of a run over processes, which share nothing but settings."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from distlint.engine.check import FileResult, Session
from distlint.engine.discovery import Target
from distlint.engine.settings import Resolver
from distlint.source.report import Notice

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

MANY_FILES = 32
FILES_BETWEEN_COLLECTIONS = 24
_CHUNKS_PER_WORKER = 8


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
    targets: Sequence[Target], resolver: Resolver, jobs: int | None, progress: Progress | None
) -> list[FileResult]:
    """Check the files; the results are in the order of the files."""
    if progress:
        progress.start(len(targets))
    workers = worker_count(jobs, len(targets))
    if workers > 1:
        return _Pool(targets, resolver, workers, progress).run()
    session = Session(resolver)
    results = []
    with rare_collection() as tidy:
        for target in targets:
            results.append(session.check_file(target))
            tidy()
            if progress:
                progress.advance(1)
    return results


@contextmanager
def rare_collection() -> Iterator[Callable[[], None]]:
    """Collect garbage once in a while: there is little, and the trees that stay are large.

    What has survived a collection is not looked at again. Yields what is to be called after a file.
    """
    collects = gc.isenabled()
    gc.disable()
    count = 0

    def tidy() -> None:
        nonlocal count
        count += 1
        if count % FILES_BETWEEN_COLLECTIONS == 0:
            gc.collect()
            gc.freeze()

    try:
        yield tidy
    finally:
        gc.unfreeze()
        if collects:
            gc.enable()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_session: Session | None = None


def _start_worker(resolver: Resolver) -> None:
    import signal

    global _session
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    _session = Session(resolver)


def _check_chunk(targets: Sequence[Target]) -> list[FileResult]:
    assert _session is not None
    results = []
    with rare_collection() as tidy:
        for target in targets:
            results.append(_session.check_file(target))
            tidy()
    return results


class _Pool:
    """Runs chunks of files; when a worker dies, finds the file that killed it and goes on."""

    def __init__(
        self, targets: Sequence[Target], resolver: Resolver, workers: int, progress: Progress | None
    ) -> None:
        self.targets = targets
        self.resolver = resolver
        self.workers = workers
        self.progress = progress
        self.results: dict[Target, FileResult] = {}

    def run(self) -> list[FileResult]:
        size = max(1, len(self.targets) // (self.workers * _CHUNKS_PER_WORKER))
        starts = range(0, len(self.targets), size)
        self._pass([self.targets[start : start + size] for start in starts], self.workers)
        for target in self.targets:
            if target not in self.results:  # its chunk was lost with a worker
                self._pass([[target]], 1)
        return [self.results.get(target) or _killed(target) for target in self.targets]

    def _pass(self, chunks: Sequence[Sequence[Target]], workers: int) -> None:
        """One pool from start to end; what a dead worker takes along stays without a result."""
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        bystanders = set(multiprocessing.active_children())
        arguments = (self.resolver,)
        with ProcessPoolExecutor(workers, initializer=_start_worker, initargs=arguments) as pool:
            try:
                for target, result in self._finished(pool, chunks):
                    self.results[target] = result
                    if self.progress:
                        self.progress.advance(1)
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                for child in set(multiprocessing.active_children()) - bystanders:
                    child.kill()
                raise

    def _finished(
        self, pool: ProcessPoolExecutor, chunks: Sequence[Sequence[Target]]
    ) -> Iterator[tuple[Target, FileResult]]:
        from concurrent.futures import BrokenExecutor, as_completed

        pending: dict[Future[list[FileResult]], Sequence[Target]] = {
            pool.submit(_check_chunk, chunk): chunk for chunk in chunks
        }
        for future in as_completed(pending):
            try:
                results = future.result()
            except BrokenExecutor:
                continue
            yield from zip(pending[future], results, strict=True)


def _killed(target: Target) -> FileResult:
    message = "internal error: the process that analysed this file died"
    notice = Notice("failed", message, target.path)
    return FileResult(target.path, notices=(notice,), checked=False)
