"""Have the replicas of a model drifted apart, and are the gradients finite on every rank?"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from distlint.runtime._world import Group, Member, agree, failure, member
from distlint.runtime.errors import DisagreementError, in_words

Kind = Literal["parameter", "buffer", "gradient"]

_CHUNK = 1 << 20
_NONE = -1
_calls: WeakKeyDictionary[nn.Module, int] = WeakKeyDictionary()


@dataclass(frozen=True)
class Drift:
    """A tensor that differs between ranks.

    ``groups`` are groups of ranks with the same value, starting with that of the lowest rank;
    ``missing`` are the ranks on which the gradient is None.
    """

    name: str
    kind: Kind
    groups: tuple[tuple[int, ...], ...]
    missing: tuple[int, ...] = ()

    def __str__(self) -> str:
        sides = " and ".join(map(in_words, self.groups))
        none = f"; None on {', '.join(map(str, self.missing))}" if self.missing else ""
        return f"{self.kind} {self.name} differs between {sides}{none}"


@dataclass(frozen=True)
class NonFinite:
    """A parameter whose gradient contains inf or NaN on these ranks."""

    name: str
    ranks: tuple[int, ...]

    def __str__(self) -> str:
        return f"gradient of {self.name} is not finite on {in_words(self.ranks)}"


def check_replicas(
    model: nn.Module,
    *,
    every: int = 1,
    gradients: bool = True,
    buffers: bool = False,
    group: Group = None,
) -> tuple[Drift, ...]:
    """Return the parameters and gradients that differ between ranks that should be replicas.

    Collective over ``group``: two small all_gathers in one of ``every`` calls; the other calls do
    nothing. All ranks get the same result. Values are compared bit by bit with a checksum, on their
    device. Call it after ``optimizer.step()`` and before gradients are set to None; inside
    ``no_sync``, gradients differ by design. Sharded parameters (DTensor, FSDP, ZeRO-3) are ignored.
    Without a process group, there is nothing to compare.

    Args:
        model: any module, wrapped or not; parameters of any shape, dtype and device.
        every: compare in every n-th call for this model.
        gradients: also compare gradients.
        buffers: also compare buffers, such as the running means of BatchNorm.
        group: process group of the replicas; defaults to all ranks.

    Returns:
        The differing tensors, in the order of registration in the model; empty if there are none.

    Raises:
        DisagreementError: on every rank, if the models of the ranks have different parameters.
        PeerFailedError: on the other ranks, if a rank has a tensor without data (meta device).
        CollectiveError: if a collective fails or times out.

    Example:
        >>> import torch
        >>> from distlint.runtime import check_replicas
        >>> for drift in check_replicas(torch.nn.Linear(2, 2)):
        ...     print(drift)
    """
    if every < 1:
        raise ValueError(f"every must be at least 1, not {every}")
    me = member(group)
    if me.alone:
        return ()
    _calls[model] = _calls.get(model, 0) + 1
    if _calls[model] % every:
        return ()
    named = list(_tensors(model, gradients=gradients, buffers=buffers))
    names = [f"{kind} {name}" for name, kind, _ in named]

    @torch.no_grad()
    def sums() -> Tensor:
        return _stacked([_checksum(tensor) for _, _, tensor in named])

    rows = _gathered_rows(sums, names, me, "check_replicas")
    found = (
        _drift(name, kind, [row[index] for row in rows], me.ranks)
        for index, (name, kind, _) in enumerate(named)
    )
    return tuple(drift for drift in found if drift is not None)


def check_finite_grads(model: nn.Module, *, group: Group = None) -> tuple[NonFinite, ...]:
    """Return the parameters whose gradients contain inf or NaN, the same on every rank.

    Collective over ``group``: two small all_gathers. Works before and after gradients are averaged;
    with a GradScaler, call it after ``unscale_``. Gradients can have any shape, dtype and device,
    and can be None.

    Args:
        model: any module, wrapped or not.
        group: process group to check; defaults to all ranks.

    Returns:
        The affected parameters, in the order of registration in the model; empty if there are none.

    Raises:
        DisagreementError, PeerFailedError, CollectiveError: see :func:`check_replicas`.

    Example:
        >>> import torch
        >>> from distlint.runtime import check_finite_grads
        >>> model = torch.nn.Linear(1, 1)
        >>> model(torch.full((1, 1), float("inf"))).sum().backward()
        >>> [each.name for each in check_finite_grads(model)]
        ['weight']
    """
    names = [name for name, _ in model.named_parameters()]
    me = member(group)

    def bad() -> Tensor:
        flags = _non_finite([parameter.grad for parameter in model.parameters()])
        return torch.tensor(flags, dtype=torch.int64, device="cpu")

    rows = [bad().tolist()] if me.alone else _gathered_rows(bad, names, me, "check_finite_grads")
    return tuple(
        NonFinite(name, tuple(rank for rank, row in zip(me.ranks, rows, strict=True) if row[index]))
        for index, name in enumerate(names)
        if any(row[index] for row in rows)
    )


def _tensors(
    model: nn.Module, *, gradients: bool, buffers: bool
) -> Iterator[tuple[str, Kind, Tensor | None]]:
    for name, parameter in model.named_parameters():
        if _sharded(parameter):
            continue
        yield name, "parameter", parameter
        if gradients:
            yield name, "gradient", parameter.grad
    if buffers:
        for name, buffer in model.named_buffers():
            yield name, "buffer", buffer


def _sharded(tensor: Tensor) -> bool:
    """Does it belong to a DTensor, FSDP 1 or ZeRO-3?"""
    marks = ("placements", "_local_shards", "_fsdp_flattened", "ds_id")
    return any(hasattr(tensor, mark) for mark in marks)


def _checksum(tensor: Tensor | None) -> Tensor:
    """A number of the bits; unlike a sum of floats, it does not depend on the order."""
    if tensor is None:
        return torch.tensor(_NONE, device="cpu")
    if tensor.is_sparse:
        tensor = tensor.coalesce()
        return _checksum(tensor.indices()) * 31 + _checksum(tensor.values())
    flat = tensor.detach().contiguous().view(-1)
    if flat.is_complex():
        flat = torch.view_as_real(flat).view(-1)
    total = torch.zeros((), dtype=torch.int64, device=flat.device)
    for start in range(0, flat.numel(), _CHUNK):
        bits = _bits(flat[start : start + _CHUNK])
        place = torch.arange(start, start + len(bits), device=bits.device)
        total = total * 31 + (bits * (place * 2_654_435_761 + 1)).sum()
    return total


def _stacked(numbers: list[Tensor]) -> Tensor:
    """The numbers on the CPU, with one synchronisation for each device."""
    found = torch.empty(len(numbers), dtype=torch.int64, device="cpu")
    for device in {each.device for each in numbers}:
        places = [index for index, each in enumerate(numbers) if each.device == device]
        found[places] = torch.stack([numbers[index] for index in places]).cpu()
    return found


def _bits(flat: Tensor) -> Tensor:
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    if flat.dtype == torch.bool:
        return flat.to(torch.int64)
    return flat.view(integers[flat.element_size()]).to(torch.int64)


def _non_finite(gradients: list[Tensor | None]) -> list[int]:
    """1 for each gradient that holds inf or nan: one synchronisation where all is well."""
    values = [
        None if each is None else each._values() if each.is_sparse else each for each in gradients
    ]
    dense = [_local(each.detach()) for each in values if each is not None]
    inexact = [each for each in dense if each.is_floating_point() or each.is_complex()]
    sums: dict[torch.device, list[Tensor]] = {}
    for each in inexact:
        sums.setdefault(each.device, []).append(each.abs().float().sum())
    if all(bool(torch.stack(each).isfinite().all()) for each in sums.values()):
        return [0] * len(gradients)
    return [
        0 if each is None else int(not bool(_local(each.detach()).isfinite().all()))
        for each in values
    ]


def _local(tensor: Tensor) -> Tensor:
    """This rank's part of a sharded tensor, or the tensor itself."""
    to_local: Any = getattr(tensor, "to_local", None)
    return tensor if to_local is None else to_local()


