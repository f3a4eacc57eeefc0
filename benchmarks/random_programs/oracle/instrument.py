"""The few hooks that the oracle needs inside a script: loop bounds, and who would catch what.

The script is otherwise compiled as it stands.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import CodeType

BOUND = "__bound__"
"""Called before a ``while`` loop; what it returns is called at each iteration."""
CATCHING = "__catching__"
"""Wraps the body of a ``try``, with the types that its handlers name."""
CAUGHT = "__caught__"
"""Called first in each handler."""

_OUT_OF_MEMORY = "out of memory"


class _Hooks(ast.NodeTransformer):
    def __init__(self) -> None:
        self._loops = 0

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        counter = f"__loop{self._loops}__"
        self._loops += 1
        node.body = [*ast.parse(f"{counter}()").body, *node.body]
        return [*ast.parse(f"{counter} = {BOUND}()").body, node]

    def visit_Try(self, node: ast.Try) -> ast.Try:
        self.generic_visit(node)
        if node.handlers:
            types = [handler.type or ast.Name("BaseException") for handler in node.handlers]
            region = ast.parse(f"with {CATCHING}({', '.join(map(ast.unparse, types))}): pass").body
            assert isinstance(region[0], ast.With)
            region[0].body = node.body
            node.body = region
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        self.generic_visit(node)
        node.body = [*ast.parse(f"{CAUGHT}()").body, *node.body]
        return node


@dataclass(frozen=True)
class Program:
    """A script ready to be executed."""

    code: CodeType
    failures: tuple[Exception, ...]


def _caught_names(tree: ast.Module) -> set[str]:
    return {
        node.id
        for handler in ast.walk(tree)
        if isinstance(handler, ast.ExceptHandler)
        for node in ast.walk(handler.type or ast.Name("BaseException"))
        if isinstance(node, ast.Name)
    }


def _failures(tree: ast.Module, source: str) -> tuple[Exception, ...]:
    """Say in which ways an opaque call may fail, so that each handler gets its turn."""
    caught = _caught_names(tree)
    found: list[Exception] = []
    if "OSError" in caught:
        found.append(OSError("cannot read"))
    if "ValueError" in caught:
        found.append(ValueError("cannot decode"))
    if caught & {"RuntimeError", "Exception", "BaseException"}:
        found.append(RuntimeError("cannot go on"))
        if _OUT_OF_MEMORY in source:
            found.append(RuntimeError(f"CUDA {_OUT_OF_MEMORY}"))
    return tuple(found)


def prepare(source: str) -> Program:
    """Compile a script with its hooks."""
    tree = ast.parse(source)
    failures = _failures(tree, source)
    hooked = ast.fix_missing_locations(_Hooks().visit(tree))
    return Program(compile(hooked, "<script>", "exec"), failures)
