"""The calls, literals and parameters that the value of an expression comes from.

An object is followed from an expression back to where it
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

from collections.abc import Iterator
from functools import cached_property

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.names import Around, Scope, placed
from distlint.analyzer.static.objects.arguments import Passed, items_of, passed_for
from distlint.analyzer.static.objects.callees import Callees
from distlint.analyzer.static.objects.classes import Classes, is_property
from distlint.analyzer.static.objects.dict_items import DictItems, NoValue
from distlint.analyzer.static.objects.elements import Elements
from distlint.analyzer.static.objects.elsewhere import NOTHING_ELSE, Elsewhere
from distlint.analyzer.static.objects.index import Index
from distlint.analyzer.static.objects.questions import Questions
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import (
    VALUE,
    Binding,
    Path,
    Point,
    Search,
    path_of,
)

_MAX_DEPTH = 16
"""How many assignments, calls and returns are followed one after another."""

_MAX_ORIGINS = 12
"""A value with more origins than this is a table of the program's, not an object."""

_MOVES = frozenset({"to", "cuda", "cpu", "xpu", "npu", "hpu"})
"""Methods that put modules and tensors on a device."""
_SAME_OBJECT = _MOVES | frozenset(
    {
        "half", "float", "double", "bfloat16", "train", "eval", "requires_grad_", "share_memory",
        "contiguous",
    }
)  # fmt: skip
"""Methods of modules and tensors that give back what they are called on."""


NAMESPACES = frozenset({"SimpleNamespace", "Namespace", "EasyDict", "edict", "AttrDict", "Munch"})
"""Classes whose objects have an attribute for each keyword."""


