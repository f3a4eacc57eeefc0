"""Batches, shards and metrics that differ from rank to rank."""

from __future__ import annotations

import contextlib
import hashlib
import math
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, TypeVar, cast

import torch
import torch.distributed as dist
from torch import nn

from distlint.runtime._world import (
    Group,
    Member,
    Timeout,
    agree,
    failure,
    foreign_data,
    member,
)
from distlint.runtime.agreement import agreed_seed
from distlint.runtime.errors import DeviceError, DisagreementError, DistributedError

T = TypeVar("T")

MAX_DIMENSIONS = 12
_META, _NO_DATA = -2, "the tensor is on the meta device and has no data"
_NO_TENSOR = -3
_UNFIT = {-1: "with an unsupported dtype or layout", _NO_TENSOR: "(not a tensor)"}
_DTYPES = (
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
    *(
        getattr(torch, name)
        for name in ("float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64")
        if hasattr(torch, name)
    ),
)  # fmt: skip

# Equal steps


def equal_steps(
    loader: Iterable[T],
    mode: Literal["stop", "cycle"] = "stop",
    *,
    group: Group = None,
) -> Iterator[T]:
    """Iterate over batches, with the same number of batches on all ranks.

    A rank with more batches than the others waits indefinitely in the collectives of a step that
    the others never take. Before each batch, the ranks check that all of them have one; this works
    for DDP, FSDP and any other code with collectives. An exception in the loader of one rank ends
    the loop on all ranks. One all_reduce of three int32 per step. Collective; if one rank leaves
    the loop early, all must.

    Args:
        loader: any iterable; "cycle" iterates over it repeatedly.
        mode: "stop" ends when the first rank has no more batches; "cycle" restarts loaders that are
            exhausted until all ranks have seen all of their batches.
        group: process group; defaults to all ranks.

    Raises:
        PeerFailedError: on the other ranks, if the loader of one rank raises.
        DistributedError: on all ranks with "cycle", if the loader of a rank is empty or cannot be
            restarted.
        ValueError: if the mode is unknown.
        CollectiveError: if the reduction fails or times out.
        OrderError: if the result shows that another rank is in a different collective.

    Example:
        >>> from distlint.runtime import equal_steps
        >>> len(list(equal_steps([10, 20, 30])))
        3
    """
    if mode not in ("stop", "cycle"):
        raise ValueError(f'mode must be "stop" or "cycle", not {mode!r}')
    me = member(group)
    return iter(loader) if me.alone else _agreed_batches(me, loader, mode)


_END = object()


def _agreed_batches(me: Member, loader: Iterable[T], mode: str) -> Iterator[T]:
    kind = f"equal_steps({mode!r})"
    source: Iterator[T] | None = None
    ended = False
    while True:
        item: Any = _END
        error: Exception | None = None
        empty = False
        try:
            source = iter(loader) if source is None else source
            item = next(source, _END)
            if item is _END:
                ended = True
                if mode == "cycle":
                    source = iter(loader)
                    item = next(source, _END)
                    empty = item is _END
        except Exception as caught:
            error = caught
        states = (ended, empty, error is not None)
        counts = torch.tensor(states, dtype=torch.int32, device=me.device)
        sums = me.all_reduce(counts, dist.ReduceOp.SUM, kind).tolist()
        if not all(0 <= each <= me.size for each in sums):
            raise foreign_data(me, kind, sums)
        at_end, without, failed = sums
        if failed:
            agree(kind, error, me.pg)
        if (mode == "stop" and at_end) or at_end == me.size:
            return
        if without:
            raise failure(
                DistributedError,
                me,
                f"{kind}: {without} of {me.size} ranks cannot restart their loader: it is "
                "empty, or can be iterated over only once",
            )
        yield item


# Tensors of different sizes


def gather_variable(tensor: torch.Tensor, dim: int = 0, *, group: Group = None) -> torch.Tensor:
    """Gather tensors of different sizes from all ranks and concatenate them along a dimension.

    The sizes are gathered first; the tensors are padded, gathered as bytes (which works for every
    dtype and backend), trimmed and concatenated. Two all_gathers. Collective. The result has no
    gradient; see :func:`gather_with_grad`.

    Args:
        tensor: any dtype, on any device; the dtype, the number of dimensions, and all sizes except
            ``dim`` must be the same on all ranks. A scalar counts as one row.
        dim: dimension along which to concatenate; its size can differ between ranks.
        group: process group; defaults to all ranks.

    Returns:
        The same tensor on every rank, in rank order, on the device of the input.

    Raises:
        DisagreementError: on every rank, if dtypes or other sizes differ.
        DeviceError: if the tensor has no data (meta device).
        CollectiveError: if a collective fails or times out.

    Example:
        >>> import torch
        >>> from distlint.runtime import gather_variable
        >>> gather_variable(torch.ones(2, 3)).shape[1]
        3
    """
    return torch.cat(gathered_parts(tensor, dim, "gather_variable", group), dim)


