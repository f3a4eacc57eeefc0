"""Conditions: operands are evaluated in turn, and an open one makes an open value."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.state import CallRequested, CollectiveReached
from distlint.analyzer.symbolic.values import Const, Unknown, Value


def note_test(machine: Interpreter, node: ir.Expr, outcome: Value) -> None:
    """Note a condition with a known outcome: in another turn of a loop it may be another."""
    if not isinstance(outcome, (Unknown, v.Phi)):
        machine.context.loops.note_test(node)


def holds(machine: Interpreter, node: ir.Expr, site: int) -> bool:
    """Evaluate a condition: operands from left to right, each only when it is reached."""
    if isinstance(node, ir.BoolOp):
        stop = node.op == "or"
        return next(
            (stop for operand in node.values if holds(machine, operand, site) == stop), not stop
        )
    if isinstance(node, ir.Not):
        return not holds(machine, node.value, site)
    value = machine.evaluate(node)
    note_test(machine, node, value)
    return machine.truth(value, site)


def ev_bool(machine: Interpreter, node: ir.BoolOp) -> Value:
    """``and`` / ``or`` as a value: undecided operands make an undecided value."""
    stop = node.op == "or"
    for position, operand in enumerate(node.values[:-1]):
        value = machine.evaluate(operand)
        if isinstance(value, (Unknown, v.Phi)):
            value = machine.resolve(value) if isinstance(value, v.Phi) else value
            if isinstance(value, Unknown) and machine.assumed(_atom_of(value)) is None:
                return undecided_bool(machine, node, value, position)
            machine.evaluated += 1  # the operands left count as an expression of their own
        else:
            note_test(machine, operand, value)
        if machine.truth(value, node.site) == stop:
            return value
    return machine.evaluate(node.values[-1])


def undecided_bool(machine: Interpreter, node: ir.BoolOp, value: Unknown, position: int) -> Value:
    """``and`` / ``or`` from an operand on that is open."""
    atom = _atom_of(value)
    try:
        rest = rest_of_bool(machine, node, position)
    except (CollectiveReached, CallRequested):
        machine.decide(atom)
        raise
    then, orelse = (value, rest) if node.op == "or" else (rest, value)
    return v.phi(atom, then, orelse) if atom is v.tested(value) else v.phi(atom, orelse, then)


def _atom_of(value: Unknown) -> Unknown:
    """The unknown that a test asks for, negated or not."""
    test = v.tested(value)
    atom: Unknown = test.args[0] if test.op == "not" else test
    return atom


def rest_of_bool(machine: Interpreter, node: ir.BoolOp, position: int) -> Value:
    rest = node.values[position + 1 :]
    return machine.evaluate(rest[0] if len(rest) == 1 else ir.BoolOp(node.op, rest, node.site))


def ev_conditional(machine: Interpreter, node: ir.Conditional) -> Value:
    test = machine.evaluate(node.test)
    note_test(machine, node.test, test)
    atom = _open_question(test)
    if atom is not None and machine.assumed(atom) is None:
        try:
            then, orelse = machine.evaluate(node.body), machine.evaluate(node.orelse)
        except (CollectiveReached, CallRequested):
            machine.decide(atom)
            raise
        found = chosen_by(machine, test, then, orelse)
        if found is not None:
            return found
    return machine.evaluate(node.body if machine.truth(test, node.site) else node.orelse)


def chosen_by(machine: Interpreter, test: Value, then: Value, orelse: Value) -> Value | None:
    """One value or the other, by a condition that is open; None if that takes a decision."""
    if isinstance(test, v.Phi):
        first = chosen_by(machine, test.then, then, orelse)
        second = chosen_by(machine, test.orelse, then, orelse)
        return None if first is None or second is None else v.phi(test.test, first, second)
    if isinstance(test, Unknown):
        if test.op == "not":
            return v.phi(test.args[0], orelse, then)
        return v.phi(test, then, orelse)
    return (then if test.value else orelse) if isinstance(test, Const) else None


def _open_question(test: Value) -> Unknown | None:
    """The unknown that a condition asks for first."""
    if isinstance(test, v.Phi):
        return test.test
    if isinstance(test, Unknown):
        return test.args[0] if test.op == "not" else test
    return None
