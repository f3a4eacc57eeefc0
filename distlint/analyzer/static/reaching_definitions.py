"""Which statements give a variable, or an attribute of one, its value at some point."""

from __future__ import annotations

from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.names import FILLS, Around, Scope, expressions_in

Path = tuple[str, ...]
"""A variable or a chain of attributes that begins with one: ``("self", "model")``."""

ELEMENT = -1
"""The item of a value that a loop goes through."""

VALUE = -2
"""What a container has under some key: an item of a list, a value of a dict."""


@dataclass(frozen=True, slots=True)
class Point:
    """A statement's place: what has been assigned before it is known there."""

    scope: Scope
    around: tuple[Around, ...]

    @property
    def statement(self) -> ir.Stmt:
        here = self.around[-1]
        return here.block[here.index]


@dataclass(frozen=True, slots=True)
class Binding:
    """A statement that gives a path its value.

    ``rest`` is what is left of the path where the statement binds only its beginning; ``node`` is
    None where the value cannot be told.
    """

    node: ir.Expr | ir.Function | ir.Class | None
    point: Point
    items: tuple[int, ...] = ()
    rest: Path = ()


path_of = ir.path_of


def item_of(name: str) -> str:
    """How a path names an item of a dict: ``("options", "[sampler]")``."""
    return f"[{name}]"


def holds(node: ir.Expr, path: Path) -> bool:
    """Does a path stand somewhere in an expression?"""
    return any(place_of(part) == path for part in expressions_in(node))


@dataclass(frozen=True, slots=True)
class _Match:
    """A target that binds a path, or the beginning of it."""

    value: ir.Expr
    items: tuple[int, ...]
    rest: Path

    def binding(self, point: Point) -> Binding:
        node = None if isinstance(self.value, ir.Opaque) else self.value
        return Binding(node, point, self.items, self.rest)


Found = tuple[list[Binding], bool]
"""Bindings, and whether one of them surely ran, so that nothing earlier matters."""


