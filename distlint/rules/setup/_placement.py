"""Whether a tensor or a model is on the CPU, as far as the project shows it for certain.

Devices are followed through variables, attributes, configurations and functions, also of other
files. What is moved anywhere on its way, or given to code that is not in sight, is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import partial

from distlint.analyzer import ir
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.inheritance import bases_elsewhere
from distlint.analyzer.static.neighbourhood import files_near
from distlint.analyzer.static.objects.following import ends
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.setup._numbers import is_no_tensor

_DEPTH = 4

FACTORIES = frozenset(
    {"tensor", "as_tensor", "zeros", "ones", "empty", "full", "arange", "rand", "randn"}
)
_OF_DATA = frozenset({"tensor", "as_tensor"})
_ALWAYS = frozenset(
    {
        "from_numpy", "Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "LongTensor",
        "IntTensor", "ShortTensor", "ByteTensor", "CharTensor", "BoolTensor",
    }
)  # fmt: skip
"""What makes tensors on the CPU, whatever it is given."""

_KEEPS = frozenset(
    {
        "detach", "clone", "float", "double", "half", "bfloat16", "long", "int", "bool", "view",
        "reshape", "unsqueeze", "squeeze", "flatten", "contiguous", "type", "requires_grad_",
        "sum", "mean", "max", "min", "train", "eval",
    }
)  # fmt: skip
"""Methods whose result is where the tensor or model is."""

MOVES = frozenset({"to", "cuda", "device", "to_device", "to_empty", "xpu", "npu", "hpu"})
_MOVE_METHODS = MOVES - {"device"}
_MAY_MOVE = re.compile(r"cuda|gpu|device|place|prepare|dispatch|shard|parallel|_to$|^to_")
_LOOKS = re.compile(
    r"^(?:print|len|type|id|isinstance|summary|info|debug|warning|count\w*|log\w*)$"
)
_PASSES_ON = frozenset({"convert_sync_batchnorm", "compile"})
_MODELS = ("torch.nn.", "torchvision.models.")


def device_is_cpu(objects: Objects, node: ir.Expr, point: Point, depth: int = _DEPTH) -> bool:
    """Is a device the CPU for certain?"""
    found = objects.origins(node, point)
    return bool(found) and all(_is_cpu(objects, each, depth) for each in found)


def _is_cpu(objects: Objects, device: Origin, depth: int) -> bool:
    site = device.site
    if site is not None:
        return (
            objects.called(site) == "torch.device"
            and bool(site.call.args)
            and bool(depth)
            and device_is_cpu(objects, site.call.args[0].value, site.point, depth - 1)
        )
    return device.constant == "cpu" and not _may_be_set(objects, device)


def _may_be_set(objects: Objects, value: Origin) -> bool:
    """Is it the value that the body of a class gives an attribute, and a statement another?"""
    statement = value.point.statement
    if not isinstance(statement, ir.DefineClass):
        return False
    names = {name for name, each in statement.cls.attributes.items() if each is value.node}
    methods = [*statement.cls.methods.values()]  # what these assign is among the origins
    return any(
        isinstance(target, ir.Attribute) and target.attr in names
        for module in {objects.module, value.point.scope.module}
        for point in objects_in(module).points
        if isinstance(point.statement, ir.Assign) and point.scope.function not in methods
        for target in point.statement.targets
    )


# ---- tensors


def tensor_on_cpu(objects: Objects, node: ir.Expr, point: Point) -> CallSite | None:
    """Where a tensor is made on the CPU, if that is all it can be."""
    start = [*objects.flow.with_moves.of(node, point), *_assigned_elsewhere(objects, node, point)]
    found = list(ends(start, partial(_before, objects)))
    made = [each.site for each in found if each.site and _makes_on_cpu(objects, each.site)]
    return made[0] if made and len(made) == len(found) else None


def _assigned_elsewhere(objects: Objects, node: ir.Expr, point: Point) -> Iterator[Origin]:
    """What other functions of the file assign to an attribute of this name."""
    for each in objects.points if isinstance(node, ir.Attribute) else ():
        if isinstance(each.statement, ir.Assign) and each.scope is not point.scope:
            for target in each.statement.targets:
                if isinstance(target, ir.Attribute) and target.attr == ir.last_name(node):
                    yield from objects.flow.with_moves.of(each.statement.value, each)


def _before(objects: Objects, origin: Origin) -> tuple[Origin, ...] | None:
    """What a value is made from that lies where it does: by ``x.sum()``, and by ``x += y``."""
    site, statement = origin.site, origin.point.statement
    kept: ir.Expr | None = None
    if isinstance(origin.node, ir.Opaque) and isinstance(statement, ir.AugAssign):
        kept = statement.target
    elif site is not None and _is_method(objects, site) and site.name in _KEEPS:
        kept = _receiver(site)
    elif site is not None and site.name in _PASSES_ON and site.call.args:
        kept = site.call.args[0].value if objects.called(site).startswith("torch.") else None
    return None if kept is None else objects.flow.with_moves.of(kept, origin.point)


def _is_method(objects: Objects, site: CallSite) -> bool:
    return isinstance(site.call.func, ir.Attribute) and not (
        objects.at(site.point).names.dotted(site.call.func, site.point.scope) or ""
    ).startswith("torch.")


def _receiver(site: CallSite) -> ir.Expr | None:
    return site.call.func.value if isinstance(site.call.func, ir.Attribute) else None


def _makes_on_cpu(objects: Objects, site: CallSite) -> bool:
    return _moves_to_cpu(objects, site) or _is_factory(objects, site)


def _moves_to_cpu(objects: Objects, site: CallSite) -> bool:
    """Is it ``value.cpu()`` or ``value.to("cpu")``?"""
    args = site.call.args
    if not _is_method(objects, site):
        return False
    return (site.name == "cpu" and not args) or (
        site.name == "to" and len(args) == 1 and device_is_cpu(objects, args[0].value, site.point)
    )


def _is_factory(objects: Objects, site: CallSite) -> bool:
    call, name = site.call, site.name
    if objects.called(site) != f"torch.{name}":
        return False
    if name in _ALWAYS:
        return True
    if name not in FACTORIES or any(argument.star for argument in call.args):
        return False
    devices = [argument.value for argument in call.args if argument.keyword == "device"]
    if devices:
        return device_is_cpu(objects, devices[0], site.point)
    # torch.tensor(x) of a tensor on the GPU is one on the GPU
    return name not in _OF_DATA or (
        bool(call.args) and is_no_tensor(objects.at(site.point), call.args[0].value, site.point)
    )


# ---- models


def model_on_cpu(objects: Objects, node: ir.Expr, point: Point) -> CallSite | None:
    """Where a model is made, if nothing moves it from there to a GPU."""
    found = list(ends(objects.flow.with_moves.of(node, point), partial(_unwrapped, objects, point)))
    made = [each.site for each in found if each.site and _is_model_on_cpu(objects, each.site)]
    if not made or len(made) < len(found) or _is_in_block(point):
        return None
    return None if _is_moved(objects, node, point, {each.call for each in made}) else made[0]


def _unwrapped(objects: Objects, point: Point, origin: Origin) -> tuple[Origin, ...] | None:
    """What a model is made from; nothing for what the statement itself makes of it."""
    return () if origin.point.statement is point.statement else _before(objects, origin)


def _is_in_block(point: Point) -> bool:
    return any(isinstance(here.owner, ir.With) for here in point.around)


def _is_model_on_cpu(objects: Objects, site: CallSite) -> bool:
    if _moves_to_cpu(objects, site):
        return True
    there = objects.at(site.point)
    if not MOVES.isdisjoint(ir.tokens_of(site.call)) or _is_in_block(site.point):
        return False
    return not is_given_moved(there, site.call, site.point) and (
        is_class_on_cpu(objects, site) or objects.called(site).startswith(_MODELS)
    )


def is_class_on_cpu(objects: Objects, site: CallSite, *, otherwise: bool = False) -> bool:
    """Is it a class of the project of which nothing moves its objects?

    ``otherwise`` is the answer for what is not in sight.
    """
    where, cls = objects.callee_anywhere(site) or (objects, None)
    if not isinstance(cls, ir.Class):
        return otherwise
    if not cls.bases and not otherwise:
        return False
    classes = [*where.classes.with_bases(cls), *(c for _, c in bases_elsewhere(where, cls))]
    return all(MOVES.isdisjoint(m.tokens) for each in classes for m in each.methods.values())


def is_given_moved(objects: Objects, call: ir.Call, point: Point) -> bool:
    """Is a model made around a part that is on a GPU already: ``Wrapper(encoder)``?"""
    parts = {each.value.id for each in call.args if isinstance(each.value, ir.Name)}
    return any(
        not parts.isdisjoint(ir.tokens_of(each.statement))
        and not MOVES.isdisjoint(ir.tokens_of(each.statement))
        for each in objects.points_in(point.scope)
        if isinstance(each.statement, (ir.Assign, ir.Evaluate))
    )


def _is_moved(objects: Objects, node: ir.Expr, point: Point, made: Set[ir.Call]) -> bool:
    """May one of these models be moved by a method of its own, or by what it is given to?

    An attribute of ``self`` is one of them in every method that has one of this name.
    """
    path = path_of(node) or ("",)

    def may_be(value: ir.Expr, at: Point) -> bool:
        if path[0] == "self" and path_of(value) == path:
            return True
        return any(each.node in made for each in objects.origins(value, at))

    ways = {point.scope.module} | {each.point.scope.module for each in objects.origins(node, point)}
    for module in files_near(point.scope.module):
        if _MOVE_METHODS.isdisjoint(module.tokens) and module not in ways:
            continue
        where = objects_in(module)
        for call, at in where.nodes(ir.Call):
            site = CallSite(call, at)
            if at.statement is point.statement:
                continue
            if site.name in _MOVE_METHODS and isinstance(call.func, ir.Attribute):
                if may_be(call.func.value, at) and not _moves_to_cpu(objects, site):
                    return True
            elif module in ways and _may_move(objects, site, point):
                if any(may_be(argument.value, at) for argument in call.args):
                    return True
    return False


def _may_move(objects: Objects, site: CallSite, point: Point) -> bool:
    """May what a call calls move what it is given?"""
    if _LOOKS.match(site.name) or site.name in _PASSES_ON or not site.call.args:
        return False
    _, callee = objects.callee_anywhere(site) or (objects, None)
    if isinstance(callee, ir.Function):
        return callee is not point.scope.function and any(
            token in MOVES or _MAY_MOVE.search(token) for token in callee.tokens
        )
    if callee is not None or objects.called(site).startswith("torch."):
        return False
    same = site.point.scope is point.scope
    return not same or site.point.statement.site < point.statement.site
