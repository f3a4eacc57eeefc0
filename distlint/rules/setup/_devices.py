"""By which numbers a file chooses GPUs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects.sites import CallSite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point

_SETTERS = frozenset(
    {
        "torch.cuda.set_device", "torch.cuda.device", "torch.accelerator.set_device_index",
        "torch.xpu.set_device", "torch.npu.set_device",
    }
)  # fmt: skip
_WRAPPERS = ("DistributedDataParallel", "DDP")
_LISTS = ("device_ids", "device_id")
_DEVICES = re.compile(r"device|map_location", re.IGNORECASE)
_BEFORE_NUMBER = re.compile(r"cuda:(?:\{0?\}|%[ds])")


@dataclass(frozen=True, slots=True)
class DeviceNumber:
    """The number of a GPU, and what it is given to: a call, or else a statement."""

    node: ir.Expr
    point: Point
    site: int
    call: ir.Call | None = None


def device_numbers(objects: Objects) -> Iterator[DeviceNumber]:
    """The numbers in calls that choose a GPU, and in names of GPUs: ``f"cuda:{rank}"``."""
    for site in objects.calls(objects.called_names):
        called = objects.called(site) if site.call.args else ""
        for index, argument in enumerate(site.call.args):
            if not argument.star and _chooses_device(site, called, index, argument):
                for node in _numbers(argument.value):
                    yield DeviceNumber(node, site.point, site.call.site, site.call)
    for point in objects.points:
        if isinstance(point.statement, (ir.Assign, ir.Return)) and point.statement.value:
            for node in _named(point.statement.value):
                yield DeviceNumber(node, point, point.statement.site)


def _chooses_device(site: CallSite, called: str, index: int, argument: ir.Argument) -> bool:
    keyword, name = argument.keyword, site.name
    first = index == 0 and keyword is None
    of_torch = called.startswith("torch.")
    if called in _SETTERS:
        return first or keyword == "device"
    if called == "torch.device":
        return _is_in_device(site.call, index)
    if name in ("to", "cuda") and isinstance(site.call.func, ir.Attribute):
        return first or keyword == "device"
    if keyword in _LISTS:
        return of_torch or name in _WRAPPERS
    if keyword == "device" and (of_torch or name.startswith("new_")):
        return True
    return _is_named_device(called, argument)


def _is_in_device(call: ir.Call, index: int) -> bool:
    """Is it the number in ``torch.device("cuda", 1)``, or all that the device is made of?"""
    if len(call.args) == 1:
        return True
    return len(call.args) == 2 and index == 1 and _starts_with_cuda(call.args[0].value)


def _is_named_device(called: str, argument: ir.Argument) -> bool:
    """Is the name of a GPU given as a device, so that it is no text for people?"""
    if not any(True for _ in _named(argument.value)):
        return False
    if argument.keyword is not None:
        return _DEVICES.search(argument.keyword) is not None
    return called == "torch.load"


def _numbers(node: ir.Expr) -> Iterator[ir.Expr]:
    """The numbers in an argument: in names of GPUs, else the argument itself."""
    named = list(_named(node))
    if named:
        yield from named
    elif isinstance(node, ir.Display):
        if len(node.items) == 1:
            yield node.items[0]
    else:
        yield node


def _named(node: ir.Expr) -> Iterator[ir.Expr]:
    """The numbers in the names of GPUs that a value may be, or holds."""
    if isinstance(node, ir.Conditional):
        yield from _named(node.body)
        yield from _named(node.orelse)
    elif isinstance(node, ir.Display):
        for item in node.items:
            yield from _named(item)
    elif isinstance(node, ir.DictDisplay):
        for value in node.values:
            yield from _named(value)
    else:
        number = _number_in(node)
        if number is not None:
            yield number


def _number_in(node: ir.Expr) -> ir.Expr | None:
    """The number in ``f"cuda:{rank}"``, ``"cuda:" + str(rank)`` and ``"cuda:%d" % rank``."""
    if isinstance(node, ir.Format):
        return node.parts[1] if len(node.parts) == 2 and _starts_with_cuda(node.parts[0]) else None
    if isinstance(node, ir.Binary):
        added = node.op == "+" and _starts_with_cuda(node.left)
        put_in = node.op == "%" and _has_place_for_number(node.left)
        return node.right if added or put_in else None
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
        if node.func.attr == "format" and _has_place_for_number(node.func.value):
            return node.args[0].value if len(node.args) == 1 else None
    return None


def _starts_with_cuda(node: ir.Expr) -> bool:
    text = node.value if isinstance(node, ir.Literal) else None
    return isinstance(text, str) and text.startswith("cuda")


def _has_place_for_number(node: ir.Expr) -> bool:
    text = node.value if isinstance(node, ir.Literal) else None
    return isinstance(text, str) and _BEFORE_NUMBER.fullmatch(text) is not None
