"""Changes that keep what a program does: no finding may come of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchmarks.mutation.operators import Operator, Site, one_line
from benchmarks.mutation.repository import Repository
from benchmarks.mutation.source import Source, names_in, walk_own

_FRAMES = frozenset({"locals", "eval", "exec", "vars", "globals"})


def _functions(source: Source) -> Iterator[ast.FunctionDef]:
    """The functions in which ranks meet, or on which more than one line tells of ranks."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(each, ast.Call) and source.collective(each) for each in walk_own(node)
        ):
            if _FRAMES.isdisjoint(names_in(node)):
                yield node


def rename(source: Source, repository: Repository) -> Iterator[Site]:
    """Give a local variable another name."""
    for function in _functions(source):
        nodes = list(ast.walk(function))
        shared = {n for e in nodes if isinstance(e, ast.Global | ast.Nonlocal) for n in e.names}
        in_strings = names_in(*(each for each in nodes if isinstance(each, ast.JoinedStr)))
        inner = {
            name
            for each in nodes
            if each is not function
            and isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef)
            for name in names_in(each) | _params(each)
        }
        handled = {e.name for e in nodes if isinstance(e, ast.ExceptHandler) and e.name}
        stored = {
            each.id
            for each in walk_own(function)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        free = stored - shared - in_strings - inner - handled - _params(function)
        free -= set(source.imports)
        for name in sorted(free):
            other = f"{name}_renamed"
            if other in source.text:
                continue
            uses = [each for each in nodes if isinstance(each, ast.Name) and each.id == name]
            text = _renamed(source, uses, other)
            yield Site(function.lineno, f"`{name}` is `{other}` in `{function.name}`", text)


def _params(node: ast.AST) -> set[str]:
    return {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}


def _renamed(source: Source, uses: list[ast.Name], name: str) -> str:
    data = source.text.encode()
    for use in sorted(uses, key=lambda each: (each.lineno, each.col_offset), reverse=True):
        start = source.offset(use.lineno, use.col_offset)
        data = data[:start] + name.encode() + data[source.end(use) :]
    return data.decode()


def extract(source: Source, repository: Repository) -> Iterator[Site]:
    """Move a call that is a statement into a function of its own."""
    for function in _functions(source):
        known = _stored(function) | _params(function)
        for statement in source.statements:
            if source.function_of(statement) is not function:
                continue
            if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
                continue
            nodes = list(ast.walk(statement))
            if any(
                isinstance(n, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for n in nodes
            ):
                continue
            if "super" in names_in(statement) or "extracted" in source.text:
                continue
            if any(isinstance(n, ast.Name) and n.id.startswith("__") for n in nodes):
                continue
            top: ast.AST = function
            above = [each for each in source.ancestors(function) if each is not source.tree]
            top = above[-1] if above else function
            if not isinstance(top, ast.FunctionDef | ast.ClassDef) or not source.is_alone(top):
                continue
            outer = {
                name
                for each in above
                if isinstance(each, ast.FunctionDef)
                for name in _stored(each) | _params(each)
            }
            given = ", ".join(sorted(names_in(statement) & (known | outer)))
            text = _extracted(source, statement, top, given)
            yield Site(statement.lineno, f"`{one_line(statement)}` is a function", text)


def _stored(function: ast.AST) -> set[str]:
    """The names that a function binds, imports and definitions in it included."""
    found: set[str] = set()
    for node in walk_own(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(each.asname or each.name).partition(".")[0] for each in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
            found.add(node.name or "")
    return found


def _extracted(source: Source, statement: ast.Expr, top: ast.stmt, given: str) -> str:
    decorators = getattr(top, "decorator_list", [])
    row = min([top.lineno, *(each.lineno for each in decorators)])
    body = f"def extracted({given}):\n{source.step}{ast.unparse(statement)}\n\n\n"
    lines = list(source.lines)
    call = f"{source.indent(statement)}extracted({given})\n"
    lines[statement.lineno - 1 : statement.end_lineno] = [call]
    return "".join([*lines[: row - 1], body, *lines[row - 1 :]])


def invert(source: Source, repository: Repository) -> Iterator[Site]:
    """Negate a condition and exchange its arms."""
    for function in _functions(source):
        for branch in source.statements:
            if not isinstance(branch, ast.If) or source.function_of(branch) is not function:
                continue
            if source.lines[branch.lineno - 1].lstrip().startswith("elif"):
                continue
            if branch.body[0].lineno == branch.lineno or not _plain_else(source, branch):
                continue
            indent = source.indent(branch)
            body = source.rows(*branch.body)
            orelse = source.rows(*branch.orelse) if branch.orelse else []
            empty = [f"{indent}{source.step}pass\n"]
            test = f"{indent}if not ({ast.unparse(branch.test)}):\n"
            rows = [test, *(orelse or empty), f"{indent}else:\n", *body]
            what = f"`{one_line(branch.test)}` is negated and its arms exchanged"
            yield Site(branch.lineno, what, source.replaced(branch, branch, rows))


def _plain_else(source: Source, branch: ast.If) -> bool:
    """Has a branch no ``elif``, and whole lines in both arms?"""
    if not branch.orelse:
        return True
    first = branch.orelse[0]
    if isinstance(first, ast.If) and source.lines[first.lineno - 1].lstrip().startswith("elif"):
        return False
    return source.is_alone(first) and source.is_alone(branch.body[-1])


_MEET = (b"distributed", b"accelerator", b"fabric")

OPERATORS = (
    Operator("local variable renamed", rename, (), _MEET, "neutral"),
    Operator("function extracted", extract, (), _MEET, "neutral"),
    Operator("condition inverted", invert, (), _MEET, "neutral"),
)
