"""Layers that no `parameters()` leads to: kept in plain containers, or beside a model."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.inheritance import bases_elsewhere
from distlint.analyzer.static.names import placed
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.gradients._containers import (
    Contents,
    Item,
    container_nodes,
    is_fill,
    may_be_container,
)
from distlint.rules.gradients._layers import is_module, trained_module
from distlint.rules.gradients._registrations import (
    Mention,
    given_away,
    is_called,
    is_registered,
    lists_itself,
    mentions,
    registers,
    taken_out,
    takes_over,
    variable_registers,
)
from distlint.rules.training import evaluates

_LEARNS = frozenset({"parameters", "named_parameters"})
_WRAPS = frozenset(
    {
        "DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "fully_shard",
        "initialize", "prepare", "setup",
    }
)  # fmt: skip
_CALLS = 3
"""Calls from the backward pass to the function that uses a layer."""


@dataclass(frozen=True, slots=True)
class Unregistered:
    """An attribute with layers that are in no model, the statement that sets it, and a layer."""

    cls: ir.Class
    name: str
    point: Point
    value: ir.Expr
    made: CallSite
    nodes: tuple[Origin, ...] = ()
    """What makes the container, if it is one."""


def unregistered(objects: Objects) -> Iterator[Unregistered]:
    """The attributes of classes of a file that hold layers which nothing registers."""
    contents: Contents | None = None
    for cls in objects.classes.points:
        if not cls.methods:
            continue
        if is_module(objects, cls):
            if not lists_itself(cls.methods):
                contents = contents or Contents(objects_of(objects.module, objects.catalogue))
                yield from _in_containers(objects, cls, contents)
        else:
            yield from _beside_models(objects, cls)


def _set_by_methods(objects: Objects, cls: ir.Class) -> Iterator[tuple[str, Point, ir.Expr]]:
    """The attributes of ``self`` that methods set, each where it is set first in a method."""
    for method in cls.methods.values():
        scope = objects.scope_of(method)
        own = method.params[0].name if method.params else ""
        for statement, around in placed(method.body) if scope is not None else ():
            if isinstance(statement, ir.Assign) and scope is not None:
                for target in statement.targets:
                    path = path_of(target)
                    if path is not None and len(path) == 2 and path[0] == own:
                        yield path[1], Point(scope, around), statement.value


# ---- containers


def _in_containers(objects: Objects, cls: ir.Class, contents: Contents) -> Iterator[Unregistered]:
    done: set[str] = set()
    for name, point, value in _set_by_methods(objects, cls):
        if name in done or not may_be_container(value):
            continue
        nodes = container_nodes(contents.objects, value, point)
        if not nodes:
            continue
        made = _layer_in(objects, contents, nodes, name)
        if made is not None:
            done.add(name)
            found = Unregistered(cls, name, point, value, made, tuple(nodes))
            if not _is_hidden(contents, nodes) and _is_left_out(objects, found, contents):
                yield found


def _layer_in(
    objects: Objects, contents: Contents, nodes: list[Origin], name: str
) -> CallSite | None:
    """A layer of a container; None if any of them is registered."""
    found: CallSite | None = None
    for item in contents.items(nodes):
        made = _made(objects, contents, item)
        if made is not None:
            if is_registered(objects, item, made, name) or _is_frozen(item):
                return None
            found = found or made
    return found


def _made(objects: Objects, contents: Contents, item: Item) -> CallSite | None:
    """The call that makes a layer of an item, where the file itself shows a call for it."""
    if isinstance(item.value, (ir.Literal, ir.Format, ir.Binary)):
        return None
    for origin in contents.objects.origins(item.value, item.point):
        if origin.site is not None:
            made = trained_module(objects.at(origin.point), origin.site.call, origin.point)
            if made is not None:
                return made
    return None


def _is_frozen(item: Item) -> bool:
    return not {"eval", "requires_grad_"}.isdisjoint(ir.tokens_of(item.value))


def _is_hidden(contents: Contents, nodes: list[Origin]) -> bool:
    """Is it a list of one that nothing is added to: the known way to hide a module on purpose?"""
    return not contents.fills_of(nodes) and all(
        isinstance(each.node, ir.Display) and len(each.node.items) == 1 for each in nodes
    )


def _is_left_out(objects: Objects, found: Unregistered, contents: Contents) -> bool:
    """Is a container used by a pass with gradients, and does nothing register what it holds?"""
    said = mentions(objects, found.cls, found.name)
    if any(registers(each, found.name) for each in said):
        return False
    uses = [each for each in said if not is_fill(each.point, found.name)]
    if not uses or all(evaluates(each.point) for each in uses):
        return False
    return not _is_taken_over(objects, found, contents)


def _is_taken_over(objects: Objects, found: Unregistered, contents: Contents) -> bool:
    """Is the container given to a call that may register its layers?"""
    made = {id(each.node) for each in found.nodes}
    scopes = {found.point.scope, *(each.point.scope for each in found.nodes)}
    for method in found.cls.methods.values():
        scope = objects.scope_of(method)
        if scope is not None and found.name in method.tokens:
            scopes.add(scope)
    for call, point in objects.nodes(ir.Call):
        if point.scope not in scopes or not call.args:
            continue
        for argument in call.args:
            value = argument.value
            value = value.value if isinstance(value, ir.Starred) else value
            if path_of(value) is not None and any(
                id(origin.node) in made for origin in contents.objects.origins(value, point)
            ):
                if takes_over(objects, CallSite(call, point)):
                    return True
    return False


# ---- beside a model


def _beside_models(objects: Objects, cls: ir.Class) -> Iterator[Unregistered]:
    """The layers of a class that trains a model and is none, where only the model is trained."""
    lineage = [cls, *(base for _, base in bases_elsewhere(objects, cls))]
    lineage += [each for each in objects.classes.with_bases(cls) if each not in lineage]
    methods = [method for each in lineage for method in each.methods.values()]
    words = frozenset[str]().union(*(method.tokens for method in methods))
    if "backward" not in words or words.isdisjoint(_LEARNS) or words.isdisjoint(_WRAPS):
        return
    training = _training_methods(methods)
    done: set[str] = set()
    for name, point, value in _set_by_methods(objects, cls):
        if name in done or isinstance(value, (ir.Literal, ir.Lambda)) or evaluates(point):
            continue
        if isinstance(value, (ir.Name, ir.Attribute)):
            continue
        made = trained_module(objects, value, point)
        if made is not None:
            done.add(name)
            said = mentions(objects, cls, name)
            if any(_may_be_trained(each, name) for each in said):
                continue
            if any(_is_used_in(each, name, training) for each in said):
                yield Unregistered(cls, name, point, value, made)


def _training_methods(methods: list[ir.Function]) -> Set[str]:
    """The names of the methods that run a backward pass, and of those that they call."""
    found = {each.name for each in methods if "backward" in each.tokens}
    for _ in range(_CALLS):
        called = frozenset[str]().union(*(e.tokens for e in methods if e.name in found))
        found |= {each.name for each in methods if each.name in called} - {"__init__"}
    return found


def _may_be_trained(mention: Mention, name: str) -> bool:
    """May a statement hand a layer to an optimizer, a wrapper or any other code, or freeze it?"""
    if registers(mention, name) and not (
        is_fill(mention.point, name) and _only_groups(mention.point)
    ):
        return True
    if given_away(mention.point.statement, name):
        return True
    return any(variable_registers(mention, each) for each in taken_out(mention, name))


def _only_groups(point: Point) -> bool:
    """``self.mlps = nn.ModuleList(...)``: a word for registering that makes the layer itself."""
    tokens = ir.tokens_of(point.statement)
    return {"eval", "requires_grad", "requires_grad_"}.isdisjoint(tokens)


def _is_used_in(mention: Mention, name: str, training: Set[str]) -> bool:
    function = mention.point.scope.function
    return (
        function is not None
        and function.name in training
        and is_called(mention.point.statement, name)
        and not evaluates(mention.point)
    )
