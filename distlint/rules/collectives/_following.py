"""What a scope does after a statement, and what it does with a tensor there.

Shared by the rules about buffers of collectives. In case of doubt a buffer counts as handed on, not
as read: views, metadata and containers do not look at its data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from distlint.analyzer import ir
from distlint.analyzer.static.names import Around, expressions_in

Role = Literal["value", "test", "store", "update", "leave", "define"]

_METADATA = frozenset(
    {
        "shape", "size", "dim", "ndim", "ndimension", "numel", "nelement", "dtype", "type",
        "device", "get_device", "is_cuda", "is_contiguous", "is_floating_point", "is_sparse",
        "element_size", "layout", "requires_grad", "data_ptr", "storage_offset", "names", "stride",
        "is_leaf", "new_empty", "new_zeros", "new_ones", "new_full", "record_stream", "grad_fn",
        "keys",
    }
)  # fmt: skip
_VIEWS = frozenset(
    {
        "data", "detach", "view", "view_as", "reshape", "T", "mT", "H", "t", "transpose", "permute",
        "narrow", "chunk", "split", "unsqueeze", "squeeze", "flatten", "unflatten", "expand",
        "expand_as", "unbind", "select", "storage", "untyped_storage", "swapaxes", "movedim",
        "requires_grad_", "tensor_split", "unfold", "diagonal", "items", "values", "get",
    }
)  # fmt: skip
_BLIND = frozenset({"len", "id", "isinstance", "type", "hasattr", "callable", "is_tensor"})
"""Functions that do not look at the data of their argument; so do ``zeros_like`` and its kin."""
_NOTHING = ir.Literal(None)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that runs later.

    ``guards`` are the conditions that it stands under and the statement before did not; ``level``
    counts the blocks that were left to get here.
    """

    node: ir.Expr
    role: Role
    statement: ir.Stmt
    guards: tuple[ir.Expr, ...]
    level: int


def following(around: tuple[Around, ...]) -> Iterator[Step]:
    """What the scope does after a statement, as far as the source runs in one direction."""
    for level, here in enumerate(reversed(around)):
        rest = here.block[here.index + 1 :]
        if isinstance(here.owner, ir.Try) and here.block is not here.owner.final:
            handled = here.block is not here.owner.body
            rest += here.owner.final if handled else here.owner.orelse + here.owner.final
        for statement in rest:
            yield from _steps(statement, level)
            if isinstance(statement, (ir.Return, ir.Raise, ir.Break, ir.Continue)):
                return
        if isinstance(here.owner, ir.For):
            yield Step(here.owner.target, "store", here.owner, (), level + 1)


def _steps(statement: ir.Stmt, level: int) -> Iterator[Step]:
    stack: list[tuple[ir.Stmt, tuple[ir.Expr, ...]]] = [(statement, ())]
    while stack:
        current, guards = stack.pop()
        for node, role in own_steps(current):
            yield Step(node, role, current, guards, level)
        for block, guard in reversed(list(_guarded_blocks(current))):
            inside = guards if guard is None else (*guards, guard)
            stack.extend((inner, inside) for inner in reversed(block))


def own_steps(statement: ir.Stmt) -> Iterator[tuple[ir.Expr, Role]]:
    """What a statement does itself, without the blocks in it."""
    if isinstance(statement, ir.Assign):
        yield statement.value, "value"
        yield from ((target, "store") for target in statement.targets)
    elif isinstance(statement, ir.AugAssign):
        yield statement.value, "value"
        yield statement.target, "update"
    elif isinstance(statement, ir.Evaluate):
        yield statement.value, "value"
    elif isinstance(statement, (ir.If, ir.While, ir.Assert)):
        yield statement.test, "test"
    elif isinstance(statement, ir.For):
        yield statement.iterable, "value"
        yield statement.target, "store"
    elif isinstance(statement, ir.With):
        yield statement.context, "value"
        if statement.target is not None:
            yield statement.target, "store"
    elif isinstance(statement, (ir.Return, ir.Raise)):
        yield statement.value or _NOTHING, "leave"
    elif isinstance(statement, (ir.Break, ir.Continue)):
        yield _NOTHING, "leave"
    elif isinstance(statement, ir.Delete):
        yield from ((target, "store") for target in statement.targets)
    elif isinstance(statement, ir.Define):
        yield ir.Lambda(statement.function), "define"


