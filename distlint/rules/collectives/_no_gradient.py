"""Losses of gathered tensors, which have no gradient, where nothing else of the tensor is used.

dist.all_gather(parts, features)
features = torch.cat(parts)     # of all ranks, and constants for the backward pass
loss = contrast(queries, features)
"""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of, place_of
from distlint.rules.gradients._flow import Flow, kept
from distlint.rules.training import evaluates

_GATHERS = {"all_gather": "tensor", "all_gather_into_tensor": "input_tensor"}
"""Collectives of torch without a gradient, and the parameter for a rank's own tensor."""

_CONSTANT = frozenset(
    {"detach", "item", "tolist", "numpy", "argmax", "argsort", "long", "int", "bool", "cpu"}
)
"""Methods whose results have no gradient, or are not trained by."""
_SHAPES = frozenset({"shape", "size", "device", "dtype", "ndim", "dim", "new_zeros", "new_empty"})
"""What is asked of a tensor without its values."""
_DEPTH = 4
"""Through how many calls the loss, and what makes the tensor, are followed."""


def without_gradient(objects: Objects) -> Iterator[tuple[CallSite, Point]]:
    """The calls that gather what a model has made, and where it is trained by what they gather.

    Not where the tensor itself is used as well: in the loss, or put back among the gathered ones.
    """
    for site in objects.calls(_GATHERS):
        name = objects.called(site).removeprefix("torch.distributed.")
        if name not in _GATHERS or evaluates(site.point):
            continue
        tensor = objects.argument(site, _GATHERS[name], 1).value
        gathered = objects.argument(site, "", 0).value
        place = place_of(gathered)
        if tensor is None or place is None:
            continue
        origins = objects.origins(tensor, site.point)
        if not origins or not all(_is_learned(objects, each, _DEPTH) for each in origins):
            continue
        trained = _trained_by(Flow(objects, site.point.scope, place), _DEPTH)
        if trained is not None and not _is_used(objects, site, origins):
            yield site, trained


def _is_learned(objects: Objects, origin: Origin, depth: int) -> bool:
    """Is it the output of a model, as it is or after functions of torch?"""
    if not isinstance(origin.node, ir.Call) or not depth or evaluates(origin.point):
        return False
    there, call = objects.at(origin.point), origin.node
    inner: ir.Expr | None = None
    if there.called(CallSite(call, origin.point)).startswith("torch.nn.functional."):
        inner = call.args[0].value if call.args else None
    elif isinstance(call.func, ir.Attribute) and _is_method(there, call.func, origin.point):
        inner = None if call.func.attr in _CONSTANT else call.func.value
    else:
        return _calls_model(there, call.func, origin.point)
    while isinstance(inner, ir.Subscript):
        inner = inner.value
    found = there.origins(inner, origin.point) if inner is not None else ()
    return bool(found) and all(_is_learned(there, each, depth - 1) for each in found)


def _is_method(objects: Objects, func: ir.Attribute, point: Point) -> bool:
    """Is it a method of what a call has made, such as ``model(x).mean``?"""
    made = objects.origins(func.value, point)
    return (
        bool(made)
        and all(isinstance(each.node, ir.Call) for each in made)
        and not any(_makes_module(objects, each) for each in made)
    )


def _calls_model(objects: Objects, func: ir.Expr, point: Point) -> bool:
    """Is what is called an object, and no function: a model, or one of its parts?"""
    path = path_of(func)
    if path is None or objects.names.dotted(func, point.scope) is not None:
        return False
    if len(path) == 1 or path[0] == "self":
        made = objects.origins(func, point)
        return any(_makes_module(objects, each) for each in made) or all(
            isinstance(each.node, (ir.Name, ir.Attribute)) for each in made
        )
    return any(_makes_module(objects, each) for each in objects.origins(func, point))


def _makes_module(objects: Objects, origin: Origin) -> bool:
    """Is it made by a call that makes a module, by its name: ``Net()``, ``DDP(net)``?"""
    name = ir.last_name(origin.node.func) if isinstance(origin.node, ir.Call) else ""
    return name[:1].isupper()


def _trained_by(flow: Flow, depth: int) -> Point | None:
    """Where a backward pass starts at what is made of the variable, here or in a caller."""
    for point in flow.points:
        for call in (each for each in nodes_of(point.statement) if isinstance(each, ir.Call)):
            if isinstance(call.func, ir.Attribute) and call.func.attr == "backward":
                if any(flow.takes(each, None) for each in (call.func.value, *_values(call))):
                    return point
    if not depth or not flow.is_returned():
        return None
    function = flow.scope.function
    if function is not None and function.name in ("compute_loss", "training_step"):
        return next(p for p in flow.points if isinstance(p.statement, ir.Return))
    for there, site in flow.callers():
        for each in () if evaluates(site.point) else kept(there, site):
            found = _trained_by(each, depth - 1)
            if found is not None:
                return found
    return None


def _values(call: ir.Call) -> Iterator[ir.Expr]:
    return (argument.value for argument in call.args)


def _is_used(objects: Objects, site: CallSite, origins: tuple[Origin, ...]) -> bool:
    """Is the tensor used for more than to be gathered, in whatever function it is known in?

    A variable that may be another one there is the gathered one, after a gather on a condition.
    """
    wanted = {origin.node for origin in origins}
    gathering = site.point.scope.function
    scopes = dict.fromkeys([site.point.scope, *(origin.point.scope for origin in origins)])
    return any(
        wanted.issuperset(found)
        for scope in scopes
        for there in (objects.in_file(scope.module),)
        for point in there.points_in(scope)
        for node in _read(there, point, site.call, gathering)
        if (found := [origin.node for origin in there.origins(node, point)])
    )


def _read(
    objects: Objects, point: Point, gather: ir.Call, gathering: ir.Function | None
) -> Iterator[ir.Expr]:
    """The variables whose values a statement uses, but not to gather them."""
    bound = getattr(point.statement, "targets", ())
    stack: list[object] = [each for each in ir.children(point.statement) if each not in bound]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack += node
        elif (
            isinstance(node, ir.Call)
            and (
                node is gather
                or ir.last_name(node.func).endswith("_like")
                or ir.last_name(node.func) == "len"
                or (objects.function_called(CallSite(node, point)) or (None, None))[1] is gathering
            )
        ) or (isinstance(node, ir.Attribute) and node.attr in _SHAPES):
            continue
        elif isinstance(node, ir.Expr) and path_of(node) is not None:
            yield node
        elif not isinstance(node, ir.Stmt):
            stack += ir.children(node)
