"""Whether a model has buffers, such as those of a BatchNorm, which a forward of DDP broadcasts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.framework_names import CONTAINERS, SELF_RETURNING
from distlint.analyzer.symbolic.made_of_modules import (
    chosen_make_buffers,
    class_has_buffers,
    is_known_to_have_buffers,
    is_made_with_buffers,
    join_verdicts,
)
from distlint.analyzer.symbolic.values import Unknown, Value

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.interpreter import Interpreter

SYNC_BUFFERS = frozenset({"broadcast_buffers", "forward_sync_buffers"})
"""Arguments of wrappers without which a forward broadcasts no buffers."""


def has_buffers(machine: Interpreter, receiver: v.Obj) -> bool | None:
    """Does the wrapped module have buffers that a forward broadcasts? None if unknown."""
    for name in SYNC_BUFFERS:
        if f"{name}=False" in receiver.marks:
            return False
        if f"{name}=?" in receiver.marks:
            return None
    return _module_has_buffers(machine, receiver.inner)


def _module_has_buffers(
    machine: Interpreter, inner: Value | None, within: frozenset[int] = frozenset()
) -> bool | None:
    """Does a module, or one that it is made of, have buffers? None if unknown.

    ``within`` has the objects that it is a part of.
    """
    if isinstance(inner, v.Phi):
        return _any_has_buffers(machine, (inner.then, inner.orelse), within)
    if isinstance(inner, v.Seq):
        return _any_has_buffers(machine, inner.items, within)
    if isinstance(inner, v.Cls):  # given to a module that is made of such
        return class_has_buffers(machine, inner.cls)
    if isinstance(inner, v.Instance):
        return _instance_has_buffers(machine, inner, within)
    if isinstance(inner, v.Obj):
        if inner.inner is not None:
            return _module_has_buffers(machine, inner.inner, within)
        return is_known_to_have_buffers(inner.kind)
    if isinstance(inner, Unknown) and inner.op == "method" and inner.args[1] in SELF_RETURNING:
        receiver = inner.args[0]
        return (
            _module_has_buffers(machine, receiver, within) if isinstance(receiver, Value) else None
        )
    if isinstance(inner, Unknown) and inner.op == "index" and isinstance(inner.args[0], Value):
        return _module_has_buffers(machine, inner.args[0], within)  # of `model, width = ...`
    if isinstance(inner, Unknown) and inner.op in {"call", "method"}:
        return _result_has_buffers(machine, inner, within)
    return None


def _result_has_buffers(
    machine: Interpreter, called: Unknown, within: frozenset[int]
) -> bool | None:
    """Does what a call has returned have buffers: a container of modules, or a factory's?"""
    made = [is_known_to_have_buffers(name) for name in called.args if isinstance(name, str)]
    if True in made or any("batchnorm" in name.lower() for name in called.tokens):
        return True
    if False not in made:
        is_made = is_made_with_buffers(machine, called) or (
            isinstance(called.args[0], Value) and chosen_make_buffers(machine, called.args[0])
        )
        return True if is_made else None
    is_container = any(name in CONTAINERS for name in called.args)
    parts = [
        part
        for part in called.args
        if isinstance(part, Value)
        and (isinstance(part, (v.Obj, v.Instance, v.Seq)) or (is_container and _is_made(part)))
    ]
    return _any_has_buffers(machine, parts, within)


def _is_made(part: object) -> bool:
    return isinstance(part, Unknown) and part.op in {"call", "method", "index"}


def _any_has_buffers(
    machine: Interpreter, modules: Iterable[Value], within: frozenset[int]
) -> bool | None:
    return join_verdicts(_module_has_buffers(machine, each, within) for each in modules)


def _instance_has_buffers(
    machine: Interpreter, module: v.Instance, within: frozenset[int]
) -> bool | None:
    """Does an object of a class of the project have buffers, by its class or by a field?"""
    by_class = class_has_buffers(machine, module.cls)
    if by_class or module.oid == 0 or module.oid in within:
        return by_class
    fields = [
        value
        for key, value in list(machine.store.items())
        if key[0] == module.oid
        and (isinstance(value, (v.Obj, v.Instance, v.Seq)) or _is_made(value))
    ]
    by_fields = _any_has_buffers(machine, fields, within | {module.oid})
    return by_fields if by_class is False or by_fields else by_class