def gathered_parts(tensor: torch.Tensor, dim: int, kind: str, group: Group) -> list[torch.Tensor]:
    me = member(group)
    if isinstance(tensor, torch.Tensor):  # else all ranks are told so
        tensor = tensor.detach()
        tensor = tensor if tensor.dim() else tensor.reshape(1)
    if me.alone:
        if tensor.device.type == "meta":
            raise failure(DeviceError, me, f"{kind}: {_NO_DATA}")
        return [tensor]
    shapes = _gathered_shapes(me, tensor, dim, kind)
    moved = tensor.movedim(dim, 0).contiguous()
    flat = moved.reshape(-1).view(torch.uint8).to(me.device)
    width = tensor.element_size()
    lengths = [math.prod(shape) * width for shape in shapes]
    padded = torch.zeros(max(lengths), dtype=torch.uint8, device=me.device)
    padded[: flat.numel()] = flat
    parts = me.all_gather(padded, kind) if max(lengths) else [padded] * me.size
    result = []
    for part, shape, length in zip(parts, shapes, lengths, strict=True):
        rows = [shape[dim], *(size for at, size in enumerate(shape) if at != dim % len(shape))]
        mine = part[:length].clone().view(tensor.dtype).reshape(rows)
        result.append(mine.movedim(0, dim).to(tensor.device))
    return result


def _gathered_shapes(me: Member, tensor: torch.Tensor, dim: int, kind: str) -> list[list[int]]:
    """Every rank's shape; an error on all of them when the tensors cannot be joined."""
    header = torch.tensor(_header(tensor, dim), dtype=torch.int64, device=me.device)
    headers = [part.tolist() for part in me.all_gather(header, kind)]
    without = [me.ranks[rank] for rank, one in enumerate(headers) if one[1] == _META]
    if without:
        raise failure(DeviceError, me, f"{kind}: on rank {without[0]} {_NO_DATA}")
    shapes = [[size for size in header[3:] if size >= 0] for header in headers]
    fixed = [
        (*header[:3], *(size for at, size in enumerate(shape) if at != header[2]))
        for header, shape in zip(headers, shapes, strict=True)
    ]
    if any(one != fixed[0] for one in fixed) or fixed[0][0] < 0 or fixed[0][1] < 0:
        values = {
            me.ranks[rank]: f"{tuple(shape)} "
            + (str(_DTYPES[header[1]]) if header[1] >= 0 else _UNFIT[header[1]])
            for rank, (header, shape) in enumerate(zip(headers, shapes, strict=True))
        }
        lines = "".join(f"\n  rank {rank}: {text}" for rank, text in values.items())
        message = f"{kind}: the tensors cannot be concatenated along dimension {dim}:{lines}"
        raise failure(DisagreementError, me, message, values=values)
    return shapes


def _header(tensor: object, dim: int) -> list[int]:
    """The number of dimensions, the dtype, the dimension to join along, and the shape."""
    header = [-1, _NO_TENSOR, 0]
    if isinstance(tensor, torch.Tensor):
        dims = tensor.dim()
        fits = dims <= MAX_DIMENSIONS and -dims <= dim < dims
        dtype = -1
        if tensor.device.type == "meta":
            dtype = _META
        elif tensor.dtype in _DTYPES and tensor.layout == torch.strided:
            dtype = _DTYPES.index(tensor.dtype)
        header = [dims if fits else -1, dtype, dim % max(dims, 1), *tensor.shape[:MAX_DIMENSIONS]]
    return header + [-1] * (MAX_DIMENSIONS + 3 - len(header))


