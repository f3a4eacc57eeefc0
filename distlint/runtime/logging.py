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
    """A logger whose messages carry the rank, and come from the first rank only unless asked for.

    ``logger.info(...)`` writes on the first rank; ``main_only=False`` on every rank that calls.
    ``logger.in_order(...)`` writes the messages of all ranks sorted by rank. No call contains a
    barrier: with ``in_order`` every rank but the first leaves its message in the store and goes on
    (at the very first such call once the first rank has come), and the first one waits for them,
    ten seconds at most. The rank is looked up at each message, so that a logger may be made before
    the process group; until there is one, the rank is that of the launcher's environment. Handlers
    and levels are those of the standard library.

    Args:
        name: as that of ``logging.getLogger``.
        group: whose first rank writes.

    Example:
        >>> from distlint.runtime import get_logger
        >>> logger = get_logger("train")
        >>> logger.warning("starting")
        >>> logger.process("starting", {})[0].endswith("starting")
        True
    """
    return RankLogger(logging.getLogger(name), group)


class RankLogger(logging.LoggerAdapter):  # type: ignore[type-arg]
    """The standard library's adapter, with ranks; see :func:`get_logger`."""

    def __init__(self, logger: logging.Logger, group: Group = None) -> None:
        super().__init__(logger, {})
        self._group = group

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, Any]:
        """Put the rank before a message."""
        return f"[rank {self._ranks()[1]}] {msg}", kwargs

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Write on the first rank, or with ``main_only=False`` on this one whichever it is."""
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
        """Write the messages of all ranks on the first one, in order of ranks.

        Every rank has to call it. Ranks that have not within the timeout are named instead.
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
    """How many samples one step of the optimizer sees, over all ranks. Not collective.

    Args:
        per_rank: samples in a micro-batch of one rank.
        accumulation_steps: micro-batches in a step.
        group: the ranks that share the step: those of data parallelism.

    Example:
        >>> import torch.distributed as dist
        >>> from distlint.runtime import effective_batch_size
        >>> ranks = dist.get_world_size() if dist.is_initialized() else 1
        >>> effective_batch_size(8, accumulation_steps=4) == 32 * ranks
        True
    """
    if per_rank < 1 or accumulation_steps < 1:
        raise ValueError("both numbers have to be at least 1")
    return per_rank * accumulation_steps * member(group).size


def validate_model(model: nn.Module, *, group: Group = None) -> dict[str, Any]:
    """What will not work, or not as expected, when a model is trained on several ranks.

    Looks at parameters and modules; runs nothing and is not collective.

    Args:
        model: before or after wrapping, on any device.
        group: the ranks that it will be trained on; their backend decides on devices and dtypes.

    Returns:
        ``{"compatible": bool, "warnings": [str, ...]}``; not compatible means that it will fail.

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
    return [f"not on {device.type}, which the backend needs: {_some(names)}"] if names else []


def _sparse(model: nn.Module, nccl: bool) -> list[str]:
    names = [name for name, m in model.named_modules() if getattr(m, "sparse", False) is True]
    return [f"sparse gradients, which NCCL cannot reduce: {_some(names)}"] if names and nccl else []


def _no_gradients(model: nn.Module) -> list[str]:
    if any(p.requires_grad for p in model.parameters()):
        return []
    return ["no parameter requires a gradient, which DDP refuses"]


def _several_devices(model: nn.Module) -> list[str]:
    devices = sorted({str(p.device) for p in model.parameters()})
    if len(devices) < 2:
        return []
    return [f"parameters on {', '.join(devices)}: DDP then takes no device_ids"]


def _batch_norms(model: nn.Module) -> list[str]:
    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    names = [name for name, module in model.named_modules() if isinstance(module, kinds)]
    if not names:
        return []
    return [
        f"BatchNorm sees one rank's samples only: {_some(names)}; with few of them, use "
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm"
    ]


def _tied(model: nn.Module) -> list[str]:
    once = {name for name, _ in model.named_parameters()}
    every = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    tied = sorted(every - once)
    return (
        [f"shared under several names: {_some(tied)}; FSDP needs them in one unit"] if tied else []
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
    """Bytes in use by this process.

    Attributes:
        rank: the global rank.
        resident: of host memory, or None where it cannot be told.
        allocated: of device memory, held by tensors; 0 without an accelerator.
        reserved: of device memory, held by the allocator.
        peak: the most that was allocated.
        total: what the device has.
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
    """How much memory this process uses, on the host and on its device.

    Cheap, works without an accelerator, makes no context on a device that is not in use, and is not
    collective: ``get_logger().in_order(logging.INFO, str(memory_report()))`` shows all ranks.

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
