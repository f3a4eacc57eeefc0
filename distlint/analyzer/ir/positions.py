"""From a site of the IR to rows and columns; only files with something to report pay for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeVar, cast

import libcst as cst
from libcst._position import CodeRange

from distlint.analyzer.ir.errors import ParseError, Unplaced
from distlint.analyzer.ir.lower import by_ast, by_libcst
from distlint.analyzer.ir.stack import on_large_stack
from distlint.source.document import Document
from distlint.source.finding import Place, Span
from distlint.source.nesting import examine

T = TypeVar("T")


class Locator:
    """Positions and source texts of the sites of one file.

    ``sites`` is how many its module has. If libcst finds another number, ``Unplaced`` is raised
    when a position is asked for.
    """

    def __init__(self, document: Document, sites: int | None = None) -> None:
        self.document = document
        self.sites = sites

    @property
    def tree(self) -> cst.Module:
        """The syntax tree whose nodes the sites are."""
        return self._lowered[1]

    def node(self, site: int) -> cst.CSTNode:
        """The node of a site; a decorator or an item of a with has one of its own."""
        return self._nodes[site]

    @property
    def count(self) -> int:
        """How many sites the file has."""
        return len(self._nodes)

    def range_of(self, node: cst.CSTNode) -> CodeRange:
        """Rows from 1 and columns from 0 of a node, without whitespace and its own brackets."""
        return self._ranges[node]

    @cached_property
    def _lowered(self) -> tuple[list[cst.CSTNode], cst.Module]:
        try:
            lowered = by_libcst(self.document.text, keep_nodes=True)
        except ParseError as error:
            raise Unplaced(self.document.path, error) from None
        if self.sites not in (None, lowered.sites):
            raise Unplaced(self.document.path, None)
        assert lowered.nodes is not None
        assert lowered.tree is not None
        return lowered.nodes, lowered.tree

    @property
    def _nodes(self) -> list[cst.CSTNode]:
        return self._lowered[0]

    @cached_property
    def _ranges(self) -> dict[cst.CSTNode, CodeRange]:
        from libcst.metadata import MetadataWrapper, PositionProvider

        wrapper = MetadataWrapper(self.tree, unsafe_skip_copy=True)
        # ``resolve`` goes over the tree once more, for providers that visit it: this one does not
        found = self._recursing(lambda: PositionProvider()._gen(wrapper))
        return cast("dict[cst.CSTNode, CodeRange]", found)

    def code(self, node: cst.CSTNode | None = None) -> str:
        """The text of a node, or of the file, as the tree has it."""
        return self._recursing(lambda: self.tree.code_for_node(node or self.tree))

    def _recursing(self, work: Callable[[], T]) -> T:
        """Do what recurses through the tree."""
        return on_large_stack(work) if self._steep else work()

    @cached_property
    def _steep(self) -> bool:
        return examine(self.document.text).steep

    def place(self, site: int) -> Place:
        """Where a site stands; of a compound statement, its header."""
        node = self._nodes[site]
        start = self._ranges[node]
        end = self._ranges[_header(node)]
        return Place(
            self.document.path,
            Span(start.start.line, start.start.column + 1, end.end.line, end.end.column + 1),
        )

    def header(self, site: int) -> Place:
        """``place`` of a statement; for most functions and tests without the tree of libcst."""
        nodes = self._nodes_of_ast
        span = _span_of_header(nodes[site], self._lines) if nodes else None
        return Place(self.document.path, span) if span is not None else self.place(site)

    @cached_property
    def _nodes_of_ast(self) -> list[ast.AST] | None:
        lowered = by_ast(self.document.text, keep_nodes=True)
        return None if lowered is None or lowered.sites != self.sites else lowered.nodes

    @cached_property
    def _lines(self) -> list[str]:
        return _LINE_END.split(self.document.text)

    def text(self, site: int) -> str:
        """The source of a site on one line: the condition of a branch, the call of a collective."""
        node = self._nodes[site]
        shown: cst.CSTNode = node
        if isinstance(node, (cst.If, cst.While, cst.Assert, cst.IfExp)):
            shown = node.test
        elif isinstance(node, cst.For):
            shown = node.iter
        elif isinstance(node, cst.WithItem):
            shown = node.item
        elif isinstance(node, cst.Decorator):
            shown = node.decorator
        elif isinstance(node, (cst.ExceptHandler, cst.ExceptStarHandler)):
            kind = self.code(node.type) if node.type is not None else ""
            return f"except {kind}".rstrip()
        elif isinstance(node, (cst.Try, cst.TryStar)):
            return "try"
        elif isinstance(node, cst.FunctionDef):
            return f"{node.name.value}()"
        return _on_one_line(self.code(shown))


_LINE_END = re.compile(r"\r\n|\r|\n")
_DEFINITION = re.compile(r"(async[ \t]+)?def[ \t]+(\w+)")


def _span_of_header(node: ast.AST, lines: list[str]) -> Span | None:
    """Where ``def name`` or ``if test`` stands; None where it is not written in the plain way."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.If)):
        return None
    row, line = node.lineno, lines[node.lineno - 1]
    start = _column(line, node.col_offset)
    if isinstance(node, ast.If):
        test = node.test
        if (test.lineno, test.end_lineno) != (row, row) or test.end_col_offset is None:
            return None
        first, end = _column(line, test.col_offset), _column(line, test.end_col_offset)
        if line[start:first] != "if " or line[end : end + 1] != ":":
            return None
        return Span(row, start + 1, row, end + 1)
    found = _DEFINITION.match(line, start)
    if found is None or found[2] != node.name:
        return None
    return Span(row, start + 1, row, found.end() + 1)


def _column(line: str, offset: int) -> int:
    """The number of characters before an offset in bytes, as ``ast`` counts."""
    return offset if line.isascii() else len(line.encode()[:offset].decode())


def _on_one_line(code: str) -> str:
    """Source that may be spread over lines, with the brackets closed up again."""
    if "\n" not in code:
        return code
    line = " ".join(code.split())
    for spread, closed in (("( ", "("), (" )", ")"), ("[ ", "["), (" ]", "]"), (",)", ")")):
        line = line.replace(spread, closed)
    return line


def _header(node: cst.CSTNode) -> cst.CSTNode:
    """The last node that still belongs to the header of a compound statement."""
    if isinstance(node, (cst.If, cst.While)):
        return node.test
    if isinstance(node, cst.For):
        return node.iter
    if isinstance(node, cst.MatchCase):
        return node.guard or node.pattern
    if isinstance(node, cst.WithItem):
        return node.item
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return node.name
    if isinstance(node, (cst.ExceptHandler, cst.ExceptStarHandler)) and node.type is not None:
        return node.type
    if isinstance(node, (cst.Try, cst.TryStar, cst.ExceptHandler, cst.ExceptStarHandler)):
        body = node.body
        return body.header if isinstance(body, cst.IndentedBlock) else body
    return node


class Locators:
    """Locators of the files of a project, made when asked for.

    Args:
        read: reads a file.
        sites: tells how many sites the module of a file has, if that is known.
    """

    def __init__(
        self,
        read: Callable[[Path], Document] = Document.read,
        sites: Callable[[Path], int | None] = lambda _: None,
    ) -> None:
        self._read = read
        self._sites = sites
        self._known: dict[str, Locator] = {}

    def of(self, key: str) -> Locator:
        locator = self._known.get(key)
        if locator is None:
            locator = self.add(self._read(Path(key)))
        return locator

    def add(self, document: Document) -> Locator:
        locator = Locator(document, self._sites(document.path))
        return self._known.setdefault(str(document.path), locator)
