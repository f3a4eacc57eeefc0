"""Messages with a rank, and what to know about a model before it is trained on many."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from distlint.runtime._world import Group, Timeout, member, rank_and_size
from distlint.runtime.checkpoints import unwrap

_OWN_FRAMES = 1 if sys.version_info >= (3, 11) else 2  # older ones count the adapter's as well
IN_ORDER = 10.0  # seconds that the first rank waits for the others' lines


def get_logger(name: str | None = None, *, group: Group = None) -> RankLogger:
    """Return a logger that adds the rank to messages and writes on the first rank by default.

    ``logger.info(...)`` writes on the first rank; with ``main_only=False``, on every rank that
    calls it. ``logger.in_order(...)`` writes the messages of all ranks in rank order. No call
    contains a barrier: in ``in_order``, every rank except the first leaves its message in the store
    and continues (in the very first call, once the first rank has arrived), and the first rank
    waits for the messages for at most ten seconds. The rank is determined for each message, so a
    logger can be created before the process group; until then, the rank of the launcher's
    environment is used. Handlers and levels are those of the standard library.

    Args:
        name: see ``logging.getLogger``.
        group: process group whose first rank writes.

    Example:
        >>> from distlint.runtime import get_logger
        >>> logger = get_logger("train")
        >>> logger.warning("starting")
        >>> logger.process("starting", {})[0].endswith("starting")
        True
    """
    return RankLogger(logging.getLogger(name), group)


class RankLogger(logging.LoggerAdapter):  # type: ignore[type-arg]
    """A ``logging.LoggerAdapter`` with ranks; see :func:`get_logger`."""

    def __init__(self, logger: logging.Logger, group: Group = None) -> None:
        super().__init__(logger, {})
        self._group = group

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, Any]:
        """Add the rank to a message."""
        return f"[rank {self._ranks()[1]}] {msg}", kwargs

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Write on the first rank, or on the calling rank with ``main_only=False``."""
        main_only = kwargs.pop("main_only", True)
        if self.isEnabledFor(level) and (not main_only or self._ranks()[0] == 0):
            text, more = self.process(msg, kwargs)
            more["stacklevel"] = more.get("stacklevel", 1) + _OWN_FRAMES
            self.logger.log(level, text, *args, **more)

    def _ranks(self) -> tuple[int, int]:
        """This process's number in the group, and among all."""
        if self._group is None and not dist.is_initialized():
            rank = rank_and_size()[0]
            return rank, rank
        me = member(self._group)
        return me.rank, me.global_rank

    def in_order(self, level: int, msg: object, *args: object, timeout: Timeout = IN_ORDER) -> None:
        """Write the messages of all ranks on the first rank, in rank order.

        Every rank must call it. Ranks that do not within the timeout are listed instead.
        """
        me = member(self._group)
        try:
            text = str(msg) % args if args else str(msg)
        except Exception as error:  # here alone, perhaps, and the others count on this call
            text = f"{msg!r} % {args!r}: {type(error).__name__}: {error}"
        if me.alone:
            self.log(level, "%s", text)
            return
        lines = me.channel("in_order", None).collect("in_order", text, me.seconds(timeout))
        for rank, line in enumerate(lines):
            shown = "(no message within the timeout)" if line is None else line
            self.logger.log(level, "[rank %d] %s", me.ranks[rank], shown, stacklevel=2)


def effective_batch_size(per_rank: int, accumulation_steps: int = 1, *, group: Group = None) -> int:
    """Return the number of samples per optimizer step over all ranks. Not collective.

    Args:
        per_rank: samples per micro-batch on one rank.
        accumulation_steps: micro-batches per step.
        group: data-parallel process group; defaults to all ranks.

    Example:
        >>> import torch.distributed as dist
        >>> from distlint.runtime import effective_batch_size
        >>> ranks = dist.get_world_size() if dist.is_initialized() else 1
        >>> effective_batch_size(8, accumulation_steps=4) == 32 * ranks
        True
    """
    if per_rank < 1 or accumulation_steps < 1:
        raise ValueError("both numbers must be at least 1")
    return per_rank * accumulation_steps * member(group).size


