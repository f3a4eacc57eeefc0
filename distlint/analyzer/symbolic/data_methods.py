"""Methods of plain data: of texts, collections, tensors and of what is unknown."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.static.call_names import HARMLESS
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import assign_place
from distlint.analyzer.symbolic.attributes import unknown_attribute
from distlint.analyzer.symbolic.expressions import Expressions
from distlint.analyzer.symbolic.generators import call_of_generator, is_generator
from distlint.analyzer.symbolic.groups import is_group
from distlint.analyzer.symbolic.iterables import EXACT_BOUND
from distlint.analyzer.symbolic.opaque_calls import handed_over
from distlint.analyzer.symbolic.rank_numbers import coordinates
from distlint.analyzer.symbolic.subscripts import pick_key, subscript
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown

_COMMAND_LINE = frozenset({"parse_args", "parse_known_args"})

_SAFE_METHODS = HARMLESS | frozenset(
    "item size dim cpu cuda detach numel zero_grad add_argument parse_args write flush".split()
)
"""Methods that do not fail on one rank alone."""

_ALIKE = frozenset("index remove pop split rsplit decode encode format partition".split())
"""Methods that fail by their arguments alone: on all ranks, if these are the same there."""

_STRING_METHODS = frozenset(
    [
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "startswith",
        "endswith",
        "replace",
        "isdigit",
        "title",
    ]
)


def call_data_method(
    machine: Expressions,
    receiver: Value,
    name: str,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    node: ir.Call | None,
) -> Value:
    if isinstance(receiver, v.Seq):
        value = sequence_method(machine, receiver, name, args, node)
        if value is not None:
            return value
    elif isinstance(receiver, v.Map):
        value = dict_method(machine, receiver, name, args, keywords, node)
        if value is not None:
            return value
    elif isinstance(receiver, Const) and name in _STRING_METHODS:
        try:
            return const(getattr(receiver.value, name)(*[v.plain(arg) for arg in args]))
        except (ValueError, TypeError, AttributeError):
            pass
    elif isinstance(receiver, (v.PerRank, v.WorldSizeExpr)):
        if name in {"item", "__int__"}:
            return receiver
    elif isinstance(receiver, Unknown):
        if is_generator(receiver):
            return call_of_generator(machine, receiver, name, args, site, node)
        if name[-1:] == "_" and name[-2:] != "__" and node is not None:
            return in_place_method(machine, receiver, name, args, node)
        return unknown_method(machine, receiver, name, args, keywords, site)
    return unknown("method", receiver, name, *args, *keywords.values())


def in_place_method(
    machine: Expressions, receiver: Unknown, name: str, args: list[Value], node: ir.Call
) -> Value:
    """``tensor.fill_(x)`` and the like change the tensor and return it."""
    value = unknown("changed", receiver, name, *args)
    if isinstance(node.func, ir.Attribute) and name != "requires_grad_":
        assign_place(machine, node.func.value, value)
    return value


def unknown_method(
    machine: Expressions,
    receiver: Unknown,
    name: str,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
) -> Value:
    if name == "item" and not (args or keywords):
        return _number_held(receiver)
    attribute = unknown_attribute(machine, receiver, name)
    if isinstance(attribute, v.PerRank) and is_group(receiver):
        numbers = coordinates(machine, "group", None, receiver)
        return attribute if numbers is None else v.ranked(numbers)
    if isinstance(attribute, (v.Func, v.PerRank, v.Partial, v.Obj)):
        return (
            attribute
            if isinstance(attribute, v.PerRank)
            else machine.call(attribute, args, keywords, site, None)
        )
    kind = machine.catalogue.telltale(name)
    if kind is not None:
        made = v.obj(kind, machine.number("telltale", receiver))
        return machine.call(v.method(made, name), args, keywords, site, None)
    method = only_method(machine, receiver, name)
    if method is not None:
        return machine.call(method, args, keywords, site, None)
    values = [*args, *keywords.values()]
    if name not in _SAFE_METHODS and not (name in _ALIKE and v.are_uniform(receiver, *values)):
        machine.may_fail(site)
    if name in {"items", "keys", "values", "named_parameters", "parameters"} and receiver.local:
        # the keys of rank-local data are the same everywhere as a rule
        return unknown("method", receiver, name, local=False, clean=True)
    if receiver.local and (name == "dim" or (name == "size" and values in ([], [const(0)]))):
        held = unknown_attribute(machine, receiver, "ndim" if name == "dim" else "shape")
        return subscript(machine, held, values[0]) if values else held
    if name in _COMMAND_LINE and not receiver.local:
        # an option for this rank alone says nothing of the others
        return unknown("method", receiver, name, *values, clean=True)
    if name in {"get", "pop", "setdefault"} and values and v.is_process_id(values[0]):
        return unknown("method", receiver, name, "process", clean=True)
    result = unknown("method", receiver, name, *values, wrapped=run_inside(machine, values))
    return handed_over(machine, values, name, result)


def only_method(machine: Expressions, receiver: Unknown, name: str) -> v.Func | None:
    """The one method of this name in sight, of an object that came as parameter or attribute.

    The name has to be of several words and none that is known of a framework, and the method
    one that may communicate.
    """
    if receiver.local or receiver.op not in {"param", "attr"}:
        return None
    if "_" not in name.strip("_") or name in machine.catalogue.known_names:
        return None
    graph = machine.context.effects.graph
    found = graph.callable_from(machine.frame.module.key).get(name, ())
    if len(found) != 1 or not found[0].owner or not machine.context.may_communicate(found[0]):
        return None
    cls = machine.context.module_by_key(found[0].module).class_of(found[0])
    if cls is None or found[0].decorators or not graph.is_short(found[0]):
        return None
    bound = v.instance(cls, machine.number("only", receiver, cls))
    return v.func(found[0], machine.context.module_scope(machine.context.module_of(cls)), bound)


def run_inside(machine: Expressions, values: list[Value]) -> frozenset[int]:
    """Wrapped models that a function may run: its result may be their loss."""
    return frozenset(
        leaf.oid
        for value in values
        for leaf in v.leaves(value)
        if isinstance(leaf, v.Obj) and machine.catalogue.arms_backward(leaf.kind)
    )


def sequence_method(
    machine: Expressions, receiver: v.Seq, name: str, args: list[Value], node: ir.Call | None
) -> Value | None:
    place = node.func.value if node is not None and isinstance(node.func, ir.Attribute) else None
    if name in {"append", "add", "extend", "insert", "remove", "clear"} and place is not None:
        if name in {"append", "add"} and len(receiver.items) < EXACT_BOUND and args:
            assign_place(machine, place, v.seq(receiver.kind, (*receiver.items, args[0])))
        elif name == "extend" and args and isinstance(args[0], v.Seq):
            assign_place(machine, place, v.seq(receiver.kind, receiver.items + args[0].items))
        elif name == "clear":
            assign_place(machine, place, v.seq(receiver.kind, []))
        else:
            assign_place(machine, place, unknown("changed", receiver, *args))
        return const(None)
    if name == "index" and args:
        try:
            rows = v.vector(receiver, machine.cluster.size)
            wanted = v.vector(args[0], machine.cluster.size)
            return v.ranked([row.index(item) for row, item in zip(rows, wanted, strict=True)])
        except (ValueError, AttributeError):
            return unknown("method", receiver, name, *args)
    if name == "pop" and place is not None and receiver.items:
        assign_place(machine, place, v.seq(receiver.kind, receiver.items[:-1]))
        return receiver.items[-1]
    return receiver if name == "copy" else None


def dict_method(
    machine: Expressions,
    receiver: v.Map,
    name: str,
    args: list[Value],
    keywords: dict[str, Value],
    node: ir.Call | None,
) -> Value | None:
    if name == "get" and args:
        found = pick_or_default(machine, receiver, args)
        if found is not None:
            return found
    if name == "items":
        return v.seq("list", [v.seq("tuple", pair) for pair in receiver.items])
    if name == "keys":
        return v.seq("list", [key for key, _ in receiver.items])
    if name == "values":
        return v.seq("list", [value for _, value in receiver.items])
    if name in {"update", "pop", "clear", "setdefault"} and node is not None:
        value: Value = unknown("method", receiver, name, *args)
        after: Value = unknown("changed", receiver, *args, *keywords.values())
        popped = pop_key(machine, receiver, args) if name == "pop" else None
        if name == "update":
            value = const(None)
            after = updated(receiver, args, keywords) or after
        elif popped is not None:
            value = popped
            after = v.mapping([pair for pair in receiver.items if pair[0] != args[0]])
        if isinstance(node.func, ir.Attribute):
            assign_place(machine, node.func.value, after)
        return value
    return None


def pop_key(machine: Expressions, receiver: v.Map, args: list[Value]) -> Value | None:
    """``d.pop(key)`` of a key that is there; ``d.pop(key, default)`` of one that is not."""
    if not args or not isinstance(args[0], Const):
        return None
    found = pick_key(machine, receiver, args[0])
    if found is None and len(args) == 2:
        return args[1] if all(isinstance(key, Const) for key, _ in receiver.items) else None
    return found


def pick_or_default(machine: Expressions, receiver: v.Map, args: list[Value]) -> Value | None:
    """``d.get(key, default)``, also where each rank has a key of its own."""
    default = args[1] if len(args) > 1 else const(None)
    if v.is_ranked(args[0]) and all(isinstance(key, Const) for key, _ in receiver.items):
        table = {v.plain(key): value for key, value in receiver.items}
        try:
            wanted = v.vector(args[0], machine.cluster.size)
            return v.ranked(
                [
                    v.vector(table.get(item, default), machine.cluster.size)[rank]
                    for rank, item in enumerate(wanted)
                ]
            )
        except ValueError:
            return table.get(machine.on_this_rank(args[0]), default)
    found = pick_key(machine, receiver, args[0])
    if found is None and isinstance(args[0], Const):
        return default
    return found


def updated(before: v.Map, args: list[Value], keywords: dict[str, Value]) -> v.Map | None:
    """What ``d.update(other, key=value)`` leaves, where both are known key by key."""
    given: list[tuple[Value, Value]] = [(const(name), value) for name, value in keywords.items()]
    for other in args:
        if not isinstance(other, v.Map):
            return None
        given = [*other.items, *given]
    if "**" in keywords or "*" in keywords:
        return None
    merged = dict(before.items) | dict(given)
    return v.mapping(list(merged.items())) if len(merged) <= EXACT_BOUND * 2 else None


def _number_held(tensor: Unknown) -> Value:
    """The number in a tensor: the one that it was made of, or else it keeps the identity."""
    number = v.number_in(tensor)
    return number if isinstance(number, (Unknown, v.Phi, Const, v.PerRank)) else tensor
