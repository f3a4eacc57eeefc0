"""Items and slices: of known collections, and of what is unknown."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import strides
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.environment import environment
from distlint.analyzer.symbolic.framework_names import DEVICE_MESH
from distlint.analyzer.symbolic.groups import group_from
from distlint.analyzer.symbolic.held import held_object
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.values import UNEVEN, Const, Unknown, Value, const, unknown
from distlint.analyzer.symbolic.values.facts import is_truth_value

_CALLED = (v.Func, v.Method, v.Partial)
"""Functions: which of two is called has to be decided."""
_MASKS = frozenset({"==", "<", ">=", "not", "&", "|", "~", "both", "either"})
"""Operators that make the mask of a selection."""


def ev_subscript(machine: Interpreter, node: ir.Subscript) -> Value:
    base = machine.evaluate(node.value)
    if isinstance(node.index, ir.Slice):
        return slice_of(machine, machine.resolve(base), node.index)
    index = machine.resolve(machine.evaluate(node.index))
    return machine.of_each(base, lambda each: stored_item(machine, each, index))


def stored_item(machine: Interpreter, base: Value, index: Value) -> Value:
    stored = machine.store.get((base, slot(machine, index))) if isinstance(base, Unknown) else None
    return stored if stored is not None else subscript(machine, base, index)


def slot(machine: Interpreter, index: Value) -> str:
    """The name of an item in the store: by number, as an index may be a big term."""
    return f"[{machine.number('index', index)}]"


def slice_of(machine: Interpreter, base: Value, node: ir.Slice) -> Value:
    bounds = [
        machine.resolve(machine.evaluate(bound)) if bound is not None else const(None)
        for bound in (node.lower, node.upper, node.step)
    ]
    if any(v.is_ranked(bound) for bound in bounds):
        if isinstance(base, v.Seq):
            try:
                lower, upper, step = (machine.on_this_rank(bound) for bound in bounds)
                return share(machine, base, bounds, base.items[slice(lower, upper, step)])
            except (ValueError, TypeError):
                pass
        # a stride leaves a remainder: some ranks get one item more
        start, stop, step = bounds
        if isinstance(start, v.PerRank) and isinstance(stop, Const):
            if not (strides.is_evened_out(base) or divides(machine, step, base)):
                machine.context.refine(strides.last(start.values))
                return unknown("shard", base, start.values, UNEVEN)
        return unknown("part", base)
    shared = strides.spread(bounds, base)
    if shared is not None and not is_multiple(machine, *shared):
        return unknown("shard", base, "contiguous", UNEVEN)
    part = strides.part(base, bounds)
    if part is not None:
        return part
    if isinstance(base, v.Seq) and all(isinstance(bound, Const) for bound in bounds):
        lower, upper, step = (v.plain(bound) for bound in bounds)
        try:
            return v.seq(base.kind, base.items[slice(lower, upper, step)])
        except (TypeError, ValueError):
            pass
    return unknown("slice", base, *bounds)


def divides(machine: Interpreter, step: Value, base: Value) -> bool:
    """Has the way here made sure that a length is a multiple, as by ``while len(x) % n``?"""
    return is_multiple(machine, unknown("len", base, local=False, clean=True), step)


def is_multiple(machine: Interpreter, length: Value, step: Value) -> bool:
    """Has the way here made sure that a number is a multiple of another one?"""
    even = v.binary("==", v.binary("%", length, step, machine.cluster), const(0), machine.cluster)
    return isinstance(even, Unknown) and not even.local and machine.assumed(even) is True


def share(
    machine: Interpreter, base: v.Seq, bounds: list[Value], items: tuple[Value, ...]
) -> Value:
    """A rank's slice of a known list: a constant per rank where the items allow it."""
    try:
        rows = v.vector(base, machine.cluster.size)
        columns = [v.vector(bound, machine.cluster.size) for bound in bounds]
        picked = [
            row[slice(*(column[rank] for column in columns))] for rank, row in enumerate(rows)
        ]
        return v.ranked(picked)
    except (ValueError, TypeError):
        return v.seq(base.kind, items)


