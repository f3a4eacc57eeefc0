"""Whether the classes and factories of the project make modules with buffers, by their text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.ir.traversal import own_nodes
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.class_hierarchy import mro
from distlint.analyzer.symbolic.framework_names import MODULES, READY_MODELS, SELF_RETURNING

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.symbolic.interpreter import Interpreter
    from distlint.analyzer.symbolic.values import Unknown, Value

_BATCH_NORM = "BatchNorm"


def is_known_to_have_buffers(name: str) -> bool | None:
    """Does a framework's module of this class have buffers? None if that is not known."""
    if _BATCH_NORM in name or name.startswith(READY_MODELS):
        return True
    return False if name.startswith(MODULES) else None


def class_has_buffers(machine: Interpreter, cls: ir.Class) -> bool | None:
    """Does a module of this class have buffers? None if it is made of what is not known.

    A ``register_buffer`` under a condition does not count.
    """
    known = machine.context.with_buffers
    if cls not in known:
        known[cls] = False  # for a class that is made of itself
        known[cls] = _Class(machine, cls).has_buffers()
    return known[cls]


def is_made_with_buffers(machine: Interpreter, called: Unknown) -> bool:
    """Does a function of the project, which was not run, return such a model in any case?"""
    if called.op != "call" or len(called.args) < 3 or not isinstance(called.args[2], str):
        return False
    module = machine.context.module(called.args[2])
    for function in module.functions if module is not None else ():
        if (function.name, function.site) == called.args[:2]:
            return function_makes_buffers(machine, function)
    return False


def function_makes_buffers(machine: Interpreter, function: ir.Function) -> bool:
    """Has what a function returns buffers, whichever way it takes?"""
    known = machine.context.with_buffers
    if function not in known:
        known[function] = False
        known[function] = _Factory(machine, function).makes_buffers()
    return known[function] is True


def chosen_make_buffers(machine: Interpreter, chosen: Value) -> bool:
    """Does what is picked by name return such a model in any case: ``models.__dict__[name]``?"""
    found = list(_chosen_from(machine, chosen))
    return bool(found) and all(
        is_known_to_have_buffers(each) is True
        if isinstance(each, str)
        else class_has_buffers(machine, each) is True
        if isinstance(each, ir.Class)
        else function_makes_buffers(machine, each)
        for each in found
    )


def _chosen_from(machine: Interpreter, chosen: Value) -> Iterator[ir.Function | ir.Class | str]:
    """The functions and classes of which one is picked by a name that is not known."""
    if not isinstance(chosen, v.Unknown) or not chosen.args:
        return
    owner = chosen.args[0]
    if chosen.op == "call" and owner == "builtins.getattr" and len(chosen.args) > 1:
        owner = chosen.args[1]
    elif chosen.op != "index":
        return
    if isinstance(owner, v.Map):
        for _, value in owner.items:
            if isinstance(value, v.Func):
                yield value.function
            elif isinstance(value, v.Cls):
                yield value.cls
            elif isinstance(value, v.External):
                yield machine.catalogue.canonical(value.name)
    elif isinstance(owner, v.External):
        yield machine.catalogue.canonical(owner.name)
    else:
        module = None
        if isinstance(owner, v.ModuleRef):
            module = machine.context.module(owner.name)
        elif isinstance(owner, v.Unknown) and owner.op == "global" and owner.args[1] == "__dict__":
            module = machine.context.module(str(owner.args[0]))
        if module is not None:
            yield from _offered_by(module)


def _offered_by(module: Module) -> list[ir.Function]:
    """The functions of a file that no other function of it uses: not ``conv3x3``."""
    used = {name for each in module.functions for name in each.tokens - {each.name}}
    return [
        function
        for function in module.functions
        if not function.owner and function.name not in used and function.name[:1] != "_"
    ]


def join_verdicts(verdicts: Iterable[bool | None]) -> bool | None:
    """True if one is, else None if one is not known."""
    found = set(verdicts)
    return True if True in found else None if None in found else False