@dataclass(frozen=True, slots=True)
class Search:
    """The search for what gives a path its value.

    ``leaving`` is for what others see afterwards, such as attributes: then the bindings before a
    ``return`` count as well.
    """

    path: Path
    scope: Scope
    leaving: bool = False

    def before(self, around: tuple[Around, ...]) -> Found:
        """The bindings that reach a statement."""
        found: list[Binding] = []
        for level in range(len(around) - 1, -1, -1):
            here, outside = around[level], around[:level]
            bindings, complete = self.in_block(here.block, outside, here.owner, here.index)
            found += bindings
            if complete:
                return found, True
            bindings, complete = self._entering(here, outside)
            found += bindings
            if complete:
                return found, True
        return found, False

    def _entering(self, here: Around, outside: tuple[Around, ...]) -> Found:
        """The bindings on the way into the block that a statement stands in."""
        owner = here.owner
        if isinstance(owner, (ir.For, ir.While)) and here.block is owner.body:
            found, _ = self.in_block(here.block, outside, owner)  # by an earlier turn
            if isinstance(owner, ir.For):
                match = self._match(owner.target, owner.iterable, (ELEMENT,))
                if match is not None:
                    return [*found, match.binding(Point(self.scope, outside))], True
            return found, False
        if isinstance(owner, ir.With) and owner.target is not None:
            match = self._match(owner.target, owner.context)
            if match is not None:
                return [match.binding(Point(self.scope, outside))], True
        if isinstance(owner, ir.Try) and here.block is not owner.body:
            found, complete = self.in_block(owner.body, outside, owner)
            return found, complete and here.block is owner.orelse
        return [], False

    def in_block(
        self,
        block: ir.Block,
        outside: tuple[Around, ...] = (),
        owner: ir.Stmt | None = None,
        end: int | None = None,
    ) -> Found:
        """The bindings in a block (as far as the index ``end``) that reach its end."""
        found: list[Binding] = []
        last = len(block) if end is None else end
        for index in self.scope.binders(block, self.path[0], last, leaving=self.leaving):
            statement = block[index]
            if isinstance(statement, ir.Raise) or (
                isinstance(statement, ir.Return) and not self.leaving
            ):
                return [], True
            if self._may_bind(statement):
                point = Point(self.scope, (*outside, Around(block, index, owner)))
                bindings, complete = self._in_statement(statement, point)
                found += bindings
                if complete:
                    return found, True
        return found, False

    def _may_bind(self, statement: ir.Stmt) -> bool:
        if isinstance(statement, (ir.Define, ir.DefineClass, ir.Import)):
            return len(self.path) == 1
        if isinstance(statement, ir.Evaluate):
            return self._is_item
        if isinstance(statement, (ir.Return, ir.Assert)):
            return False
        return self.path[0] in ir.tokens_of(statement) or isinstance(
            statement, (ir.If, ir.Try, ir.For, ir.While, ir.With)
        )

    def _in_statement(self, statement: ir.Stmt, point: Point) -> Found:
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                match = self._match(target, statement.value)
                if match is not None:
                    return [match.binding(point)], True
                if self._may_be_item(target):
                    return [Binding(None, point)], False
        elif isinstance(statement, ir.Evaluate):
            return self._filled(statement.value, point)
        elif isinstance(statement, ir.AugAssign):
            if self._match(statement.target, statement.value) is not None:
                is_same = isinstance(statement.value, (ir.Display, ir.Comprehension))
                return [Binding(None, point)], not is_same  # a list that has grown
        elif isinstance(statement, ir.Define):
            if self.path == (statement.function.name,):
                return [Binding(statement.function, point)], True
        elif isinstance(statement, ir.DefineClass):
            if self.path == (statement.cls.name,):
                return [Binding(statement.cls, point)], True
        elif isinstance(statement, ir.Import):
            if any(name == self.path[0] for name, _, _ in statement.bindings):
                return [Binding(None, point)], True
        elif isinstance(statement, ir.Delete):
            return [], any(place_of(target) == self.path for target in statement.targets)
        else:
            return self._nested(statement, point)
        return [], False

    def _nested(self, statement: ir.Stmt, point: Point) -> Found:
        """The bindings in the blocks of a compound statement."""

        def end(block: ir.Block) -> Found:
            return self.in_block(block, point.around, statement)

        if isinstance(statement, ir.If):
            (body, ends), (orelse, otherwise) = end(statement.body), end(statement.orelse)
            return body + orelse, ends and otherwise
        if isinstance(statement, (ir.For, ir.While)):
            found = end(statement.orelse)[0] + end(statement.body)[0]
            if isinstance(statement, ir.For):
                match = self._match(statement.target, statement.iterable, (ELEMENT,))
                found += [match.binding(point)] if match is not None else []
            return found, False
        if isinstance(statement, ir.With):
            found, complete = end(statement.body)
            if not complete and statement.target is not None:
                match = self._match(statement.target, statement.context)
                if match is not None:
                    return [*found, match.binding(point)], True
            return found, complete
        if isinstance(statement, ir.Try):
            found, complete = end(statement.final)
            if complete:
                return found, True
            (body, ends), (orelse, otherwise) = end(statement.body), end(statement.orelse)
            found, complete = found + orelse + body, ends or otherwise
            for handler in statement.handlers:
                bindings, handled = end(handler.body)
                found += bindings
                complete = complete and handled
            return found, complete
        return [], False

    @property
    def _is_item(self) -> bool:
        return self.path[-1][0] == "["

    def _may_be_item(self, target: ir.Expr) -> bool:
        """Is it an item of the dict, under a name that is computed?"""
        return (
            self._is_item
            and isinstance(target, ir.Subscript)
            and not isinstance(target.index, ir.Literal)
            and path_of(target.value) == self.path[:-1]
        )

    def _filled(self, call: ir.Expr, point: Point) -> Found:
        """What ``update`` or ``setdefault`` of a dict gives the item."""
        func = call.func if isinstance(call, ir.Call) else None
        if not isinstance(call, ir.Call) or not isinstance(func, ir.Attribute):
            return [], False
        if func.attr not in FILLS or path_of(func.value) != self.path[:-1]:
            return [], False
        if func.attr == "setdefault":
            key = call.args[0].value if len(call.args) == 2 else None
            if isinstance(key, ir.Literal) and item_of(str(key.value)) != self.path[-1]:
                return [], False
            known = isinstance(key, ir.Literal)
            return [Binding(call.args[1].value if known else None, point)], False
        for argument in call.args:
            if argument.keyword and item_of(argument.keyword) == self.path[-1]:
                return [Binding(argument.value, point)], True
        given = [argument.value for argument in call.args if not argument.keyword]
        return [Binding(value, point, (), self.path[-1:]) for value in given], False

    def taken_by(self, target: ir.Expr, iterable: ir.Expr) -> tuple[int, ...] | None:
        """Which item the path is of what a loop over something gets; None if it is none."""
        match = self._match(target, iterable, (ELEMENT,))
        known = match is not None and match.value is iterable and not match.rest
        return match.items if match is not None and known else None

    def _match(self, target: ir.Expr, value: ir.Expr, items: tuple[int, ...] = ()) -> _Match | None:
        """How a target binds the path, if it does."""
        if isinstance(target, ir.Display):
            for index, each in enumerate(target.items):
                match = self._match(each, value, (*items, index))
                if match is not None:
                    return match
            return None
        if isinstance(target, ir.Starred):
            match = self._match(target.value, value, items)
            return _Match(ir.Opaque(0), (), ()) if match is not None else None
        bound = place_of(target) if self._is_item else path_of(target)
        if bound is None or self.path[: len(bound)] != bound:
            return None
        return _Match(value, items, self.path[len(bound) :])


def place_of(target: ir.Expr | None) -> Path | None:
    """The path of a variable, an attribute, or an item of a dict: ``("losses", "[box]")``."""
    if isinstance(target, ir.Subscript):
        owner = place_of(target.value)
        if owner is None or not isinstance(target.index, ir.Literal):
            return None
        return (*owner, item_of(str(target.index.value)))
    return path_of(target)
