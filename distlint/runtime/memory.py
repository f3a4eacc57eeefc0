"""Running out of memory on one rank, and what to do about it on all."""

from __future__ import annotations

import functools
import gc
import inspect
import logging
import pickle
import random
import secrets
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast, overload

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import PrefixStore, Store

from distlint.runtime._renewal import free_ranks, renew
from distlint.runtime._store import interruption, post, read, wait_until
from distlint.runtime._world import (
    Group,
    Member,
    Report,
    Timeout,
    failure,
    groups_here,
    member,
    missing_ranks,
    peer_failed,
    rounds_of,
    store_errors,
    store_of,
)
from distlint.runtime.errors import (
    BatchSizeError,
    MissingRanksError,
    StaleGroupError,
    StoreError,
    in_words,
)

R = TypeVar("R")

WATCH_PAUSE = 0.05  # seconds between two looks for a failure elsewhere
MOST_LOOKS = 1000  # a second, of all ranks together
PATIENCE = 5.0  # seconds for a rank behind the failed one to come back by itself
GRACE = 0.5  # seconds for the message of a rank that failed before

_log = logging.getLogger("distlint.runtime")
_HOLDERS = {"DistributedDataParallel", "FullyShardedDataParallel", "FSDPModule", "DeepSpeedEngine"}