def _guarded_blocks(statement: ir.Stmt) -> Iterator[tuple[ir.Block, ir.Expr | None]]:
    if isinstance(statement, ir.If):
        yield statement.body, statement.test
        yield statement.orelse, statement.test
    elif isinstance(statement, (ir.For, ir.While)):
        yield statement.body, None
        yield statement.orelse, None
    elif isinstance(statement, ir.With):
        yield statement.body, None
    elif isinstance(statement, ir.Try):
        yield statement.body, None
        for handler in statement.handlers:
            yield handler.body, handler.types or _NOTHING
        yield statement.orelse, None
        yield statement.final, None


def mentions(node: ir.Expr, names: set[str]) -> bool:
    """Does an expression name one of these variables?"""
    return any(isinstance(item, ir.Name) and item.id in names for item in expressions_in(node))


Path = tuple[str, ...]


def path_of(node: ir.Expr | None) -> Path | None:
    """The names of a variable, an attribute, an item of a dict; ``x.data`` is the buffer ``x``."""
    parts: list[str] = []
    while isinstance(node, (ir.Attribute, ir.Subscript)):
        if isinstance(node, ir.Subscript):
            if not isinstance(node.index, ir.Literal) or not isinstance(node.index.value, str):
                return None
            parts.append(f'["{node.index.value}"]')
        elif node.attr != "data" or parts:
            parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ir.Name) else None


def shown(path: Path) -> str:
    """A path as it is written."""
    return ".".join(path).replace(".[", "[")


def holds(outer: Path, inner: Path) -> bool:
    """Is an object a dict that has the other as an item, at any remove?"""
    rest = inner[len(outer) :]
    return inner[: len(outer)] == outer and bool(rest) and rest[0].startswith("[")


def touches(node: ir.Expr, path: Path) -> bool:
    """Does an expression speak of an object, of a part of it, or of the dict that holds it?"""
    stack: list[object] = [node]
    while stack:
        each = stack.pop()
        found = path_of(each) if isinstance(each, ir.Expr) else None
        if found is None:
            stack.extend(ir.children(each))
        elif found[: len(path)] == path or holds(found, path):
            return True
    return False


class Sight(IntEnum):
    """What an expression has to do with a buffer."""

    ABSENT = 0
    SAME = 1
    """It is the buffer, a view of it, or holds it."""
    HANDED = 2
    """It gives the buffer to code that may do anything with it."""
    READ = 3
    """It looks at the data."""


