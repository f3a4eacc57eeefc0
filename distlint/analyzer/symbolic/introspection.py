"""Python's functions that ask for the type of a value, or for an attribute by its name."""

from __future__ import annotations

from collections.abc import Sequence

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import set_attribute
from distlint.analyzer.symbolic.attributes import attribute_of
from distlint.analyzer.symbolic.class_hierarchy import mro
from distlint.analyzer.symbolic.expressions import Expressions
from distlint.analyzer.symbolic.framework_names import TENSOR
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown


def call_isinstance(machine: Expressions, args: list[Value], *_: object) -> Value | None:
    if len(args) != 2:
        return None
    kinds = args[1].items if isinstance(args[1], v.Seq) else (args[1],)
    return machine.of_each(args[0], lambda each: is_any_instance(machine, each, kinds))


def is_any_instance(machine: Expressions, value: Value, kinds: Sequence[Value]) -> Value:
    while isinstance(value, Unknown) and value.op in {"part", "shard", "slice"}:
        value = value.args[0]  # a part of a thing is of its type
    verdicts = [is_instance(machine, value, kind) for kind in kinds]
    if True in verdicts:
        return const(True)
    if all(verdict is False for verdict in verdicts):
        return const(False)
    # data of one rank has the type that it has on the others
    return unknown("isinstance", value, *kinds, local=False, clean=True)


def is_instance(machine: Expressions, value: Value, kind: Value) -> bool | None:
    if isinstance(value, v.Instance) and isinstance(kind, v.Cls):
        return kind.cls in list(mro(machine, value.cls))
    if isinstance(kind, v.External):
        if isinstance(value, v.Obj):
            if machine.catalogue.subclass_of(value.kind, kind.name):
                return True
            return False if machine.catalogue.is_class(kind.name) else None
        if isinstance(value, v.Instance):
            names = [owner for owner in mro(machine, value.cls) if isinstance(owner, str)]
            if any(machine.catalogue.subclass_of(name, kind.name) for name in names):
                return True
        return _is_builtin_instance(value, kind.name)
    return None


_BUILTIN_TYPES = {
    "builtins." + each.__name__: each for each in (bool, bytes, dict, float, int, list, str, tuple)
}


def _is_builtin_instance(value: Value, kind: str) -> bool | None:
    """Is a value of a builtin type, such as ``builtins.dict``? None where that is not known."""
    wanted = _BUILTIN_TYPES.get(kind)
    if wanted is None:
        return None
    if isinstance(value, Const):
        return isinstance(value.value, wanted)
    if isinstance(value, v.Map):
        return wanted is dict
    if isinstance(value, v.Seq):  # a list may stand for a ModuleList
        return None if wanted in {list, tuple} else False
    return None


def call_getattr(
    machine: Expressions, args: list[Value], _keywords: object, site: int, *_: object
) -> Value | None:
    if len(args) < 2 or not isinstance(args[1], Const) or not isinstance(args[1].value, str):
        return None
    name = args[1].value
    return machine.of_each(args[0], lambda each: attribute_of(machine, each, name, site))


def call_hasattr(machine: Expressions, args: list[Value], *_: object) -> Value | None:
    if len(args) != 2 or not isinstance(args[1], Const):
        return None
    name = str(args[1].value)
    return machine.of_each(args[0], lambda each: has_attribute(machine, each, name))


def has_attribute(machine: Expressions, value: Value, name: str) -> Value:
    if isinstance(value, v.Obj):
        wrapper = machine.context.unwraps(value.kind)
        if wrapper is not None and name == "module":
            return const(wrapper == name)
    owner = value.oid if isinstance(value, (v.Obj, v.Instance)) else value
    if (owner, name) in machine.store:
        return const(True)
    return unknown("hasattr", value, name, local=False, clean=True)


def call_setattr(machine: Expressions, args: list[Value], *_: object) -> Value:
    if len(args) == 3 and isinstance(args[1], Const):
        set_attribute(machine, machine.resolve(args[0]), str(args[1].value), args[2])
    return const(None)


def call_type(machine: Expressions, args: list[Value], *_: object) -> Value | None:
    value = machine.resolve(args[0]) if len(args) == 1 else None
    if isinstance(value, Unknown) and value.local:
        return unknown("type", value, local=False, clean=True)
    return v.cls_value(value.cls) if isinstance(value, v.Instance) else None


def call_is_tensor(machine: Expressions, args: list[Value], *_: object) -> Value | None:
    value = machine.resolve(args[0]) if len(args) == 1 else None
    if isinstance(value, (v.Seq, v.Map, Const)):
        return const(False)
    if not isinstance(value, Unknown):
        return None
    return unknown("isinstance", value, TENSOR, local=False, clean=True)


def call_dtype_test(machine: Expressions, args: list[Value], *_: object) -> Value | None:
    value = machine.resolve(args[0]) if len(args) == 1 else None
    if not isinstance(value, Unknown):
        return None
    return unknown("dtype", value, machine.site, local=False, clean=True)
