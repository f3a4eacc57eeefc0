"""A script run without torch, one rank after the other: which collectives does each issue?"""

from __future__ import annotations

import ast
import builtins
import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace

from distlint.confirm.script import Script

REDUCTIONS = ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")

STEPS = 100_000
"""Calls of functions and iterations after which a rank is not followed any further."""

STEP = "__step__"


class _Enough(BaseException):
    """The rank has issued as many collectives as were asked for, or goes on without an end."""


class _Stepping(ast.NodeTransformer):
    """Puts a step before each function and iteration: also what a ``finally`` does has an end."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.stepping(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        return self.stepping(node)

    def stepping(self, node: ast.FunctionDef | ast.For) -> ast.AST:
        self.generic_visit(node)
        step = ast.Expr(ast.Call(ast.Name(STEP, ast.Load()), [], []))
        node.body.insert(0, ast.fix_missing_locations(ast.copy_location(step, node)))
        return node


def issued(script: Script, rank: int, most: int) -> list[int]:
    """The lines of the first collectives of a rank, as far as it comes."""
    found: list[int] = []
    left = STEPS

    def step() -> None:
        nonlocal left
        left -= 1
        if left < 0 or len(found) >= most:
            raise _Enough

    def note(group: object) -> None:
        caller = sys._getframe(2).f_lineno
        if caller in script.sites and (group is None or rank in _members(group)):
            if len(found) < most:
                found.append(caller)
            step()

    known = {**_builtins(_Torch(rank, note)), STEP: step}
    names = {"__name__": "__main__", "__builtins__": known}
    with contextlib.suppress(_Enough, SystemExit, Exception):
        tree = _Stepping().visit(ast.parse(script.source))
        exec(compile(tree, "reproducer", "exec"), names)
    return found


def _members(group: object) -> Sequence[int]:
    return group if isinstance(group, tuple) else ()


class _Torch:
    """What of torch a script uses: a collective notes from where it was called."""

    ReduceOp = SimpleNamespace(**dict.fromkeys(REDUCTIONS))

    def __init__(self, rank: int, note: Callable[[object], None]) -> None:
        self.rank = rank
        self.note = note
        self.distributed = self

    def get_rank(self) -> int:
        return self.rank

    def init_process_group(self, *args: object, **keywords: object) -> None:
        pass

    def zeros(self, size: int) -> None:
        pass

    def new_group(self, ranks: tuple[int, ...]) -> tuple[int, ...]:
        self.note(None)
        return ranks

    def __getattr__(self, name: str) -> Callable[..., None]:
        def collective(*args: object, group: object = None, **keywords: object) -> None:
            self.note(group)

        return collective


def _builtins(torch: _Torch) -> Mapping[str, object]:
    """The builtins that a script uses, and nothing that reaches the machine."""

    def find(name: str, *rest: object) -> object:
        return _MODULES.get(name, torch)

    used = ("range", "iter", "next", "Exception", "SystemExit", "__build_class__")
    known = {name: getattr(builtins, name) for name in used}
    return {**known, "print": lambda *args, **keywords: None, "__import__": find}


def _exit(status: int) -> None:
    raise SystemExit(status)


_MODULES: dict[str, object] = {
    "contextlib": contextlib,
    "datetime": SimpleNamespace(timedelta=lambda seconds: seconds),
    "sys": SimpleNamespace(exit=_exit),
}
