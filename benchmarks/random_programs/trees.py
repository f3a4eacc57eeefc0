"""What mutation, reduction and refactoring share: walks over the standard library's syntax tree."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

Body = list[ast.stmt]

COLLECTIVES = frozenset(
    {
        "all_gather",
        "all_gather_into_tensor",
        "all_gather_object",
        "all_reduce",
        "all_to_all_single",
        "barrier",
        "broadcast",
        "broadcast_object_list",
        "gather",
        "gather_object",
        "monitored_barrier",
        "reduce",
        "reduce_scatter_tensor",
        "scatter",
    }
)


def bodies(tree: ast.AST) -> Iterator[Body]:
    """Give every list of statements, outermost first."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list) and statements:
                yield statements


def function_bodies(tree: ast.Module) -> list[ast.FunctionDef]:
    """Give all functions and methods, nested ones too."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def collective(node: ast.AST) -> ast.Call | None:
    """Give the call if the node is a statement that is nothing but a collective."""
    if isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Call):
        function = node.value.func
        if (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id == "dist"
            and function.attr in COLLECTIVES
        ):
            return node.value
    return None


def walk_in_function(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """Walk statements without entering nested functions and classes."""
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))


def own_loop_exits(statements: list[ast.stmt]) -> bool:
    """Tell whether ``break`` or ``continue`` in the statements belongs to a loop around them."""
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break | ast.Continue):
            return True
        if isinstance(node, ast.For | ast.While):
            pending.extend(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
    return False


def fill_empty(tree: ast.Module) -> None:
    """Put ``pass`` where all statements have gone, and drop ``try`` parts that cannot be empty."""
    for node in ast.walk(tree):
        statements = getattr(node, "body", None)
        if isinstance(statements, list) and not statements and not isinstance(node, ast.Module):
            statements.append(ast.Pass())
        if isinstance(node, ast.Try) and not node.handlers and not node.finalbody:
            node.finalbody.append(ast.Pass())


def prune_uncalled(tree: ast.Module) -> None:
    """Drop functions that nothing refers to.

    The oracle never runs them, and to an analyser each is the start of a program of its own.
    """
    while True:
        for owner in ast.walk(tree):
            statements = getattr(owner, "body", None)
            if not isinstance(statements, list):
                continue
            for statement in statements:
                if (
                    isinstance(statement, ast.FunctionDef | ast.ClassDef)
                    and not statement.name.startswith("__")
                    and not _referred(tree, statement, isinstance(owner, ast.ClassDef))
                ):
                    statements.remove(statement)
                    break
            else:
                continue
            break
        else:
            fill_empty(tree)
            return


def _referred(tree: ast.AST, definition: ast.FunctionDef | ast.ClassDef, method: bool) -> bool:
    """Tell whether anything outside a definition names it, through an object if it is a method."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        match node:
            case ast.Attribute(attr=definition.name) if method:
                return True
            case ast.Name(id=definition.name) if not method:
                return True
        pending.extend(child for child in ast.iter_child_nodes(node) if child is not definition)
    return False


def unbound_names(tree: ast.Module) -> set[str]:
    """List the names that are read and bound nowhere."""
    read: set[str] = set()
    bound = set(dir(builtins)) | {"__name__"}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                bound |= {(each.asname or each.name).partition(".")[0] for each in aliases}
    return read - bound


def unparse(tree: ast.Module) -> str:
    """Write the tree as source."""
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
