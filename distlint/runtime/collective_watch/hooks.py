"""Put the watch around the functions of torch.distributed, and take it away again.

The functions are replaced in every module that has imported them. Gradient reductions of
DistributedDataParallel happen in C++: they are seen as the backward that reaches its output.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Reducer
from torch.distributed import distributed_c10d

from distlint.runtime.collective_watch import calls
from distlint.runtime.collective_watch.calls import Described, Describer
from distlint.runtime.collective_watch.journal import Entry, GroupLog, Local

Function = Callable[..., Any]
Begun = tuple[GroupLog, Entry]


def _active_compiler() -> Callable[[], object]:
    """What tells whether a function given to torch.compile is running."""
    try:
        from torch._C._dynamo.eval_frame import get_eval_frame_callback
    except ImportError:  # older versions cannot be asked
        return lambda: None
    found: Callable[[], object] = get_eval_frame_callback
    return found


_compiler = _active_compiler()


def _in_compiled_code() -> bool:
    """Is this called from a function that torch.compile was given?

    There one rank may run what the others have in their graphs, where it cannot be counted: after
    too many shapes, for example. So nothing is counted on any rank.
    """
    return torch.compiler.is_compiling() or _compiler() is not None


class Sink(Protocol):
    """What the hooks tell."""

    local: Local
    """``inside`` is true while the thread is in a collective already."""

    def begin(self, op: str, described: Described, *, later: bool, depth: int) -> Begun | None:
        """A collective is about to be called ``depth`` frames further out."""

    def end(self, begun: Begun, result: object, *, later: bool) -> None:
        """It has returned something: a work if it is asynchronous, or perhaps a new group."""

    def failed(self, error: Exception) -> None:
        """It has raised."""

    def close(self) -> None:
        """The thread is out of it, whatever happened."""

    def waits(self, work: object) -> bool:
        """The thread is about to wait for an asynchronous collective."""

    def initialized(self) -> None:
        """There is a default group now."""

    def destroying(self, group: object) -> None:
        """A group is about to be destroyed."""

    def destroyed(self, group: object) -> None:
        """A group is gone."""


class Hooks:
    """The replaced functions."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._replaced: dict[int, tuple[Function, Function]] = {}
        self._attributes: list[tuple[Any, str, Any]] = []

    def install(self) -> None:
        """Replace them."""
        for name, (op, describe) in calls.COLLECTIVES.items():
            for module in (distributed_c10d, dist):
                self._function(module, name, partial(self._collective, op, describe))
        self._groups()
        self._functional()
        self._everywhere(dict(self._replaced.values()))
        self._set(dist.Work, "wait", self._wait(dist.Work.wait))
        self._backward()

    def uninstall(self) -> None:
        """Put the originals back."""
        self._everywhere({after: before for before, after in self._replaced.values()})
        for owner, name, original in reversed(self._attributes):
            setattr(owner, name, original)
        self._replaced.clear()
        self._attributes.clear()
        _to_rebuild.clear()

    def _function(self, module: Any, name: str, wrap: Callable[[Function], Function]) -> None:
        original = getattr(module, name, None)
        if original is None or any(original is after for _, after in self._replaced.values()):
            return
        if id(original) not in self._replaced:
            self._replaced[id(original)] = (original, wrap(original))
        if not isinstance(original, FunctionType):  # built in: found in this module only
            self._set(module, name, self._replaced[id(original)][1])

    def _set(self, owner: Any, name: str, value: object) -> None:
        self._attributes.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    @staticmethod
    def _everywhere(exchange: dict[Function, Function]) -> None:
        by_id = {id(before): after for before, after in exchange.items()}
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", None)
            if not isinstance(names, dict):
                continue
            for name, value in list(names.items()):
                if type(value) is FunctionType and id(value) in by_id:
                    names[name] = by_id[id(value)]

    def _collective(self, op: str, describe: Describer, original: Function) -> Function:
        sink, local = self._sink, self._sink.local

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if local.inside or _in_compiled_code():
                return original(*args, **kwargs)
            try:
                described = describe(*args, **kwargs)
            except Exception:  # wrong arguments: the original says so
                return original(*args, **kwargs)
            later = bool(kwargs.get("async_op", args[-1] is True if args else False))
            begun = sink.begin(op, described, later=later, depth=2)
            if begun is None:
                return original(*args, **kwargs)
            try:
                result = original(*args, **kwargs)
                if result is not None:
                    sink.end(begun, result, later=later)
                return result
            except Exception as error:
                sink.failed(error)
                raise
            finally:
                sink.close()

        return call

    def _groups(self) -> None:
        for name, describe in (("new_group", _new_group), ("split_group", _split_group)):
            for module in (distributed_c10d, dist):
                self._function(module, name, partial(self._collective, name, describe))
        for module in (distributed_c10d, dist):
            self._function(module, "init_process_group", self._init)
            self._function(module, "destroy_process_group", self._destroy)

    def _init(self, original: Function) -> Function:
        sink = self._sink

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            sink.initialized()
            return result

        return call

    def _destroy(self, original: Function) -> Function:
        sink = self._sink

        @functools.wraps(original)
        def call(group: Any = None, *args: Any, **kwargs: Any) -> Any:
            sink.destroying(group)
            result = original(group, *args, **kwargs)
            sink.destroyed(group)
            return result

        return call

    def _functional(self) -> None:
        try:
            from torch.distributed import _functional_collectives as functional
        except ImportError:
            return
        for name, (op, describe) in calls.FUNCTIONAL.items():
            original = getattr(functional, name, None)
            if original is not None:
                self._function(functional, name, partial(self._collective, op, describe))

    def _wait(self, original: Function) -> Function:
        sink, local = self._sink, self._sink.local

        @functools.wraps(original)
        def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
            if local.inside or not sink.waits(self):
                return original(self, *args, **kwargs)
            try:
                return original(self, *args, **kwargs)
            except Exception as error:
                sink.failed(error)
                raise
            finally:
                sink.close()

        return wait

    def _backward(self) -> None:
        from torch.nn.parallel import DistributedDataParallel

        sink = self._sink
        forward: Function = DistributedDataParallel.forward
        backward: Function = torch.autograd.backward

        @functools.wraps(forward)
        def watched_forward(self: Any, *args: Any, **kwargs: Any) -> Any:
            output = forward(self, *args, **kwargs)
            if (
                torch.is_grad_enabled()
                and self.require_backward_grad_sync
                and not _in_compiled_code()
            ):
                _arm(sink, self, output)
            return output

        @functools.wraps(backward)
        def watched_backward(*args: Any, **kwargs: Any) -> Any:
            if sink.local.inside or _in_compiled_code():
                return backward(*args, **kwargs)
            try:
                return backward(*args, **kwargs)
            except Exception as error:
                sink.failed(error)
                raise
            finally:
                sink.close()

        self._set(DistributedDataParallel, "forward", watched_forward)
        self._rebuilding()
        self._set(torch.autograd, "backward", watched_backward)
        joined = getattr(DistributedDataParallel, "_match_all_reduce_for_bwd_pass", None)
        if joined is None:
            return

        @functools.wraps(joined)
        def watched_join(self: Any) -> Any:
            described = _backward_of(self)
            _to_rebuild.setdefault(id(self.reducer), described)
            begun = sink.begin("backward", described, later=False, depth=2)
            try:
                return joined(self)
            finally:
                if begun is not None:
                    sink.close()

        self._set(DistributedDataParallel, "_match_all_reduce_for_bwd_pass", watched_join)

    def _rebuilding(self) -> None:
        """In the first forward after a backward, the reducer agrees on new buckets."""
        sink, rebuild = self._sink, Reducer._rebuild_buckets

        @functools.wraps(rebuild)
        def watched_rebuild(self: Any) -> Any:
            described = _to_rebuild.get(id(self))
            if described is None:
                return rebuild(self)
            _to_rebuild[id(self)] = None
            begun = sink.begin("rebuild_buckets", described, later=False, depth=2)
            try:
                return rebuild(self)
            except Exception as error:
                sink.failed(error)
                raise
            finally:
                if begun is not None:
                    sink.close()

        self._set(Reducer, "_rebuild_buckets", watched_rebuild)


