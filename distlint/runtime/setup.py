"""Beginning and ending a distributed program."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar, cast

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import HashStore

from distlint.runtime._world import Timeout, ends_by_failure, exchange, failure, member, node_name
from distlint.runtime.agreement import any_rank
from distlint.runtime.errors import DeviceError

P = ParamSpec("P")
R = TypeVar("R")

TEARDOWN = 20.0  # seconds that a failed process may take to end


@dataclass
class World:
    """What :func:`distributed` has set up.

    Attributes:
        rank: this process's number among all.
        world_size: how many there are.
        local_rank: its number on this machine.
        device: its own device.
        backend: the backend of the world, or "" when there is no process group.
    """

    rank: int
    world_size: int
    local_rank: int
    device: torch.device
    backend: str
    _signalled: bool = field(default=False, repr=False)

    @property
    def is_main(self) -> bool:
        """Is this the first process of all?"""
        return self.rank == 0

    def stop_requested(self) -> bool:
        """Has any process had a signal to stop? To be asked in each step.

        Collective: one all_reduce, see :func:`any_rank`.
        """
        return any_rank(self._signalled)


class distributed:  # noqa: N801 - used as a context manager and as a decorator
    """Set up the world, and take it down in the right way for how the program ends.

    On entry the device is bound (LOCAL_RANK) before the process group is made, with NCCL where
    there is CUDA and gloo elsewhere; two processes on one GPU are refused on all ranks. Without a
    launcher it is a world of one. A process group that exists already is used and left alone.

    On success the process group is destroyed. After an exception it is not, for that may wait for
    ranks which are stuck in a collective: the traceback is printed with the rank, torchrun is told,
    and the process exits with 1, at the latest after 20 seconds even if the interpreter cannot end.

    A signal to stop sets a flag; :meth:`World.stop_requested` tells all ranks in the same step.

    Args:
        backend: "nccl", "gloo" or another; chosen by the devices by default.
        timeout: seconds or timedelta until a collective gives up; torch's own by default.
        device: the device type to use; the accelerator by default, "cpu" to leave it alone.
        signals: which signals set the flag; while in the block their handlers are replaced, so that
            a program which never asks has to be killed. () leaves them as they are.

    Raises:
        DeviceError: if this rank has no device of its own.
        ValueError: if there is no such type of device.
        SystemExit: with status 1, after an exception in the block.

    Example:
        >>> from distlint.runtime import distributed
        >>> with distributed(device="cpu") as world:
        ...     print(world.device, world.stop_requested())
        cpu False
        >>> @distributed(device="cpu")
        ... def main():
        ...     return "trained"
        >>> main()
        'trained'
    """

    def __init__(
        self,
        backend: str | None = None,
        *,
        timeout: Timeout = None,
        device: str | None = None,
        signals: Sequence[int] = (signal.SIGTERM,),
    ) -> None:
        self._backend = backend
        self._timeout = timeout
        self._device = device
        self._signals = signals
        self._stack: list[_Entered] = []

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Run a function in such a world."""

        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            with distributed(
                self._backend, timeout=self._timeout, device=self._device, signals=self._signals
            ):
                return function(*args, **kwargs)

        return wrapper

    def __enter__(self) -> World:
        local_rank = int(os.environ.get("LOCAL_RANK", 0))
        try:
            device = _bind(self._device, local_rank)
            made = not dist.is_initialized()
            if made:
                _init(self._backend, device, self._timeout)
            world = World(
                rank=dist.get_rank(),
                world_size=dist.get_world_size(),
                local_rank=local_rank,
                device=device,
                backend=str(dist.get_backend()),
            )
            if device.type == "cuda" and "nccl" in dist.get_backend_config():
                _refuse_shared_devices(device)
            if made and device.type != "cpu":
                with contextlib.suppress(AttributeError, RuntimeError):
                    # Not given to init_process_group, where NCCL would connect two ranks on one GPU
                    # before they could be refused.
                    cast(Any, dist.group.WORLD).bound_device_id = device
        except Exception as error:
            _report(error)
            raise
        entered = _Entered(world, made, _replace_handlers(self._signals, world))
        self._stack.append(entered)
        return world

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        entered = self._stack.pop()
        for number, handler in entered.handlers.items():
            signal.signal(number, handler)
        if error is None or (isinstance(error, SystemExit) and not error.code):
            if entered.made and dist.is_initialized():
                dist.destroy_process_group()
        elif entered.made:
            ends_by_failure()
            _report(error)
            _leave(error)


