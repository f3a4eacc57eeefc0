"""``torch.distributed`` for one simulated rank."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from benchmarks.random_programs.oracle.rendezvous import RANKS, WORLD, Call, Finish, Group
from benchmarks.random_programs.oracle.state import State
from benchmarks.random_programs.oracle.torch_stub import Tensor


class ReduceOp:
    """The names of the reductions."""

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"


def _product(values: list[Any]) -> Any:
    total = 1
    for value in values:
        total *= value
    return total


_REDUCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": sum,
    "avg": lambda values: sum(values) / len(values),
    "product": _product,
    "min": min,
    "max": max,
}


class _Groups:
    WORLD = WORLD


class _Member:
    WORLD = WORLD
    NON_GROUP_MEMBER = None


class Work:
    """The handle of a collective that was started asynchronously, and is complete already."""

    def wait(self) -> bool:
        return True

    def is_completed(self) -> bool:
        return True


def _reduced(payloads: Mapping[int, Tensor], op: str) -> list[Any]:
    reduce = _REDUCTIONS[op]
    return [
        reduce(list(column)) for column in zip(*(t.data for t in payloads.values()), strict=False)
    ]


def _concatenated(payloads: Mapping[int, tuple[Tensor, Tensor]]) -> list[Any]:
    return [value for _, tensor in payloads.values() for value in tensor.data]


def _write(target: Tensor, values: list[Any]) -> None:
    target.data[: len(values)] = values[: len(target.data)]


class Distributed:
    """The module as rank ``rank`` sees it."""

    ReduceOp = ReduceOp
    group = _Groups
    GroupMember = _Member

    def __init__(self, state: State, rank: int) -> None:
        self._state = state
        self._rank = rank

    # What a rank knows without asking the others.

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return True

    def init_process_group(self, *args: Any, **kwargs: Any) -> None: ...

    def destroy_process_group(self, group: Group | None = None) -> None: ...

    def get_rank(self, group: Group | None = None) -> int:
        ranks = (group or WORLD).ranks
        return ranks.index(self._rank) if self._rank in ranks else -1

    def get_world_size(self, group: Group | None = None) -> int:
        ranks = (group or WORLD).ranks
        return len(ranks) if self._rank in ranks else -1

    def get_process_group_ranks(self, group: Group | None) -> list[int]:
        return list((group or WORLD).ranks)

    # Collectives.

    def _call(
        self,
        op: str,
        group: Group | None,
        payload: Any = None,
        finish: Finish | None = None,
        agree: tuple[Hashable, ...] = (),
        async_op: bool = False,
    ) -> Work | None:
        group = group or WORLD
        if self._rank in group.ranks:  # for others it is a warning and no more
            key = (op, group.number, *agree)
            self._state.job.enter(self._rank, Call(group.ranks, key, payload, finish))
        return Work() if async_op else None

    def _root(self, root: int | None, group: Group | None) -> int:
        root = 0 if root is None else root
        ranks = (group or WORLD).ranks
        if root not in ranks and self._rank in ranks:
            raise ValueError(f"global rank {root} is not part of the group")
        return root

    def new_group(self, ranks: Any = None, *args: Any, **kwargs: Any) -> Group:
        members = tuple(sorted(RANKS if ranks is None else ranks))

        def finish(payloads: Mapping[int, Any]) -> Mapping[int, Any]:
            made = self._state.new_group(members)
            return dict.fromkeys(payloads, made)

        call = Call(RANKS, ("new_group", members), None, finish)
        made: Group = self._state.job.enter(self._rank, call)
        return made

    def barrier(
        self, group: Group | None = None, async_op: bool = False, device_ids: Any = None
    ) -> Work | None:
        return self._call("barrier", group, async_op=async_op)

    def monitored_barrier(
        self, group: Group | None = None, timeout: Any = None, wait_all_ranks: bool = False
    ) -> None:
        self._call("monitored_barrier", group)

    def all_reduce(
        self,
        tensor: Tensor,
        op: str = ReduceOp.SUM,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Work | None:
        def finish(payloads: Mapping[int, Any]) -> None:
            values = _reduced(payloads, op)
            for target in payloads.values():
                _write(target, values)

        return self._call("all_reduce", group, tensor, finish, (op,), async_op)

    def reduce(
        self,
        tensor: Tensor,
        dst: int | None = None,
        op: str = ReduceOp.SUM,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Work | None:
        root = self._root(dst, group)

        def finish(payloads: Mapping[int, Any]) -> None:
            _write(payloads[root], _reduced(payloads, op))

        return self._call("reduce", group, tensor, finish, (root, op), async_op)

    def broadcast(
        self,
        tensor: Tensor,
        src: int | None = None,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Work | None:
        root = self._root(src, group)

        def finish(payloads: Mapping[int, Any]) -> None:
            values = payloads[root].tolist()
            for target in payloads.values():
                _write(target, values)

        return self._call("broadcast", group, tensor, finish, (root,), async_op)

    def all_gather(
        self,
        tensor_list: list[Tensor],
        tensor: Tensor,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Work | None:
        def finish(payloads: Mapping[int, Any]) -> None:
            parts = [part.tolist() for _, part in payloads.values()]
            for targets, _ in payloads.values():
                for target, part in zip(targets, parts, strict=False):
                    _write(target, part)

        return self._call("all_gather", group, (tensor_list, tensor), finish, (), async_op)

    def all_gather_into_tensor(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Work | None:
        def finish(payloads: Mapping[int, Any]) -> None:
            values = _concatenated(payloads)
            for target, _ in payloads.values():
                _write(target, values)

        payload = (output_tensor, input_tensor)
        return self._call("all_gather_into_tensor", group, payload, finish, (), async_op)

    def reduce_scatter_tensor(
        self,
        output: Tensor,
        input: Tensor,  # noqa: A002 - torch's name
        op: str = ReduceOp.SUM,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Work | None:
        def finish(payloads: Mapping[int, Any]) -> None:
            values = _reduced({rank: whole for rank, (_, whole) in payloads.items()}, op)
            for place, (target, _) in enumerate(payloads.values()):
                size = len(target.data)
                _write(target, values[place * size : (place + 1) * size])

        payload = (output, input)
        return self._call("reduce_scatter_tensor", group, payload, finish, (op,), async_op)

    def all_to_all_single(
        self,
        output: Tensor,
        input: Tensor,  # noqa: A002 - torch's name
        output_split_sizes: Any = None,
        input_split_sizes: Any = None,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Work | None:
        def finish(payloads: Mapping[int, Any]) -> None:
            columns = zip(*(part.tolist() for _, part in payloads.values()), strict=False)
            for (target, _), column in zip(payloads.values(), columns, strict=False):
                _write(target, list(column))

        return self._call("all_to_all_single", group, (output, input), finish, (), async_op)

    def gather(
        self,
        tensor: Tensor,
        gather_list: list[Tensor] | None = None,
        dst: int | None = None,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Work | None:
        root = self._root(dst, group)

        def finish(payloads: Mapping[int, Any]) -> None:
            targets = payloads[root][0] or ()
            for target, (_, part) in zip(targets, payloads.values(), strict=False):
                _write(target, part.tolist())

        return self._call("gather", group, (gather_list, tensor), finish, (root,), async_op)

    def scatter(
        self,
        tensor: Tensor,
        scatter_list: list[Tensor] | None = None,
        src: int | None = None,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Work | None:
        root = self._root(src, group)

        def finish(payloads: Mapping[int, Any]) -> None:
            parts = payloads[root][0] or ()
            for part, (_, target) in zip(parts, payloads.values(), strict=False):
                _write(target, part.tolist())

        return self._call("scatter", group, (scatter_list, tensor), finish, (root,), async_op)

    def all_gather_object(
        self, object_list: list[Any], obj: Any, group: Group | None = None
    ) -> None:
        def finish(payloads: Mapping[int, Any]) -> None:
            values = [value for _, value in payloads.values()]
            for target, _ in payloads.values():
                target[: len(values)] = values

        self._call("all_gather_object", group, (object_list, obj), finish)

    def gather_object(
        self,
        obj: Any,
        object_gather_list: list[Any] | None = None,
        dst: int | None = None,
        group: Group | None = None,
    ) -> None:
        root = self._root(dst, group)

        def finish(payloads: Mapping[int, Any]) -> None:
            target = payloads[root][0]
            if target is not None:
                target[:] = [value for _, value in payloads.values()]

        self._call("gather_object", group, (object_gather_list, obj), finish, (root,))

    def broadcast_object_list(
        self,
        object_list: list[Any],
        src: int | None = None,
        group: Group | None = None,
        device: Any = None,
    ) -> None:
        root = self._root(src, group)

        def finish(payloads: Mapping[int, Any]) -> None:
            values = list(payloads[root])
            for target in payloads.values():
                target[:] = values

        self._call("broadcast_object_list", group, object_list, finish, (root,))

    # Point to point: both ends wait for each other.

    def _transfer(self, tensor: Tensor, source: int, target: int, tag: int) -> None:
        def finish(payloads: Mapping[int, Any]) -> None:
            _write(payloads[target], payloads[source].tolist())

        call = Call((source, target), ("p2p", source, target, tag), tensor, finish)
        self._state.job.enter(self._rank, call)

    def send(self, tensor: Tensor, dst: int, group: Group | None = None, tag: int = 0) -> None:
        self._transfer(tensor, self._rank, dst, tag)

    def recv(self, tensor: Tensor, src: int, group: Group | None = None, tag: int = 0) -> None:
        self._transfer(tensor, src, self._rank, tag)
