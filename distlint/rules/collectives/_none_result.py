"""The value of an in-place collective, which is None: does a script use it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from distlint.analyzer import ir
from distlint.analyzer.static.callers import calls_elsewhere
from distlint.analyzer.static.names import expressions_in, expressions_of, placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.collectives._following import (
    Buffer,
    Path,
    Sight,
    Step,
    following,
    parts_of,
    path_of,
    touches,
)
from distlint.rules.collectives._issued import Issued

_RETURN_NOTHING = ("torch.distributed", "deepspeed.comm", "composer.utils.dist", "mmengine.dist")
"""Modules whose in-place functions return None, or a handle with ``async_op=True``."""
_EXCEPT = ("_", "inference_")
_KEEPERS = frozenset({"append", "appendleft", "extend", "add", "insert", "put", "assertIsNone"})
_MUST_RETURN = frozenset({"forward", "backward"})
"""Methods whose return value goes on into the model or its gradients."""
_UNTOLD: tuple[type, ...] = (ir.Not, ir.Compare, ir.Starred, ir.Walrus, ir.Yield)
_HOLDERS = (ir.Display, ir.DictDisplay, ir.Comprehension)
"""What puts the value into a container, with which it is stored, returned or used."""
_RUNNERS = frozenset({"list", "tuple", "set", "deque", "any", "all"})
"""Calls by which a generator may be run for its effect only."""
_FRESH = frozenset({"clone", "contiguous", "double", "float", "half", "mean", "sum", "to"})
Fate = Literal["dropped", "stored", "returned", "kept", "operand"]


def is_none_used(use: Issued) -> bool:
    """Is the return value of a call used that has none?"""
    module, _, function = use.row.name.rpartition(".")
    if module not in _RETURN_NOTHING or function.startswith(_EXCEPT):
        return False
    fate = _fate_in(use.statement, use.call)
    if fate == "stored":
        return _is_stored_and_read(use)
    if fate == "returned":
        return _is_return_wanted(use)
    return fate == "operand"


def _fate_in(statement: ir.Stmt, call: ir.Call) -> Fate:
    """What the statement does with the value of a call that it makes."""
    roots: dict[type, Fate] = {ir.Evaluate: "dropped", ir.Assign: "stored", ir.Return: "returned"}
    value = getattr(statement, "value", None)
    if type(statement) in roots and value is not None:
        return _fate(value, call, roots[type(statement)]) or "kept"
    if isinstance(statement, (ir.If, ir.While, ir.Assert)):
        return _fate(statement.test, call, "kept") or "kept"
    for root in expressions_of(statement):
        fate = _fate(root, call, "operand")
        if fate is not None:
            return fate
    return "kept"


def _fate(node: ir.Expr, call: ir.Call, here: Fate) -> Fate | None:
    """What becomes of the call's value inside an expression whose own value has the fate ``here``.

    ``kept`` is where it cannot be told, or where None is what the author counts on.
    """
    if node is call:
        return here
    for child, fate in _fates_of_parts(node, here):
        found = _fate(child, call, fate)
        if found is not None:
            return found
    return None


def _fates_of_parts(node: ir.Expr, here: Fate) -> Iterator[tuple[ir.Expr, Fate]]:
    if isinstance(node, ir.Conditional):
        yield from ((node.test, "kept"), (node.body, here), (node.orelse, here))
    elif isinstance(node, ir.BoolOp):
        yield from ((value, "kept") for value in node.values[:-1])
        yield node.values[-1], here
    elif isinstance(node, _HOLDERS) and here != "dropped":
        yield from _fates_of_items(node, here)
    elif isinstance(node, (*_UNTOLD, *_HOLDERS)):
        yield from ((child, "kept") for child in parts_of(node))
    elif isinstance(node, ir.Lambda):
        for statement in node.function.body:
            yield from ((child, "kept") for child in expressions_of(statement))
    elif isinstance(node, ir.Call) and path_of(node.func) is not None and _runs(node):
        yield from ((argument.value, here) for argument in node.args)
    elif isinstance(node, ir.Call):
        keeps = isinstance(node.func, ir.Attribute) and node.func.attr in _KEEPERS
        yield node.func, "operand"
        yield from ((argument.value, "kept" if keeps else "operand") for argument in node.args)
    else:
        yield from ((child, "operand") for child in parts_of(node))


def _runs(call: ir.Call) -> bool:
    """Does a call take what a generator gives, so that its own value is a container of that?"""
    return ir.last_name(call.func) in _RUNNERS and any(
        isinstance(argument.value, _HOLDERS) for argument in call.args
    )


def _fates_of_items(node: ir.Expr, here: Fate) -> Iterator[tuple[ir.Expr, Fate]]:
    """What becomes of the items of a container, which none of the other parts are."""
    if not isinstance(node, ir.Comprehension):
        yield from ((child, here) for child in parts_of(node))
        return
    others = {id(part) for _, iterable, tests in node.clauses for part in (iterable, *tests)}
    for child in parts_of(node):
        yield child, "kept" if id(child) in others else here


def _is_stored_and_read(use: Issued) -> bool:
    statement = use.statement
    assert isinstance(statement, ir.Assign)
    buffer = path_of(use.buffer)
    is_held = isinstance(statement.value, ir.Comprehension)
    return any(
        isinstance(target, ir.Display)
        or (buffer is not None and len(buffer) > 1 and path_of(target) == buffer)
        or _is_read_later(use, path_of(target), buffer, is_held)
        or (isinstance(target, ir.Subscript) and _same(target, use.buffer))
        for target in _targets_of(statement, use.call)
    )


def _targets_of(statement: ir.Assign, call: ir.Call) -> Iterator[ir.Expr]:
    """Where an assignment puts the value of a call: ``a`` for the first of ``a, b = f(), g()``."""
    value = statement.value
    for target in statement.targets:
        if isinstance(target, ir.Display) and isinstance(value, ir.Display):
            if len(target.items) == len(value.items):
                index = next(
                    (i for i, each in enumerate(value.items) if call in expressions_in(each)), 0
                )
                yield target.items[index]
                continue
        yield target


def _same(one: ir.Expr, other: ir.Expr | None) -> bool:
    """Are two subscripts of plain names and literals the same?"""
    if isinstance(one, ir.Subscript) and isinstance(other, ir.Subscript):
        return _same(one.value, other.value) and _same(one.index, other.index)
    if isinstance(one, ir.Literal) and isinstance(other, ir.Literal):
        return bool(one.value == other.value)
    path = path_of(one)
    return path is not None and path == path_of(other)


def _is_read_later(
    use: Issued, path: Path | None, buffer: Path | None, is_held: bool = False
) -> bool:
    """Is the variable that holds None read, and not merely asked whether it is None?

    Under a condition of its own only a variable that should hold the tensor is sure to be missed,
    or a list of what should be tensors.
    """
    if path is None:
        return False
    overwritten = buffer is not None and buffer[: len(path)] == path
    for step in following(use.around):
        if step.role == "store" and Buffer(path, use.reads).bound_by(step.node):
            if not step.guards:
                return False
            continue
        if step.role == "define" or not touches(step.node, path):
            continue
        if _asks_for_none(step, path, use):
            return False
        if isinstance(step.statement, ir.Return) and not overwritten:
            return _is_wanted(step.node, path, use)
        if not step.guards or overwritten or is_held:
            return True
    return False


def _is_wanted(returned: ir.Expr, path: Path, use: Issued) -> bool:
    """Does a return look into the variable, or hand it to a caller who wants a result?"""
    if path_of(returned) == path:
        return _is_return_wanted(use)
    return Buffer(path, use.reads).seen_in(returned) is Sight.READ


def _asks_for_none(step: Step, path: Path, use: Issued) -> bool:
    """Does the step ask no more than whether the variable holds anything?"""
    if step.role == "test":
        return Buffer(path, use.reads).seen_in(step.node) is not Sight.READ
    call = step.node.func if isinstance(step.node, ir.Call) else None
    return isinstance(call, ir.Attribute) and call.attr == "assertIsNone"


def _is_return_wanted(use: Issued) -> bool:
    """Does the caller lose the result, because it does not have the tensor, or expect a value?"""
    function = use.scope.function
    if function is None or function.generator:
        return False
    if function.owner and function.name in _MUST_RETURN:
        return True
    values = _values(use.buffer, function)
    made = bool(values) and all(_is_fresh(value, use) for value in values)
    return made or _is_called_for_a_value(use, function)


def _values(buffer: ir.Expr | None, function: ir.Function) -> list[ir.Expr]:
    """The expressions that a buffer gets its value from; none for a parameter."""
    if buffer is None:
        return []
    if not isinstance(buffer, ir.Name):
        return [buffer]
    if any(param.name == buffer.id for param in function.params):
        return []
    return [
        statement.value
        for statement, _ in placed(function.body)
        if isinstance(statement, ir.Assign)
        for target in statement.targets
        if isinstance(target, ir.Name) and target.id == buffer.id
    ]


def _is_fresh(value: ir.Expr, use: Issued) -> bool:
    """Is it a new tensor, which nobody else holds?"""
    if isinstance(value, (ir.Binary, ir.Unary)):
        return True
    if not isinstance(value, ir.Call):
        return False
    method = value.func.attr if isinstance(value.func, ir.Attribute) else ""
    return method in _FRESH or use.reads(value)


def _is_called_for_a_value(use: Issued, function: ir.Function) -> bool:
    """Does a file store or use what the function returns?"""
    if _is_used_by_callers(use, function):
        return True
    if function.owner or function.nested:
        return False
    elsewhere = (site.point.statement for _, site in calls_elsewhere(use.names.module, function))
    if any(isinstance(statement, ir.Assign) for statement in elsewhere):
        return True
    return any(
        isinstance(statement, ir.Assign) and _calls(statement.value, function.name)
        for scope in use.names.scopes
        for statement, _ in placed(scope.body)
    )


def _is_used_by_callers(use: Issued, function: ir.Function) -> bool:
    """Does a call of the function compute with its value, or read where that is stored?"""
    objects = objects_across(use.names.module, use.names.catalogue)
    for there, site in objects.callers_anywhere(function):
        point = site.point
        fate = _fate_in(point.statement, site.call)
        if fate == "operand":
            return True
        if fate == "stored" and isinstance(point.statement, ir.Assign):
            here = Issued(site.call, use.row, point.around, point.scope, there.names)
            paths = [path_of(target) for target in point.statement.targets]
            if any(_is_read_later(here, path, None) for path in paths):
                return True
    return False


def _calls(value: ir.Expr, name: str) -> bool:
    return any(
        isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == name
        for node in expressions_in(value)
    )