class Origins:
    """Where the values of one module come from, followed backwards from where they are used.

    By ``elsewhere`` they are followed into the other files of the project, too.
    """

    def __init__(
        self,
        index: Index,
        classes: Classes,
        elsewhere: Elsewhere = NOTHING_ELSE,
        questions: Questions | None = None,
        unmoved: frozenset[str] = _SAME_OBJECT,
        knows_fills: bool = True,
    ) -> None:
        self._unmoved = unmoved
        """Methods that are looked through."""
        self.knows_fills = knows_fills
        """Does it know what statements put into containers after these are made?"""
        self._index = index
        self.module = index.module
        self._classes = classes
        self._elsewhere = elsewhere
        self.questions = questions or Questions()
        self._known: dict[tuple[int, int, int], tuple[Origin, ...]] = {}
        self.calls = Callees(index, classes, self, elsewhere)
        self._attribute_nodes: dict[tuple[int, str], ir.Attribute] = {}
        self._unknowns: dict[tuple[int, Path], Origin] = {}

    def of(self, node: ir.Expr, point: Point) -> tuple[Origin, ...]:
        """Where the value of an expression may come from, as seen at a statement."""
        there = self.at(point)
        if there is not self:
            return there.of(node, point)
        here = point.around[-1] if point.around else None
        key = (id(node), id(here.block) if here else 0, here.index if here else 0)
        known = self._known.get(key)
        if known is None:
            self.questions.begin()
            known = self.questions.partial((self, key))
        if known is None:
            cuts = self.questions.cuts
            known = tuple(dict.fromkeys(self._resolve(node, point)))
            if len(known) > _MAX_ORIGINS:
                known = (Origin(node, point),)
            if self.questions.cuts == cuts or self.questions.is_outermost:
                self._known[key] = known
            else:  # it hangs on what is being asked
                self.questions.keep((self, key), known)
        return known

    def at(self, point: Point) -> Origins:
        """The origins of the values of the file that a statement stands in."""
        return self.of_module(point.scope.module)

    @cached_property
    def with_moves(self) -> Origins:
        """The same where a call that moves a value to a device makes it: ``count.to(device)``."""
        others, questions = self._elsewhere, self.questions
        return Origins(self._index, self._classes, others, questions, _SAME_OBJECT - _MOVES)

    @cached_property
    def without_fills(self) -> Origins:
        """The same with containers as they are made, by which their fills are found."""
        others, questions = self._elsewhere, self.questions
        return Origins(self._index, self._classes, others, questions, self._unmoved, False)

    @property
    def is_with_moves(self) -> bool:
        return self._unmoved is not _SAME_OBJECT

    def of_module(self, module: Module) -> Origins:
        return self if module is self.module else self._elsewhere.origins_in(self, module)

    def _resolve(self, node: ir.Expr, point: Point) -> Iterator[Origin]:
        if isinstance(node, ir.Conditional):
            yield from self.of(node.body, point)
            yield from self.of(node.orelse, point)
        elif isinstance(node, ir.BoolOp):
            for value in node.values:
                yield from self.of(value, point)
        elif isinstance(node, ir.Walrus):
            yield from self.of(node.value, point)
        elif isinstance(node, ir.Starred):
            yield Origin(node, point)
        elif isinstance(node, ir.Call):
            yield from self._resolve_call(node, point)
        elif isinstance(node, ir.Subscript):
            index = node.index.value if isinstance(node.index, ir.Literal) else None
            if isinstance(index, int) and index >= 0:
                yield from self.taken(node.value, point, (index,))
            elif isinstance(index, str):
                found = self._named_item(node, index, point)
                yield from self._within(("item", node, index), node, point, found)
            elif isinstance(node.index, ir.Slice):
                yield Origin(node, point)
            else:
                computed = self._computed_item(node, point)
                yield from self._within(("item", node), node, point, computed)
        else:
            path = path_of(node)
            if path is not None:
                yield from self._resolve_path(path, node, point)
            elif isinstance(node, ir.Attribute):
                for origin in self.of(node.value, point):
                    yield from self._attribute(origin, node.attr)
            else:
                yield Origin(node, point)

    def _resolve_call(self, call: ir.Call, point: Point) -> Iterator[Origin]:
        func = call.func
        if isinstance(func, ir.Attribute) and func.attr in self._unmoved:
            receiver = self.of(func.value, point)
            if func.attr in _MOVES or any(
                isinstance(origin.node, (ir.Call, ir.Class)) for origin in receiver
            ):
                yield from receiver
                return
        there, function = self.calls.called(CallSite(call, point)) or (self, None)
        if isinstance(function, ir.Function) and not function.generator:
            yield from self._within(("return", function), call, point, there.returns(function))
            return
        yield Origin(call, point)

    def _within(
        self, key: tuple[object, ...], node: ir.Expr, point: Point, found: Iterator[Origin]
    ) -> Iterator[Origin]:
        """What a question inside a question finds; itself, when it asks for what is open."""
        if key in self.questions.open or len(self.questions.open) >= _MAX_DEPTH:
            self.questions.cuts += 1
            yield Origin(node, point)
            return
        self.questions.open.add(key)
        try:
            yield from list(found)
        finally:
            self.questions.open.discard(key)

    def scope_of(self, function: ir.Function) -> Scope | None:
        """The scope of a function of the module."""
        return self._index.scope_of(function)

    def returns(self, function: ir.Function) -> Iterator[Origin]:
        """Where the values that a function returns come from."""
        scope = self.scope_of(function)
        if scope is None:
            return
        for statement, around in placed(function.body):
            if isinstance(statement, ir.Return) and statement.value is not None:
                yield from self.of(statement.value, Point(scope, around))

    def taken(self, node: ir.Expr, point: Point, items: tuple[int, ...]) -> list[Origin]:
        """Where an item of a value comes from, of which each item is one of the item before."""
        found = [*self.of(node, point)]
        for index in items:
            parts = (part for origin in found for part in self._item(origin, index))
            found = list(dict.fromkeys(parts))
        return found

    def _item(self, origin: Origin, index: int) -> Iterator[Origin]:
        node = origin.node
        if origin.item is not None or origin.attributes or not isinstance(node, ir.Expr):
            found = list(self.elements.of_turn(origin, index))
            yield from found or [Origin(ir.Opaque(0), origin.point)]
            return
        held = self.elements.held(origin, index)
        found = list(self._within(("item", node, index), node, origin.point, held))
        yield from found or [Origin(node, origin.point, index)]

    def _computed_item(self, node: ir.Subscript, point: Point) -> Iterator[Origin]:
        """What a list or dict has at an index or under a key that is computed."""
        for origin in self.of(node.value, point):
            yield from list(self.elements.held(origin, VALUE)) or [Origin(node, point)]

    def _named_item(self, node: ir.Subscript, name: str, point: Point) -> Iterator[Origin]:
        """What a dict has under a name."""
        spelled = self._spelled_item(node.value, point, name)
        items = list(spelled.items) if spelled else self.dicts.found(node.value, point, name)
        for each in items:
            if not isinstance(each, NoValue):
                yield from self.of(*each)
        if not items or any(isinstance(each, NoValue) for each in items):
            for origin in self.of(node.value, point):
                yield from self.elements.put_under_computed(origin)
            yield Origin(node, point)

    def _attribute(self, origin: Origin, name: str) -> Iterator[Origin]:
        site = origin.site
        if site is not None and site.name in NAMESPACES:
            passed = [each.value for each in site.call.args if each.keyword == name]
            if passed:
                yield from self.of(passed[0], site.point)
                return
        if site is not None and origin.item is None:
            there, cls = self.calls.called(site) or (self, None)
            if isinstance(cls, ir.Class):
                given = there._given_to_constructor(cls, site, name)
                found = list(given if given is not None else there.attribute(cls, (name,)))
                if found:
                    yield from found
                    return
        yield Origin(origin.node, origin.point, origin.item, (*origin.attributes, name))

    def _given_to_constructor(
        self, cls: ir.Class, site: CallSite, name: str
    ) -> tuple[Origin, ...] | None:
        """What a call passes for an attribute that only the constructor sets, from a parameter."""
        constructor = self._classes.method(cls, "__init__")
        bindings = [
            binding
            for each in self._classes.with_bases(cls)
            for binding in self._classes.assigned_by_methods(each, (name,))
        ]
        if constructor is None or len(bindings) != 1 or bindings[0].items or bindings[0].rest:
            return None
        node, point = bindings[0].node, bindings[0].point
        if not isinstance(node, ir.Name) or point.scope.function is not constructor:
            return None
        param = next((each for each in constructor.params if each.name == node.id), None)
        if param is None or param.star or Search((node.id,), point.scope).before(point.around)[0]:
            return None
        passed = self.argument(site, param.name, self.calls.position(constructor, param))
        return self.of(passed.value, site.point) if passed.value is not None else None

    # ---- variables

    def _resolve_path(self, path: Path, node: ir.Expr, point: Point) -> Iterator[Origin]:
        imported = self._imported(path, point)
        if imported is not None:
            there, name, rest = imported
            key = ("variable", there, name)
            found = self._within(key, node, point, there._left_by_module(name, node, point))
            parts = list(found)
            for attribute in rest:
                parts = [part for each in parts for part in self._attribute(each, attribute)]
            yield from parts
            return
        yield from self._own_path(path, node, point)

    def _imported(self, path: Path, point: Point) -> tuple[Origins, Path, Path] | None:
        """The variable of another file that a path stands for, and what is left of the path."""
        if not self.module.is_imported(path[0]):
            return None
        scope: Scope | None = point.scope
        while scope is not None and scope.function is not None:
            if path[0] in scope.function.locals:
                return None
            scope = scope.outer
        found = self._elsewhere.variable(path)
        if found is None:
            return None
        module, name, rest = found
        return self.of_module(module), name, rest

    def _left_by_module(self, path: Path, node: ir.Expr, point: Point) -> Iterator[Origin]:
        """A variable of the module as it is for those that import it."""
        found = list(self._at_end(self._index.names.scopes[0], path, node, point))
        yield from found or [Origin(node, point)]

    def _own_path(self, path: Path, node: ir.Expr, point: Point) -> Iterator[Origin]:
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
            found = self.taken(binding.node, binding.point, binding.items)
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
            cls = self._classes.by_method.get(function)
            if cls is not None and function.params[0] is param and len(path) > 1:
                found = list(self.attribute(cls, path[1:])) or list(self._below(cls, path[1:]))
                yield from found or [self._unknown(cls, path[1:], node, point)]
            else:
                yield from self._passed(function, param, path[1:], node, point)
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
            base = list(self.of(node.value, point))
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
            for writer in self._index.global_writers.get(path[0], ()):
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

    def _passed(
        self, function: ir.Function, param: ir.Param, rest: Path, node: ir.Expr, point: Point
    ) -> Iterator[Origin]:
        """What a parameter is given; itself where its own value asks for it.

        A function that calls itself with ``x.next`` would ask for an ever longer path.
        """
        if param in self.questions.params:
            self.questions.cuts += 1
            yield self._unknown(param, rest, node, point)
            return
        self.questions.params.add(param)
        try:
            yield from list(self._given(function, param, rest, node, point))
        finally:
            self.questions.params.discard(param)

    def _given(
        self, function: ir.Function, param: ir.Param, rest: Path, node: ir.Expr, point: Point
    ) -> Iterator[Origin]:
        """What the calls in the module pass for a parameter."""
        sites = self.calls.callers(function)
        unknown = self._unknown(param, rest, node, point)
        if not sites or param.star:
            yield unknown
            return
        position = self.calls.position(function, param)
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
            yield from self.of(value, site.point)

    def _unknown(self, owner: object, path: Path, node: ir.Expr, point: Point) -> Origin:
        """What is not known any further: the same for each mention of it."""
        return self._unknowns.setdefault((id(owner), path), Origin(node, point))

    def _made_attribute(self, value: ir.Expr, name: str) -> ir.Attribute:
        """One node for the same attribute, so that answers about it can be kept."""
        return self._attribute_nodes.setdefault(
            (id(value), name), ir.Attribute(value, name, getattr(value, "site", 0))
        )

    def attribute(self, cls: ir.Class, rest: Path) -> Iterator[Origin]:
        """What the methods of a class assign to an attribute of its objects."""
        yield from self._own_attribute(cls, rest)
        for module, base in self._elsewhere.bases(cls):
            yield from self.of_module(module)._own_attribute(base, rest)

    def _below(self, cls: ir.Class, rest: Path) -> Iterator[Origin]:
        """What classes of other files, which derive from one, assign to an attribute."""
        for module, other in self._elsewhere.derived(cls):
            yield from self.of_module(module)._own_attribute(other, rest)

    def _own_attribute(self, cls: ir.Class, rest: Path) -> Iterator[Origin]:
        for each in self._classes.with_bases(cls):
            for binding in self._classes.assigned_by_methods(each, rest):
                yield from self._bound(binding)
            if rest[0] in each.attributes and len(rest) == 1:
                yield from self.of(each.attributes[rest[0]], self._classes.points[each])
            getter = each.methods.get(rest[0])
            if getter is not None and is_property(getter):
                found = list(self.returns(getter))
                for name in rest[1:]:
                    found = [part for origin in found for part in self._attribute(origin, name)]
                yield from found

    def argument(self, site: CallSite, name: str, position: int | None = None) -> Passed:
        """What a call passes for the parameter of this name and position."""
        return passed_for(site, name, position, self.at(site.point)._items)

    def _items(self, node: ir.Expr, point: Point, name: str) -> Passed:
        """What a dict has under a name: one that is written down, or that statements fill."""
        return self._spelled_item(node, point, name) or self.dicts.item(node, point, name)

    def _spelled_item(self, node: ir.Expr, point: Point, name: str) -> Passed | None:
        origins = self.of(node, point)
        if len(origins) == 1 and not origins[0].attributes and origins[0].item is None:
            made = origins[0].node
            files = (self, self.at(origins[0].point))
            changed = any(made in each.dicts.changed for each in files)
            spelled = None if changed else items_of(made)
            if spelled is not None:
                value = spelled.get(name)
                return Passed(value, True, ((value, origins[0].point),) if value else ())
        return None

    @cached_property
    def dicts(self) -> DictItems:
        return DictItems(self._index, self._classes, self)

    @cached_property
    def elements(self) -> Elements:
        return Elements(self._index, self)

    def passed(self, passed: Passed, point: Point) -> tuple[Origin, ...]:
        """Where what a call passes comes from; nothing if it passes nothing that is known."""
        if passed.items:
            return tuple(dict.fromkeys(o for each in passed.items for o in self.of(*each)))
        return self.of(passed.value, point) if passed.value is not None else ()

    def constant(self, passed: Passed, point: Point, default: object = None) -> object:
        """The constant that a call passes, also through variables; Ellipsis if it is none."""
        if passed.value is None:
            return default if passed.known else ...
        found = {origin.constant for origin in self.passed(passed, point)}
        return found.pop() if len(found) == 1 else ...
