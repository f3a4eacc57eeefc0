"""The buffer of a collective that fills it on one rank: do all ranks count on it?"""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.rules.collectives._following import (
    Buffer,
    Path,
    Sight,
    Step,
    following,
    path_of,
    touches,
)
from distlint.rules.collectives._issued import Issued, is_rank_test


def root_of(use: Issued) -> int | None:
    """The rank that has the result, where the call says so in plain figures."""
    given = use.argument(use.row.root) or use.argument(use.row.group_root)
    if given is None:
        return use.row.root_default
    value = given.value if isinstance(given, ir.Literal) else None
    return value if type(value) is int else None


def partial_read(use: Issued) -> int | None:
    """The statement in which every rank reads a buffer that only one rank has the result in.

    Only where it matters: the value, or what is made of it, decides a branch or is printed, on
    every rank and in the straight line of the call's own block.
    """
    buffer = _variable(use.buffer)
    if buffer is None or root_of(use) is None or not isinstance(use.statement, ir.Evaluate):
        return None
    if any(is_rank_test(here.owner.test) for here in use.around if isinstance(here.owner, ir.If)):
        return None
    tainted = {buffer}
    first: int | None = None
    for step in following(use.around):
        if step.level or not tainted:
            return None
        if _knows_the_rank(step, tainted) or _hands_on(step, tainted, use):
            return None
        if step.guards:
            continue
        reads = any(_reads(step, name, name != buffer, use) for name in tainted)
        if reads and step.role in ("value", "test", "update"):
            first = first if first is not None else step.statement.site
        if reads and _matters(step, use):
            return first
        _spread(step, tainted)
    return None


def _variable(node: ir.Expr | None) -> Path | None:
    """The variable or attribute that is passed, also as ``x if rank == 0 else None``."""
    if isinstance(node, ir.Conditional):
        return _variable(node.body) or _variable(node.orelse)
    return path_of(node)


def _mentions(node: ir.Expr, paths: set[Path]) -> bool:
    """Does an expression name one of these variables, or one of these attributes?"""
    return any(touches(node, path) for path in paths)


def _knows_the_rank(step: Step, tainted: set[Path]) -> bool:
    """Does the author tell ranks apart: for these values, or for all that follows?"""
    if not any(is_rank_test(guard) for guard in step.guards) and not (
        step.role == "test" and is_rank_test(step.node)
    ):
        return False
    return step.role == "leave" or _mentions(step.node, tainted)


def _hands_on(step: Step, tainted: set[Path], use: Issued) -> bool:
    """Does it go to a function that may broadcast it, or keep it for one rank?"""
    return any(
        isinstance(node, ir.Call)
        and any(_mentions(argument.value, tainted) for argument in node.args)
        and not use.reads(node)
        and not _mentions(node.func, tainted)
        for node in expressions_in(step.node)
    )


def _reads(step: Step, name: Path, derived: bool, use: Issued) -> bool:
    """Does a step look at the data of a variable?

    The truth of a buffer may be the length of a list, that of what is derived from it is data.
    """
    sight = Buffer(name, use.reads).seen_in(step.node)
    if sight is Sight.READ:
        return True
    whole = step.role == "test" and path_of(step.node) == name
    return (step.role == "update" and sight is Sight.SAME) or (derived and whole)


def _matters(step: Step, use: Issued) -> bool:
    """Does reading here change what a rank does or says?"""
    if step.role == "test":
        return True
    node = step.node
    return (
        step.role == "value"
        and isinstance(step.statement, ir.Evaluate)
        and isinstance(node, ir.Call)
        and isinstance(node.func, ir.Name)
        and (use.prints(node) or node.func.id == "print")
        and not is_rank_test(node)
        and not _replaces_print(use)
    )


def _replaces_print(use: Issued) -> bool:
    """Does the module bring a print of its own, which may be silent on other ranks?"""
    module = use.names.module
    return "print" in module.definitions or not module.tokens.isdisjoint(
        {"builtins", "__builtin__", "builtin_print"}
    )


def _spread(step: Step, tainted: set[Path]) -> None:
    """Names that get their value from a tainted one are tainted, others that are stored are not."""
    if step.role == "store":
        statement = step.statement
        value = statement.value if isinstance(statement, ir.Assign) else None
        if isinstance(statement, ir.For):
            value = statement.iterable
        spreads = value is not None and _mentions(value, tainted)
        for name in _stored(step.node):
            if spreads:
                tainted.add(name)
            elif path_of(step.node) is not None or isinstance(step.node, ir.Display):
                tainted.discard(name)
    elif isinstance(step.statement, ir.AugAssign) and _mentions(step.statement.value, tainted):
        tainted.update(_stored(step.statement.target))


def _stored(target: ir.Expr) -> Iterator[Path]:
    if isinstance(target, ir.Display):
        for item in target.items:
            yield from _stored(item)
    elif (path := path_of(target)) is not None:
        yield path
    elif isinstance(target, ir.Subscript):
        yield from _stored(target.value)