def _gathered_rows(
    make_row: Callable[[], Tensor], names: list[str], me: Member, kind: str
) -> list[list[int]]:
    """The rows of all ranks, which must have the same names."""
    error: Exception | None = None
    row = torch.empty(0, device="cpu")
    try:
        row = make_row()
    except Exception as caught:
        error = caught
    number = zlib.crc32("\n".join(names).encode())
    head = [len(names), number, error is not None]
    heads = me.all_gather(torch.tensor(head, dtype=torch.int64, device=me.device), kind)
    shown = [each.tolist() for each in heads]
    if any(failed for _, _, failed in shown):
        agree(kind, error, me.pg)
    if any(each != shown[0] for each in shown):
        raise _unlike(names, me, kind)
    return [each.tolist() for each in me.all_gather(row.to(me.device), kind)]


def _unlike(names: list[str], me: Member, kind: str) -> DisagreementError:
    everybody = dict(zip(me.ranks, agree(kind, None, me.pg, value=names), strict=True))
    first, *others = me.ranks
    ours = everybody[first]
    rank = next((each for each in others if everybody[each] != ours), first)
    theirs = everybody[rank]
    only = [f"{name} on rank {first} only" for name in ours if name not in theirs]
    only += [f"{name} on rank {rank} only" for name in theirs if name not in ours]
    what = ", ".join(only[:3]) or "order of the parameters"
    message = f"{kind}: ranks {first} and {rank} have different models: {what}"
    values = {each: ", ".join(held) for each, held in everybody.items()}
    return failure(DisagreementError, me, message, values=values)


def _drift(name: str, kind: Kind, sums: list[int], ranks: tuple[int, ...]) -> Drift | None:
    if len(set(sums)) == 1:
        return None
    sides: dict[int, list[int]] = {}
    for rank, number in zip(ranks, sums, strict=True):
        sides.setdefault(number, []).append(rank)
    missing = tuple(sides.get(_NONE, ()))
    return Drift(name, kind, tuple(tuple(side) for side in sides.values()), missing)
