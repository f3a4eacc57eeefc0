"""Following objects through one module without running it: which call made a value, who uses it.

For rules about the source of one module. An object is followed from an expression back to where it
was made: through assignments in the order of the statements, tuples, attributes of ``self``,
parameters (to the calls in the module), and returns of the module's functions. Where that ends, the
origin is the expression itself: a parameter, an attribute, a literal. So a rule that asks for calls
finds nothing where nothing is known.

    model = Net()               # here `model` has the origin Net()
    if distributed:
        model = DDP(model)
    train(model)                # here it has two: DDP(model) and Net()
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from distlint.analyzer import ir
from distlint.analyzer.project.project import Module
from distlint.analyzer.static.names import Around, Names, Scope, nodes_of, placed
from distlint.analyzer.static.reaching_definitions import (
    ELEMENT,
    Binding,
    Path,
    Point,
    Search,
    path_of,
)
from distlint.catalogue.catalogue import Catalogue

_MAX_DEPTH = 16
"""How many assignments, calls and returns are followed one after another."""

_MAX_ORIGINS = 12
"""A value with more origins than this is a table of the program's, not an object."""

_MAX_WRAPS = 3
"""How many calls a loop's iterable may be wrapped in: ``enumerate(tqdm(loader))``."""

_MOVES = frozenset({"to", "cuda", "cpu", "xpu", "npu", "hpu"})
_SAME_OBJECT = _MOVES | frozenset(
    {
        "half", "float", "double", "bfloat16", "train", "eval", "requires_grad_", "share_memory",
        "contiguous",
    }
)  # fmt: skip
"""Methods of modules and tensors that give back what they are called on."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call, and the statement that it is part of."""

    call: ir.Call
    point: Point

    @property
    def name(self) -> str:
        """The last component of what is called: ``step`` of ``self.optimizer.step()``."""
        return ir.last_name(self.call.func)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from: an expression, or a function or class of the module.

    ``item`` tells which item of the expression's value it is, None for the whole; ``ELEMENT`` is
    any of them. ``attributes`` is what is taken from it: ``("module",)`` for ``DDP(net).module``.
    """

    node: ir.Expr | ir.Function | ir.Class
    point: Point
    item: int | None = None
    attributes: Path = ()

    @property
    def call(self) -> ir.Call | None:
        """The call that made the value itself, not an item or an attribute of it."""
        whole = self.item is None and not self.attributes
        return self.node if isinstance(self.node, ir.Call) and whole else None

    @property
    def constant(self) -> object:
        """The constant that the value is, else Ellipsis."""
        return self.node.value if isinstance(self.node, ir.Literal) else ...

    @property
    def site(self) -> CallSite | None:
        return CallSite(self.call, self.point) if self.call is not None else None


@dataclass(frozen=True, slots=True)
class Passed:
    """What a call passes for a parameter: None for nothing, unless ``known`` is False.

    It is not known after ``*args`` and ``**kwargs`` that are not spelled out in the module.
    """

    value: ir.Expr | None
    known: bool = True

    @property
    def absent(self) -> bool:
        return self.known and self.value is None


N = TypeVar("N", bound=ir.Expr)

_ASKED_FOR = (ir.Attribute, ir.Call, ir.Compare, ir.Conditional)
"""Kinds of expressions that rules ask for in a whole module."""


@lru_cache(maxsize=32)
def objects_of(module: Module, catalogue: Catalogue) -> Objects:
    """The objects of a module; rules that ask one after another share what was found."""
    return Objects(module, catalogue)


class Objects:
    """The objects of one module. Nothing is looked up before it is asked for."""

    def __init__(self, module: Module, catalogue: Catalogue) -> None:
        self.module = module
        self.catalogue = catalogue
        self.names = Names(module, catalogue)
        self._known: dict[tuple[int, int, int], tuple[Origin, ...]] = {}
        self._open: set[tuple[object, ...]] = set()
        self._called: dict[ir.Call, str] = {}
        self._callees: dict[ir.Call, ir.Function | ir.Class | None] = {}
        self._cuts = 0
        self._attribute_nodes: dict[tuple[int, str], ir.Attribute] = {}
        self._unknowns: dict[tuple[int, Path], Origin] = {}
        self._assigned: dict[tuple[ir.Class, Path], tuple[Binding, ...]] = {}
        self._callers: dict[ir.Function, list[CallSite]] = {}

    # ---- what is there

    def calls(self, names: Collection[str]) -> Iterator[CallSite]:
        """The calls whose callee has one of these last names, also under an import alias."""
        for name in self._with_aliases(names):
            yield from self._calls.get(name, ())

    def calls_in(self, scope: Scope, names: Collection[str]) -> Iterator[CallSite]:
        """The same in one function, or in the module's body."""
        return (site for name in self._with_aliases(names) for site in self._in(scope, name))

    def _with_aliases(self, names: Collection[str]) -> Iterable[str]:
        wanted = [alias for alias, name in self.module.aliases.items() if name in names]
        return dict.fromkeys((*sorted(names), *sorted(wanted)))

    def _in(self, scope: Scope, name: str) -> Sequence[CallSite]:
        return self._calls_by_scope.get((id(scope), name), ())

    @cached_property
    def _calls_by_scope(self) -> dict[tuple[int, str], list[CallSite]]:
        table: dict[tuple[int, str], list[CallSite]] = {}
        for name, sites in self._calls.items():
            for site in sites:
                table.setdefault((id(site.point.scope), name), []).append(site)
        return table

    @property
    def called_names(self) -> Collection[str]:
        """The last names of everything that the module calls."""
        return self._calls.keys()

    @cached_property
    def _calls(self) -> dict[str, list[CallSite]]:
        table: dict[str, list[CallSite]] = {}
        for node, point in self.nodes(ir.Call):
            table.setdefault(ir.last_name(node.func), []).append(CallSite(node, point))
        return table

    def nodes(self, kind: type[N]) -> Sequence[tuple[N, Point]]:
        """All expressions of a kind, and the statements that they are evaluated by."""
        return self._nodes.get(kind, ())

    @cached_property
    def _nodes(self) -> dict[type, list[tuple[Any, Point]]]:
        table: dict[type, list[tuple[Any, Point]]] = {kind: [] for kind in _ASKED_FOR}
        for point in self.points:
            for node in nodes_of(point.statement):
                found = table.get(type(node))
                if found is not None:
                    found.append((node, point))
        return table

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Every statement of the module."""
        return tuple(
            Point(scope, around) for scope in self.names.scopes for _, around in placed(scope.body)
        )

    def points_in(self, scope: Scope) -> Sequence[Point]:
        """The statements of one function, or of the module's body."""
        return self._points_by_scope.get(id(scope), ())

    @cached_property
    def _points_by_scope(self) -> dict[int, list[Point]]:
        table: dict[int, list[Point]] = {}
        for point in self.points:
            table.setdefault(id(point.scope), []).append(point)
        return table

    @cached_property
    def loops(self) -> tuple[Point, ...]:
        """Every ``for`` statement of the module."""
        return tuple(point for point in self.points if isinstance(point.statement, ir.For))

    # ---- calls

    def calls_to(self, *dotted: str) -> Iterator[CallSite]:
        """The calls of functions and classes of frameworks, by their dotted names."""
        for site in self.calls({name.rpartition(".")[2] for name in dotted}):
            if self.is_call_to(site, *dotted):
                yield site

    def is_call_to(self, site: CallSite, *dotted: str) -> bool:
        """Does a call call one of these? A name that came in by a star import may be any."""
        name = self.called(site)
        if name in dotted:
            return True
        path = path_of(site.call.func)
        return (
            path is not None
            and name == ".".join(path)
            and self._is_foreign(path[0], site.point.scope)
            and any(each.rpartition(".")[2] == path[-1] for each in dotted)
        )

    def is_undefined(self, site: CallSite) -> bool:
        """Does nothing define what is called, neither this module nor an import?

        A function of no known origin, or a method of ``self`` that no class has.
        """
        func = site.call.func
        if isinstance(func, ir.Attribute):
            cls = (
                self.own_class(func.value, site.point) if path_of(func.value) == ("self",) else None
            )
            return cls is not None and self._is_closed(cls) and self.callee(site) is None
        return (
            isinstance(func, ir.Name)
            and self._is_foreign(func.id, site.point.scope)
            and not self.module.star_imports
            and not hasattr(builtins, func.id)
        )

    def _is_closed(self, cls: ir.Class) -> bool:
        """Are all bases of a class in the module?"""
        return all(
            isinstance(base, ir.Name) and (base.id in self.module.classes or base.id == "object")
            for each in self._with_bases(cls)
            for base in each.bases
        )

    def constant(self, passed: Passed, point: Point, default: object = None) -> object:
        """The constant that a call passes, also through variables; Ellipsis if it is none."""
        if passed.value is None:
            return default if passed.known else ...
        origins = self.origins(passed.value, point)
        found = {origin.constant for origin in origins}
        return found.pop() if len(found) == 1 else ...

    def called(self, site: CallSite) -> str:
        """The dotted name of what a call calls, ``""`` if unknown.

        A method of an object of a framework's class is ``class.method``. A name that the module
        neither imports nor defines stands for itself (it came in by a star import).
        """
        known = self._called.get(site.call)
        if known is None:
            self._called[site.call] = ""  # the answer for an object that is made from itself
            known = self._called[site.call] = self._name_called(site)
        return known

    def _name_called(self, site: CallSite) -> str:
        callee, scope = site.call.func, site.point.scope
        dotted = self.names.dotted(callee, scope)
        if dotted is not None:
            return self.catalogue.canonical(dotted)
        if isinstance(callee, ir.Attribute):
            cls = self.class_of(callee.value, site.point)
            kept = cls or self._module_kept(callee.value, site.point)
            if kept:
                return f"{kept}.{callee.attr}"
        path = path_of(callee)
        return ".".join(path) if path is not None and self._is_foreign(path[0], scope) else ""

    def _module_kept(self, node: ir.Expr, point: Point) -> str:
        """What an attribute of the object itself stands for: ``self._wandb = wandb``."""
        path = path_of(node)
        if path is None or len(path) != 2 or path[0] != "self":
            return ""
        cls = self.own_class(ir.Name("self"), point)
        found = {
            self.names.dotted(binding.node, binding.point.scope) or ""
            for each in (self._with_bases(cls) if cls is not None else ())
            for binding in self._assigned_by_methods(each, path[1:])
            if isinstance(binding.node, ir.Expr) and not _is_none(binding.node)
        }
        return self.catalogue.canonical(found.pop()) if len(found) == 1 else ""

    def class_of(self, node: ir.Expr, point: Point) -> str:
        """The framework class of an object, by the call that made it, else by its name."""
        found = {
            self.called(origin.site) if origin.site is not None else ""
            for origin in self.origins(node, point)
            if not _is_none(origin.node)
        }
        if len(found) == 1 and self.catalogue.is_class(only := next(iter(found))):
            return self.catalogue.canonical(only)
        return self.names.class_of(node, point.scope) or ""

    def callee(self, site: CallSite) -> ir.Function | ir.Class | None:
        """The function, method or class of the module that a call calls."""
        if site.call not in self._callees:
            self._callees[site.call] = None  # the answer for an object that is made from itself
            self._callees[site.call] = self._find_callee(site)
        return self._callees[site.call]

    def _find_callee(self, site: CallSite) -> ir.Function | ir.Class | None:
        func = site.call.func
        if isinstance(func, ir.Attribute):
            cls = self.own_class(func.value, site.point)
            return self._method(cls, func.attr) if cls is not None else None
        if not isinstance(func, ir.Name) or func.id not in self._own_names:
            return None
        found = [o.node for o in self.origins(func, site.point) if not o.attributes]
        if len(found) == 1 and isinstance(found[0], (ir.Function, ir.Class)):
            return found[0]
        return None

    @cached_property
    def _own_names(self) -> frozenset[str]:
        functions = {function.name for function in self.module.functions}
        return frozenset(functions | {cls.name for cls in self._point_of_class})

    def own_class(self, node: ir.Expr, point: Point) -> ir.Class | None:
        """The class of the module that an object is of."""
        if path_of(node) == ("self",):
            function = _method_around(point.scope)
            return self._class_of_method.get(function) if function is not None else None
        made = [origin.site for origin in self.origins(node, point) if not _is_none(origin.node)]
        if len(made) != 1 or made[0] is None:
            return None
        cls = self.callee(made[0])
        return cls if isinstance(cls, ir.Class) else None

    def argument(self, site: CallSite, name: str, position: int | None = None) -> Passed:
        """What a call passes for the parameter of this name and position."""
        known = True
        for index, argument in enumerate(site.call.args):
            if argument.keyword == name:
                return Passed(argument.value)
            if argument.star == "*":
                known = known and position is None
            elif argument.star:
                spelled = self._spelled_out(argument.value, site.point)
                if spelled is None:
                    known = False
                elif name in spelled:
                    return Passed(spelled[name])
            elif index == position and argument.keyword is None and known:
                return Passed(argument.value)
        return Passed(None, known)

    def _spelled_out(self, node: ir.Expr, point: Point) -> dict[str, ir.Expr] | None:
        """The items of a dict that is written down and not changed afterwards."""
        origins = self.origins(node, point)
        if len(origins) != 1 or origins[0].attributes or origins[0].item is not None:
            return None
        made = origins[0].node
        if made in self._changed:
            return None
        if isinstance(made, ir.Call) and path_of(made.func) == ("dict",):
            items = {a.keyword: a.value for a in made.args}
            return {k: v for k, v in items.items() if k} if None not in items else None
        if not isinstance(made, ir.DictDisplay):
            return None
        found: dict[str, ir.Expr] = {}
        for key, value in zip(made.keys, made.values, strict=True):
            if not (isinstance(key, ir.Literal) and isinstance(key.value, str)):
                return None
            found[key.value] = value
        return found

    @cached_property
    def _changed(self) -> frozenset[object]:
        """What made the objects that are written to: by an item, or by a method of dicts."""
        found: list[tuple[ir.Expr, Point]] = []
        for point in self.points:
            statement = point.statement
            targets: tuple[ir.Expr, ...] = ()
            if isinstance(statement, (ir.Assign, ir.Delete)):
                targets = statement.targets
            elif isinstance(statement, (ir.AugAssign, ir.For)):
                targets = (statement.target,)
            found += [(t.value, point) for t in targets if isinstance(t, ir.Subscript)]
        for site in self.calls({"update", "setdefault", "pop", "clear", "popitem"}):
            if isinstance(site.call.func, ir.Attribute):
                found.append((site.call.func.value, site.point))
        return frozenset(origin.node for each in found for origin in self.origins(*each))

    # ---- uses

    def passed_to(self, made: ir.Call) -> Iterator[tuple[CallSite, ir.Argument]]:
        """The calls that get the object which another call made, and the argument that it is."""
        for site, argument in self._passed.get(made, ()):
            if site.call is not made:
                yield site, argument

    @cached_property
    def _passed(self) -> dict[ir.Call, list[tuple[CallSite, ir.Argument]]]:
        """The arguments of all calls, by the call that made the object."""
        table: dict[ir.Call, list[tuple[CallSite, ir.Argument]]] = {}
        for sites in self._calls.values():
            for site in sites:
                for argument in site.call.args:
                    made = (o.call for o in self.origins(argument.value, site.point))
                    for call in dict.fromkeys(each for each in made if each is not None):
                        table.setdefault(call, []).append((site, argument))
        return table

    def assigned_to(self, name: str, scope: Scope) -> Sequence[Point]:
        """The assignments of a function to a variable, as they are placed in it."""
        return self._assignments.get((id(scope), name), ())

    @cached_property
    def _assignments(self) -> dict[tuple[int, str], list[Point]]:
        table: dict[tuple[int, str], list[Point]] = {}
        for point in self.points:
            if isinstance(point.statement, ir.Assign):
                for target in point.statement.targets:
                    if isinstance(target, ir.Name):
                        table.setdefault((id(point.scope), target.id), []).append(point)
        return table

    def methods_on(self, made: ir.Call, names: Collection[str]) -> Iterator[CallSite]:
        """The calls of these methods on the object that a call made."""
        for site in self.calls(names):
            func = site.call.func
            if isinstance(func, ir.Attribute) and self.is_made_by(made, func.value, site.point):
                yield site

    def is_made_by(self, made: ir.Call, node: ir.Expr, point: Point) -> bool:
        """May an expression be the object that a call made?"""
        return any(origin.call is made for origin in self.origins(node, point))

    def iterated_by(self, made: ir.Call) -> Iterator[Point]:
        """The statements that go through the object: loops, also through ``enumerate``, ``tqdm``
        and their kind, and ``yield from``.
        """
        for point in self.points:
            statement = point.statement
            if isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Yield):
                given = statement.value
                if given.delegated and given.value and self.is_made_by(made, given.value, point):
                    yield point
        for loop in self.loops:
            assert isinstance(loop.statement, ir.For)
            if self._goes_through(loop.statement.iterable, loop, made, _MAX_WRAPS):
                yield loop

    def _goes_through(self, node: ir.Expr, point: Point, made: ir.Call, depth: int) -> bool:
        return any(
            origin.call is made
            or (
                isinstance(origin.node, ir.Call)
                and depth > 0
                and self._is_wrapper(CallSite(origin.node, origin.point))
                and any(
                    self._goes_through(argument.value, origin.point, made, depth - 1)
                    for argument in origin.node.args
                )
            )
            for origin in self.origins(node, point)
        )

    def _is_wrapper(self, site: CallSite) -> bool:
        """May a loop over the result go through an argument of the call? Not over a loader."""
        return self.catalogue.member(self.called(site), "__iter__") is None

    # ---- origins

    def origins(self, node: ir.Expr, point: Point) -> tuple[Origin, ...]:
        """Where the value of an expression may come from, as seen at a statement."""
        here = point.around[-1] if point.around else None
        key = (id(node), id(here.block) if here else 0, here.index if here else 0)
        known = self._known.get(key)
        if known is None:
            cuts = self._cuts
            known = tuple(dict.fromkeys(self._resolve(node, point)))
            if len(known) > _MAX_ORIGINS:
                known = (Origin(node, point),)
            if self._cuts == cuts:  # what was cut short inside another question is not kept
                self._known[key] = known
        return known

    def _resolve(self, node: ir.Expr, point: Point) -> Iterator[Origin]:
        if isinstance(node, ir.Conditional):
            yield from self.origins(node.body, point)
            yield from self.origins(node.orelse, point)
        elif isinstance(node, ir.BoolOp):
            for value in node.values:
                yield from self.origins(value, point)
        elif isinstance(node, ir.Walrus):
            yield from self.origins(node.value, point)
        elif isinstance(node, ir.Starred):
            yield Origin(node, point)
        elif isinstance(node, ir.Call):
            yield from self._resolve_call(node, point)
        elif isinstance(node, ir.Subscript):
            index = node.index.value if isinstance(node.index, ir.Literal) else None
            if isinstance(index, int) and index >= 0:
                for origin in self.origins(node.value, point):
                    yield from self._item(origin, index)
            else:
                yield Origin(node, point)
        else:
            path = path_of(node)
            if path is not None:
                yield from self._resolve_path(path, node, point)
            elif isinstance(node, ir.Attribute):
                for origin in self.origins(node.value, point):
                    yield from self._attribute(origin, node.attr)
            else:
                yield Origin(node, point)

    def _resolve_call(self, call: ir.Call, point: Point) -> Iterator[Origin]:
        func = call.func
        if isinstance(func, ir.Attribute) and func.attr in _SAME_OBJECT:
            receiver = self.origins(func.value, point)
            if func.attr in _MOVES or any(
                isinstance(origin.node, (ir.Call, ir.Class)) for origin in receiver
            ):
                yield from receiver
                return
        function = self.callee(CallSite(call, point))
        if isinstance(function, ir.Function) and not function.generator:
            yield from self._within(("return", function), call, point, self.returns(function))
            return
        yield Origin(call, point)

    def _within(
        self, key: tuple[object, ...], node: ir.Expr, point: Point, found: Iterator[Origin]
    ) -> Iterator[Origin]:
        """What a question inside a question finds; itself, when it asks for what is open."""
        if key in self._open or len(self._open) >= _MAX_DEPTH:
            self._cuts += 1
            yield Origin(node, point)
            return
        self._open.add(key)
        try:
            yield from list(found)
        finally:
            self._open.discard(key)

    def returns(self, function: ir.Function) -> Iterator[Origin]:
        """Where the values that a function returns come from."""
        scope = self.scope_of(function)
        if scope is None:
            return
        for statement, around in placed(function.body):
            if isinstance(statement, ir.Return) and statement.value is not None:
                yield from self.origins(statement.value, Point(scope, around))

    def _item(self, origin: Origin, index: int) -> Iterator[Origin]:
        node = origin.node
        if origin.item is None and not origin.attributes and isinstance(node, ir.Display):
            starred = any(isinstance(item, ir.Starred) for item in node.items)
            if not starred and (index == ELEMENT or 0 <= index < len(node.items)):
                items = node.items if index == ELEMENT else node.items[index : index + 1]
                found = (each for item in items for each in self.origins(item, origin.point))
                yield from self._within(("item", node, index), node, origin.point, found)
                return
        if origin.item is None and not origin.attributes:
            yield Origin(node, origin.point, index)
        else:
            yield Origin(ir.Opaque(0), origin.point)

    def _attribute(self, origin: Origin, name: str) -> Iterator[Origin]:
        site = origin.site
        if site is not None and origin.item is None:
            cls = self.callee(site)
            if isinstance(cls, ir.Class):
                found = list(self._class_attribute(cls, (name,)))
                if found:
                    yield from found
                    return
        yield Origin(origin.node, origin.point, origin.item, (*origin.attributes, name))

    # ---- variables

    def _resolve_path(self, path: Path, node: ir.Expr, point: Point) -> Iterator[Origin]:
        key = (path, point.scope, id(point.around[-1].block), point.around[-1].index)
        return self._within(key, node, point, self._look_up(path, node, point))

    def _look_up(self, path: Path, node: ir.Expr, point: Point) -> Iterator[Origin]:
        bindings, complete = Search(path, point.scope).before(point.around)
        for binding in bindings:
            yield from self._bound(binding)
        if not complete:
            yield from self._at_start(path, node, point)

    def _bound(self, binding: Binding) -> Iterator[Origin]:
        if binding.node is None:
            yield Origin(ir.Opaque(0), binding.point)
            return
        if isinstance(binding.node, (ir.Function, ir.Class)):
            found: list[Origin] = [Origin(binding.node, binding.point)]
        else:
            found = list(self.origins(binding.node, binding.point))
        for index in binding.items:
            found = [item for origin in found for item in self._item(origin, index)]
        for name in binding.rest:
            found = [part for origin in found for part in self._attribute(origin, name)]
        yield from found

    def _at_start(self, path: Path, node: ir.Expr, point: Point) -> Iterator[Origin]:
        """A path that nothing in its scope has given a value before the point."""
        scope = point.scope
        function = scope.function
        if function is not None and path[0] in function.locals:
            param = next((p for p in function.params if p.name == path[0]), None)
            if param is None:
                if len(path) > 1:
                    yield from self._shorter(path, node, point)
                return  # bound later or not at all
            cls = self._class_of_method.get(function)
            if cls is not None and function.params[0] is param and len(path) > 1:
                found = list(self._class_attribute(cls, path[1:]))
                yield from found or [self._unknown(cls, path[1:], node, point)]
            else:
                yield from self._given(function, param, path[1:], node, point)
            return
        outer = scope.outer if function is not None else None
        if outer is not None:
            yield from self._at_end(outer, path, node, point)
        elif len(path) > 1:
            yield from self._shorter(path, node, point)
        else:
            yield self._unknown(self.module, path, node, point)

    def _shorter(self, path: Path, node: ir.Expr, point: Point) -> Iterator[Origin]:
        """An attribute that nothing assigns: it belongs to whatever the object is."""
        assert isinstance(node, ir.Attribute)
        if isinstance(node.value, ir.Name) and node.value.id == path[0]:
            base = list(self.origins(node.value, point))
            if any(not isinstance(origin.node, ir.Name) for origin in base):
                for origin in base:
                    yield from self._attribute(origin, path[-1])
                return
        yield self._unknown(self.module, path, node, point)

    def _at_end(self, scope: Scope, path: Path, node: ir.Expr, point: Point) -> Iterator[Origin]:
        """A variable of an outer scope, as it is when that has run."""
        bindings, complete = Search(path, scope, leaving=True).in_block(scope.body)
        for binding in bindings:
            yield from self._bound(binding)
        if scope.function is None:
            for writer in self._writers.get(path[0], ()):
                written = Search(path, writer, leaving=True).in_block(writer.body)[0]
                bindings += written
                for binding in written:
                    yield from self._bound(binding)
        if scope.function is not None and not complete:
            start = Point(scope, (Around(scope.body, 0, None),))
            yield from self._at_start(path, node, start)
        elif not bindings and len(path) > 1:
            yield from self._shorter(path, node, point)
        elif not bindings:
            yield self._unknown(self.module, path, node, point)

    @cached_property
    def _writers(self) -> dict[str, list[Scope]]:
        """The functions that declare a variable of the module global."""
        table: dict[str, list[Scope]] = {}
        for scope in self.names.scopes:
            for name in scope.function.outer if scope.function is not None else ():
                table.setdefault(name, []).append(scope)
        return table

    def _given(
        self, function: ir.Function, param: ir.Param, rest: Path, node: ir.Expr, point: Point
    ) -> Iterator[Origin]:
        """What the calls in the module pass for a parameter."""
        sites = self.callers(function)
        unknown = self._unknown(param, rest, node, point)
        if not sites or param.star:
            yield unknown
            return
        position = self._position(function, param)
        for site in sites:
            passed = self.argument(site, param.name, position)
            if passed.value is None:
                default = param.default
                if default is None or not passed.known or rest:
                    yield unknown
                else:
                    yield Origin(default, point)
                continue
            value: ir.Expr = passed.value
            for name in rest:
                value = self._made_attribute(value, name)
            yield from self.origins(value, site.point)

    def _unknown(self, owner: object, path: Path, node: ir.Expr, point: Point) -> Origin:
        """What is not known any further: the same for each mention of it."""
        return self._unknowns.setdefault((id(owner), path), Origin(node, point))

    def _made_attribute(self, value: ir.Expr, name: str) -> ir.Attribute:
        """One node for the same attribute, so that answers about it can be kept."""
        return self._attribute_nodes.setdefault(
            (id(value), name), ir.Attribute(value, name, getattr(value, "site", 0))
        )

    def _position(self, function: ir.Function, param: ir.Param) -> int | None:
        if param.keyword_only:
            return None
        index = next(i for i, each in enumerate(function.params) if each is param)
        bound = function in self._class_of_method and not _is_static(function)
        return index - 1 if bound else index

    def callers(self, function: ir.Function) -> list[CallSite]:
        """The calls in the module of a function; of a class for its ``__init__``."""
        known = self._callers.get(function)
        if known is None:
            known = self._callers[function] = []
            cls = self._class_of_method.get(function)
            wanted: object = function
            name = function.name
            if cls is not None and name == "__init__":
                wanted, name = cls, cls.name
            elif cls is not None and name == "forward":
                name = ""  # called through the object, seldom by name
            for site in self._calls.get(name, ()):
                if self.callee(site) is wanted:
                    known.append(site)
        return known

    # ---- classes

    @cached_property
    def _point_of_class(self) -> dict[ir.Class, Point]:
        return {
            point.statement.cls: point
            for point in self.points
            if isinstance(point.statement, ir.DefineClass)
        }

    @cached_property
    def _class_of_method(self) -> dict[ir.Function, ir.Class]:
        return {method: cls for cls in self._point_of_class for method in cls.methods.values()}

    def _method(self, cls: ir.Class, name: str) -> ir.Function | None:
        for each in self._with_bases(cls):
            if name in each.methods:
                return each.methods[name]
        return None

    def _with_bases(self, cls: ir.Class) -> Iterator[ir.Class]:
        seen: list[ir.Class] = [cls]
        for each in seen:
            yield each
            for base in each.bases:
                found = self.module.classes.get(base.id) if isinstance(base, ir.Name) else None
                if found is not None and found not in seen:
                    seen.append(found)

    def lineage(self, method: ir.Function) -> list[ir.Class]:
        """The class of a method and its bases, as far as the module tells."""
        cls = self._class_of_method.get(method)
        return list(self._with_bases(cls)) if cls is not None else []

    def super_callee(self, site: CallSite) -> ir.Function | None:
        """The method of a base class that a call calls: ``super().save()``."""
        func, function = site.call.func, site.point.scope.function
        if not isinstance(func, ir.Attribute) or function is None:
            return None
        if not isinstance(func.value, ir.Call) or path_of(func.value.func) != ("super",):
            return None
        found = (each.methods.get(func.attr) for each in self.lineage(function)[1:])
        return next((each for each in found if each is not None), None)

    def overrides(self, method: ir.Function) -> Iterator[ir.Function]:
        """The methods of subclasses in the module that stand in for a method."""
        cls = self._class_of_method.get(method)
        for each in self._point_of_class:
            own = each.methods.get(method.name)
            if own is not None and own is not method and cls in {*self._with_bases(each)}:
                yield own

    def subclasses_of(self, *dotted: str) -> Iterator[ir.Class]:
        """The classes of the module that derive from a class of a framework."""
        for cls, point in self._point_of_class.items():
            bases = [base for each in self._with_bases(cls) for base in each.bases]
            for base in bases:
                name = self.names.dotted(base, point.scope)
                if name is not None and self.catalogue.canonical(name) in dotted:
                    yield cls
                    break

    def super_calls(self, method: ir.Function) -> Iterator[CallSite]:
        """The calls by which a method calls itself in a base class."""
        for site in self.calls({method.name}):
            func = site.call.func
            if site.point.scope.function is method and isinstance(func, ir.Attribute):
                if isinstance(func.value, ir.Call) and path_of(func.value.func) == ("super",):
                    yield site

    def _class_attribute(self, cls: ir.Class, rest: Path) -> Iterator[Origin]:
        """What the methods of a class assign to an attribute of its objects."""
        for each in self._with_bases(cls):
            for binding in self._assigned_by_methods(each, rest):
                yield from self._bound(binding)
            if rest[0] in each.attributes and len(rest) == 1:
                yield from self.origins(each.attributes[rest[0]], self._point_of_class[each])
            getter = each.methods.get(rest[0])
            if getter is not None and _is_property(getter):
                found = list(self.returns(getter))
                for name in rest[1:]:
                    found = [part for origin in found for part in self._attribute(origin, name)]
                yield from found

    def _assigned_by_methods(self, cls: ir.Class, rest: Path) -> tuple[Binding, ...]:
        known = self._assigned.get((cls, rest))
        if known is None:
            found: list[Binding] = []
            for method in cls.methods.values():
                scope = self.scope_of(method)
                if scope is not None and method.params and rest[0] in method.tokens:
                    path = (method.params[0].name, *rest)
                    found += Search(path, scope, leaving=True).in_block(method.body)[0]
            known = self._assigned[cls, rest] = tuple(found)
        return known

    @cached_property
    def _scopes(self) -> dict[ir.Function, Scope]:
        return {s.function: s for s in self.names.scopes if s.function is not None}

    def scope_of(self, function: ir.Function) -> Scope | None:
        return self._scopes.get(function)

    def _is_foreign(self, name: str, scope: Scope) -> bool:
        """Does nothing in the module give the name a meaning?"""
        seen: Scope | None = scope
        while seen is not None and seen.function is not None:
            if name in seen.function.locals:
                return False
            seen = seen.outer
        return name not in self.module.definitions


def _is_none(node: object) -> bool:
    return isinstance(node, ir.Literal) and node.value is None


def _is_static(function: ir.Function) -> bool:
    return any(path_of(each) == ("staticmethod",) for each in function.decorators)


def _is_property(function: ir.Function) -> bool:
    return any((path_of(each) or ("",))[-1].endswith("property") for each in function.decorators)


def _method_around(scope: Scope) -> ir.Function | None:
    """The function whose ``self`` a scope sees: its own, or that of a function around it."""
    seen: Scope | None = scope
    while seen is not None and seen.function is not None:
        if "self" in seen.function.locals:
            return seen.function
        seen = seen.outer
    return None
