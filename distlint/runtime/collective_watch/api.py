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
    """Watch the collectives of this process, and say where ranks part ways.

    Every collective of torch.distributed is numbered per group, with its operation, shapes,
    dtypes, root, reduce op and call site. When ranks of a group disagree, or one of them is
    missing for ``patience`` seconds, the lowest rank that is alive prints a table to standard
    error: what each rank is doing and where, the last common collective, the first difference.

    No collective is called: ranks meet on the store of the default group, through a connection of
    the watch's own. All ranks must enter and leave at the same point of the program, before or
    after ``init_process_group``. A watch within a watch does nothing.

    Args:
        strict: agree before each call, and raise on every rank instead of letting it hang or
            reduce the wrong data. Asynchronous calls are checked when they are waited for.
        patience: seconds after which a wait is reported.
        timeout: seconds that a strict call waits for the other ranks; by default as long as the
            collectives of the default group.
        interval: seconds between two looks at the other ranks.
        findings: what the static analysis said about the program, to be named in the table.

    Raises:
        CollectiveMismatch: under ``strict``, when ranks come to different collectives.
        RankMissing: under ``strict``, when a rank has left or does not come in time.
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
    """What :func:`watch` does; the value is None within another watch and without groups."""
    global _running
    if min(patience, interval, 1.0 if timeout is None else timeout) <= 0:
        raise ValueError("patience, interval and timeout are seconds, and more than 0")
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