_OUT_OF_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "Unable to find a valid cuDNN algorithm",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "DefaultCPUAllocator: not enough memory",
    "CUDNN_STATUS_NOT_SUPPORTED",
    "PT_DEVMEM Allocation failed",
    "RESOURCE_EXHAUSTED",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception is an out-of-memory error.

    Those of CUDA, ROCm, XPU, MPS, HPU and the CPU are recognized. Not collective.

    Example:
        >>> from distlint.runtime import is_out_of_memory
        >>> is_out_of_memory(RuntimeError("MPS backend out of memory (MPS allocated: 8 GB)"))
        True
        >>> is_out_of_memory(RuntimeError("shapes do not match"))
        False
    """
    known = getattr(torch, "OutOfMemoryError", None) or torch.cuda.OutOfMemoryError
    if isinstance(error, (known, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(s in str(error) for s in _OUT_OF_MEMORY)


@overload
def find_executable_batch_size(
    function: Callable[..., R],
    starting_batch_size: int = ...,
    reduce_batch_size_fn: Callable[[], int] | None = ...,
    *,
    group: Group = ...,
    floor: int = ...,
    factor: float = ...,
    keep_effective_batch_size: bool = ...,
    timeout: Timeout = ...,
) -> BatchSizeFinder[R]: ...
@overload
def find_executable_batch_size(
    function: None = None,
    starting_batch_size: int = ...,
    reduce_batch_size_fn: Callable[[], int] | None = ...,
    *,
    group: Group = ...,
    floor: int = ...,
    factor: float = ...,
    keep_effective_batch_size: bool = ...,
    timeout: Timeout = ...,
) -> Callable[[Callable[..., R]], BatchSizeFinder[R]]: ...
def find_executable_batch_size(
    function: Callable[..., Any] | None = None,
    starting_batch_size: int = 128,
    reduce_batch_size_fn: Callable[[], int] | None = None,
    *,
    group: Group = None,
    floor: int = 1,
    factor: float = 0.9,
    keep_effective_batch_size: bool = False,
    timeout: Timeout = None,
) -> Any:
    """Call a function with decreasing batch sizes until it fits in memory, in step on all ranks.

    A replacement for Accelerate's decorator of the same name. The function takes the batch size as
    its first argument and creates everything inside: model, optimizer, data loaders. If one rank
    runs out of memory while others wait for it in a collective, they are released: the failed rank
    reports it in the store, the process groups are shut down on every rank and the default group is
    re-created, and all ranks retry with the smallest size that any of them needs. If all ranks fail
    at the same point, the groups are still in sync and are kept. Between two attempts, frames are
    cleared, memory is freed and the random states (Python, NumPy, torch) are restored. The ranks
    never agree through the groups that the function uses.

    Collective: every rank of the group must call the decorated function. Without a process group,
    it is a plain retry.

    Args:
        function: ``function(batch_size, *args, **kwargs)``.
        starting_batch_size: first batch size to try.
        reduce_batch_size_fn: function without arguments that returns the next size; replaces
            ``factor``.
        group: process group whose ranks retry together. Groups other than the default group cannot
            be re-created, so they can retry only if all of their ranks fail at the same point.
        floor: smallest batch size to try.
        factor: factor for the next batch size, rounded down.
        keep_effective_batch_size: try only divisors of the starting size, and call the function
            with ``accumulation_steps=``, so that batch size times steps equals the starting size.
        timeout: how long ranks wait for each other at the end of an attempt, in seconds or as
            timedelta; defaults to the timeout of the group.

    Returns:
        A callable; ``batch_size`` and ``accumulation_steps`` are the values that worked, ``tried``
        the sizes that did not.

    Raises:
        BatchSizeError: on every rank, if ``floor`` does not fit.
        StaleGroupError: on every rank, if groups had to be shut down that are still used by an
            object created outside the function: a group, or a wrapped model.
        PeerFailedError: on the other ranks, if a rank fails with another error.
        MissingRanksError: if a rank does not return within the timeout.
        TypeError: if the caller passes the batch size.

    Example:
        >>> import torch
        >>> from distlint.runtime import find_executable_batch_size
        >>> @find_executable_batch_size(starting_batch_size=64, factor=0.5)
        ... def train(batch_size):
        ...     if batch_size > 20:
        ...         raise torch.OutOfMemoryError("does not fit")
        ...     return f"trained with {batch_size}"
        >>> train()
        'trained with 16'
        >>> train.batch_size, train.tried
        (16, [64, 32])
    """
    if function is None:
        return functools.partial(
            find_executable_batch_size,
            starting_batch_size=starting_batch_size,
            reduce_batch_size_fn=reduce_batch_size_fn,
            group=group,
            floor=floor,
            factor=factor,
            keep_effective_batch_size=keep_effective_batch_size,
            timeout=timeout,
        )
    if floor < 1 or starting_batch_size < floor:
        raise ValueError(
            f"{starting_batch_size=} must be at least {floor=}, which must be at least 1"
        )
    if not 0 < factor < 1:
        raise ValueError(f"factor must be between 0 and 1, not {factor}")
    return BatchSizeFinder(
        function,
        starting_batch_size,
        reduce_batch_size_fn,
        group,
        floor,
        factor,
        keep_effective_batch_size,
        timeout,
    )


class BatchSizeFinder(Generic[R]):
    """A function decorated with :func:`find_executable_batch_size`.

    Attributes:
        batch_size: batch size to try next; after a call, the one that worked.
        accumulation_steps: number of batches of this size per starting batch size (rounded up).
        tried: batch sizes that did not fit.
    """

    def __init__(
        self,
        function: Callable[..., R],
        starting_batch_size: int,
        reduce_batch_size_fn: Callable[[], int] | None,
        group: Group,
        floor: int,
        factor: float,
        keep_effective_batch_size: bool,
        timeout: Timeout,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.start = starting_batch_size
        self.batch_size = starting_batch_size
        self.tried: list[int] = []
        self._reduce = reduce_batch_size_fn
        self._group = group
        self._floor = floor
        self._factor = factor
        self._keep = keep_effective_batch_size
        self._timeout = timeout

    @property
    def accumulation_steps(self) -> int:
        """Number of steps of ``batch_size`` per starting batch size."""
        return -(-self.start // self.batch_size)

    def __call__(self, *args: Any, **kwargs: Any) -> R:
        """Call the function with the largest batch size that fits. Collective."""
        self._check_arguments(args, kwargs)
        me = member(self._group)
        random_state = _RandomState()
        free_memory()
        if me.alone:
            return self._alone(me, random_state, args, kwargs)
        session = _Session(me, self._timeout)
        while True:
            result = session.attempt(lambda: self._once(args, kwargs))
            if result is not None:
                self._report(me)
                return result[0]
            self._shrink_to(session.agree_on(self._next()), me, session.failed)
            random_state.restore()

    def _alone(
        self, me: Member, random_state: _RandomState, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> R:
        while True:
            try:
                result = self._once(args, kwargs)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                _clear_frames(error)
            else:
                self._report(me)
                return result
            free_memory()
            self._shrink_to(self._next(), me, (me.rank,))
            random_state.restore()

    def _once(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> R:
        if self._keep:
            kwargs = {**kwargs, "accumulation_steps": self.accumulation_steps}
        return self.function(self.batch_size, *args, **kwargs)

    def _check_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        name = getattr(self.function, "__name__", "the function")
        if self._keep:
            kwargs = {**kwargs, "accumulation_steps": 1}
        try:
            signature = inspect.signature(self.function)
        except ValueError:
            return
        try:
            signature.bind(self.batch_size, *args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"{name}{signature}: {error}. The decorator passes the batch size as the "
                "first argument; do not pass it in the call"
            ) from None

    def _next(self) -> int:
        """The size that this rank would try next; called on all ranks, for it may count."""
        if self._reduce is not None:
            return int(self._reduce())
        size = int(self.batch_size * self._factor)
        if self._keep:
            while size > 1 and self.start % size:
                size -= 1
        return size

    def _shrink_to(self, size: int, me: Member, failed: Sequence[int]) -> None:
        who = in_words([me.ranks[rank] for rank in failed])
        self.tried.append(self.batch_size)
        if size >= self.batch_size or size < self._floor:
            raise failure(
                BatchSizeError,
                me,
                f"no batch size from {self.start} down to {self._floor} fits: {self.batch_size} "
                f"was too large for {who}, and the next size would be {size}",
            )
        if me.rank == 0:
            _log.warning("batch size %d does not fit on %s; trying %d", self.batch_size, who, size)
        self.batch_size = size

    def _report(self, me: Member) -> None:
        if me.rank == 0 and self.tried:
            _log.info("batch size %d fits (tried %s)", self.batch_size, self.tried)


def free_memory() -> None:
    """Collect garbage and release cached device memory. Not collective.

    Example:
        >>> from distlint.runtime import free_memory
        >>> free_memory()
    """
    gc.collect()
    for name in ("cuda", "xpu", "mps", "npu", "mlu", "hpu"):
        module: Any = getattr(torch, name, None)
        ready = getattr(module, "is_initialized", getattr(module, "is_available", None))
        empty = getattr(module, "empty_cache", None)
        if name == "mps" and not torch.backends.mps.is_available():
            continue
        if empty is not None and ready is not None and ready():
            empty()


def _cuda_in_use() -> bool:
    cuda: Any = torch.cuda
    return bool(cuda.is_initialized())


class _RandomState:
    """The random states of this process, so that an attempt begins like the one before."""

    def __init__(self) -> None:
        self.python = random.getstate()
        self.torch = torch.get_rng_state()
        self.cuda = torch.cuda.get_rng_state() if _cuda_in_use() else None
        numpy = sys.modules.get("numpy")
        self.numpy = numpy.random.get_state() if numpy is not None else None

    def restore(self) -> None:
        """Go back to what it was."""
        random.setstate(self.python)
        torch.set_rng_state(self.torch)
        if self.cuda is not None:
            torch.cuda.set_rng_state(self.cuda)
        elif _cuda_in_use():  # it was not before; torch.manual_seed seeds all devices alike
            torch.cuda.manual_seed(torch.initial_seed())
        if self.numpy is not None:
            sys.modules["numpy"].random.set_state(self.numpy)


def _clear_frames(error: BaseException | None) -> None:
    """Local variables of a failed call keep its tensors and its process groups alive."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


