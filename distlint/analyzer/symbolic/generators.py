"""Objects that draw random numbers: alike on all ranks where they are seeded alike."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import assign_place
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.values import Const, Unknown, Value, unknown
from distlint.catalogue.entries import LocalSource

GENERATOR = "generator"
"""Operator of the unknowns that are such objects; a rank-local one draws what no other draws."""

_SEEDS = frozenset({"manual_seed", "seed"})


def made_generator(
    machine: Interpreter, source: LocalSource, arguments: dict[str, Value], site: int
) -> Value:
    """A new generator; one that takes no seed begins alike on all ranks."""
    own = source.seed is not None and _is_own_seed(arguments.get(source.seed))
    return unknown(GENERATOR, source.name, machine.here(site), local=own, fresh=True)


def generator_in(keywords: dict[str, Value]) -> Unknown | None:
    """The generator that a function which draws numbers is given."""
    given = keywords.get("generator")
    return given if is_generator(given) and isinstance(given, Unknown) else None


def is_generator(value: Value | None) -> bool:
    return isinstance(value, Unknown) and value.op == GENERATOR


def call_of_generator(
    machine: Interpreter,
    receiver: Unknown,
    name: str,
    args: list[Value],
    site: int,
    node: ir.Call | None,
) -> Value:
    """A method of a generator: it is seeded, or it draws something."""
    here = machine.here(site)
    if name not in _SEEDS:
        return unknown("method", receiver, name, here, *args, fresh=True)
    own = _is_own_seed(args[0] if args else None)
    seeded = unknown(GENERATOR, name, here, local=own, fresh=True)
    if node is not None and isinstance(node.func, ir.Attribute):
        assign_place(machine, node.func.value, seeded)
    return seeded


def differs_by_rank(value: Value) -> bool:
    """Is it each rank's own, or worked out from the rank?"""
    pending, seen = [value], {value}
    while pending:
        each = pending.pop()
        if each.local or v.is_ranked(each):
            return True
        parts = each.args if isinstance(each, Unknown) else ()
        new = {part for part in parts if isinstance(part, Value)} - seen
        seen |= new
        pending += new
    return False


def _is_own_seed(seed: Value | None) -> bool:
    """Without a seed, and with None, the system gives each process another one."""
    if seed is None or (isinstance(seed, Const) and seed.value is None):
        return True
    return differs_by_rank(seed)
