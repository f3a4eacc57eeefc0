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
    """Ranks and device of this process, as set up by :func:`distributed`.

    Attributes:
        rank: global rank.
        world_size: number of ranks.
        local_rank: rank on this machine.
        device: device of this rank.
        backend: backend of the default process group, or "" without a process group.
    """

    rank: int
    world_size: int
    local_rank: int
    device: torch.device
    backend: str
    _signalled: bool = field(default=False, repr=False)

    @property
    def is_main(self) -> bool:
        """Return whether this is global rank 0."""
        return self.rank == 0

    def stop_requested(self) -> bool:
        """Return whether any rank received a stop signal. Call it on every iteration.

        Collective: one all_reduce, see :func:`any_rank`.
        """
        return any_rank(self._signalled)


class distributed:  # noqa: N801 - used as a context manager and as a decorator
    """Initialize the process group, and clean it up depending on how the program ends.

    On entry, the device is set from LOCAL_RANK before the process group is created, with NCCL if
    CUDA is available and gloo otherwise. If two ranks share a GPU, all ranks raise. Without a
    launcher, the world size is 1. An existing process group is used as it is.

    On success, the process group is destroyed. After an exception it is not, because that may wait
    for ranks that are stuck in a collective: the traceback is printed with the rank and reported to
    torchrun, and the process exits with status 1, after at most 20 seconds even if the interpreter
    cannot shut down.

    A stop signal sets a flag; :meth:`World.stop_requested` reports it on all ranks in the same
    step.

    Args:
        backend: "nccl", "gloo" or another backend; chosen from the devices by default.
        timeout: timeout of collectives, in seconds or as timedelta; defaults to that of torch.
        device: device type to use; the accelerator by default, "cpu" to not use it.
        signals: signals that set the flag. Their handlers are replaced inside the block, so a
            program that never calls ``stop_requested`` must be killed. () leaves them unchanged.

    Raises:
        DeviceError: if this rank has no separate device.
        ValueError: if the device type does not exist.
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
        """Run a function with an initialized process group."""

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
        raise ValueError(
            f"device must be a device type such as 'cuda', without an index, not {kind!r}"
        )
    count = module.device_count()
    index = 0 if count == 1 else local_rank  # one visible device each is a common set-up
    if index >= count:
        raise DeviceError(
            f"local rank {local_rank} has no device: only {count} of type {kind} available",
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
            message = f"ranks {first} and {rank} use the same GPU {other[1]}"
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
    """Return a free TCP port of this machine.

    Call it once, in the process that launches the others, and pass the port to them in the
    environment (MASTER_PORT): each rank that calls it gets a different port. Not collective.

    Example:
        >>> from distlint.runtime import free_port
        >>> 1024 < free_port() < 65536
        True
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind(("", 0))
        return int(listener.getsockname()[1])
