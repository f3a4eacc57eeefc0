"""How layers reach the parameters of a model, or an optimizer: by what is said of an attribute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.names import calls_of, expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.gradients._containers import Item, is_fill
from distlint.rules.training import ONLY_LOOKS

_FROZEN = frozenset({"eval", "requires_grad", "requires_grad_"})
_JOINS = frozenset(
    {
        "add_module", "register_module", "register_parameter", "setattr", "ModuleList",
        "ModuleDict", "Sequential", "ParameterList", "_modules", "__dict__",
    }
)  # fmt: skip
_READS = frozenset(
    {"parameters", "named_parameters", "add_param_group", "state_dict", "load_state_dict"}
)
REGISTERS = _JOINS | _READS | _FROZEN
"""Words for registering a module, and for doing oneself what is done for registered ones."""
_OWN_LISTS = frozenset(
    {"parameters", "named_parameters", "children", "named_children", "modules", "named_modules"}
)
_MOST_FILES = 32
"""Files that import one, at any remove, that are looked at."""


class Mention(NamedTuple):
    """A statement that names an attribute, and the objects of its file."""

    objects: Objects
    point: Point


def lists_itself(methods: Iterable[str]) -> bool:
    """Does a class say itself what its parameters or children are?"""
    return not _OWN_LISTS.isdisjoint(methods) or "_apply" in methods


def files_around(objects: Objects) -> Iterator[Objects]:
    """A file and those that import it, at any remove."""
    yield objects
    waiting: list[Module] = [objects.module]
    for each in waiting:  # grows meanwhile
        for importer in each.all_importers():
            if importer not in waiting and len(waiting) < _MOST_FILES:
                waiting.append(importer)
                yield objects.in_file(importer)


def mentions(objects: Objects, cls: ir.Class, name: str) -> list[Mention]:
    """The statements that name an attribute of the objects of a class, as far as can be seen."""
    found: list[Mention] = []
    for where in files_around(objects):
        if name not in where.module.tokens:
            continue
        for node, point in where.nodes(ir.Attribute):
            if node.attr == name and not _is_of_another(where, node, point, cls):
                found.append(Mention(where, point))
    return found


def _is_of_another(objects: Objects, node: ir.Attribute, point: Point, cls: ir.Class) -> bool:
    """Is it an attribute of ``self`` in a class that has nothing to do with this one?"""
    if path_of(node.value) != ("self",):
        return False
    own = objects.classes.of_self(point.scope)
    if own is None or own is cls:
        return False
    lineages = [{e.name for e in objects.module.lineage(each.name)} for each in (own, cls)]
    return cls.name not in lineages[0] and own.name not in lineages[1]


def registers(mention: Mention, name: str) -> bool:
    """Does a statement register what an attribute holds, freeze it, or give its parameters?"""
    statement = mention.point.statement
    if isinstance(statement, ir.For):
        return not REGISTERS.isdisjoint(ir.tokens_of(statement)) and not _only_thaws(statement)
    tokens = _tokens_of(statement)
    if is_fill(mention.point, name):
        return not _FROZEN.isdisjoint(tokens)
    return not REGISTERS.isdisjoint(tokens)


def _tokens_of(statement: ir.Stmt) -> frozenset[str]:
    """The names in what a statement evaluates itself."""
    found: set[str] = set()
    for node in nodes_of(statement):
        if isinstance(node, ir.Attribute):
            found.add(node.attr)
        elif isinstance(node, ir.Name):
            found.add(node.id)
    return frozenset(found)


def _only_thaws(loop: ir.For) -> bool:
    """Does a loop over layers only say which of them are trained for now?

    for i, layer in enumerate(self.layers):
        for p in layer.parameters():
            p.requires_grad = i == task
    """
    others, values = set[str](), list[ir.Expr]()
    stack: list[tuple[ir.Stmt, bool]] = [(each, False) for each in loop.body]
    while stack:
        each, is_inner = stack.pop()
        if isinstance(each, ir.For) and not _READS.isdisjoint(_tokens_of(each)):
            stack += [(inner, True) for inner in each.body]
        elif isinstance(each, ir.If):
            others |= ir.tokens_of(each.test)
            stack += [(inner, is_inner) for inner in (*each.body, *each.orelse)]
        elif is_inner and isinstance(each, ir.Assign) and _sets_flag(each):
            values.append(each.value)
        else:
            others |= ir.tokens_of(each)
    frozen = all(isinstance(each, ir.Literal) and each.value is False for each in values)
    return others.isdisjoint(REGISTERS) and not frozen


def _sets_flag(statement: ir.Assign) -> bool:
    return all(
        isinstance(each, ir.Attribute) and each.attr == "requires_grad"
        for each in statement.targets
    )


def is_registered(objects: Objects, item: Item, made: CallSite, name: str) -> bool:
    """Is a layer that a container holds also an attribute, or registered by itself?

    ``name`` is the attribute that holds the container.
    """
    if isinstance(item.value, (ir.Attribute, ir.Subscript)):
        return True
    statement = made.point.statement
    if isinstance(statement, ir.Assign) and any(
        isinstance(each, ir.Attribute) and each.attr != name for each in statement.targets
    ):
        return True
    if not isinstance(item.value, ir.Name):
        return False
    variable = item.value.id
    return any(
        _registers_variable(point.statement, variable, name)
        for point in objects.at(item.point).points_in(item.point.scope)
    )


def _registers_variable(statement: ir.Stmt, variable: str, name: str) -> bool:
    if isinstance(statement, ir.Assign) and path_of(statement.value) == (variable,):
        return any(isinstance(each, ir.Attribute) for each in statement.targets)
    return any(
        not (_JOINS | _READS).isdisjoint({ir.last_name(call.func)})
        and variable in ir.tokens_of(call)
        for call in calls_of(statement)
    ) or (not _FROZEN.isdisjoint(_tokens_of(statement)) and variable in _tokens_of(statement))


def takes_over(objects: Objects, site: CallSite) -> bool:
    """May a call register the layers of a container that it is given?"""
    func = site.call.func
    if site.name in ONLY_LOOKS or site.name in ("append", "extend"):
        return False
    _, callee = objects.callee_anywhere(site) or (objects, None)
    if isinstance(callee, ir.Function):
        return not REGISTERS.isdisjoint(callee.tokens)
    if callee is None and isinstance(func, ir.Attribute):
        if site.name in REGISTERS:
            return True
        # a layer that is called with it
        return not any(origin.site is not None for origin in objects.origins(func, site.point))
    return True


def given_away(statement: ir.Stmt, name: str) -> bool:
    """Is an attribute given, as it is, to a call that may do anything, or put into something?"""
    values: list[ir.Expr] = []
    for node in nodes_of(statement):
        if isinstance(node, ir.Call) and ir.last_name(node.func) not in ONLY_LOOKS:
            values += [each.value for each in node.args]
        elif isinstance(node, ir.Display):
            values += node.items
        elif isinstance(node, ir.DictDisplay):
            values += node.values
    if isinstance(statement, (ir.Assign, ir.Return)) and statement.value is not None:
        values.append(statement.value)
    return any(isinstance(each, ir.Attribute) and each.attr == name for each in values)


def taken_out(mention: Mention, name: str) -> Iterator[str]:
    """The variables that a statement binds to an item of an attribute: ``mlp = self.mlps[i]``."""
    statement = mention.point.statement
    if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Subscript):
        if ir.last_name(statement.value.value) == name:
            for target in statement.targets:
                if isinstance(target, ir.Name):
                    yield target.id


def variable_registers(mention: Mention, variable: str) -> bool:
    """Is a variable that holds a layer registered, or are its parameters given, in its function?"""
    return any(
        variable in _tokens_of(point.statement)
        and not REGISTERS.isdisjoint(_tokens_of(point.statement))
        for point in mention.objects.points_in(mention.point.scope)
    )


def is_called(statement: ir.Stmt, name: str) -> bool:
    """Is an attribute, or an item of it, called or taken out in a statement?"""
    return any(
        (isinstance(node, ir.Call) and _is_of(node.func, name))
        or (isinstance(node, ir.Subscript) and _is_of(node.value, name))
        for node in nodes_of(statement)
    ) or (
        isinstance(statement, ir.For)
        and any(_is_of(each, name) for each in expressions_in(statement.iterable))
    )


def _is_of(node: object, name: str) -> bool:
    if isinstance(node, ir.Subscript):
        node = node.value
    return isinstance(node, ir.Attribute) and node.attr == name
