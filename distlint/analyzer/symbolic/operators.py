"""Operators: arithmetic and comparisons, also of a rank with a number that is unknown."""

from __future__ import annotations

import re

from distlint.analyzer import ir
from distlint.analyzer.symbolic import strides
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.conditions import note_test
from distlint.analyzer.symbolic.framework_names import PATH
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown


def ev_binary(machine: Interpreter, node: ir.Binary) -> Value:
    left, right = machine.evaluate(node.left), machine.evaluate(node.right)
    if node.op == "/" and isinstance(left, v.Obj) and left.kind == PATH:
        return v.obj(PATH, machine.number("joined", left.oid, right))
    return v.binary(node.op, left, right, machine.cluster)


def ev_compare(machine: Interpreter, node: ir.Compare) -> Value:
    left = machine.evaluate(node.left)
    result: Value | None = None
    for op, right_node in zip(node.ops, node.rights, strict=True):
        right = machine.evaluate(right_node)
        one = compare(machine, op, left, right)
        result = one if result is None else both(machine, result, one)
        left = right
    assert result is not None
    note_test(machine, node, result)
    return result


def compare(machine: Interpreter, op: str, left: Value, right: Value) -> Value:
    if op in {"in", "not in"} and isinstance(right, v.External) and right.name == "os.environ":
        if isinstance(left, Const) and machine.catalogue.env(str(left.value)) is not None:
            return const(op == "in")
    if op in {"in", "not in"} and isinstance(right, v.Phi):
        then, orelse = (
            compare(machine, op, left, right.then),
            compare(machine, op, left, right.orelse),
        )
        return v.phi(right.test, then, orelse)
    if op in {"in", "not in"} and isinstance(right, v.Map):
        keys = v.seq("tuple", [key for key, _ in right.items])
        return v.binary(op, left, keys, machine.cluster)
    if op in {"==", "!="} and isinstance(left, v.Func) and isinstance(right, Const):
        return const(op == "!=")  # a parameter that is missing, and a function of its name
    found = v.binary(op, left, right, machine.cluster)
    if isinstance(found, Unknown) and not found.local:
        if op in {"==", "!="} and (
            _is_dealt(machine, left, right) or _is_dealt(machine, right, left)
        ):
            mine = unknown("==", left, right, local=True)
            return mine if op == "==" else v.negate(mine)
        return tried(machine, op, left, right, found)
    return found


def tried(machine: Interpreter, op: str, left: Value, right: Value, otherwise: Unknown) -> Value:
    """A rank beside an unknown number: what if that is one that leaves out some ranks?"""
    for rank, other in ((left, right), (right, left)):
        if not isinstance(rank, v.PerRank) or not _may_be_any(other):
            continue
        if rank.values == machine.cluster.coordinates("global"):
            atom = unknown(v.TRIED, op, other)
            if op in {"in", "not in"}:
                if rank is right or not isinstance(other, Unknown) or other.op != "range":
                    break
                members = v.seq("list", [const(0), const(1)])
                return v.phi(atom, v.binary(op, rank, members, machine.cluster), otherwise)
            number = const(0 if op in {"==", "!=", "is", "is not"} else 1)
            sides = (rank, number) if rank is left else (number, rank)
            some = v.binary(op, sides[0], sides[1], machine.cluster)
            return v.phi(atom, some, otherwise)
    return otherwise


def _is_dealt(machine: Interpreter, number: Value, rank: Value) -> bool:
    """``hash(item) % world == rank``: a rank gets as many items as happen to be its own."""
    if not isinstance(rank, v.PerRank) or rank.values != machine.cluster.coordinates("global"):
        return False
    if not isinstance(number, Unknown) or number.op != "%":
        return False
    dealt, among = number.args
    by_item = isinstance(dealt, Unknown) and dealt.fresh and not strides.is_evened_out(dealt)
    return by_item and isinstance(among, v.WorldSizeExpr)


def both(machine: Interpreter, left: Value, right: Value) -> Value:
    if isinstance(left, Const):
        return right if left.value else left
    if isinstance(left, v.PerRank):
        return right if left.values[machine.rank] else left
    return unknown("both", left, right)


def ev_not(machine: Interpreter, node: ir.Not) -> Value:
    return v.negate(machine.evaluate(node.value))


def ev_unary(machine: Interpreter, node: ir.Unary) -> Value:
    value = machine.evaluate(node.value)
    if node.op == "-":
        return v.binary("-", const(0), value, machine.cluster)
    return value if node.op == "+" else unknown(node.op, value)


_OF_ALL = re.compile("world|size|num|_count|ranks|procs|gpus|devices|total", re.IGNORECASE)


def _may_be_any(value: Value) -> bool:
    """May a number be any: not one of a turn, or one that says how many ranks there are?"""
    if not isinstance(value, Unknown) or value.local or value.fresh:
        return False
    return value.op == "range" or not any(map(_OF_ALL.search, value.tokens))
