"""What a collective was called with: taken in a hurry as raw values, put into words later.

The describers have the signatures of the functions that they describe, so that Python binds the
arguments; each returns the group and the raw payload, root and reduce op. What the members of a
group need not agree on (such as the list that only the root of a scatter passes) is left out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from distlint.runtime.collective_watch.sites import Site

Described = tuple[Any, tuple[Any, ...], Any, Any]
"""The group, the payload as tensors' ``(shape, dtype, shape, dtype, ...)``, root, reduce op."""
Describer = Callable[..., Described]


class Call(NamedTuple):
    """A collective in words, as it is published to the other ranks."""

    op: str
    reduce: str
    root: str
    dtype: str
    shape: str
    detail: str
    site: Site | None
    via: Site | None
    arguments: tuple[str, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """What the members of the group must agree on."""
        return self[:6]

    def __str__(self) -> str:
        inside = ", ".join(part for part in (self.reduce, self.root, self.detail) if part)
        text = f"{self.op}({inside})" if inside else self.op
        tensors = f"{self.dtype}{self.shape}" if self.dtype else self.shape
        return f"{text} {tensors}" if tensors else text


def call_from_json(row: list[Any]) -> Call:
    """A call as it comes out of JSON."""
    site, via = (None if each is None else Site(*each) for each in row[6:8])
    op, reduce, root, dtype, shape, what = row[:6]
    return Call(op, reduce, root, dtype, shape, what, site, via, tuple(row[8]))


def _broadcast(
    tensor: Any,
    src: Any = None,
    group: Any = None,
    async_op: Any = False,
    group_src: Any = None,
    **_: Any,
) -> Described:
    return group, (tensor.shape, tensor.dtype), _root(src, group_src), None


def _all_reduce(tensor: Any, op: Any = "SUM", group: Any = None, *_: Any, **__: Any) -> Described:
    return group, (tensor.shape, tensor.dtype), None, op


def _all_reduce_coalesced(
    tensors: Any, op: Any = "SUM", group: Any = None, *_: Any, **__: Any
) -> Described:
    return group, _many(tensors), None, op


def _reduce(
    tensor: Any,
    dst: Any = None,
    op: Any = "SUM",
    group: Any = None,
    async_op: Any = False,
    group_dst: Any = None,
    **_: Any,
) -> Described:
    return group, (tensor.shape, tensor.dtype), _root(dst, group_dst), op


def _all_gather(tensor_list: Any, tensor: Any, group: Any = None, *_: Any, **__: Any) -> Described:
    first = tensor_list[0].shape if tensor_list else None
    if all(each.shape == first for each in tensor_list):
        return group, (tensor.shape, tensor.dtype), None, None
    return group, _many(tensor_list), None, None


def _all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Any = None, *_: Any, **__: Any
) -> Described:
    return group, (input_tensor.shape, input_tensor.dtype), None, None


def _all_gather_coalesced(
    output_tensor_lists: Any, input_tensor_list: Any, group: Any = None, *_: Any, **__: Any
) -> Described:
    return group, _many(input_tensor_list), None, None


def _gather(
    tensor: Any,
    gather_list: Any = None,
    dst: Any = None,
    group: Any = None,
    async_op: Any = False,
    group_dst: Any = None,
    **_: Any,
) -> Described:
    return group, (tensor.shape, tensor.dtype), _root(dst, group_dst, 0), None


def _scatter(
    tensor: Any,
    scatter_list: Any = None,
    src: Any = None,
    group: Any = None,
    async_op: Any = False,
    group_src: Any = None,
    **_: Any,
) -> Described:
    return group, (tensor.shape, tensor.dtype), _root(src, group_src, 0), None


def _reduce_scatter(
    output: Any, input_list: Any, op: Any = "SUM", group: Any = None, *_: Any, **__: Any
) -> Described:
    return group, _many(input_list), None, op


def _reduce_scatter_tensor(
    output: Any,
    input: Any,  # noqa: A002
    op: Any = "SUM",
    group: Any = None,
    *_: Any,
    **__: Any,
) -> Described:
    return group, (input.shape, input.dtype), None, op


def _all_to_all_single(
    output: Any,
    input: Any,  # noqa: A002
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    *_: Any,
    **__: Any,
) -> Described:
    if output_split_sizes or input_split_sizes:  # each rank has sizes of its own
        return group, (("*", *input.shape[1:]), input.dtype), None, None
    return group, (input.shape, input.dtype), None, None


