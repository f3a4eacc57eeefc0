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
    """Let the first rank run the body before the others do: it downloads, they find the cache.

    The others wait at the store, under a timeout of its own; no collective is pending meanwhile, so
    neither a watchdog nor the timeout of the process group ends a long download. When the first
    rank fails, they are released with an error. Collective: every rank has to enter. Afterwards
    ranks go on without waiting for each other.

    Args:
        scope: "global" for one first rank, when all machines share the folder; "node" for one on
            each machine.
        group: the ranks that take part.
        timeout: seconds or timedelta that the others wait; two hours by default.

    Raises:
        PeerFailedError: on the others, if the first rank left the body with an exception.
        MissingRanksError: if the first rank is not done within the timeout.

    Example:
        >>> from distlint.runtime import main_process_first
        >>> with main_process_first():
        ...     dataset = list(range(3))  # stands for: download, tokenize, load
        >>> dataset
        [0, 1, 2]
    """
    if scope not in ("global", "node"):
        raise ValueError(f'scope is "global" or "node", not {scope!r}')
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
    """Run a function on the first rank only; elsewhere the call returns None at once.

    For prints, logs and files. Not collective, and nothing collective may happen inside.

    Args:
        function: what to decorate.
        scope: "node" runs it on one rank of each machine (LOCAL_RANK 0).
        group: whose first rank it is; by default that of the world.

    Raises:
        GroupError: when called, if the group is unknown or does not hold this rank.

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
    """Call a function on the first rank and hand every rank its result, or its exception.

    The others wait at the store, without a pending collective. An exception arrives as itself where
    it can be pickled, with a :class:`PeerFailedError` that holds the traceback as its cause.
    Collective: every rank has to call it.

    Args:
        function: takes nothing; its result has to be picklable (tensors arrive on the receiver's
            own device of the same kind).
        group: the ranks that take part.
        timeout: seconds or timedelta that the others wait; two hours by default.

    Raises:
        NotPicklableError: on every rank, if the result cannot be sent.
        PeerFailedError: on the others, for an exception that cannot be sent as itself.
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
    """Evaluate on the first rank and give all ranks the metrics.

    The function gets the bare model: a forward of the DDP wrapper on one rank alone waits for the
    others as soon as the model has a buffer. It runs in eval mode under ``no_grad``; afterwards
    each submodule is back in its own mode. The other ranks wait at the store. Collective.

    Args:
        model: wrapped or not; one whose parameters are sharded cannot be run on one rank.
        evaluate: called with the bare model on the first rank, returns something picklable. Without
            it, the result is a function that takes it: ``main_eval(model)(evaluate)``.
        group: the ranks that take part.
        timeout: seconds or timedelta that the others wait; two hours by default.

    Raises:
        DistributedError: on every rank, if the model is sharded.
        PeerFailedError, NotPicklableError, MissingRanksError: as :func:`main_call`.

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
            "main_eval: the parameters are sharded, so the model cannot run on one rank alone; "
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
    """Wait for all ranks, and tell by number who did not come.

    Goes through the store: no collective is left pending on a GPU, and ranks that stand at barriers
    of different names are told so instead of passing each other. Collective.

    Args:
        name: what the message calls it; has to be the same on all ranks.
        timeout: seconds or timedelta; that of the group by default.
        group: the ranks that take part.

    Raises:
        MissingRanksError: on every rank that waited, with ``missing``.
        OrderError: if a rank stands somewhere else.

    Example:
        >>> from distlint.runtime import named_barrier
        >>> named_barrier("data is ready", timeout=60)
    """
    exchange(f"named_barrier({name!r})", None, group, timeout)
