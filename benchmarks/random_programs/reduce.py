"""Make a script smaller while something stays true of it, so that a person can read it."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator

from benchmarks.random_programs.trees import (
    bodies,
    fill_empty,
    prune_uncalled,
    unbound_names,
    unparse,
)

Edit = Callable[[ast.Module], None]


def _drop(number: int, start: int, stop: int) -> Edit:
    def edit(tree: ast.Module) -> None:
        del list(bodies(tree))[number][start:stop]

    return edit


def _replace(number: int, place: int, part: str) -> Edit:
    def edit(tree: ast.Module) -> None:
        statements = list(bodies(tree))[number]
        statements[place : place + 1] = getattr(statements[place], part)

    return edit


def _operand(number: int, operand: int) -> Edit:
    def edit(tree: ast.Module) -> None:
        class Choose(ast.NodeTransformer):
            seen = -1

            def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
                self.seen += 1
                if self.seen == number:
                    return node.values[operand]
                return self.generic_visit(node)

        Choose().visit(tree)

    return edit


def _edits(tree: ast.Module) -> Iterator[Edit]:
    """Suggest smaller versions, the boldest first."""
    lists = list(bodies(tree))
    for number, statements in enumerate(lists):
        size = len(statements)
        step = size
        while step > 1:
            for start in range(0, size, step):
                yield _drop(number, start, start + step)
            step //= 2
    for number, statements in enumerate(lists):
        for place in reversed(range(len(statements))):
            if not isinstance(statements[place], ast.Pass):
                yield _drop(number, place, place + 1)
    for number, statements in enumerate(lists):
        for place, statement in enumerate(statements):
            if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
                for part in ("body", "orelse", "finalbody"):
                    if getattr(statement, part, None):
                        yield _replace(number, place, part)
    operations = [node for node in ast.walk(tree) if isinstance(node, ast.BoolOp)]
    for number in range(len(operations)):
        yield _operand(number, 0)
        yield _operand(number, 1)


def reduce(source: str, keeps: Callable[[str], bool], seconds: float = 60.0) -> str:
    """Shrink a script as long as ``keeps`` holds.

    ``keeps`` must be false of scripts that are broken.
    """
    deadline = time.monotonic() + seconds
    current = source
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        for edit in _edits(ast.parse(current)):
            if time.monotonic() > deadline:
                break
            tree = ast.parse(current)
            edit(tree)
            fill_empty(tree)
            prune_uncalled(tree)
            if unbound_names(tree):
                continue
            candidate = unparse(tree)
            if len(candidate) < len(current) and keeps(candidate):
                current = candidate
                progress = True
                break
    return current