def _all_to_all(
    output_tensor_list: Any, input_tensor_list: Any, group: Any = None, *_: Any, **__: Any
) -> Described:
    dtype = input_tensor_list[0].dtype if input_tensor_list else None
    return group, (f"{len(input_tensor_list)} parts", dtype), None, None


def _barrier(group: Any = None, *_: Any, **__: Any) -> Described:
    return group, (), None, None


def _all_gather_object(object_list: Any, obj: Any, group: Any = None, *_: Any) -> Described:
    return group, (), None, None


def _gather_object(
    obj: Any,
    object_gather_list: Any = None,
    dst: Any = None,
    group: Any = None,
    group_dst: Any = None,
    **_: Any,
) -> Described:
    return group, (), _root(dst, group_dst, 0), None


def _broadcast_object_list(
    object_list: Any,
    src: Any = None,
    group: Any = None,
    device: Any = None,
    group_src: Any = None,
    **_: Any,
) -> Described:
    return group, (f"{len(object_list)} objects", None), _root(src, group_src), None


def _scatter_object_list(
    out: Any,
    input_list: Any = None,
    src: Any = None,
    group: Any = None,
    group_src: Any = None,
    **_: Any,
) -> Described:
    return group, (), _root(src, group_src, 0), None


def _broadcast_coalesced(process_group: Any, tensors: Any, *_: Any, **__: Any) -> Described:
    return process_group, (f"{len(tensors)} tensors", None), None, None


def _verify_params(process_group: Any, tensors: Any, *_: Any, **__: Any) -> Described:
    return process_group, (f"{len(tensors)} tensors", None), None, None


def _f_all_reduce(
    self: Any,
    reduceOp: Any,  # noqa: N803
    group: Any,
    *_: Any,
    **__: Any,
) -> Described:
    return group, (self.shape, self.dtype), None, reduceOp


def _f_broadcast(self: Any, src: Any, group: Any, *_: Any, **__: Any) -> Described:
    return group, (self.shape, self.dtype), ("group", src), None


def _f_all_gather(self: Any, *args: Any, group: Any = None, **_: Any) -> Described:
    # (self, gather_dim, group) of the tensor forms, (self, group) of the single ones
    chosen = group if group is not None else args[1] if isinstance(args[0], int) else args[0]
    return chosen, (self.shape, self.dtype), None, None


def _f_reduce_scatter(
    self: Any,
    reduceOp: Any,  # noqa: N803
    *args: Any,
    group: Any = None,
    **_: Any,
) -> Described:
    chosen = group if group is not None else args[1] if isinstance(args[0], int) else args[0]
    return chosen, (self.shape, self.dtype), None, reduceOp


def _f_all_reduce_coalesced(
    self: Any,
    reduceOp: Any,  # noqa: N803
    group: Any,
    *_: Any,
    **__: Any,
) -> Described:
    return group, _many(self), None, reduceOp


def _f_all_to_all_single(
    self: Any, output_split_sizes: Any, input_split_sizes: Any, group: Any, *_: Any, **__: Any
) -> Described:
    if output_split_sizes or input_split_sizes:
        return group, (("*", *self.shape[1:]), self.dtype), None, None
    return group, (self.shape, self.dtype), None, None


