"""The text edits of one fix, laid out over the syntax tree of the file.

Nodes say where text stands; what is written is text. So everything outside an edit stays as it is,
to the byte: comments, quotes, tabs, the newlines of each line.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import islice, pairwise, takewhile
from typing import Any, Literal, TypeVar

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.ir.positions import Locator
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.names import Names, Scope
from distlint.catalogue import RUNTIME
from distlint.catalogue.catalogue import Catalogue, Collective
from distlint.source.comments import Comment, Scan
from distlint.source.document import NEWLINE
from distlint.source.finding import Edit, Fix, Span

Node = TypeVar("Node", bound=cst.CSTNode)
T = TypeVar("T")
Applicability = Literal["safe", "unsafe", "displayonly"]


_OTHER_QUOTES = str.maketrans("'\"", "\"'")
_NEED = "; requires distlint at run time, or a copy by `distlint vendor`"


class CannotFix(Exception):
    """No edit here is certain to be right, so that no fix is offered."""


class _Layout:
    """What all drafts of one file ask about its tree and text."""

    def __init__(self, locator: Locator) -> None:
        self.locator = locator
        self.source = locator.document.text

    @property
    def parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        return self._walked[0]

    @property
    def nodes(self) -> list[cst.CSTNode]:
        return self._walked[1]

    @cached_property
    def _walked(self) -> tuple[dict[cst.CSTNode, cst.CSTNode], list[cst.CSTNode]]:
        parents: dict[cst.CSTNode, cst.CSTNode] = {}
        nodes: list[cst.CSTNode] = []
        stack: list[cst.CSTNode] = [self.locator.tree]
        while stack:
            node = stack.pop()
            nodes.append(node)
            children = node.children
            parents.update(dict.fromkeys(children, node))
            stack.extend(children)
        return parents, nodes

    @cached_property
    def starts(self) -> list[int]:
        """Where each line starts."""
        return [0, *(match.end() for match in NEWLINE.finditer(self.source))]

    @cached_property
    def code(self) -> list[str]:
        """The lines that libcst counted columns in; it drops the form feed of some."""
        return NEWLINE.split(self.locator.code())

    @cached_property
    def comments(self) -> list[Comment]:
        return Scan(self.source).comments

    @cached_property
    def memo(self) -> dict[object, Any]:
        return {}


@lru_cache(maxsize=2)
def _layout(locator: Locator) -> _Layout:
    return _Layout(locator)


@lru_cache(maxsize=2)
def _names(module: Module, catalogue: Catalogue) -> Names:
    return Names(module, catalogue)


def forget() -> None:
    """Drop what is kept about the last files."""
    _layout.cache_clear()
    _names.cache_clear()


class Draft:
    """The edits of one fix so far, and what fixers ask about the file; nothing is read before.

    Offsets count code points from the start of the text. Everything raises ``CannotFix`` where the
    tree does not tell the text exactly.
    """

    def __init__(self, locator: Locator, module: Module, catalogue: Catalogue) -> None:
        self.locator = locator
        self.document = locator.document
        self.source = locator.document.text
        self.module = module
        self.catalogue = catalogue
        self.imported: dict[tuple[str, str], str] = {}
        """What this draft imports itself: (module, name) -> the name that it goes by."""
        self.import_lines: dict[str, str] = {}
        """The line ``from module import ...`` that this draft has added for a module."""
        self._edits: list[tuple[int, int, str]] = []

    # ---- the tree

    @property
    def tree(self) -> cst.Module:
        return self.locator.tree

    @property
    def names(self) -> Names:
        return _names(self.module, self.catalogue)

    @cached_property
    def _layout(self) -> _Layout:
        return _layout(self.locator)

    def node(self, site: int, kind: type[Node]) -> Node:
        """The node of a site of the IR, which has to be of this kind."""
        node = self.locator.node(site)
        if not isinstance(node, kind):
            raise CannotFix(f"a {type(node).__name__} where a {kind.__name__} was expected")
        return node

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        """The node around a node; the module has none."""
        return self._layout.parents[node]

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around a node, the innermost first."""
        while node is not self.tree:
            node = self._layout.parents[node]
            yield node

    def around(self, node: cst.CSTNode, kind: type[Node]) -> Node | None:
        """The innermost node of a kind around a node."""
        return next((found for found in self.ancestors(node) if isinstance(found, kind)), None)

    def once(self, fact: Callable[[Draft], T]) -> T:
        """What is the same for all drafts of the file, computed for the first of them."""
        memo = self._layout.memo
        if fact not in memo:
            memo[fact] = fact(self)
        found: T = memo[fact]
        return found

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Every node of a kind in the file."""
        memo = self._layout.memo
        if kind not in memo:
            memo[kind] = [node for node in self._layout.nodes if isinstance(node, kind)]
        found: list[Node] = memo[kind]
        return found

    def scope(self, node: cst.CSTNode) -> Scope:
        """The function that a node stands in, else the module, as the analyzer names it."""
        scopes = self.once(_scopes)
        for around in self.ancestors(node):
            if around in scopes:
                return scopes[around]
        return self.names.scopes[0]

    def class_of(self, node: cst.BaseExpression) -> str | None:
        """The framework class of a variable or an attribute."""
        written = _chain(node)
        return self.names.class_of(written, self.scope(node)) if written else None

    def collective(self, call: cst.Call) -> Collective | None:
        """What the catalogue says about a call, if that is a collective by itself."""
        written, scope = _chain(call.func), self.scope(call)
        if written is None:
            return None
        entry = self.names.entry(written, scope)
        if entry is None and isinstance(written, ir.Attribute):
            cls = self.names.class_of(written.value, scope)
            entry = self.catalogue.member(cls, written.attr) if cls else None
        return entry.collective if entry is not None else None

    # ---- the text

    def bounds(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a node begins and ends, with the brackets around it and its decorators."""
        first, last = node, node
        if isinstance(node, cst.BaseExpression) and node.lpar:
            first, last = node.lpar[0], node.rpar[-1]
        decorators = getattr(node, "decorators", ())
        if decorators:
            first = decorators[0]
        start = self.locator.range_of(first).start
        end = self.locator.range_of(last).end
        return self.offset(start.line, start.column), self.offset(end.line, end.column)

    def text(self, node: cst.CSTNode, *, brackets: bool = True) -> str:
        """The source of a node as it stands in the file, with or without the brackets around it."""
        start, end = self.bounds(node)
        if not brackets:
            inner = self.locator.range_of(node)
            start = self.offset(inner.start.line, inner.start.column)
            end = self.offset(inner.end.line, inner.end.column)
        return self.source[start:end]

    def offset(self, row: int, column: int) -> int:
        """Of a row from 1 and a column from 0, as libcst counts them."""
        self._trust(row)
        return self._layout.starts[row - 1] + column

    def row_of(self, offset: int) -> int:
        """The row, from 1, that an offset lies in."""
        return bisect_right(self._layout.starts, offset)

    def line_start(self, offset: int) -> int:
        return self._layout.starts[self.row_of(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Where the line of an offset ends, before its newline."""
        row = self.row_of(offset)
        return self._layout.starts[row - 1] + len(self.document.lines[row - 1])

    def next_line(self, offset: int) -> int:
        """Where the line after that of an offset starts; the end of the text after the last."""
        row = self.row_of(offset)
        return self._layout.starts[row] if row < len(self._layout.starts) else len(self.source)

    def newline(self, offset: int) -> str:
        """The newline that ends the line of an offset; for the last one, that of the line above."""
        found = self.source[self.line_end(offset) : self.next_line(offset)]
        start = self.line_start(offset)
        if not found and start:
            found = self.source[self.line_end(start - 1) : start]
        return found or self.document.newline

    def in_string(self, line: int) -> bool:
        """Does a line start inside a string, so that its indentation belongs to that?"""
        return any(start < line < end for start, end in self.once(_long_strings))

    @property
    def comments(self) -> list[Comment]:
        """The comments of the file, in order."""
        return self._layout.comments

    def _trust(self, row: int) -> None:
        lines = self.document.lines
        if len(self._layout.code) != len(lines) or self._layout.code[row - 1] != lines[row - 1]:
            raise CannotFix(f"the positions in line {row} are not certain")

    # ---- the edits

    def amend(self, was: str, now: str) -> None:
        """Write a line that this draft has added another way."""
        self._edits = [(start, end, text.replace(was, now)) for start, end, text in self._edits]

    def splice(self, start: int, end: int, content: str) -> None:
        """Put a text in the place of a stretch; where both are equal, insert it."""
        if content != self.source[start:end]:
            self._edits.append((start, end, content))

    def replace(self, node: cst.CSTNode, content: str) -> None:
        """Put a text in the place of a node and the brackets around it, but for no comment."""
        start, end = self.bounds(node)
        lost = self.comments_in(start, end)
        if any(comment.text not in content for comment in lost):
            raise CannotFix("a comment would be lost")
        self.splice(start, end, content)

    def comments_in(self, start: int, end: int) -> list[Comment]:
        """The comments that begin inside a stretch."""
        starts = self._layout.starts
        first = bisect_left(self.comments, self.row_of(start), key=lambda comment: comment.row)
        found = takewhile(lambda c: starts[c.row - 1] < end, islice(self.comments, first, None))
        return [c for c in found if start < starts[c.row - 1] + c.column - 1 < end]

    def fix(self, applicability: Applicability, message: str) -> Fix:
        """The fix of all edits so far; ``message`` says in the imperative what it does."""
        ordered = sorted(self._edits, key=lambda edit: edit[:2])  # stable: insertions keep order
        if not ordered:
            raise CannotFix("nothing to edit")
        for one, other in pairwise(ordered):
            if one[1] > other[0]:
                raise CannotFix("two edits overlap")
        edits = tuple(
            Edit(self._span(start, end), self._fitting(start, end, text))
            for start, end, text in _joined(ordered)
        )
        return Fix(applicability, message + self._need(edits), edits)

    def _fitting(self, start: int, end: int, content: str) -> str:
        """A content with quotes that may stand in the f-strings around it, if there are any.

        Before Python 3.12 the quotes of an f-string cannot be those of a string in it.
        """
        strings = self.once(_f_strings)
        taken = {quote for first, last, quote in strings if first < start and end < last}
        if not any(quote in content for quote in taken):
            return content
        swapped = content.translate(_OTHER_QUOTES)
        if ("'" in content and '"' in content) or any(quote in swapped for quote in taken):
            raise CannotFix("the f-string around it has the same quotes")
        return swapped

    def _need(self, edits: Iterable[Edit]) -> str:
        """What a script needs from now on, where it imports the runtime and did not before.

        A module of the project's own, which the configuration names, is no such need.
        """
        adds = any(RUNTIME in edit.content for edit in edits) and RUNTIME not in self.source
        return _NEED if adds else ""

    def _span(self, start: int, end: int) -> Span:
        row, end_row = self.row_of(start), self.row_of(end)
        column = start - self._layout.starts[row - 1] + 1
        return Span(row, column, end_row, end - self._layout.starts[end_row - 1] + 1)


def _scopes(draft: Draft) -> dict[cst.CSTNode, Scope]:
    return {
        draft.locator.node(scope.function.site): scope
        for scope in draft.names.scopes
        if scope.function is not None
    }


def _long_strings(draft: Draft) -> list[tuple[int, int]]:
    """The strings of several lines."""
    found = []
    for kind in (cst.SimpleString, cst.FormattedString):
        for node in draft.nodes(kind):
            where = draft.locator.range_of(node)
            if where.start.line != where.end.line:
                found.append(draft.bounds(node))
    return found


def _f_strings(draft: Draft) -> list[tuple[int, int, str]]:
    """Where each f-string begins and ends, and its quotes: one of them, or three."""
    return [(*draft.bounds(node), node.quote) for node in draft.nodes(cst.FormattedString)]


def _chain(node: cst.BaseExpression) -> ir.Expr | None:
    """``a.b.c`` as the analyzer has it, if the node is no more than that."""
    if isinstance(node, cst.Name):
        return ir.Name(node.value)
    if isinstance(node, cst.Attribute):
        value = _chain(node.value)
        return ir.Attribute(value, node.attr.value, 0) if value else None
    return None


def _joined(edits: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Insertions at one place, and what touches, as one edit: their order is then certain."""
    current = edits[0]
    for start, end, text in edits[1:]:
        if start == current[1]:
            current = (current[0], end, current[2] + text)
        else:
            yield current
            current = (start, end, text)
    yield current
