"""The way into the watch, for a stretch of a program."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch.distributed as dist

from distlint.runtime.collective_watch.table import KnownFinding

if TYPE_CHECKING:
    from distlint.runtime.collective_watch.watcher import Watcher

_lock = threading.Lock()
_running: Watcher | None = None


@contextlib.contextmanager
def watch(
    *,
    strict: bool = False,
    patience: float = 5.0,
    timeout: float | None = None,
    interval: float = 0.5,
    findings: tuple[KnownFinding, ...] = (),
) -> Iterator[None]:
    """Monitor the collectives of this process, and report where ranks diverge.

    Every collective of torch.distributed is numbered per group and recorded with its operation,
    shapes, dtypes, root, reduce op and call site. If the ranks of a group disagree, or one of them
    is missing for ``patience`` seconds, the lowest rank that is alive prints a table to standard
    error: what each rank is doing and where, the last common collective, and the first difference.

    No collective is called: ranks communicate through the store of the default group, over a
    separate connection. All ranks must enter and leave at the same point of the program, before or
    after ``init_process_group``. A nested watch does nothing.

    Args:
        strict: compare the ranks before each collective, and raise on all ranks instead of hanging
            or reducing wrong data. Asynchronous collectives are checked when they are waited for.
        patience: seconds after which a missing rank is reported.
        timeout: with ``strict``, seconds to wait for the other ranks; defaults to the timeout of
            the default group.
        interval: seconds between two comparisons with the other ranks.
        findings: findings of the static analysis to refer to in the table.

    Raises:
        CollectiveMismatch: with ``strict``, if ranks call different collectives.
        RankMissing: with ``strict``, if a rank exited or does not arrive in time.
        ValueError: if a number of seconds is not positive.

    Example:
        >>> import torch
        >>> from distlint.runtime import watch
        >>> with watch(strict=True):
        ...     total = torch.ones(1)  # train here
    """
    with watching(
        strict=strict, patience=patience, timeout=timeout, interval=interval, findings=findings
    ):
        yield


@contextlib.contextmanager
def watching(
    *,
    strict: bool,
    patience: float,
    timeout: float | None,
    findings: tuple[KnownFinding, ...],
    interval: float = 0.5,
) -> Iterator[Watcher | None]:
    """Implementation of :func:`watch`; yields None inside another watch and without groups."""
    global _running
    if min(patience, interval, 1.0 if timeout is None else timeout) <= 0:
        raise ValueError("patience, interval and timeout must be positive numbers of seconds")
    if not dist.is_available():
        yield None
        return
    from distlint.runtime.collective_watch.hooks import Hooks
    from distlint.runtime.collective_watch.session import Options
    from distlint.runtime.collective_watch.watcher import Watcher

    options = Options(strict, patience, timeout, interval, findings)
    with _lock:
        if _running is not None:
            watcher = None
        else:
            watcher = _running = Watcher(options)
    if watcher is None:
        yield None
        return
    hooks = Hooks(watcher)
    hooks.install()
    pid = os.getpid()
    try:
        watcher.attach()
        yield watcher
    except BaseException as error:
        watcher.detach("", error)
        raise
    else:
        watcher.detach("left the watch")
    finally:
        if os.getpid() == pid:
            hooks.uninstall()
            _running = None
