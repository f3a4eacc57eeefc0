"""Whether a wrapped module has buffers, which a forward broadcasts."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.class_hierarchy import mro
from distlint.analyzer.symbolic.framework_names import MODULES, READY_MODELS
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.values import Unknown, Value

SYNC_BUFFERS = frozenset({"broadcast_buffers", "forward_sync_buffers"})
"""Arguments of wrappers without which a forward broadcasts no buffers."""


def has_buffers(machine: Interpreter, receiver: v.Obj) -> bool | None:
    """Does the wrapped module have buffers that a forward broadcasts? None if unknown."""
    for name in SYNC_BUFFERS:
        if f"{name}=False" in receiver.marks:
            return False
        if f"{name}=?" in receiver.marks:
            return None
    return module_has_buffers(machine, receiver.inner)


def module_has_buffers(machine: Interpreter, inner: Value | None) -> bool | None:
    """Does a module, or one that it is made of, have buffers? None if unknown."""
    if isinstance(inner, v.Phi):
        return any_has_buffers(machine, (inner.then, inner.orelse))
    if isinstance(inner, v.Seq):
        return any_has_buffers(machine, inner.items)
    if isinstance(inner, v.Instance):
        return class_has_buffers(machine, inner.cls)
    if isinstance(inner, v.Obj):
        if inner.inner is not None:
            return module_has_buffers(machine, inner.inner)
        return _is_known_to_have_buffers(inner.kind)
    if isinstance(inner, Unknown) and inner.op in {"call", "method"}:
        made = [_is_known_to_have_buffers(name) for name in inner.args if isinstance(name, str)]
        parts = [part for part in inner.args if isinstance(part, (v.Obj, v.Instance, v.Seq))]
        if True in made or any("batchnorm" in name.lower() for name in inner.tokens):
            return True
        return any_has_buffers(machine, parts) if False in made else None
    return None


def any_has_buffers(machine: Interpreter, modules: Iterable[Value]) -> bool | None:
    verdicts = {module_has_buffers(machine, each) for each in modules}
    return True if True in verdicts else None if None in verdicts else False


def _is_known_to_have_buffers(name: str) -> bool | None:
    """Does a module of this class have buffers of its own? None if that is not known."""
    if "BatchNorm" in name or name.startswith(READY_MODELS):
        return True
    return False if name.startswith(MODULES) else None


def class_has_buffers(machine: Interpreter, cls: ir.Class) -> bool:
    """Does a module of this class hold buffers? One under a condition does not count."""
    names: set[str] = set()
    registers = False
    for owner in mro(machine, cls):
        if isinstance(owner, str):
            continue
        module = machine.context.module_of(owner)
        for function in module.functions:
            names.update(function.tokens)
            registers = registers or any(
                isinstance(statement, ir.Evaluate)
                and isinstance(statement.value, ir.Call)
                and getattr(statement.value.func, "attr", "") == "register_buffer"
                for statement in function.body
            )
    return registers or any("BatchNorm" in name for name in names)
