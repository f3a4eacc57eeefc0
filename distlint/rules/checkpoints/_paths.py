"""Paths in the words of a function: their variables spelled out, and whether two are the same.

``join(folder, "a.pt")``, ``folder / "a.pt"`` and ``f"{folder}/a.pt"`` are the same path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from distlint.analyzer import ir
from distlint.analyzer.static.names import Scope, names_given
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import path_of

_JOINS = frozenset({"join", "joinpath"})
_COPIES = frozenset({"Path", "PurePath", "str", "fspath"})
"""Calls that give the same path in another form."""
_DEPTH = 4
"""How many variables lead to one path, at most."""


def spelled(path: ir.Expr, objects: Objects, scope: Scope, depth: int = _DEPTH) -> ir.Expr:
    """A path with the values of those of its variables that the function gives one path only."""
    names = ir.names_in(path) if depth and scope.function is not None else set()
    known = {
        name: spelled(value, objects, scope, depth - 1)
        for name in names
        if (value := _only_value(name, objects, scope)) is not None
    }
    return replaced(path, known) if known else path


def _only_value(name: str, objects: Objects, scope: Scope) -> ir.Expr | None:
    """The path that a variable of a function is given, if it is given one once."""
    function = scope.function
    if function is None or scope.has_param(name) or name not in function.locals:
        return None
    giving = objects.assigned_to(name, scope)
    if len(giving) != 1:
        return None
    statement = giving[0].statement
    if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
        return None
    if sum(name in names_given(each.statement) for each in objects.points_in(scope)) != 1:
        return None
    return statement.value if _is_path(statement.value) else None


def _is_path(value: ir.Expr) -> bool:
    """Is it what joins or formats a path, or a name that a path has elsewhere?"""
    if isinstance(value, ir.Call):
        return ir.last_name(value.func) in _JOINS | _COPIES
    if isinstance(value, ir.Binary):
        return value.op in ("/", "+")
    if isinstance(value, ir.Literal):
        return isinstance(value.value, str)
    return isinstance(value, ir.Format) or path_of(value) is not None


def replaced(node: ir.Expr, given: dict[str, ir.Expr]) -> ir.Expr:
    """An expression with other expressions for its variables."""
    if isinstance(node, ir.Name):
        return given.get(node.id, node)
    if isinstance(node, ir.Attribute):
        return replace(node, value=replaced(node.value, given))
    if isinstance(node, ir.Call):
        args = tuple(replace(each, value=replaced(each.value, given)) for each in node.args)
        return replace(node, func=replaced(node.func, given), args=args)
    if isinstance(node, ir.Binary):
        return replace(node, left=replaced(node.left, given), right=replaced(node.right, given))
    if isinstance(node, ir.Subscript):
        return replace(node, value=replaced(node.value, given), index=replaced(node.index, given))
    if isinstance(node, ir.Format):
        return replace(node, parts=tuple(replaced(part, given) for part in node.parts))
    return node if given.keys().isdisjoint(ir.names_in(node)) else ir.Opaque(0)


def same_path(left: ir.Expr, right: ir.Expr) -> bool:
    """Are two paths the same, however they are joined?"""
    first, second = _text(left), _text(right)
    return len(first) == len(second) > 0 and all(
        a == b if isinstance(a, str) or isinstance(b, str) else same(a, b)
        for a, b in zip(first, second, strict=True)
    )


def file_name(path: ir.Expr) -> str:
    """The name of the file that a path ends with, if it is written down."""
    pieces = _text(path)
    last = pieces[-1] if pieces else ""
    if not isinstance(last, str) or (len(pieces) > 1 and "/" not in last):
        return ""
    return last.rpartition("/")[2]


def _text(path: ir.Expr) -> list[str | ir.Expr]:
    """The pieces of a path: text, and expressions for what is not known."""
    found: list[str | ir.Expr] = []
    for piece in _pieces(path):
        last = found[-1] if found else None
        if isinstance(piece, str) and isinstance(last, str):
            found[-1] = last + piece
        elif piece != "":
            found.append(piece)
    return [
        each.replace("//", "/") if isinstance(each, str) and "://" not in each else each
        for each in found
    ]


def _pieces(path: ir.Expr) -> Iterator[str | ir.Expr]:
    if isinstance(path, ir.Literal) and isinstance(path.value, str):
        yield path.value
    elif isinstance(path, ir.Format):
        for part in path.parts:
            yield from _pieces(part)
    elif isinstance(path, ir.Binary) and path.op in ("/", "+"):
        yield from _pieces(path.left)
        yield "/" if path.op == "/" else ""
        yield from _pieces(path.right)
    elif isinstance(path, ir.Call) and _joined(path):
        for index, each in enumerate(_joined(path)):
            yield "/" if index else ""
            yield from _pieces(each)
    else:
        yield path


def _joined(call: ir.Call) -> list[ir.Expr]:
    """What a call joins to a path, or the path that it takes in another form."""
    name, args = ir.last_name(call.func), [each.value for each in call.args]
    if any(each.star or each.keyword for each in call.args):
        return []
    if name == "joinpath" and isinstance(call.func, ir.Attribute):
        return [call.func.value, *args]
    if name == "join" and (path_of(call.func) or ("",))[-2:] in (("path", "join"), ("join",)):
        return args
    if name in _COPIES and args:
        return args
    return []


def same(left: object, right: object) -> bool:
    """Are two expressions written alike?"""
    if type(left) is not type(right):
        return False
    if isinstance(left, ir.Name) and isinstance(right, ir.Name):
        return left.id == right.id
    if isinstance(left, ir.Literal) and isinstance(right, ir.Literal):
        return bool(left.value == right.value)
    if isinstance(left, ir.Attribute) and isinstance(right, ir.Attribute):
        return left.attr == right.attr and same(left.value, right.value)
    if isinstance(left, ir.Binary) and isinstance(right, ir.Binary) and left.op != right.op:
        return False
    first, second = list(ir.children(left)), list(ir.children(right))
    return (
        len(first) == len(second) > 0
        and isinstance(left, (ir.Call, ir.Argument, ir.Format, ir.Binary, ir.Subscript))
        and all(same(a, b) for a, b in zip(first, second, strict=True))
    )
