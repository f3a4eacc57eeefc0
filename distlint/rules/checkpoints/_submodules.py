"""The names of a model's submodules that a cut of ``module.`` meets as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.across import origins_across
from distlint.analyzer.static.callers import calls_elsewhere, calls_within, objects_in
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.reaching_definitions import path_of

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.rules.checkpoints._cut_names import Cut

_ADDS = frozenset({"add_module", "register_module"})
_MOST_CLASSES = 64
_CLASS = tuple["Module", ir.Class]


def name_that_is_cut(objects: Objects, cut: Cut) -> str | None:
    """The name of a submodule, of the model that is loaded, that the cut does not leave whole."""
    loads = list(_loads_of(objects, cut.site))
    if len({path_of(_receiver(load)) for _, load in loads}) != 1:
        return None
    for where, load in loads[:1]:
        for name in _names_of(where, load):
            if cut.prefix.rstrip(".") in name and name != cut.prefix.rstrip("."):
                if cut.applied_to(f"{cut.prefix}{name}.weight") != f"{name}.weight":
                    return name
    return None


def _receiver(load: CallSite) -> ir.Expr:
    assert isinstance(load.call.func, ir.Attribute)
    return load.call.func.value


def _loads_of(objects: Objects, site: CallSite) -> Iterator[tuple[Objects, CallSite]]:
    """The calls that load a state dict: beside the cut, else where its function is called."""
    beside = [
        each
        for each in objects.calls_in(site.point.scope, {"load_state_dict"})
        if isinstance(each.call.func, ir.Attribute) and _is_of_model(each)
    ]
    yield from ((objects, each) for each in beside)
    function = site.point.scope.function
    if beside or function is None:
        return
    callers = [(objects, each) for each in calls_within(objects, function)]
    callers += [
        (objects_in(module), each) for module, each in calls_elsewhere(objects.module, function)
    ]
    for where, caller in callers:
        for each in where.calls_in(caller.point.scope, {"load_state_dict"}):
            if isinstance(each.call.func, ir.Attribute) and _is_given(
                where, each, caller, function
            ):
                yield where, each


def _is_of_model(load: CallSite) -> bool:
    return not ir.last_name(_receiver(load)).lower().startswith(("opt", "sched", "scaler"))


def _is_given(objects: Objects, load: CallSite, made: CallSite, function: ir.Function) -> bool:
    """Does it load what a call of the function returned?"""
    return any(
        origin.node is made.call or origin.point.scope.function is function
        for argument in load.call.args[:1]
        for origin in objects.origins(argument.value, load.point)
    )


def _names_of(objects: Objects, load: CallSite) -> Iterator[str]:
    """The names in the model: those in classes of the project that it, or a part, is made of."""
    model = _receiver(load)
    own = objects.own_class(model, load.point)
    if own is not None and path_of(model) == ("self",):
        yield from _names_in((objects.module, own))
        return
    for where, origin in origins_across(objects, model, load.point):
        if not isinstance(origin.node, ir.Call):
            continue
        for node in expressions_in(origin.node):
            cls = _class(where.module, node)
            if cls is not None:
                yield from _names_in(cls)
        for each in where.calls_in(origin.point.scope, _ADDS):
            if isinstance(each.call.func, ir.Attribute) and any(
                to.node is origin.node for to in where.origins(each.call.func.value, each.point)
            ):
                yield from _named(where.module, each.point.statement)


def _class(module: Module, call: object) -> _CLASS | None:
    """The class of the project that a call makes an object of."""
    path = path_of(call.func) if isinstance(call, ir.Call) else None
    if path is None:
        return None
    if len(path) == 1 and path[0] in module.classes:
        return module, module.classes[path[0]]
    there = module.lead_to(path[0], *path[1:])
    return (there[0], there[1]) if there is not None and isinstance(there[1], ir.Class) else None


def _names_in(cls: _CLASS) -> Iterator[str]:
    """The names that a module of a class, and those inside it, give to their modules."""
    waiting = [cls]
    for module, each in waiting:  # grows meanwhile
        for where, function in _constructors(module, each):
            for statement in ir.statements_of(function.body):
                yield from _named(where, statement)
                for node in nodes_of(statement):
                    inner = _class(where, node)
                    if inner is not None and inner not in waiting:
                        if len(waiting) < _MOST_CLASSES:
                            waiting.append(inner)


def _constructors(module: Module, cls: ir.Class) -> Iterator[tuple[Module, ir.Function]]:
    """The constructors of a class and of its bases in the project, each with its file."""
    for each in module.lineage(cls.name):
        own = each.methods.get("__init__")
        where: Module | None = module
        if each.module != module.key:
            where = module.project.by_key(each.module) if module.project is not None else None
        if own is not None and where is not None:
            yield where, own


def _named(module: Module, statement: ir.Stmt) -> Iterator[str]:
    if isinstance(statement, ir.Assign) and _makes_module(module, statement.value):
        for target in statement.targets:
            if isinstance(target, ir.Attribute) and path_of(target.value) == ("self",):
                yield target.attr
    for node in nodes_of(statement):
        if isinstance(node, ir.Call) and ir.last_name(node.func) in _ADDS and node.args:
            first = node.args[0].value
            if isinstance(first, ir.Literal) and isinstance(first.value, str):
                yield first.value


def _makes_module(module: Module, value: ir.Expr) -> bool:
    """Is it a layer of torch, or an object of a class of the project that has a constructor?"""
    if not isinstance(value, ir.Call):
        return False
    path = path_of(value.func) or ("",)
    return path[:-1] in (("nn",), ("torch", "nn")) or _class(module, value) is not None
