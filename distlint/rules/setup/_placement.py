"""Whether a tensor or a model is on the CPU, as far as the project shows it for certain.

Devices are followed through variables, attributes, configurations and functions, also of other
files. What is moved anywhere on its way, or given to code that is not in sight, is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from distlint.analyzer import ir
from distlint.analyzer.static.callers import called_elsewhere, calls_elsewhere, objects_in
from distlint.analyzer.static.inheritance import bases_elsewhere
from distlint.analyzer.static.journeys import function_called, returned_by
from distlint.analyzer.static.names import calls_of, expressions_in
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
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
_MAY_MOVE = re.compile(r"cuda|gpu|device|place|prepare|dispatch|shard|parallel|_to$|^to_")
_LOOKS = re.compile(
    r"^(?:print|len|type|id|isinstance|summary|info|debug|warning|count\w*|log\w*)$"
)
_PASSES_ON = frozenset({"convert_sync_batchnorm", "compile"})
_MODELS = ("torch.nn.", "torchvision.models.")


@dataclass(frozen=True, slots=True)
class Made:
    """Where a tensor comes to be on the CPU, or a model is made there: the call, and its file."""

    objects: Objects
    call: ir.Call


def device_is_cpu(objects: Objects, node: ir.Expr, point: Point, depth: int = _DEPTH) -> bool:
    """Is a device the CPU for certain?"""
    found = objects.origins(node, point)
    return bool(found) and all(
        isinstance(each.node, ir.Expr)
        and each.item is None
        and not each.attributes
        and _is_cpu(objects, each.node, each.point, depth)
        for each in found
    )


def _is_cpu(objects: Objects, node: object, point: Point, depth: int) -> bool:
    if isinstance(node, ir.Literal):
        return isinstance(node.value, str) and node.value == "cpu"
    if isinstance(node, ir.Call):
        return (
            objects.called(CallSite(node, point)) == "torch.device"
            and bool(node.args)
            and bool(depth)
            and device_is_cpu(objects, node.args[0].value, point, depth - 1)
        )
    if isinstance(node, ir.Subscript) and depth:
        items = list(_items(objects, node, point))
        return bool(items) and all(_is_cpu(objects, each, point, depth - 1) for each in items)
    if isinstance(node, ir.Attribute) and depth:
        field = _field(objects, node, point)
        return field is not None and _is_cpu(field[0], field[1], point, depth - 1)
    return False


def _items(objects: Objects, node: ir.Subscript, point: Point) -> Iterator[ir.Expr | None]:
    """What an item of a dict is that is spelled out, and to which the file assigns no item."""
    for origin in objects.origins(node.value, point):
        made = origin.node
        if not isinstance(made, ir.DictDisplay) or not isinstance(node.index, ir.Literal):
            yield None
            continue
        key = node.index.value
        is_set = any(
            isinstance(target, ir.Subscript) and path_of(target.value) == path_of(node.value)
            for each in objects.points
            if isinstance(each.statement, ir.Assign)
            for target in each.statement.targets
        )
        pairs = zip(made.keys, made.values, strict=True)
        found = [v for k, v in pairs if isinstance(k, ir.Literal) and k.value == key]
        yield found[0] if len(found) == 1 and not is_set else None


def _field(objects: Objects, node: ir.Attribute, point: Point) -> tuple[Objects, ir.Expr] | None:
    """The value of an attribute that only the body of a class gives, for all its objects."""
    for where, cls in _classes_of(objects, node.value, point):
        if any(node.attr in method.tokens for method in cls.methods.values()):
            return None
        values = [
            statement.value
            for statement in cls.body
            if isinstance(statement, ir.Assign)
            and any(path_of(target) == (node.attr,) for target in statement.targets)
        ]
        set_elsewhere = any(
            isinstance(each.statement, ir.Assign)
            and any(
                isinstance(target, ir.Attribute) and target.attr == node.attr
                for target in each.statement.targets
            )
            for each in objects.points
        )
        if len(values) != 1 or set_elsewhere:
            return None
        return where, values[0]
    return None


def _classes_of(
    objects: Objects, node: ir.Expr, point: Point
) -> Iterator[tuple[Objects, ir.Class]]:
    """The class of the project that an object is of, or that an expression names."""
    calls = [each.call for each in objects.origins(node, point)]
    func = node if path_of(node) is not None and calls == [None] else None
    if len(calls) == 1 and calls[0] is not None:
        if calls[0].args:
            return  # which may be given another value
        func = calls[0].func
    path = path_of(func) if func is not None else None
    if path is None:
        return
    cls = objects.module.classes.get(path[0]) if len(path) == 1 else None
    if cls is not None:
        yield objects, cls
        return
    there = objects.module.lead_to(path[0], *path[1:])
    if there is not None and isinstance(there[1], ir.Class):
        yield objects_in(there[0]), there[1]


# ---- tensors


def tensor_on_cpu(
    objects: Objects, node: ir.Expr, point: Point, depth: int = _DEPTH
) -> Made | None:
    """Where a tensor is made on the CPU, if that is all it can be."""
    if not depth:
        return None
    if isinstance(node, ir.Call):
        return _call_on_cpu(objects, node, point, depth)
    path = path_of(node)
    if path is None:
        return None
    function = point.scope.function
    if len(path) == 1 and function is not None and point.scope.has_param(path[0]):
        if any(path[0] in ir.bound_by(each.statement) for each in objects.points_in(point.scope)):
            return None
        return _given_on_cpu(objects, function, path[0], depth)
    values = list(_assigned(objects, path, point))
    made = [tensor_on_cpu(objects, v, at, depth - 1) if v else None for v, at in values]
    return made[0] if made and all(each is not None for each in made) else None


def _assigned(objects: Objects, path: Path, point: Point) -> Iterator[tuple[ir.Expr | None, Point]]:
    """What is assigned to a variable of a function, or to an attribute; None for what is not known.

    An addition in place leaves a tensor where it is.
    """
    if len(path) == 1:
        values = [
            (_value(each.statement, path), each)
            for each in objects.points_in(point.scope)
            if path[0] in ir.bound_by(each.statement)
            and not isinstance(each.statement, ir.AugAssign)
        ]
        yield from values if len(values) == 1 else ()
        return
    cls = objects.classes.of_self(point.scope) if path[0] == "self" and len(path) == 2 else None
    for each in objects.points if cls is not None else ():
        targets = each.statement.targets if isinstance(each.statement, ir.Assign) else ()
        if any(isinstance(t, ir.Attribute) and t.attr == path[1] for t in targets):
            yield _value(each.statement, path), each


def _value(statement: ir.Stmt, path: Path) -> ir.Expr | None:
    if isinstance(statement, ir.Assign) and [path_of(t) for t in statement.targets] == [path]:
        return statement.value
    return None


def _call_on_cpu(objects: Objects, call: ir.Call, point: Point, depth: int) -> Made | None:
    site = CallSite(call, point)
    if _is_factory(objects, site, depth):
        return Made(objects, call)
    if isinstance(call.func, ir.Attribute) and not objects.called(site).startswith("torch."):
        if call.func.attr == "cpu" and not call.args:
            return Made(objects, call)
        if call.func.attr == "to" and len(call.args) == 1:
            given = call.args[0].value
            return Made(objects, call) if device_is_cpu(objects, given, point) else None
        if call.func.attr in _KEEPS:
            return tensor_on_cpu(objects, call.func.value, point, depth - 1)
    there = _function(objects, site)
    if there is None or there[1].generator:
        return None
    made = [tensor_on_cpu(there[0], value, at, depth - 1) for value, at in returned_by(*there)]
    return made[0] if made and all(each is not None for each in made) else None


def _is_factory(objects: Objects, site: CallSite, depth: int) -> bool:
    call, name = site.call, site.name
    if objects.names.dotted(call.func, site.point.scope) != f"torch.{name}":
        return False
    if name in _ALWAYS:
        return True
    if name not in FACTORIES or any(argument.star for argument in call.args):
        return False
    devices = [argument.value for argument in call.args if argument.keyword == "device"]
    if devices:
        return device_is_cpu(objects, devices[0], site.point, depth)
    # torch.tensor(x) of a tensor on the GPU is one on the GPU
    return name not in _OF_DATA or (
        bool(call.args) and is_no_tensor(objects, call.args[0].value, site.point)
    )


def _function(objects: Objects, site: CallSite) -> tuple[Objects, ir.Function] | None:
    """The function of the project that a call calls, if that makes no object."""
    found = function_called(objects, site)
    return None if found is None or found[1].name == "__init__" else found


def _given(
    objects: Objects, function: ir.Function, name: str
) -> Iterator[tuple[Objects, ir.Expr | None, Point]]:
    """What the calls of a function of the project pass for a parameter."""
    sites = [(objects, site) for site in objects.callers(function)]
    sites += [(objects_in(m), site) for m, site in calls_elsewhere(objects.module, function)]
    names = [param.name for param in function.params if not param.star]
    index = names.index(name) - bool(function.owner) if name in names else None
    for where, site in sites:
        yield where, where.argument(site, name, index).value, site.point


@lru_cache(maxsize=64)
def _given_on_cpu(objects: Objects, function: ir.Function, name: str, depth: int) -> Made | None:
    made = [
        tensor_on_cpu(where, value, point, depth - 1) if value is not None else None
        for where, value, point in _given(objects, function, name)
    ]
    return made[0] if made and all(each is not None for each in made) else None


# ---- models


def model_on_cpu(objects: Objects, node: ir.Expr, point: Point, depth: int = _DEPTH) -> Made | None:
    """Where a model is made, if nothing moves it from there to a GPU."""
    if not depth or any(isinstance(here.owner, ir.With) for here in point.around):
        return None
    if isinstance(node, ir.Call):
        return _made_on_cpu(objects, node, point, depth)
    path = path_of(node)
    if path is None or _is_moved(objects, path, point):
        return None
    function = point.scope.function
    if len(path) == 1 and function is not None and point.scope.has_param(path[0]):
        return _given_model(objects, function, path[0], depth - 1)
    # what the wrapper itself is assigned to comes later
    values = [each for each in _models(objects, path, point) if each[1] is not point]
    made = [model_on_cpu(objects, v, at, depth - 1) if v else None for v, at in values]
    return made[0] if made and all(each is not None for each in made) else None


@lru_cache(maxsize=64)
def _given_model(objects: Objects, function: ir.Function, name: str, depth: int) -> Made | None:
    """Where a model is made that all calls of a function pass, on the CPU."""
    made: Made | None = None
    for where, value, at in _given(objects, function, name):
        each = model_on_cpu(where, value, at, depth) if value is not None else None
        if each is None:
            return None
        made = made or each
    return made


def _models(objects: Objects, path: Path, point: Point) -> Iterator[tuple[ir.Expr | None, Point]]:
    """What is assigned to a variable before a place, or to an attribute by other statements."""
    if len(path) == 1:
        for each in objects.points_in(point.scope):
            if path[0] in ir.bound_by(each.statement):
                if each.statement.site < point.statement.site:
                    yield _value(each.statement, path), each
        return
    for value, at in _assigned(objects, path, point):
        if at.statement is not point.statement:
            yield value, at


def _made_on_cpu(objects: Objects, call: ir.Call, point: Point, depth: int) -> Made | None:
    site = CallSite(call, point)
    called = objects.called(site)
    if isinstance(call.func, ir.Attribute):
        if call.func.attr in ("to", "cpu") and not called.startswith("torch."):
            given = [argument.value for argument in call.args]
            stays = not given or device_is_cpu(objects, given[0], point)
            return Made(objects, call) if stays else None
        if call.func.attr in _KEEPS and not called.startswith("torch."):
            return model_on_cpu(objects, call.func.value, point, depth - 1)
    if site.name in _PASSES_ON and called.startswith("torch.") and call.args:
        return model_on_cpu(objects, call.args[0].value, point, depth - 1)
    if not MOVES.isdisjoint(ir.tokens_of(call)) or is_given_moved(objects, call, point):
        return None
    there = _function(objects, site)
    if there is not None:
        if not MOVES.isdisjoint(there[1].tokens) or there[1].generator:
            return None
        made = [model_on_cpu(there[0], v, at, depth - 1) for v, at in returned_by(*there)]
        return made[0] if made and all(each is not None for each in made) else None
    if is_class_on_cpu(objects, site) or called.startswith(_MODELS):
        return Made(objects, call)
    return None


def is_class_on_cpu(objects: Objects, site: CallSite, *, otherwise: bool = False) -> bool:
    """Is it a class of the project of which nothing moves its objects?

    ``otherwise`` is the answer for what is not in sight.
    """
    cls: object = objects.callee(site)
    where = objects
    if cls is None:
        path = path_of(site.call.func) or ("",)
        there = objects.module.lead_to(path[0], *path[1:])
        if there is None:
            return otherwise
        where, cls = objects_in(there[0]), there[1]
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


def _is_moved(objects: Objects, path: Path, point: Point) -> bool:
    """May a model be moved under a name, by a method or by something that it is given to?

    An attribute counts in all methods of the class, and of its bases in other files.
    """
    places: list[tuple[Objects, Sequence[Point]]] = [(objects, objects.points_in(point.scope))]
    cls = objects.classes.of_self(point.scope) if path[0] == "self" else None
    if cls is not None:
        places = [(objects, objects.points)]
        places += [(where, where.points) for where, _ in bases_elsewhere(objects, cls)]
    return any(
        _moves(where, CallSite(call, each), path, point)
        for where, points in places
        for each in points
        for call in calls_of(each.statement)
    )


def _moves(objects: Objects, site: CallSite, path: Path, point: Point) -> bool:
    call, func = site.call, site.call.func
    if site.point.statement is point.statement:
        return False
    if isinstance(func, ir.Attribute) and func.attr in MOVES - {"device"}:
        if not _names(objects, func.value, path, site.point):
            return False
        given = [argument.value for argument in call.args]
        return func.attr != "to" or not given or not device_is_cpu(objects, given[0], site.point)
    is_given = any(path_of(argument.value) == path for argument in call.args)
    if not is_given or _LOOKS.match(site.name) or site.name in _PASSES_ON:
        return False
    callee = _function(objects, site)
    if callee is None and called_elsewhere(objects.module, func) is None:
        # a class or function that is not in sight
        is_torch = objects.called(site).startswith("torch.")
        return not is_torch and (site.point.statement.site < point.statement.site)
    return callee is None or any(
        token in MOVES or _MAY_MOVE.search(token) for token in callee[1].tokens
    )


def _names(objects: Objects, node: ir.Expr, path: Path, point: Point) -> bool:
    """Is an expression the model, or an item of what a loop over it and others goes through?"""
    own = path_of(node)
    if own is None:
        return any(path_of(each) == path for each in expressions_in(node))
    if own[: len(path)] == path or path[: len(own)] == own:
        return True
    loops = (here.owner for here in point.around if isinstance(here.owner, ir.For))
    return any(
        own[0] in ir.names_bound(loop.target)
        and any(path_of(each) == path for each in expressions_in(loop.iterable))
        for loop in loops
    )