# One call on several ranks. Keys of attempt k in the store: "failed" (who, and how many collectives
# it had issued), "reset" (end all groups), "connections/r", "settled/r", "next/r", "renewed/r".


@dataclass(frozen=True)
class _Settled:
    """How an attempt ended on a rank."""

    state: Literal["fits", "out of memory", "error", "called back"]
    report: Report | None
    issued: dict[str, int | None]
    reset: bool


class _Session:
    def __init__(self, me: Member, timeout: Timeout) -> None:
        kind = "find_executable_batch_size"
        self.me = me
        self.seconds = me.seconds(timeout)
        nonce = me.channel(kind, timeout).hand_out(kind, secrets.token_hex(8), 0, timeout)
        whole = store_of(me.pg)
        assert whole is not None
        self.base = PrefixStore(f"distlint/{nonce}", whole)
        self.whole_world = me.pg is dist.group.WORLD
        self.before = weakref.WeakSet(groups_here())
        self.models: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet(_wrapped_models())
        self.number = 0
        self.store: Store = self.base
        self.failed: tuple[int, ...] = ()
        self.dirty = False

    def attempt(self, call: Callable[[], R]) -> tuple[R] | None:
        """Call it on this rank; the result in a tuple if all ranks have one, None to try again."""
        self.number += 1
        self.store = PrefixStore(str(self.number), self.base)
        watcher = _Watcher(self.me, self.store)
        result: tuple[R] | None = None
        error: BaseException | None = None
        interruption.event = watcher.called_back
        try:
            result = (call(),)
        except BaseException as caught:
            error = caught
        finally:
            interruption.event = None
        try:
            everyone = self._settle(watcher, error)
        finally:
            watcher.finish()
        self._raise_errors(everyone, error)
        self.failed = tuple(r for r, one in enumerate(everyone) if one.state == "out of memory")
        if not self.failed:
            return result
        self.dirty = not _in_step(everyone)
        _clear_frames(error)
        del result, error
        free_memory()
        return None

    def agree_on(self, size: int) -> int:
        """The smallest size that a rank asks for; makes the world anew if it is out of step.

        Raises:
            StaleGroupError: on all ranks, if that cannot be done because of something on one.
        """
        stale = self._stale() if self.dirty else []
        post(self.store, f"next/{self.me.rank}", (size, stale))
        answers = self._all("next", self.seconds)
        if self.dirty and self.whole_world:
            self.me = renew(self.me, self.base, self.number)
            post(self.store, f"renewed/{self.me.rank}", None)
            self._all("renewed", self.seconds)  # a rank that ends now would end the others' start
        for rank, (_, stale) in enumerate(answers):
            if stale:
                raise failure(
                    StaleGroupError,
                    self.me,
                    "one rank ran out of memory while others waited for it in a collective, so the "
                    f"process groups had to be shut down; on rank {self.me.ranks[rank]}, objects "
                    f"created outside the function still use them: {', '.join(stale)}; create them "
                    "inside the function",
                )
        return min(int(answers[rank][0]) for rank in self.failed)

    def _state(self, watcher: _Watcher, error: BaseException | None) -> _Settled:
        reset = watcher.come_back()
        issued = _issued()
        if error is None:
            return _Settled("fits", None, issued, reset)
        if isinstance(error, Exception) and is_out_of_memory(error):
            state: Literal["out of memory", "error"] = "out of memory"
        elif isinstance(error, Exception) and self._called_back():
            return _Settled("called back", None, issued, True)
        else:
            state = "error"
        post(self.store, "failed", (self.me.rank, issued))
        self.store.check(["failed"])  # the answer tells that it has arrived
        return _Settled(state, Report.of(error) if state == "error" else None, issued, reset)

    def _called_back(self) -> bool:
        """Did another rank fail before? Its message may still be on the way."""
        return wait_until(lambda: self.store.check(["failed"]), GRACE)

    def _settle(self, watcher: _Watcher, error: BaseException | None) -> list[_Settled]:
        """Say how the attempt ended here, and hear how it did elsewhere."""
        own: _Settled | None = None
        seconds = self.seconds
        try:
            with store_errors(self.me, "find_executable_batch_size"):
                own = self._state(watcher, error)
                post(self.store, f"settled/{self.me.rank}", own)
            if own.state == "error":
                seconds = min(seconds, 2 * PATIENCE)
            return cast("list[_Settled]", self._all("settled", seconds))
        except (MissingRanksError, StoreError):
            if error is not None and (own is None or own.state == "error"):
                raise error from None
            raise

    def _all(self, what: str, seconds: float) -> list[Any]:
        keys = [f"{what}/{rank}" for rank in range(self.me.size)]
        with store_errors(self.me, "find_executable_batch_size"):
            if not wait_until(lambda: self.store.check(keys), seconds):
                missing = [r for r, key in enumerate(keys) if not self.store.check([key])]
                raise missing_ranks(self.me, "find_executable_batch_size", missing)
            payloads = read(self.store, keys)
        return [pickle.loads(payload) for payload in payloads]

    def _raise_errors(self, everyone: list[_Settled], error: BaseException | None) -> None:
        if everyone[self.me.rank].state == "error":
            assert error is not None
            raise error
        for rank, one in enumerate(everyone):
            if one.report is not None:
                _clear_frames(error)
                raise peer_failed(self.me, "find_executable_batch_size", rank, one.report)

    def _stale(self) -> list[str]:
        """What this rank still holds that belongs to groups which are about to go."""
        if not self.whole_world:
            return ["the group passed as group="]
        groups = groups_here()
        outside = [pg for pg in self.before if pg in groups and pg is not dist.group.WORLD]
        found = [f"process group {groups[pg]!r}" for pg in outside]
        found += sorted({f"a {type(model).__name__}" for model in self.models})
        return found