@dataclass
class _Entered:
    world: World
    made: bool
    handlers: dict[int, Any]


def _bind(kind: str | None, local_rank: int) -> torch.device:
    """This process's device; made current, so that nothing ends up on device 0 by default."""
    if kind is None:
        kind = next((name for name in ("cuda", "xpu", "npu") if _available(name)), "cpu")
    if kind == "cpu":
        return torch.device("cpu")
    module = getattr(torch, kind, None)
    if module is None or not hasattr(module, "device_count"):
        raise ValueError(f"device is a type such as 'cuda', without an index; not {kind!r}")
    count = module.device_count()
    index = 0 if count == 1 else local_rank  # one visible device each is a common set-up
    if index >= count:
        raise DeviceError(
            f"local rank {local_rank} has no device: there are {count} of type {kind}",
            rank=int(os.environ.get("RANK", 0)),
        )
    if hasattr(module, "set_device"):  # MPS has one device only
        module.set_device(index)
    return torch.device(kind, index)


def _available(name: str) -> bool:
    module = getattr(torch, name, None)
    return module is not None and bool(module.is_available()) and module.device_count() > 0


def _init(backend: str | None, device: torch.device, timeout: Timeout) -> None:
    more: dict[str, Any] = {}
    if timeout is not None:
        seconds = timeout if isinstance(timeout, timedelta) else timedelta(seconds=timeout)
        more["timeout"] = seconds
    backend = backend or {"cuda": "nccl", "xpu": "xccl", "npu": "hccl"}.get(device.type, "gloo")
    if "RANK" not in os.environ and "WORLD_SIZE" not in os.environ:
        more |= {"store": HashStore(), "rank": 0, "world_size": 1}
    dist.init_process_group(backend, **more)


def _refuse_shared_devices(device: torch.device) -> None:
    """Two processes on one GPU hang in NCCL or share its memory by mistake."""
    properties: Any = torch.cuda.get_device_properties(device)
    name = str(
        getattr(properties, "uuid", "")
        or f"{device.index} of {os.environ.get('CUDA_VISIBLE_DEVICES')}"
    )
    names = exchange("distributed", (node_name(), name), None)
    for rank, other in enumerate(names):
        if other in names[:rank]:
            first = names.index(other)
            message = f"ranks {first} and {rank} are on the same GPU {other[1]}"
            raise failure(DeviceError, member(None), message)


def _replace_handlers(numbers: Sequence[int], world: World) -> dict[int, Any]:
    if threading.current_thread() is not threading.main_thread():
        return {}  # only the main thread may

    def handler(number: int, frame: FrameType | None) -> None:
        world._signalled = True

    return {number: signal.signal(number, handler) for number in numbers}


def _report(error: BaseException) -> None:
    """Print the traceback with the rank before each line, and tell torchrun."""
    rank = os.environ.get("RANK", "0")
    lines = "".join(traceback.format_exception(error)).splitlines()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.write("".join(f"[rank {rank}] {line}\n" for line in lines))
        sys.stderr.flush()
    if "TORCHELASTIC_ERROR_FILE" in os.environ and isinstance(error, Exception):
        with contextlib.suppress(Exception):
            from torch.distributed.elastic.multiprocessing.errors import get_error_handler

            get_error_handler().record_exception(error)


def _leave(error: BaseException) -> None:
    """Exit without a collective. A thread in C ends the process if the interpreter cannot."""
    with contextlib.suppress(Exception):
        faulthandler.dump_traceback_later(TEARDOWN, exit=True, file=sys.__stderr__ or sys.stderr)
    if isinstance(error, SystemExit):
        raise error
    raise SystemExit(130 if isinstance(error, KeyboardInterrupt) else 1) from None


def free_port() -> int:
    """A TCP port that nobody listens at on this machine.

    To be asked for once, by the process that starts the others, which get it by the environment
    (MASTER_PORT): ranks that each ask get different answers. Not collective.

    Example:
        >>> from distlint.runtime import free_port
        >>> 1024 < free_port() < 65536
        True
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind(("", 0))
        return int(listener.getsockname()[1])
