"""Whether a model has buffers, such as those of a BatchNorm, which a forward of DDP broadcasts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.class_hierarchy import mro
from distlint.analyzer.symbolic.framework_names import MODULES, READY_MODELS, SELF_RETURNING
from distlint.analyzer.symbolic.values import Unknown, Value

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
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


def _module_has_buffers(machine: Interpreter, inner: Value | None) -> bool | None:
    """Does a module, or one that it is made of, have buffers? None if unknown."""
    if isinstance(inner, v.Phi):
        return _any_has_buffers(machine, (inner.then, inner.orelse))
    if isinstance(inner, v.Seq):
        return _any_has_buffers(machine, inner.items)
    if isinstance(inner, v.Instance):
        return _class_has_buffers(machine, inner.cls)
    if isinstance(inner, v.Obj):
        if inner.inner is not None:
            return _module_has_buffers(machine, inner.inner)
        return _is_known_to_have_buffers(inner.kind)
    if isinstance(inner, Unknown) and inner.op == "method" and inner.args[1] in SELF_RETURNING:
        receiver = inner.args[0]
        return _module_has_buffers(machine, receiver) if isinstance(receiver, Value) else None
    if isinstance(inner, Unknown) and inner.op in {"call", "method"}:
        return _result_has_buffers(machine, inner)
    return None


def _result_has_buffers(machine: Interpreter, called: Unknown) -> bool | None:
    """Does what a call has returned have buffers: a container of modules, or a factory's?"""
    made = [_is_known_to_have_buffers(name) for name in called.args if isinstance(name, str)]
    if True in made or any("batchnorm" in name.lower() for name in called.tokens):
        return True
    if False not in made:
        return True if _is_made_with_buffers(machine, called) else None
    nested = (part for part in called.args if isinstance(part, Unknown))
    if any(_module_has_buffers(machine, part) for part in nested):
        return True
    parts = [part for part in called.args if isinstance(part, (v.Obj, v.Instance, v.Seq))]
    return _any_has_buffers(machine, parts)


def _any_has_buffers(machine: Interpreter, modules: Iterable[Value]) -> bool | None:
    verdicts = {_module_has_buffers(machine, each) for each in modules}
    return True if True in verdicts else None if None in verdicts else False


def _class_has_buffers(machine: Interpreter, cls: ir.Class) -> bool:
    """Does a module of this class hold buffers? One under a condition does not count."""
    functions = [
        function
        for owner in mro(machine, cls)
        if not isinstance(owner, str)
        for function in _used_by(machine.context.module_of(owner), owner)
    ]
    return any("BatchNorm" in name for each in functions for name in each.tokens) or any(
        isinstance(statement, ir.Evaluate)
        and isinstance(statement.value, ir.Call)
        and getattr(statement.value.func, "attr", "") == "register_buffer"
        for each in functions
        for statement in each.body
    )


def _used_by(module: Module, cls: ir.Class) -> list[ir.Function]:
    """The methods of a class, and those functions and classes of its file that they name."""
    by_name: dict[str, list[ir.Function]] = {}
    for function in module.functions:
        by_name.setdefault(function.owner or function.name, []).append(function)
    found = list(cls.methods.values())
    named = {cls.name}
    for function in found:  # grows meanwhile
        for name in function.tokens - named:
            named.add(name)
            found += by_name.get(name, ())
    return found


def _is_known_to_have_buffers(name: str) -> bool | None:
    """Does a module of this class have buffers of its own? None if that is not known."""
    if "BatchNorm" in name or name.startswith(READY_MODELS):
        return True
    return False if name.startswith(MODULES) else None


def _is_made_with_buffers(machine: Interpreter, called: Unknown) -> bool:
    """Does a function of the project, which was not run, return such a model in any case?"""
    if called.op != "call" or len(called.args) < 3 or not isinstance(called.args[2], str):
        return False
    module = machine.context.module(called.args[2])
    for function in module.functions if module is not None else ():
        if (function.name, function.site) == called.args[:2] and module is not None:
            return _Factory(machine, module, function).makes_buffers()
    return False


class _Factory:
    """A function that makes modules, by its text."""

    def __init__(self, machine: Interpreter, module: Module, function: ir.Function) -> None:
        self._machine, self._module = machine, module
        self._statements = list(ir.statements_of(function.body))
        self._followed: set[str] = set()

    def makes_buffers(self) -> bool:
        """Has what the function returns buffers, whichever way it takes?"""
        returned = [each.value for each in self._statements if isinstance(each, ir.Return)]
        return bool(returned) and all(map(self._has_buffers, returned))

    def _has_buffers(self, node: ir.Expr | None) -> bool:
        if isinstance(node, ir.Name):
            return self._is_given_buffers(node.id)
        if not isinstance(node, ir.Call):
            return False
        if isinstance(node.func, ir.Attribute) and node.func.attr in SELF_RETURNING:
            return self._has_buffers(node.func.value)
        made = self._machine.evaluate_statically(self._module, node.func)
        if isinstance(made, v.Cls):
            return _class_has_buffers(self._machine, made.cls)
        if not isinstance(made, v.External):
            return False
        known = _is_known_to_have_buffers(self._machine.catalogue.canonical(made.name))
        if known is False:  # a container
            return any(self._has_buffers(each.value) for each in node.args)
        return known is True

    def _is_given_buffers(self, name: str) -> bool:
        """Does every assignment to a variable give it such a model?"""
        if name in self._followed:
            return False
        self._followed.add(name)
        given = [
            each.value
            for each in self._statements
            if isinstance(each, ir.Assign)
            and any(name in ir.names_bound(target) for target in each.targets)
        ]
        found = bool(given) and all(map(self._has_buffers, given))
        self._followed.discard(name)
        return found
