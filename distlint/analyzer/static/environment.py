"""The environment variables that a file reads and sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.reaching_definitions import Point

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects

_ENVIRON = ("os.environ", "environ")


@dataclass(frozen=True, slots=True)
class Written:
    """An environment variable that a statement sets; ``default`` leaves one that is there."""

    name: str
    value: ir.Expr
    point: Point
    default: bool = False


def environment_read(objects: Objects, node: ir.Expr, point: Point) -> str:
    """``RANK`` of ``os.environ["RANK"]``, ``os.getenv("RANK", 0)``, ``os.environ.get("RANK")``."""
    if isinstance(node, ir.Subscript):
        if objects.at(point).names.dotted(node.value, point.scope) in _ENVIRON:
            return _text(node.index)
        if _text(node.index) and any(
            isinstance(origin.node, ir.Comprehension)
            and origin.node.kind == "dict"
            and "environ" in ir.tokens_of(origin.node.element)
            for origin in objects.origins(node.value, point)
        ):
            return _text(node.index)  # of a dict of variables
    elif isinstance(node, ir.Call) and node.args:
        dotted = objects.at(point).names.dotted(node.func, point.scope)
        if dotted in ("os.getenv", "getenv", "os.environ.get", "environ.get"):
            return _text(node.args[0].value)
    return ""


def environment_writes(objects: Objects) -> Iterator[Written]:
    """``os.environ[...] = ...``, ``os.environ.setdefault``, ``os.environ.update``, ``putenv``."""
    if "environ" not in objects.module.tokens and "putenv" not in objects.module.tokens:
        return
    for point in objects.points:
        statement = point.statement
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                if isinstance(target, ir.Subscript) and _is_environ(objects, target.value, point):
                    if _text(target.index):
                        yield Written(_text(target.index), statement.value, point)
        elif isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
            yield from _written_by(objects, statement.value, point)


def _written_by(objects: Objects, call: ir.Call, point: Point) -> Iterator[Written]:
    func = call.func
    if not isinstance(func, ir.Attribute):
        return
    if func.attr == "update" and _is_environ(objects, func.value, point):
        for argument in call.args:
            if argument.keyword:
                yield Written(argument.keyword, argument.value, point)
            elif isinstance(argument.value, ir.DictDisplay):
                for key, value in zip(argument.value.keys, argument.value.values, strict=True):
                    if key is not None and _text(key):
                        yield Written(_text(key), value, point)
    elif len(call.args) == 2 and _text(call.args[0].value):
        name, value = _text(call.args[0].value), call.args[1].value
        if func.attr == "setdefault" and _is_environ(objects, func.value, point):
            yield Written(name, value, point, default=True)
        elif objects.names.dotted(func, point.scope) == "os.putenv":
            yield Written(name, value, point)


def _is_environ(objects: Objects, node: ir.Expr, point: Point) -> bool:
    return objects.names.dotted(node, point.scope) in _ENVIRON


def _text(node: ir.Expr) -> str:
    return node.value if isinstance(node, ir.Literal) and isinstance(node.value, str) else ""