class _Class:
    """A class of modules: what its methods, and what they name in their file, construct."""

    def __init__(self, machine: Interpreter, cls: ir.Class) -> None:
        self._machine, self._cls = machine, cls
        self._owners = [each for each in mro(machine, cls) if not isinstance(each, str)]

    def has_buffers(self) -> bool | None:
        functions = [
            function
            for owner in self._owners
            for function in _used_by(self._machine.context.module_of(owner), owner)
        ]
        if any(_BATCH_NORM in name for each in functions for name in each.tokens):
            return True
        if any(map(_registers_a_buffer, functions)):
            return True
        return join_verdicts(self._constructed())

    def _constructed(self) -> Iterator[bool | None]:
        """What is known of each module that a constructor of the class makes."""
        for owner in self._owners:
            constructor = owner.methods.get("__init__")
            if constructor is None:
                continue
            module = self._machine.context.module_of(owner)
            given = {each.name for each in constructor.params}
            for node in own_nodes(constructor.body):
                if isinstance(node, ir.Call):
                    yield from self._made_by(module, node, given)
                elif isinstance(node, ir.Assign) and _is_called_in(owner, node, given):
                    yield None

    def _made_by(self, module: Module, call: ir.Call, given: set[str]) -> Iterator[bool | None]:
        if isinstance(call.func, ir.Name) and call.func.id in given:
            yield None  # `block(64)`, of a class that is given
            return
        for node in (call.func, *(each.value for each in call.args)):
            if not isinstance(node, (ir.Name, ir.Attribute)) or ir.last_name(node) in given:
                continue
            made = self._machine.evaluate_statically(module, node)
            if isinstance(made, v.Cls):
                yield class_has_buffers(self._machine, made.cls)
            elif isinstance(made, v.Func) and node is call.func:
                yield function_makes_buffers(self._machine, made.function)


def _registers_a_buffer(function: ir.Function) -> bool:
    return any(
        isinstance(statement, ir.Evaluate)
        and isinstance(statement.value, ir.Call)
        and getattr(statement.value.func, "attr", "") == "register_buffer"
        for statement in function.body
    )


def _is_called_in(owner: ir.Class, assignment: ir.Assign, given: set[str]) -> bool:
    """Is it ``self.net = net``, a module that is given, which a method calls?"""
    if not isinstance(assignment.value, ir.Name) or assignment.value.id not in given:
        return False
    fields = {each.attr for each in assignment.targets if isinstance(each, ir.Attribute)}
    return any(
        isinstance(node, ir.Call)
        and isinstance(node.func, ir.Attribute)
        and node.func.attr in fields
        for method in owner.methods.values()
        for node in own_nodes(method.body)
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


class _Factory:
    """A function that makes modules."""

    def __init__(self, machine: Interpreter, function: ir.Function) -> None:
        self._machine = machine
        module = machine.context.module(function.module)
        self._module = module
        self._statements = list(ir.statements_of(function.body))
        self._followed: set[str] = set()

    def makes_buffers(self) -> bool:
        returned = [each.value for each in self._statements if isinstance(each, ir.Return)]
        return bool(returned) and all(map(self._has_buffers, returned))

    def _has_buffers(self, node: ir.Expr | None) -> bool:
        if isinstance(node, ir.Name):
            return self._is_given_buffers(node.id)
        if isinstance(node, ir.Display):  # `return model, width`
            return any(map(self._has_buffers, node.items))
        if not isinstance(node, ir.Call) or self._module is None:
            return False
        if isinstance(node.func, ir.Attribute) and node.func.attr in SELF_RETURNING:
            return self._has_buffers(node.func.value)
        made = self._machine.evaluate_statically(self._module, node.func)
        if isinstance(made, v.Func):
            return function_makes_buffers(self._machine, made.function)
        if isinstance(made, v.Cls):
            return class_has_buffers(self._machine, made.cls) is True or any(
                map(self._has_buffers_when_made, (each.value for each in node.args))
            )
        if not isinstance(made, v.External):
            return chosen_make_buffers(self._machine, made)
        known = is_known_to_have_buffers(self._machine.catalogue.canonical(made.name))
        if known is False:  # a container
            return any(self._has_buffers(each.value) for each in node.args)
        return known is True

    def _has_buffers_when_made(self, node: ir.Expr) -> bool:
        """Is an argument such a module, or a class of such?"""
        if isinstance(node, ir.Call):
            return self._has_buffers(node)
        made: Value | None = None
        if isinstance(node, (ir.Name, ir.Attribute)) and self._module is not None:
            made = self._machine.evaluate_statically(self._module, node)
        return isinstance(made, v.Cls) and class_has_buffers(self._machine, made.cls) is True

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
