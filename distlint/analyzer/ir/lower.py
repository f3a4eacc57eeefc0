"""Python text to IR: from the standard library's ``ast`` where that can read it, else from libcst.

``ast`` takes a tenth of the time. Both give the same IR with the same sites, so that positions and
fixes can come from libcst's tree, which is made for files alone in which there is something to
report. What libcst cannot read is no Python.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.ir.errors import ParseError, TooDeep
from distlint.analyzer.ir.lower_ast import AstLowering
from distlint.analyzer.ir.lower_cst import CstLowering
from distlint.analyzer.ir.stack import on_large_stack
from distlint.source.nesting import Examined, examine


class Lowered:
    """A module as IR, with the number of its sites.

    ``nodes`` maps a site to its node of ``ast`` or libcst if these were asked for.
    """

    __slots__ = ("body", "nodes", "sites", "tree")

    def __init__(
        self,
        body: ir.Block,
        sites: int,
        nodes: list[Any] | None = None,
        tree: cst.Module | None = None,
    ) -> None:
        self.body = body
        self.sites = sites
        self.nodes = nodes
        self.tree = tree


def lower(text: str, module: str) -> Lowered:
    """Lower a module in the quickest way there is.

    Raises:
        ParseError: with the position of the mistake.
    """
    return by_ast(text, module) or by_libcst(text, module)


def by_ast(text: str, module: str = "", *, keep_nodes: bool = False) -> Lowered | None:
    """Lower a module without libcst; None if ``ast`` cannot read it, or may need much stack.

    Raises:
        TooDeep: if no parser must see the text.
    """
    tree = _tree_of(_examined(text))
    if tree is None:
        return None
    lowering = AstLowering(module, keep_nodes=keep_nodes)
    return Lowered(lowering.block(tree.body), lowering.count, lowering.nodes)


def by_libcst(text: str, module: str = "", *, keep_nodes: bool = False) -> Lowered:
    """Lower a module from libcst's tree; sites number the nodes in the same order every time.

    Raises:
        ParseError: with the position of the mistake.
    """
    tree = parse(text)
    lowering = CstLowering(module, keep_nodes=keep_nodes)
    with _no_warnings():
        body = lowering.block(tree.body)
    return Lowered(body, lowering.count, lowering.nodes, tree if keep_nodes else None)


def parse(text: str) -> cst.Module:
    """Parse a module, without the ends of long displays of literals.

    Raises:
        ParseError: with the position of the mistake.
    """
    examined = _examined(text)
    if examined.steep:
        return on_large_stack(lambda: _parse(examined.text))
    return _parse(examined.text)


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Those of the checked code are for other tools."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _examined(text: str) -> Examined:
    examined = examine(text)
    if examined.excess is not None:
        message, row, column = examined.excess
        raise TooDeep(f"not analysed: {message}", row, column)
    return examined


def _tree_of(examined: Examined) -> ast.Module | None:
    if examined.steep:
        return None
    try:
        with _no_warnings():
            tree = compile(examined.text, "<text>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError):
        return None
    assert isinstance(tree, ast.Module)
    return tree


def _parse(text: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        message = str(error.message).split(" @ ")[0].strip() or "invalid syntax"
        raise ParseError(message, error.editor_line, error.editor_column) from None
    except (RecursionError, ValueError, OverflowError, cst.CSTValidationError) as error:
        raise ParseError(str(error) or "invalid syntax", 1, 1) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what Rust raises, which is no Exception
            raise
        raise ParseError(f"the parser failed: {error}", 1, 1) from None