_to_rebuild: dict[int, Described | None] = {}


def _arm(sink: Sink, model: Any, output: object) -> None:
    """Let the first gradient that reaches the output say that the backward has begun."""
    armed = [True]
    described = _backward_of(model)

    def reached(_: torch.Tensor) -> None:
        if armed:
            armed.clear()
            _to_rebuild.setdefault(id(model.reducer), described)
            sink.begin("backward", described, later=False, depth=2)

    for tensor in _tensors(output, 3):
        if tensor.requires_grad:
            tensor.register_hook(reached)  # type: ignore[no-untyped-call]


def _backward_of(model: Any) -> Described:
    return model.process_group, calls.detail(type(model.module).__name__), None, None


def _tensors(value: object, depth: int) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif depth and isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each, depth - 1)
    elif depth and isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each, depth - 1)
    elif depth and hasattr(value, "__dataclass_fields__"):
        yield from _tensors(vars(value), depth - 1)


def _new_group(
    ranks: Any = None,
    timeout: Any = None,
    backend: Any = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    *_: Any,
    **__: Any,
) -> Described:
    members = None if ranks is None else tuple(int(rank) for rank in ranks)
    text = calls.detail("all ranks" if members is None else f"ranks {sorted(members)}")
    group = ("local", tuple(sorted(members))) if use_local_synchronization and members else None
    return group, text, None, None


def _split_group(parent_pg: Any = None, split_ranks: Any = None, *_: Any, **__: Any) -> Described:
    return parent_pg, calls.detail(str(split_ranks)), None, None