def gather_with_grad(tensor: torch.Tensor, dim: int = 0, *, group: Group = None) -> torch.Tensor:
    """Gather tensors from all ranks with gradients that flow back to the input of each rank.

    The result of ``all_gather`` has no gradient, so with a contrastive loss, nothing is learned
    from the features of the other ranks. Here, ``backward`` sums the gradients of all ranks for the
    input of this rank; DDP averages over ranks afterwards, as for any other loss. Two all_gathers
    in the forward, one all_reduce in the backward pass. Collective in both.

    Args:
        tensor: floating point, on any device; sizes can differ along ``dim``.
        dim: dimension along which to concatenate.
        group: process group; defaults to all ranks.

    Returns:
        The same tensor on every rank, in rank order, on the device of the input.

    Raises:
        DisagreementError, DeviceError, CollectiveError: see :func:`gather_variable`.

    Example:
        >>> import torch
        >>> from distlint.runtime import gather_with_grad
        >>> features = torch.ones(2, 3, requires_grad=True)
        >>> gather_with_grad(features).sum().backward()
        >>> bool((features.grad >= 1).all())
        True
    """
    joined: torch.Tensor = cast(Any, _Gather).apply(tensor, dim, group)
    return joined


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, dim: int, group: Group) -> torch.Tensor:
        me = member(group)
        parts = gathered_parts(tensor, dim, "gather_with_grad", group)
        ctx.me, ctx.dim, ctx.shape = me, dim, tensor.shape
        ctx.start = sum(part.shape[dim] for part in parts[: me.rank])
        ctx.length = parts[me.rank].shape[dim]
        return torch.cat(parts, dim)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        total = gradients[0].to(ctx.me.device, copy=True).contiguous()
        total = ctx.me.all_reduce(total, dist.ReduceOp.SUM, "backward of gather_with_grad")
        own = total.narrow(ctx.dim, ctx.start, ctx.length).reshape(ctx.shape)
        return own.to(gradients[0].device), None, None


def pad_across_ranks(
    tensor: torch.Tensor, dim: int = 0, value: float = 0, *, group: Group = None
) -> torch.Tensor:
    """Pad a tensor along a dimension to the largest size on any rank.

    One all_gather of a few integers; the data is not transferred. Collective.

    Args:
        tensor: any dtype, on any device; the dtype, the number of dimensions, and all sizes except
            ``dim`` must be the same on all ranks.
        dim: dimension to pad at the end.
        value: padding value.
        group: process group; defaults to all ranks.

    Raises:
        DisagreementError: on every rank, if dtypes or other sizes differ.
        CollectiveError: if the collective fails or times out.

    Example:
        >>> import torch
        >>> from distlint.runtime import pad_across_ranks
        >>> pad_across_ranks(torch.ones(3, 2), dim=0).shape[0]
        3
    """
    me = member(group)
    if me.alone:
        return tensor
    sizes = [shape[dim] for shape in _gathered_shapes(me, tensor, dim, "pad_across_ranks")]
    lacking = max(sizes) - tensor.shape[dim]
    if not lacking:
        return tensor
    shape = list(tensor.shape)
    shape[dim] = lacking
    return torch.cat([tensor, tensor.new_full(shape, value)], dim)


# Metrics


def reduce_metrics(
    metrics: Mapping[str, Any], *, group: Group = None, timeout: Timeout = None
) -> dict[str, float]:
    """Average metrics over all ranks, for every key that any rank has.

    The mean of the means is wrong if ranks have different numbers of samples: pass pairs of sum and
    count, which are both summed before the division. A rank without a key does not contribute to
    it. Two small all_reduces if all ranks have the same keys; otherwise, keys are also exchanged
    through the store. Collective.

    Args:
        metrics: for each name, a number or a tensor with one element (with count 1), or a pair of
            sum and count. Detached; on any device.
        group: process group; defaults to all ranks.
        timeout: timeout of the exchange of keys, in seconds or as timedelta; defaults to the
            timeout of the group.

    Returns:
        The same floats on every rank, sorted by name; NaN where the count is zero.

    Raises:
        PeerFailedError: on the other ranks, if a rank passes any other value; that rank raises
            TypeError.
        CollectiveError: if a collective fails or times out.

    Example:
        >>> from distlint.runtime import reduce_metrics
        >>> reduce_metrics({"loss": 0.5, "accuracy": (6, 8)})
        {'accuracy': 0.75, 'loss': 0.5}
    """
    me = member(group)
    pairs: dict[str, tuple[float, float]] = {}
    error: Exception | None = None
    try:
        pairs = {name: _pair(name, metrics[name]) for name in sorted(metrics)}
    except Exception as caught:
        error = caught
    if me.alone:
        if error is not None:
            raise error
    else:
        names = list(pairs)
        if not _same_names(me, names, error):
            names = _all_names(me, names, error, timeout)
        table = torch.tensor(
            [pairs.get(name, (0.0, 0.0)) for name in names],
            dtype=torch.float64,
            device=me.device,
        ).reshape(-1, 2)
        rows = me.all_reduce(table, dist.ReduceOp.SUM, "reduce_metrics").tolist()
        pairs = {name: (row[0], row[1]) for name, row in zip(names, rows, strict=True)}
    return {name: total / count if count else math.nan for name, (total, count) in pairs.items()}


