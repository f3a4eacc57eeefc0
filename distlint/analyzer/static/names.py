"""What names mean without running anything: imports give dotted names, constructors give classes.

For rules about the source of one module. A name that is bound in more than one way means nothing
here, and neither does one that a parameter or an assignment hides.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.project.module import Imported, Module
from distlint.catalogue.catalogue import Catalogue, Entry

_ALIAS_DEPTH = 5
"""How often a name may stand for another name: ``dist = torch.distributed``."""

FILLS = frozenset({"update", "setdefault"})
"""Methods that give a dict items."""

_SHORT = 8
"""Statements of a block that is read through each time."""


@dataclass(slots=True, eq=False)
class Scope:
    """The module's body, or a function that stands somewhere in it."""

    module: Module
    body: ir.Block
    function: ir.Function | None = None
    outer: Scope | None = None
    _imports: dict[str, list[str]] | None = None
    _binders: dict[int, Binders] = field(default_factory=dict)
    _exits: dict[int, tuple[ir.Block, list[tuple[int, ir.Expr, bool | None]]]] = field(
        default_factory=dict
    )
    """With each block, which goes by its identity and so has to stay."""

    def exits(self, block: ir.Block) -> list[tuple[int, ir.Expr, bool | None]]:
        """The tests in a block of the scope that end in leaving it: the index, the test, and what
        it has to come out as where the block is not left; None if it is left in any case."""
        known = self._exits.get(id(block))
        if known is None:
            known = self._exits[id(block)] = block, list(_exits(block))
        return known[1]

    def binders(self, block: ir.Block, name: str, end: int, *, leaving: bool) -> Iterable[int]:
        """The statements of a block of the scope, before an index and the last first, that may
        bind a name or leave the block; also others, where that is cheaper."""
        if len(block) <= _SHORT:
            return range(end - 1, -1, -1)
        found = self._binders.get(id(block))
        if found is None:
            found = self._binders[id(block)] = Binders(block)
        return found.before(name, end, leaving=leaving)

    def has_param(self, name: str) -> bool:
        """Is it the name of a parameter of the function?"""
        function = self.function
        return function is not None and any(param.name == name for param in function.params)

    @property
    def imports(self) -> dict[str, list[str]]:
        """Dotted names that the scope's own imports bind."""
        if self._imports is None:
            self._imports = {}
            for statement, _ in placed(self.body):
                if isinstance(statement, ir.Import):
                    for name, dotted, attr in statement.bindings:
                        self._imports.setdefault(name, []).append(_joined(dotted, attr))
        return self._imports


def _exits(block: ir.Block) -> Iterator[tuple[int, ir.Expr, bool | None]]:
    for index, each in enumerate(block):
        if isinstance(each, ir.Assert):
            yield index, each.test, True
        elif isinstance(each, ir.If):
            leaves = ir.is_left(each.body), ir.is_left(each.orelse)
            if any(leaves):
                yield index, each.test, None if all(leaves) else leaves[1]


class Binders:
    """The statements of a block by what they, or blocks in them, may bind."""

    def __init__(self, block: ir.Block) -> None:
        self.block = block  # which goes by its identity and so has to stay
        self._by_name: dict[str, list[int]] = {}
        self._raising: list[int] = []
        self._returning: list[int] = []
        for index, statement in enumerate(block):
            self._add(index, statement)

    def _add(self, index: int, statement: ir.Stmt) -> None:
        names: set[str] = set()
        kinds: set[type[ir.Stmt]] = set()
        stack = [statement]
        while stack:
            each = stack.pop()
            names.update(names_given(each))
            names.update(_names_filled(each))
            kinds.add(type(each))
            for inner in blocks_of(each):
                stack.extend(inner)
        for name in names:
            self._by_name.setdefault(name, []).append(index)
        if ir.Raise in kinds:
            self._raising.append(index)
        if ir.Return in kinds:
            self._returning.append(index)

    def before(self, name: str, end: int, *, leaving: bool) -> Iterator[int]:
        """The last first; where ``leaving``, a ``return`` ends nothing."""
        tables = [self._by_name.get(name, []), self._raising]
        if not leaving:
            tables.append(self._returning)
        left = [bisect_left(table, end) for table in tables]
        while any(left):
            last = max(table[n - 1] for table, n in zip(tables, left, strict=True) if n)
            yield last
            left = [
                n - 1 if n and table[n - 1] == last else n
                for table, n in zip(tables, left, strict=True)
            ]


