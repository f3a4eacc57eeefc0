"""What an assignment changes: variables, attributes, items."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.state import Frame
from distlint.analyzer.symbolic.subscripts import item_of, slot
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown


def bind_target(machine: Interpreter, target: ir.Expr, value: Value) -> None:
    if isinstance(target, ir.Name):
        set_name(machine, target.id, value)
    elif isinstance(target, ir.Display):
        unpack(machine, target, value)
    elif isinstance(target, ir.Starred):
        bind_target(machine, target.value, value)
    elif isinstance(target, ir.Attribute):
        set_attribute(machine, machine.resolve(machine.evaluate(target.value)), target.attr, value)
    elif isinstance(target, ir.Subscript):
        assign_item(machine, target, value)


def unpack(machine: Interpreter, target: ir.Display, value: Value) -> None:
    starred = next((i for i, item in enumerate(target.items) if isinstance(item, ir.Starred)), None)
    after = 0
    if starred is not None:
        value = machine.resolve(value)
        after = len(target.items) - starred - 1
    for index, item in enumerate(target.items):
        if starred is None or index < starred:
            found = item_of(machine, value, index)
        elif not isinstance(value, v.Seq):
            found = unknown("rest", value, index)
        elif index == starred:
            found = v.seq("list", value.items[starred : len(value.items) - after])
        else:
            found = item_of(machine, value, len(value.items) - (len(target.items) - index))
        bind_target(machine, item, found)


def assign_place(machine: Interpreter, place: ir.Expr, value: Value) -> None:
    """Give a variable, attribute or container a new value."""
    if isinstance(place, ir.Name):
        rebind(machine, place.id, value)
    elif isinstance(place, ir.Attribute):
        receiver = machine.resolve(machine.evaluate(place.value))
        if place.attr in {"data", "grad"}:
            assign_place(machine, place.value, value)
        else:
            set_attribute(machine, receiver, place.attr, value)
    elif isinstance(place, ir.Subscript):
        assign_item(machine, place, value)
    elif isinstance(place, ir.Call) and isinstance(place.func, ir.Attribute):
        # a view shares its memory with what it was made from; `torch.ones(1)` is no view
        if not isinstance(machine.resolve(machine.evaluate(place.func.value)), v.External):
            assign_place(machine, place.func.value, value)
    for item, each in items_with(place, value):
        assign_place(machine, item, each)


def assign_item(machine: Interpreter, place: ir.Subscript, value: Value) -> None:
    base = machine.resolve(machine.evaluate(place.value))
    index = (
        const(None)
        if isinstance(place.index, ir.Slice)
        else machine.resolve(machine.evaluate(place.index))
    )
    if isinstance(base, v.External) and base.name == "os.environ":
        if isinstance(index, Const) and not isinstance(value, Const):
            machine.store[(base, str(index.value))] = value
    elif isinstance(base, v.Seq) and isinstance(index, Const) and type(index.value) is int:
        items = list(base.items)
        if -len(items) <= index.value < len(items):
            items[index.value] = value
            assign_place(machine, place.value, v.seq(base.kind, items))
    elif isinstance(base, v.Map) and isinstance(index, Const):
        others = [pair for pair in base.items if pair[0] is not index]
        assign_place(machine, place.value, v.mapping([*others, (index, value)]))
    elif isinstance(base, v.Map):
        assign_place(machine, place.value, unknown("item set", base, index, value))
    elif isinstance(base, Unknown):
        if not (isinstance(index, Const) and isinstance(index.value, str)):
            # a tensor or a list: one item of this rank's own makes the whole so
            base = unknown("item set", base, value)
            assign_place(machine, place.value, base)
        machine.store[(base, slot(machine, index))] = value
    elif isinstance(base, v.Seq):
        assign_place(machine, place.value, unknown("changed", base, value))


def rebind(machine: Interpreter, name: str, value: Value) -> None:
    """Change what a name stands for where it is bound: the object was changed."""
    frame: Frame | None = machine.frame
    while frame is not None and frame.function is not None:
        if (frame.scope, name) in machine.store:
            machine.store[(frame.scope, name)] = value
            return
        frame = frame.outer
    machine.store[(machine.context.module_scope(machine.frame.module), name)] = value


def set_name(machine: Interpreter, name: str, value: Value) -> None:
    frame = machine.frame
    if frame.function is None:
        machine.store[(frame.scope, name)] = value
        return
    if name in frame.function.outer:
        outer = frame.outer
        while outer is not None and outer.function is not None:
            if (outer.scope, name) in machine.store:
                machine.store[(outer.scope, name)] = value
                return
            outer = outer.outer
        machine.store[(machine.context.module_scope(frame.module), name)] = value
        return
    machine.store[(frame.scope, name)] = value


def set_attribute(machine: Interpreter, receiver: Value, attr: str, value: Value) -> None:
    if isinstance(receiver, (v.Obj, v.Instance)):
        machine.store[(receiver.oid, attr)] = value
    elif isinstance(receiver, v.Cls):
        machine.store[(receiver.cls, attr)] = value
    elif isinstance(receiver, v.ModuleRef):
        module = machine.context.module(receiver.name)
        if module is not None:
            machine.store[(machine.context.module_scope(module), attr)] = value
    elif isinstance(receiver, (Unknown, v.External, v.Func)):
        machine.store[(receiver, attr)] = value


def items_with(place: ir.Expr, value: Value) -> Iterable[tuple[ir.Expr, Value]]:
    """What stands in a list that is written out, and what each is given with the list."""
    items = place.items if isinstance(place, ir.Display) else ()
    if isinstance(value, v.Seq) and len(value.items) == len(items):
        return zip(items, value.items, strict=True)
    return ((item, value) for item in items)