def _pair(name: object, value: Any) -> tuple[float, float]:
    if not isinstance(name, str):
        raise TypeError(f"metric names must be strings, not {name!r}")
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return float(value[0]), float(value[1])
    try:
        return float(value), 1.0
    except (TypeError, ValueError, RuntimeError):
        what = f"a tensor of shape {tuple(value.shape)}" if hasattr(value, "shape") else repr(value)
        raise TypeError(
            f"metric {name!r} is neither a number nor a pair of sum and count: {what}"
        ) from None


def _same_names(me: Member, names: list[str], error: Exception | None) -> bool:
    digest = hashlib.sha256("\0".join(names).encode()).digest()[:7]
    number = int.from_bytes(digest, "big") + 1 if error is None else 0
    extremes = torch.tensor([number, -number], dtype=torch.int64, device=me.device)
    largest, smallest = me.all_reduce(extremes, dist.ReduceOp.MAX, "reduce_metrics").tolist()
    return bool(largest == -smallest and largest > 0)


def _all_names(
    me: Member, names: list[str], error: Exception | None, timeout: Timeout
) -> list[str]:
    everyone = agree("reduce_metrics", error, me.pg, timeout, names)
    return sorted({name for theirs in everyone for name in theirs})


# Accumulation


@dataclass(frozen=True)
class MicroBatch:
    """Position of a micro-batch in its gradient accumulation window.

    Attributes:
        last: whether it is the last one of its window, after which the optimizer steps.
        scale: factor for a mean loss, one over the size of the window.
        index: index in the window.
        window: number of micro-batches in the window; fewer in the last window.
    """

    last: bool
    scale: float
    index: int
    window: int


def accumulate(
    loader: Iterable[T], n: int, model: nn.Module | Sequence[nn.Module] | None = None
) -> Iterator[tuple[T, MicroBatch]]:
    """Iterate over micro-batches in gradient accumulation windows, and reduce once per window.

    Manual loops often have three bugs: gradients are reduced for every micro-batch (``no_sync``
    must include the forward pass), the last, shorter window is never stepped, and its loss is still
    divided by n. Windows are read ahead, so n batches are in memory at a time. It is not
    collective, but ``backward`` of the last micro-batch is: all ranks need the same number of
    batches, see :func:`equal_steps`.

    Args:
        loader: iterable of micro-batches.
        n: number of micro-batches per window.
        model: DDP or FSDP (1 or 2) model, or several of them; other models are ignored.

    Yields:
        The batch and its :class:`MicroBatch`.

    Example:
        >>> from distlint.runtime import accumulate
        >>> [(batch, micro.last, micro.scale) for batch, micro in accumulate("abc", 2)]
        [('a', False, 0.5), ('b', True, 0.5), ('c', True, 1.0)]
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, not {n}")
    models = [model] if isinstance(model, nn.Module) else list(model or ())
    source = iter(loader)
    while window := list(islice(source, n)):
        for index, batch in enumerate(window):
            last = index == len(window) - 1
            with contextlib.ExitStack() as stack:
                if not last:
                    for each in models:
                        stack.enter_context(_no_sync(each))
                yield batch, MicroBatch(last, 1 / len(window), index, len(window))


@contextlib.contextmanager
def _no_sync(model: Any) -> Iterator[None]:
    if hasattr(model, "set_requires_gradient_sync"):  # FSDP2
        model.set_requires_gradient_sync(False)
        try:
            yield
        finally:
            model.set_requires_gradient_sync(True)
    elif hasattr(model, "no_sync"):
        with model.no_sync():
            yield
    else:
        yield


# Seeds


def seed_all(
    seed: int | None = None,
    *,
    per_rank: bool = False,
    group: Group = None,
    timeout: Timeout = None,
) -> int:
    """Seed Python's random, NumPy (if imported) and torch on all devices.

    Use the same seed on all ranks for initial weights and splits; ``per_rank`` adds the rank, for
    dropout and augmentation, which should differ. DataLoader workers need no seed: torch seeds
    them, including NumPy, from its generator. Collective only without a seed, when the ranks agree
    on a random one.

    Args:
        seed: the seed, or None for a random one.
        per_rank: add the rank to the seed.
        group: process group; defaults to all ranks.
        timeout: timeout of the agreement on a random seed, in seconds or as timedelta.

    Returns:
        The seed used on this rank.

    Raises:
        MissingRanksError: without a seed, if the first rank does not call it within the timeout.

    Example:
        >>> import random
        >>> from distlint.runtime import seed_all
        >>> seed_all(1), random.random() == random.Random(1).random()
        (1, True)
    """
    if seed is None:
        seed = agreed_seed(group=group, timeout=timeout)
    if per_rank:
        seed += member(group).rank
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
    torch.manual_seed(seed)  # all devices
    return seed
