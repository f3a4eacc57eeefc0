"""Who goes first, who goes alone, and who waits for whom."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, ParamSpec, TypeVar, overload

import torch

from distlint.runtime._world import (
    LONG,
    Group,
    Member,
    Report,
    Timeout,
    exchange,
    failure,
    member,
    peer_failed,
)
from distlint.runtime.checkpoints import is_sharded, unwrap
from distlint.runtime.errors import DistributedError

P = ParamSpec("P")
R = TypeVar("R")
Scope = Literal["global", "node"]


@contextmanager
def main_process_first(
    scope: Scope = "global", *, group: Group = None, timeout: Timeout = LONG
) -> Iterator[None]:
    """Run the block on the first rank before the others, for example to download and cache data.

    The other ranks wait at the store with a separate timeout; no collective is pending, so neither
    the watchdog nor the timeout of the process group interrupts a long download. If the first rank
    fails, the others raise. Collective: every rank must enter the block. At the end of the block,
    ranks do not wait for each other.

    Args:
        scope: "global" for one first rank, if all machines share the directory; "node" for one on
            each machine.
        group: process group; defaults to all ranks.
        timeout: how long the other ranks wait, in seconds or as timedelta; defaults to two hours.

    Raises:
        PeerFailedError: on the other ranks, if the first rank leaves the block with an exception.
        MissingRanksError: if the first rank is not done within the timeout.

    Example:
        >>> from distlint.runtime import main_process_first
        >>> with main_process_first():
        ...     dataset = list(range(3))  # stands for: download, tokenize, load
        >>> dataset
        [0, 1, 2]
    """
    if scope not in ("global", "node"):
        raise ValueError(f'scope must be "global" or "node", not {scope!r}')
    me = member(group)
    if me.alone:
        yield
        return
    kind = f"main_process_first({scope!r})"
    channel = me.channel(kind, timeout)
    first = 0 if scope == "global" else me.first_of_node(kind, timeout)
    number = channel.begin(timeout)
    if me.rank == first:
        try:
            yield
        except BaseException as error:
            channel.post_failure(number, kind, error)
            raise
        channel.post(number, kind, None)
    else:
        report = channel.fetch(number, kind, first, timeout)
        if report is not None:
            raise peer_failed(me, kind, first, report)
        yield


@overload
def on_main(
    function: Callable[P, R], *, scope: Scope = ..., group: Group = ...
) -> Callable[P, R | None]: ...
@overload
def on_main(
    function: None = None, *, scope: Scope = ..., group: Group = ...
) -> Callable[[Callable[P, R]], Callable[P, R | None]]: ...
def on_main(
    function: Callable[..., Any] | None = None,
    *,
    scope: Scope = "global",
    group: Group = None,
) -> Any:
    """Decorate a function to run on the first rank only; other ranks return None immediately.

    For printing, logging and writing files. Not collective, and the function must not call
    collectives.

    Args:
        function: function to decorate.
        scope: "node" runs it on one rank of each machine (LOCAL_RANK 0).
        group: process group whose first rank runs it; defaults to all ranks.

    Raises:
        GroupError: when called, if the group is unknown or does not contain this rank.

    Example:
        >>> from distlint.runtime import on_main
        >>> @on_main
        ... def report(loss):
        ...     return f"loss {loss:.2f}"
        >>> report(0.5) in ("loss 0.50", None)
        True
    """
    if function is None:
        return functools.partial(on_main, scope=scope, group=group)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if _is_first(scope, group) else None

    return wrapper


def _is_first(scope: Scope, group: Group) -> bool:
    if scope == "node" and "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"]) == 0
    return member(group).rank == 0


def main_call(function: Callable[[], R], *, group: Group = None, timeout: Timeout = LONG) -> R:
    """Call a function on the first rank, and return its result or raise its exception on all ranks.

    The other ranks wait at the store, without a pending collective. An exception is re-raised as
    the same type if it can be pickled, with a :class:`PeerFailedError` that contains the traceback
    as its cause. Collective: every rank must call it.

    Args:
        function: function without arguments; its result must be picklable (tensors arrive on the
            device of the receiving rank, of the same type).
        group: process group; defaults to all ranks.
        timeout: how long the other ranks wait, in seconds or as timedelta; defaults to two hours.

    Raises:
        NotPicklableError: on every rank, if the result cannot be sent.
        PeerFailedError: on the other ranks, for an exception that cannot be pickled.
        MissingRanksError: if the first rank is not done within the timeout.

    Example:
        >>> from distlint.runtime import main_call
        >>> main_call(lambda: {"files": 3})
        {'files': 3}
    """
    me = member(group)
    if me.alone:
        return function()
    return _called_on_main("main_call", me, function, timeout)


def _called_on_main(kind: str, me: Member, function: Callable[[], R], timeout: Timeout) -> R:
    channel = me.channel(kind, timeout)
    number = channel.begin(timeout)
    if me.rank == 0:
        try:
            result = function()
        except BaseException as error:
            channel.post_failure(number, kind, error)
            raise
        channel.post(number, kind, result)
    else:
        result = channel.fetch(number, kind, 0, timeout)
        if isinstance(result, Report):
            failed = peer_failed(me, kind, 0, result)
            if isinstance(result.error, Exception):
                raise result.error from failed
            raise failed
    return result


@overload
def main_eval(
    model: torch.nn.Module,
    evaluate: Callable[[torch.nn.Module], R],
    *,
    group: Group = ...,
    timeout: Timeout = ...,
) -> R: ...
@overload
def main_eval(
    model: torch.nn.Module, evaluate: None = None, *, group: Group = ..., timeout: Timeout = ...
) -> Callable[[Callable[[torch.nn.Module], R]], R]: ...
def main_eval(
    model: torch.nn.Module,
    evaluate: Callable[[torch.nn.Module], Any] | None = None,
    *,
    group: Group = None,
    timeout: Timeout = LONG,
) -> Any:
    """Evaluate on the first rank and return the metrics on all ranks.

    The function receives the unwrapped model: a forward of the DDP wrapper on one rank hangs if the
    model has a buffer. It runs in eval mode with ``no_grad``; afterwards, each submodule returns to
    its previous mode. The other ranks wait at the store. Collective.

    Args:
        model: wrapped or not; a model with sharded parameters cannot run on one rank.
        evaluate: called with the unwrapped model on the first rank; must return something
            picklable. Without it, the result is a function that takes it:
            ``main_eval(model)(evaluate)``.
        group: process group; defaults to all ranks.
        timeout: how long the other ranks wait, in seconds or as timedelta; defaults to two hours.

    Raises:
        DistributedError: on every rank, if the model is sharded.
        PeerFailedError, NotPicklableError, MissingRanksError: see :func:`main_call`.

    Example:
        >>> import torch
        >>> from distlint.runtime import main_eval
        >>> model = torch.nn.Dropout()
        >>> main_eval(model)(lambda bare: {"same": bool(bare(torch.ones(1)) == 1)})
        {'same': True}
        >>> model.training
        True
    """
    if evaluate is None:
        return functools.partial(main_eval, model, group=group, timeout=timeout)
    me = member(group)
    if is_sharded(model) and not me.alone:
        raise failure(
            DistributedError,
            me,
            "main_eval: the parameters are sharded, so the model cannot run on a single rank; "
            "evaluate on all ranks",
        )
    run = functools.partial(_evaluated, unwrap(model), evaluate)
    if me.alone:
        return run()
    return _called_on_main("main_eval", me, run, timeout)


def _evaluated(model: torch.nn.Module, evaluate: Callable[[torch.nn.Module], R]) -> R:
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            return evaluate(model)
    finally:
        for part, training in modes:
            part.training = training


def named_barrier(name: str, timeout: Timeout = None, *, group: Group = None) -> None:
    """Wait for all ranks, and report the missing ranks on a timeout.

    The barrier uses the store: no collective is pending on a GPU, and ranks that wait at barriers
    with different names raise instead of passing each other. Collective.

    Args:
        name: name of the barrier in error messages; must be the same on all ranks.
        timeout: seconds or timedelta; defaults to the timeout of the group.
        group: process group; defaults to all ranks.

    Raises:
        MissingRanksError: on every rank that waited; ``missing`` contains the missing ranks.
        OrderError: if a rank calls a different function.

    Example:
        >>> from distlint.runtime import named_barrier
        >>> named_barrier("data is ready", timeout=60)
    """
    exchange(f"named_barrier({name!r})", None, group, timeout)
