"""Where the nodes of a Python script stand, and what its names hold."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from distlint.source.document import Document
from distlint.source.edits import Lines

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

_CHANGES = frozenset(
    "update pop setdefault clear append extend insert remove reverse sort popitem".split()
)
_LOOKS = frozenset(
    "print join len str repr list tuple info debug warning error exception log format map"
    " enumerate isinstance quote".split()
)
"""Functions that leave what they are given as it is."""


class Positions:
    """Offsets in a document of the nodes of its tree."""

    def __init__(self, document: Document) -> None:
        self.text = document.text
        self._lines = document.lines
        self._starts = Lines(document.text).starts

    def _offset(self, row: int, column: int) -> int:
        """Of a row from 1 and a column in bytes of UTF-8."""
        line = self._lines[row - 1]
        if not line.isascii():
            column = len(line.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
        return self._starts[row - 1] + column

    def bounds(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno, node.end_col_offset),
        )


@dataclass(slots=True)
class Change:
    """A change of what a name holds: more items at the end, or one that is not understood."""

    kind: Literal["append", "extend", "other"]
    node: ast.AST
    value: ast.expr | None
    block: object
    """The block that it is in; it is made for certain if the name is assigned in the same one."""


@dataclass(slots=True)
class Bound:
    """A name of one scope: what is assigned to it, and how that is changed."""

    values: list[ast.expr | None] = field(default_factory=list)
    blocks: list[object] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    passed: list[ast.Call] = field(default_factory=list)
    """Calls that are given it, and may change it."""
    last: tuple[int, int] = (0, 0)
    """Where it is read last."""


class Names:
    """What is assigned to each name of a script, and which are changed in other ways."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._scopes: dict[ast.AST, Scope] = {}
        self._outer: dict[Scope, Scope] = {}
        self._blocks: dict[ast.AST, object] = {}
        self._nodes = list(self._walk(tree))
        self._bindings: dict[Scope, dict[str, Bound]] = defaultdict(dict)
        for node in self._nodes:
            self._bind(node)
        for node in self._nodes:
            self._note(node)

    def _walk(self, tree: ast.Module) -> Iterator[ast.AST]:
        """Every node in order, after its scope and the block around it are noted."""
        stack: list[tuple[ast.AST, Scope, object]] = [(tree, tree, tree)]
        while stack:
            node, scope, block = stack.pop()
            self._scopes[node], self._blocks[node] = scope, block
            yield node
            inner = scope
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                self._outer[node] = scope
                inner = node
            children: list[tuple[ast.AST, Scope, object]] = []
            for name, value in ast.iter_fields(node):
                around = (id(node), name) if name in ("body", "orelse", "finalbody") else block
                values = value if isinstance(value, list) else [value]
                children += [(each, inner, around) for each in values if isinstance(each, ast.AST)]
            stack.extend(reversed(children))

    def _put(self, name: str, node: ast.AST, value: ast.expr | None) -> None:
        bound = self._bindings[self._scopes[node]].setdefault(name, Bound())
        bound.values.append(value)
        bound.blocks.append(self._blocks[node])

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._put(target.id, node, node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            self._put(node.target.id, node, node.value)
        elif isinstance(node, ast.arg):
            self._put(node.arg, node, None)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if node not in self._simple:
                self._put(node.id, node, None)

    @cached_property
    def _simple(self) -> set[ast.AST]:
        """The targets of assignments of one value, and of what adds to one."""
        found: set[ast.AST] = set()
        for node in self._nodes:
            if isinstance(node, ast.Assign):
                found.update(node.targets)
            elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
                found.add(node.target)
        return found

    def _note(self, node: ast.AST) -> None:
        """What changes a name that is bound already."""
        if isinstance(node, ast.AugAssign):
            added = isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name)
            self._change(node.target, "extend" if added else "other", node, node.value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript):
                    self._change(target, "other", node, None)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self._change(target, "other", node, None)
        elif isinstance(node, ast.Call):
            self._called(node)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            bound = self.bound(node)
            if bound is not None:
                bound.last = max(bound.last, (node.lineno, node.col_offset))

    def _called(self, node: ast.Call) -> None:
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in _CHANGES:
            is_plain = isinstance(func.value, ast.Name) and len(node.args) == 1
            kind: Literal["append", "extend", "other"] = "other"
            if is_plain and func.attr == "append":
                kind = "append"
            elif is_plain and func.attr == "extend":
                kind = "extend"
            self._change(func.value, kind, node, node.args[0] if node.args else None)
        if last(func) not in _LOOKS:
            for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                bound = self.bound(each) if isinstance(each, ast.Name) else None
                if bound is not None:
                    bound.passed.append(node)

    def _change(
        self,
        target: ast.expr,
        kind: Literal["append", "extend", "other"],
        node: ast.AST,
        value: ast.expr | None,
    ) -> None:
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            target = target.value
        bound = self.bound(target) if isinstance(target, ast.Name) else None
        if bound is not None:
            bound.changes.append(Change(kind, node, value, self._blocks[node]))

    def bound(self, name: ast.Name) -> Bound | None:
        """What is known of a name where it is used."""
        scope = self._scopes.get(name)
        while scope is not None:
            found = self._bindings[scope].get(name.id)
            if found is not None:
                return found
            scope = self._outer.get(scope)
            while isinstance(scope, ast.ClassDef):  # methods do not see its names
                scope = self._outer.get(scope)
        return None

    def held(self, name: ast.Name) -> ast.expr | None:
        """The only thing that a name ever holds, unchanged."""
        bound = self.bound(name)
        if bound is None or len(bound.values) != 1 or bound.changes:
            return None
        return bound.values[0]

    def function_of(self, node: ast.AST) -> Scope:
        """The function or class that a node is in, else the module."""
        return self._scopes[node]


def last(node: ast.expr) -> str:
    """The last name of a dotted one."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