class Buffer:
    """A variable or attribute whose uses are sought.

    Args:
        path: its names.
        reads: does what a call calls look at the data of its arguments?
    """

    def __init__(self, path: Path, reads: Callable[[ir.Call], bool]) -> None:
        self.path = path
        self.reads = reads

    def bound_by(self, target: ir.Expr) -> bool:
        """Does storing to a target give the name, or what it is an attribute of, another value?"""
        if isinstance(target, ir.Display):
            return any(self.bound_by(item) for item in target.items)
        if isinstance(target, ir.Starred):
            return self.bound_by(target.value)
        path = path_of(target)
        return path is not None and self.path[: len(path)] == path

    def seen_in(self, node: ir.Expr) -> Sight:
        """What an expression does with the buffer, at its worst."""
        path = path_of(node)
        if path == self.path:
            return Sight.SAME
        if path is not None and holds(path, self.path):
            return Sight.HANDED
        if path is not None and isinstance(node, ir.Subscript):
            shorter = min(len(path), len(self.path))
            if path[:shorter] != self.path[:shorter]:
                return Sight.ABSENT  # another item of the same dict
        look = _LOOKS.get(type(node))
        return look(self, node) if look is not None else self._operand(node)

    def _worst(self, nodes: tuple[ir.Expr, ...]) -> Sight:
        return max((self.seen_in(node) for node in nodes), default=Sight.ABSENT)

    def _operand(self, node: ir.Expr) -> Sight:
        """Operators, f-strings, indices: they look at what they are given."""
        return Sight.READ if self._worst(parts_of(node)) else Sight.ABSENT

    def _attribute(self, node: ir.Attribute) -> Sight:
        sight = self.seen_in(node.value)
        if sight is not Sight.SAME:
            return sight
        return Sight.SAME if node.attr in _VIEWS else Sight.ABSENT

    def _call(self, node: ir.Call) -> Sight:
        args = self._worst(tuple(argument.value for argument in node.args))
        receiver = Sight.ABSENT
        if isinstance(node.func, ir.Attribute):
            receiver = self.seen_in(node.func.value)
            if receiver is Sight.SAME:
                receiver = self._method(node.func.attr)
        return max(receiver, self._passed(node) if args is Sight.SAME else args)

    def _method(self, name: str) -> Sight:
        if name in _METADATA:
            return Sight.ABSENT
        return Sight.SAME if name in _VIEWS else Sight.READ

    def _passed(self, call: ir.Call) -> Sight:
        name = ir.last_name(call.func)
        if name in _BLIND or name.endswith("_like"):
            return Sight.ABSENT
        if not self.reads(call):
            return Sight.HANDED
        return self._method(name)

    def _subscript(self, node: ir.Subscript) -> Sight:
        index = Sight.READ if self.seen_in(node.index) else Sight.ABSENT
        return max(self.seen_in(node.value), index)

    def _compare(self, node: ir.Compare) -> Sight:
        if all(op in ("is", "is not") for op in node.ops):
            return Sight.ABSENT
        return self._operand(node)

    def _container(self, node: ir.Expr) -> Sight:
        return self._worst(parts_of(node))

    def _conditional(self, node: ir.Conditional) -> Sight:
        return max(self._truth(node.test), self._worst((node.body, node.orelse)))

    def _bool(self, node: ir.BoolOp) -> Sight:
        *tested, last = node.values
        return max(self.seen_in(last), *(self._truth(value) for value in tested))

    def _not(self, node: ir.Not) -> Sight:
        return self._truth(node.value)

    def _truth(self, node: ir.Expr) -> Sight:
        """A bare name in a test may be a list, whose length is no data."""
        sight = self.seen_in(node)
        return Sight.ABSENT if sight is Sight.SAME else sight

    def _comprehension(self, node: ir.Comprehension) -> Sight:
        worst = self.seen_in(node.element)
        for target, iterable, tests in node.clauses:
            sight = self.seen_in(iterable)
            if sight is Sight.SAME:
                item = path_of(target)
                sight = Buffer(item, self.reads).seen_in(node.element) if item else Sight.HANDED
            worst = max(worst, sight, self._worst(tests))
        return worst

    def _closure(self, node: ir.Lambda) -> Sight:
        return Sight.HANDED if self.path[0] in node.function.tokens else Sight.ABSENT


def parts_of(node: ir.Expr) -> tuple[ir.Expr, ...]:
    """The expressions directly inside an expression, but for the arguments of a call."""
    return tuple(child for child in ir.children(node) if isinstance(child, ir.Expr))


_LOOKS: dict[type, Callable[..., Sight]] = {
    ir.Attribute: Buffer._attribute,
    ir.Call: Buffer._call,
    ir.Subscript: Buffer._subscript,
    ir.Compare: Buffer._compare,
    ir.Conditional: Buffer._conditional,
    ir.BoolOp: Buffer._bool,
    ir.Not: Buffer._not,
    ir.Comprehension: Buffer._comprehension,
    ir.Lambda: Buffer._closure,
    ir.Display: Buffer._container,
    ir.DictDisplay: Buffer._container,
    ir.Starred: Buffer._container,
    ir.Walrus: Buffer._container,
    ir.Yield: Buffer._container,
}