def names_given(statement: ir.Stmt) -> Iterator[str]:
    """The variables that a statement itself gives a value, or an attribute of theirs."""
    if isinstance(statement, ir.Define):
        yield statement.function.name
    elif isinstance(statement, ir.DefineClass):
        yield statement.cls.name
    elif isinstance(statement, ir.Import):
        yield from (name for name, _, _ in statement.bindings)
    elif isinstance(statement, (ir.Assign, ir.Delete)):
        for target in statement.targets:
            yield from _roots_of(target)
    elif isinstance(statement, (ir.AugAssign, ir.For, ir.With)):
        yield from _roots_of(statement.target)


def _names_filled(statement: ir.Stmt) -> Iterator[str]:
    """The variables whose dicts a statement gives an item: ``x["a"] = 1``, ``x.update(a=1)``."""
    filled: list[ir.Expr] = []
    if isinstance(statement, (ir.Assign, ir.Delete)):
        filled = [each.value for each in statement.targets if isinstance(each, ir.Subscript)]
    elif isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
        func = statement.value.func
        if isinstance(func, ir.Attribute) and func.attr in FILLS:
            filled = [func.value]
    for each in filled:
        yield from _roots_of(each)


def _roots_of(target: ir.Expr | None) -> Iterator[str]:
    if isinstance(target, ir.Display):
        for item in target.items:
            yield from _roots_of(item)
    elif isinstance(target, ir.Starred):
        yield from _roots_of(target.value)
    else:
        while isinstance(target, ir.Attribute):
            target = target.value
        if isinstance(target, ir.Name):
            yield target.id


@dataclass(frozen=True, slots=True)
class Around:
    """A block, and a statement's place in it; ``owner`` is the statement that the block is of."""

    block: ir.Block
    index: int
    owner: ir.Stmt | None = None


def placed(block: ir.Block) -> Iterator[tuple[ir.Stmt, tuple[Around, ...]]]:
    """Every statement of a scope, with the blocks that it stands in, the innermost last."""
    stack: list[tuple[ir.Block, ir.Stmt | None, tuple[Around, ...]]] = [(block, None, ())]
    while stack:  # a chain of elif may be longer than the recursion limit
        statements, owner, around = stack.pop()
        for index, statement in enumerate(statements):
            here = (*around, Around(statements, index, owner))
            yield statement, here
            stack.extend((inner, statement, here) for inner in blocks_of(statement))


def blocks_of(statement: ir.Stmt) -> tuple[ir.Block, ...]:
    """The blocks of a compound statement that run in the same scope."""
    if isinstance(statement, (ir.If, ir.For, ir.While)):
        return (statement.body, statement.orelse)
    if isinstance(statement, ir.With):
        return (statement.body,)
    if isinstance(statement, ir.Try):
        handlers = tuple(handler.body for handler in statement.handlers)
        return (statement.body, *handlers, statement.orelse, statement.final)
    return ()


def expressions_of(statement: ir.Stmt) -> tuple[ir.Expr, ...]:
    """What a statement itself evaluates and binds: not its blocks, nor the bodies of functions."""
    if isinstance(statement, (ir.Define, ir.DefineClass)):
        return ()
    return tuple(child for child in ir.children(statement) if isinstance(child, ir.Expr))


def expressions_in(node: object) -> Iterator[Any]:
    """An expression and all that it is made of."""
    stack = [node]
    while stack:
        item = stack.pop()
        yield item
        stack.extend(ir.children(item))


def nodes_of(statement: ir.Stmt) -> tuple[Any, ...]:
    """All that a statement itself evaluates and binds is made of."""
    return ir.nodes_of(statement)


def calls_of(statement: ir.Stmt) -> Iterator[ir.Call]:
    """The calls in what a statement itself evaluates."""
    return (node for node in nodes_of(statement) if isinstance(node, ir.Call))


def keywords_of(call: ir.Call) -> frozenset[str]:
    """The parameters that a call names."""
    return frozenset(argument.keyword for argument in call.args if argument.keyword)