def _in_step(everyone: list[_Settled]) -> bool:
    """Have all ranks issued the same collectives and come back by themselves?"""
    first = everyone[0].issued
    return (
        all(
            one.issued == first and not one.reset and one.state != "called back" for one in everyone
        )
        and None not in first.values()
    )


def _issued() -> dict[str, int | None]:
    """How many collectives each group has seen, by its name, and how many rounds its channel."""
    counts: dict[str, int | None] = {}
    for pg, name in groups_here().items():
        try:
            counts[name] = int(cast(Any, pg)._get_sequence_number_for_group())
        except (AttributeError, RuntimeError):
            counts[name] = None
        counts[f"{name} rounds"] = rounds_of(pg)
    return counts


def _wrapped_models() -> Iterator[torch.nn.Module]:
    """Models alive in this process whose wrapper holds a process group."""
    for thing in gc.get_objects():
        if issubclass(type(thing), torch.nn.Module) and any(
            kind.__name__ in _HOLDERS for kind in type(thing).__mro__
        ):
            yield thing


class _Watcher:
    """Looks for a failure elsewhere while this rank is in the function, and calls it back.

    Whether this rank waits in vain is told by numbers: it does if it has issued a collective more
    than the failed rank. If it is behind, it may still come to the point where the other failed.
    """

    def __init__(self, me: Member, store: Store) -> None:
        self.me = me
        self.store = store
        self.called_back = threading.Event()
        self._lock = threading.Lock()
        self._inside = True
        self._decided = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="distlint-retry", daemon=True)
        self._thread.start()

    def come_back(self) -> bool:
        """This rank has left the function; was it decided before to end the groups?"""
        with self._lock:
            self._inside = False
            return self._decided

    def finish(self) -> None:
        """All ranks are back: nobody needs to be freed any more."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        failed_since: float | None = None
        try:
            while not self._stop.wait(max(WATCH_PAUSE, self.me.size / MOST_LOOKS)):
                if failed_since is None and not self.store.check(["failed"]):
                    continue
                failed_since = failed_since or time.monotonic()
                if self.store.check(["reset"]):
                    self.called_back.set()
                    free_ranks(self.me, self.store, self._stop)
                    return
                self._consider(time.monotonic() - failed_since)
        except RuntimeError:  # the store has gone, and with it the whole job
            self.called_back.set()

    def _consider(self, seconds: float) -> None:
        _, theirs = pickle.loads(self.store.get("failed"))
        ahead = any(
            count is not None and (theirs.get(name) or 0) < count
            for name, count in _issued().items()
        )
        with self._lock:
            if self._inside and (ahead or seconds > PATIENCE):
                self._decided = True
        if self._decided:
            self.store.set("reset", "1")