def subscript(machine: Interpreter, base: Value, index: Value) -> Value:
    if isinstance(base, v.External) and base.name == "os.environ":
        return environment(machine, index, None)
    if isinstance(base, v.Seq):
        found = pick(machine, base, index)
        if found is not None:
            return found
    if isinstance(base, v.Map):
        found = pick_key(machine, base, index)
        if found is not None:
            return found
    chosen = _by_truth(machine, base, index)
    if chosen is not None:
        return chosen
    if isinstance(base, Unknown) and base.op == v.MERGED and isinstance(index, Const):
        return _merged_item(machine, base, index)
    if isinstance(base, Unknown) and base.op == "changed" and isinstance(base.args[0], v.Map):
        # of the dict before, what it had by this key is all that can be left
        before, *others = base.args
        return unknown("index", pick_key(machine, before, index), *others, index)
    if isinstance(base, v.PerRank) and isinstance(index, Const):
        try:
            return v.ranked([row[index.value] for row in base.values])
        except (TypeError, IndexError, KeyError):
            pass
    if isinstance(base, v.Obj):
        entry = machine.catalogue.member(base.kind, "__getitem__")
        if entry is not None and entry.group is not None:
            return group_from(machine, entry.group, {"": index}, base)
        if machine.catalogue.subclass_of(base.kind, DEVICE_MESH):
            return v.obj(base.kind, machine.number("submesh", base.oid, index), index)
    if isinstance(index, v.PerRank) and strides.is_dealt_out(base):
        return unknown("shard", base, index.values, UNEVEN)
    if isinstance(index, Unknown) and not index.local:
        held = held_object(machine, base)
        if held is not None:
            return held
    if base.local and isinstance(index, Unknown) and index.local and index.op in _MASKS:
        # how many items a mask lets through is this rank's own
        return unknown("index", base, index, UNEVEN)
    if v.is_process_id(index) and not base.local:
        return unknown("index", base, "process", clean=True)
    return unknown("index", base, index)


def _by_truth(machine: Interpreter, base: Value, index: Value) -> Value | None:
    """``{True: this, False: that}[test]`` and ``(that, this)[test]``: one or the other."""
    if isinstance(base, v.Seq):
        test = index.args[0] if isinstance(index, Unknown) and index.op == "number" else index
        if not is_truth_value(test):
            return None
        found = [pick(machine, base, const(int(outcome))) for outcome in (True, False)]
    elif isinstance(base, v.Map):
        test = index
        if not all(isinstance(key, Const) and type(key.value) is bool for key, _ in base.items):
            return None
        found = [pick_key(machine, base, const(outcome)) for outcome in (True, False)]
    else:
        return None
    then, orelse = found
    if then is None or orelse is None or not isinstance(test, Unknown):
        return None
    if isinstance(then, _CALLED) and isinstance(orelse, _CALLED):
        return then if machine.truth(test, machine.site) else orelse
    if not (v.is_plain(then) and v.is_plain(orelse)):
        return None
    return v.phi(test.args[0], orelse, then) if test.op == "not" else v.phi(test, then, orelse)


def pick(machine: Interpreter, base: v.Seq, index: Value) -> Value | None:
    try:
        if isinstance(index, Const):
            found: Value = base.items[index.value]
            return found
        if v.is_ranked(index):
            # what is for two ranks is for ranks like them in a cluster of more
            rows = [row % len(base.items) for row in v.vector(index, machine.cluster.size)]
            try:
                return v.ranked(
                    [
                        v.vector(base.items[row], machine.cluster.size)[rank]
                        for rank, row in enumerate(rows)
                    ]
                )
            except ValueError:
                mine: Value = base.items[rows[machine.rank]]
                return mine
    except (IndexError, TypeError, ZeroDivisionError):
        pass
    return None


def _merged_item(machine: Interpreter, base: Unknown, index: Const) -> Value:
    """What a merged dict has by a key: of the dicts that may have it, the last one that does."""
    found: list[Value] = []
    for each in reversed(base.args):
        if not isinstance(each, v.Map):
            found.append(subscript(machine, each, index))
        elif (item := pick_key(machine, each, index)) is not None:
            found.append(item)
            break
    return found[0] if len(found) == 1 else unknown("index", *found, index)


def pick_key(machine: Interpreter, base: v.Map, index: Value) -> Value | None:
    for key, value in base.items:
        if key is index:
            return value
    if v.is_ranked(index):
        try:
            mine = machine.on_this_rank(index)
        except ValueError:
            return None
        for key, value in base.items:
            if isinstance(key, Const) and key.value == mine:
                return value
    return None


def item_of(machine: Interpreter, value: Value, index: int) -> Value:
    """One item of a sequence that is unpacked."""
    if isinstance(value, v.Phi):
        return machine.of_each(value, lambda each: item_of(machine, each, index))
    if isinstance(value, v.Seq) and index < len(value.items):
        return value.items[index]
    return subscript(machine, value, const(index)) if not isinstance(value, v.External) else value