class Names:
    """The names of one module."""

    def __init__(self, module: Module, catalogue: Catalogue) -> None:
        self.module = module
        self.catalogue = catalogue

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """The module's body and every function, methods and nested ones included."""
        found = [Scope(self.module, self.module.body)]
        for scope in found:  # grows while it is walked
            for statement, _ in placed(scope.body):
                found.extend(
                    Scope(self.module, function.body, function, scope)
                    for function in _functions_of(statement)
                )
        return tuple(found)

    def dotted(self, node: ir.Expr, scope: Scope) -> str | None:
        """The dotted name of an attribute chain that begins with an import."""
        attributes: list[str] = []
        while isinstance(node, ir.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ir.Name):
            return None
        origin = self.origin(node.id, scope)
        return ".".join((origin, *reversed(attributes))) if origin else None

    def entry(self, node: ir.Expr, scope: Scope) -> Entry | None:
        """What the catalogue says about a name or an attribute chain."""
        dotted = self.dotted(node, scope)
        return self.catalogue.lookup(dotted) if dotted else None

    def origin(self, name: str, scope: Scope) -> str | None:
        """What an import binds a name to, as seen from a scope."""
        seen: Scope | None = scope
        while seen is not None and seen.function is not None:
            if name in seen.function.locals:
                return self._one(seen.imports.get(name, ()))
            seen = seen.outer
        return self._global_origin(name, scope.module, _ALIAS_DEPTH)

    def class_of(self, node: ir.Expr, scope: Scope) -> str | None:
        """The framework class of a variable or an attribute.

        By the annotation of a parameter, by what the file assigns to the name anywhere, else by
        the catalogue's hint for the name. None when anything else is assigned to it.
        """
        if isinstance(node, ir.Name):
            if self._annotation(node.id, scope) is not None:
                return self.annotated(node.id, scope)
            name = node.id
        elif isinstance(node, ir.Attribute):
            name = node.attr
        else:
            return None
        values = self._assigned.get(name, [])
        calls = [(value, scope) for value, scope in values if isinstance(value, ir.Call)]
        classes = {self._class(value.func, scope) for value, scope in calls}
        if classes and classes != {None}:
            return classes.pop() if len(classes) == 1 else None
        if any(self._constructs(value.func) for value, _ in calls):
            return None
        return self.catalogue.hint(name)

    def annotated(self, name: str, scope: Scope) -> str | None:
        """The framework class that a parameter is annotated with."""
        annotation = self._annotation(name, scope)
        return self._class(annotation, scope) if annotation is not None else None

    @cached_property
    def _assigned(self) -> dict[str, list[tuple[ir.Expr, Scope]]]:
        """What the file assigns to each variable, or to an attribute of this name."""
        table: dict[str, list[tuple[ir.Expr, Scope]]] = {}
        for scope in self.scopes:
            for statement, _ in placed(scope.body):
                if isinstance(statement, ir.Assign):
                    for target in statement.targets:
                        if isinstance(target, (ir.Name, ir.Attribute)):
                            name = target.id if isinstance(target, ir.Name) else target.attr
                            table.setdefault(name, []).append((statement.value, scope))
        return table

    def _annotation(self, name: str, scope: Scope) -> ir.Expr | None:
        seen: Scope | None = scope
        while seen is not None and seen.function is not None:
            for param in seen.function.params:
                if param.name == name:
                    return param.annotation
            if name in seen.function.locals:
                return None
            seen = seen.outer
        return None

    def _class(self, node: ir.Expr, scope: Scope) -> str | None:
        if isinstance(node, ir.Literal) and isinstance(node.value, str):
            node = ir.Name(node.value)  # an annotation in quotes
        dotted = self.dotted(node, scope)
        if dotted is None or not self.catalogue.is_class(dotted):
            return None
        return self.catalogue.canonical(dotted)

    @staticmethod
    def _constructs(callee: ir.Expr) -> bool:
        """Does a call of this read as the construction of a class (of the project's own)?"""
        name = ir.last_name(callee)
        return bool(name) and name.lstrip("_")[:1].isupper()

    def _global_origin(self, name: str, module: Module, depth: int) -> str | None:
        found: list[str] = []
        for definition in module.definitions.get(name, ()):
            node = definition.node
            if isinstance(node, Imported):
                found.append(_joined(node.dotted, node.attr))
            elif isinstance(node, (ir.Name, ir.Attribute)) and definition.index is None and depth:
                found.append(self._global_dotted(node, module, depth - 1) or "")
            elif not (isinstance(node, ir.Literal) and node.value is None):
                return None
        return self._one(found)

    def _global_dotted(self, node: ir.Expr, module: Module, depth: int) -> str | None:
        if isinstance(node, ir.Attribute):
            base = self._global_dotted(node.value, module, depth)
            return f"{base}.{node.attr}" if base else None
        return self._global_origin(node.id, module, depth) if isinstance(node, ir.Name) else None

    def _one(self, dotted: Iterable[str]) -> str | None:
        names = {self.catalogue.canonical(name) if name else "" for name in dotted}
        return names.pop() or None if len(names) == 1 else None


def _joined(dotted: str, attr: str | None) -> str:
    return f"{dotted}.{attr}" if attr else dotted


def _functions_of(statement: ir.Stmt) -> Iterator[ir.Function]:
    if isinstance(statement, ir.Define):
        yield statement.function
    elif isinstance(statement, ir.DefineClass):
        yield from statement.cls.methods.values()
        for inner, _ in placed(statement.cls.body):
            yield from _functions_of(inner)
