"""torch.distributed with Accelerate's own operations in place of those that it has."""

from __future__ import annotations

from typing import Any


class Accelerated:
    """Calls of a script, as a user of Accelerate would write them.

    Accelerate checks what goes through its own functions; the rest goes straight to torch.
    """

    def __init__(self, dist: Any) -> None:
        from accelerate import PartialState

        self._dist = dist
        self._state = PartialState(cpu=True)
        assert self._state.num_processes == dist.get_world_size()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dist, name)

    def all_reduce(self, tensor: Any, op: Any = None, group: Any = None, **more: Any) -> Any:
        from accelerate.utils import reduce

        if group is not None or more or op not in (None, self._dist.ReduceOp.SUM):
            return self._dist.all_reduce(tensor, op or self._dist.ReduceOp.SUM, group, **more)
        return reduce(tensor, "sum")

    def all_gather(self, out: Any, tensor: Any, group: Any = None) -> Any:
        from accelerate.utils import gather

        return gather(tensor) if group is None else self._dist.all_gather(out, tensor, group)

    def broadcast(self, tensor: Any, src: int, group: Any = None, **more: Any) -> Any:
        from accelerate.utils import broadcast

        if group is not None or more:
            return self._dist.broadcast(tensor, src, group, **more)
        return broadcast(tensor, from_process=src)

    def all_gather_object(self, out: Any, value: Any) -> Any:
        from accelerate.utils import gather_object

        return gather_object([value])

    def broadcast_object_list(self, values: Any, src: int) -> Any:
        from accelerate.utils import broadcast_object_list

        return broadcast_object_list(values, from_process=src)

    def barrier(self) -> None:
        self._state.wait_for_everyone()