def validate_model(model: nn.Module, *, group: Group = None) -> dict[str, Any]:
    """Return problems of a model that is to be trained on several ranks.

    Checks parameters and modules; runs nothing and is not collective.

    Args:
        model: before or after wrapping, on any device.
        group: process group that trains it; its backend determines the supported devices and
            dtypes.

    Returns:
        ``{"compatible": bool, "warnings": [str, ...]}``; a model that is not compatible will fail.

    Example:
        >>> import torch
        >>> from distlint.runtime import validate_model
        >>> validate_model(torch.nn.Linear(2, 2))
        {'compatible': True, 'warnings': []}
        >>> validate_model(torch.nn.Linear(2, 2, device="meta"))["compatible"]
        False
    """
    me = member(group)
    bare = unwrap(model)
    fatal = [
        *_without_data(bare),
        *_wrong_device(bare, me.device if me.pg is not None else None),
        *_sparse(bare, me.pg is not None and me.device.type == "cuda"),
        *_no_gradients(bare),
    ]
    doubtful = [*_several_devices(bare), *_batch_norms(bare), *_tied(bare), *_low_precision(bare)]
    return {"compatible": not fatal, "warnings": fatal + doubtful}


def _without_data(model: nn.Module) -> list[str]:
    names = [name for name, p in model.named_parameters() if p.device.type == "meta"]
    names += [
        name
        for name, p in model.named_parameters()
        if isinstance(p, nn.parameter.UninitializedParameter)
    ]
    return [f"parameters without data: {_some(names)}"] if names else []


def _wrong_device(model: nn.Module, device: torch.device | None) -> list[str]:
    if device is None or device.type == "cpu":
        return []  # gloo takes the tensors of a GPU as well
    names = [n for n, p in model.named_parameters() if p.device.type not in (device.type, "meta")]
    return [f"not on {device.type}, which the backend requires: {_some(names)}"] if names else []


def _sparse(model: nn.Module, nccl: bool) -> list[str]:
    names = [name for name, m in model.named_modules() if getattr(m, "sparse", False) is True]
    return [f"sparse gradients, which NCCL cannot reduce: {_some(names)}"] if names and nccl else []


def _no_gradients(model: nn.Module) -> list[str]:
    if any(p.requires_grad for p in model.parameters()):
        return []
    return ["no parameter requires a gradient, which is an error in DDP"]


def _several_devices(model: nn.Module) -> list[str]:
    devices = sorted({str(p.device) for p in model.parameters()})
    if len(devices) < 2:
        return []
    return [f"parameters on {', '.join(devices)}: do not pass device_ids to DDP"]


def _batch_norms(model: nn.Module) -> list[str]:
    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    names = [name for name, module in model.named_modules() if isinstance(module, kinds)]
    if not names:
        return []
    return [
        f"BatchNorm uses the samples of one rank only: {_some(names)}; with small batches, use "
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm"
    ]


def _tied(model: nn.Module) -> list[str]:
    once = {name for name, _ in model.named_parameters()}
    every = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    tied = sorted(every - once)
    return (
        [
            f"parameters shared under several names: {_some(tied)}; FSDP requires them in the same "
            "unit"
        ]
        if tied
        else []
    )


def _low_precision(model: nn.Module) -> list[str]:
    names = [name for name, p in model.named_parameters() if p.dtype == torch.float16]
    if not names:
        return []
    return [f"float16 parameters: {_some(names)}; gradients are summed over ranks in float16"]


def _some(names: list[str]) -> str:
    shown = ", ".join(name or "(the model itself)" for name in names[:3])
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")


@dataclass(frozen=True)
class MemoryReport:
    """Memory usage of this process, in bytes.

    Attributes:
        rank: global rank.
        resident: resident host memory, or None if unknown.
        allocated: device memory used by tensors; 0 without an accelerator.
        reserved: device memory reserved by the allocator.
        peak: peak of the allocated device memory.
        total: total memory of the device.
    """

    rank: int
    resident: int | None
    allocated: int
    reserved: int
    peak: int
    total: int

    def __str__(self) -> str:
        host = "?" if self.resident is None else _size(self.resident)
        text = f"[rank {self.rank}] host {host}"
        if self.total:
            text += (
                f", device {_size(self.allocated)} allocated (peak {_size(self.peak)}), "
                f"{_size(self.reserved)} reserved of {_size(self.total)}"
            )
        return text


def memory_report() -> MemoryReport:
    """Return the host and device memory usage of this process.

    Cheap, works without an accelerator, creates no context on a device that is not in use, and is
    not collective: ``get_logger().in_order(logging.INFO, str(memory_report()))`` shows all ranks.

    Example:
        >>> from distlint.runtime import memory_report
        >>> str(memory_report()).startswith("[rank ")
        True
    """
    cuda: Any = torch.cuda
    rank = rank_and_size()[0]
    if not cuda.is_initialized():
        return MemoryReport(rank, _resident(), 0, 0, 0, 0)
    return MemoryReport(
        rank,
        _resident(),
        cuda.memory_allocated(),
        cuda.memory_reserved(),
        cuda.max_memory_allocated(),
        cuda.get_device_properties(cuda.current_device()).total_memory,
    )


def _resident() -> int | None:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def _size(count: int) -> str:
    amount = float(count)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
