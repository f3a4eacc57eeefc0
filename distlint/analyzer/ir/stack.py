"""Work in native code that recurses: it needs a larger stack than threads have by default."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

STACK = 256 * 1024 * 1024
"""Bytes of address space, of which only what is used takes memory."""

T = TypeVar("T")
_starting = threading.Lock()


def on_large_stack(work: Callable[[], T]) -> T:
    """Do something in a thread of its own, or here if there can be none."""
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    thread = threading.Thread(target=run)
    if not _started(thread):
        return work()
    thread.join()
    return outcome.result()


def _started(thread: threading.Thread) -> bool:
    with _starting:  # the size holds for whichever thread starts next
        try:
            before = threading.stack_size(STACK)
        except (ValueError, RuntimeError):
            return False
        try:
            thread.start()
        except RuntimeError:  # not enough address space
            return False
        finally:
            threading.stack_size(before)
    return True