def _many(tensors: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(value for each in tensors for value in (each.shape, each.dtype))


def _root(rank: Any, in_group: Any, default: int | None = None) -> Any:
    if rank is not None:
        return ("world", rank)
    if in_group is not None:
        return ("group", in_group)
    return None if default is None else ("group", default)


COLLECTIVES: dict[str, tuple[str, Describer]] = {
    "all_gather": ("all_gather", _all_gather),
    "all_gather_coalesced": ("all_gather_coalesced", _all_gather_coalesced),
    "all_gather_into_tensor": ("all_gather_into_tensor", _all_gather_into_tensor),
    "all_gather_object": ("all_gather_object", _all_gather_object),
    "all_gather_single": ("all_gather_into_tensor", _all_gather_into_tensor),
    "all_reduce": ("all_reduce", _all_reduce),
    "all_reduce_coalesced": ("all_reduce_coalesced", _all_reduce_coalesced),
    "all_to_all": ("all_to_all", _all_to_all),
    "all_to_all_single": ("all_to_all_single", _all_to_all_single),
    "barrier": ("barrier", _barrier),
    "broadcast": ("broadcast", _broadcast),
    "broadcast_object_list": ("broadcast_object_list", _broadcast_object_list),
    "gather": ("gather", _gather),
    "gather_object": ("gather_object", _gather_object),
    "monitored_barrier": ("monitored_barrier", _barrier),
    "reduce": ("reduce", _reduce),
    "reduce_scatter": ("reduce_scatter", _reduce_scatter),
    "reduce_scatter_single": ("reduce_scatter_tensor", _reduce_scatter_tensor),
    "reduce_scatter_tensor": ("reduce_scatter_tensor", _reduce_scatter_tensor),
    "scatter": ("scatter", _scatter),
    "scatter_object_list": ("scatter_object_list", _scatter_object_list),
    "_broadcast_coalesced": ("broadcast_coalesced", _broadcast_coalesced),
    "_verify_params_across_processes": ("verify_params_across_processes", _verify_params),
}
"""Functions of torch.distributed, by name: the operation as it is called here, and a describer."""

FUNCTIONAL: dict[str, tuple[str, Describer]] = {
    "all_gather_single": ("all_gather_into_tensor", _f_all_gather),
    "all_gather_single_autograd": ("all_gather_into_tensor", _f_all_gather),
    "all_gather_tensor": ("all_gather_into_tensor", _f_all_gather),
    "all_gather_tensor_autograd": ("all_gather_into_tensor", _f_all_gather),
    "all_reduce": ("all_reduce", _f_all_reduce),
    "all_reduce_coalesced": ("all_reduce_coalesced", _f_all_reduce_coalesced),
    "all_to_all_single": ("all_to_all_single", _f_all_to_all_single),
    "all_to_all_single_autograd": ("all_to_all_single", _f_all_to_all_single),
    "broadcast": ("broadcast", _f_broadcast),
    "reduce_scatter_single": ("reduce_scatter_tensor", _f_reduce_scatter),
    "reduce_scatter_single_autograd": ("reduce_scatter_tensor", _f_reduce_scatter),
    "reduce_scatter_tensor": ("reduce_scatter_tensor", _f_reduce_scatter),
    "reduce_scatter_tensor_autograd": ("reduce_scatter_tensor", _f_reduce_scatter),
}
"""The functions of torch.distributed._functional_collectives."""


def words(
    op: str,
    payload: tuple[Any, ...],
    root: Any,
    reduce: Any,
    ranks: Sequence[int],
) -> tuple[str, str, str, str, str, str]:
    """The key of a call: op, reduce op, root, dtype, shape, detail."""
    detail = ""
    if payload and payload[0] is _DETAIL:
        detail, payload = str(payload[1]), ()
    dtypes = [_dtype(each) for each in payload[1::2]]
    shapes = [_shape(each) for each in payload[::2]]
    dtype = dtypes[0] if len(set(dtypes)) == 1 else ", ".join(dtypes)
    return op, _reduce_name(reduce), _root_name(root, ranks), dtype, ", ".join(shapes), detail


_DETAIL = object()


def detail(text: str) -> tuple[Any, ...]:
    """The payload of something that carries no tensors."""
    return (_DETAIL, text)


def _shape(shape: Any) -> str:
    if isinstance(shape, str):
        return shape
    return f"[{', '.join(map(str, shape))}]"


@functools.lru_cache(maxsize=256)
def _dtype(dtype: Any) -> str:
    return "" if dtype is None else str(dtype).removeprefix("torch.")


def _reduce_name(reduce: Any) -> str:
    if reduce is None:
        return ""
    text = str(reduce)
    if " object at " in text:  # a ReduceOp that wraps one of the plain ones
        kinds = type(reduce).RedOpType.__members__
        return next((name for name, kind in kinds.items() if reduce == kind), "custom")
    return text.rpartition(".")[2].upper()


def _root_name(root: Any, ranks: Sequence[int]) -> str:
    if root is None:
        return ""
    kind, rank = root
    rank = int(rank)
    if kind == "group" and 0 <= rank < len(ranks):
        rank = ranks[rank]
    return f"root {rank}"
