"""Whether running a called function can show a difference between ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat

from distlint.analyzer import ir
from distlint.analyzer.static import hooks
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.continuations import RestOfBlock
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.values import Value, const


def skips(
    machine: Interpreter,
    function: ir.Function,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    captured: Iterable[Value] = (),
) -> bool:
    """Need the body not be run? True if no rank can be seen to differ in it.

    What is worked out from a value of this rank's own, and nothing else, is its own as well.
    """
    if hooks.may_be_hook(function) or machine.context.does_something(function):
        return False
    if machine.context.sets_mode(function):
        return False
    if (
        ir.RAISE in function.tokens
        and machine.context.effects.shows_ranks(function)
        and (machine.context.refuses(function) or machine.is_stopped(machine.k))
    ):
        return False
    given = (*args, *keywords.values())
    read = chain(given, captured)
    relevant = [each for each in read if telling(machine, each) and not v.is_own_number(each)]
    if relevant and not keeps_ranks(machine, function, args, keywords, relevant):
        return False
    if machine.log is not None and function in machine.context.entered:
        return False  # in a replay all ranks run what one of them has run
    if not any(map(v.is_own_number, given)):
        return not (machine.context.matters(function) or _changes_alone(machine, function))
    if machine.context.asks_for_kind(function):
        return False
    if not machine.context.changes_something(function):
        return True
    own = params_with(v.is_own_number, function, args, keywords)
    return (
        own is not None
        and not machine.context.lets_out(function, own)
        and not machine.context.matters(function)
    )


def _changes_alone(machine: Interpreter, function: ir.Function) -> bool:
    """Does a short method change what may decide something, in a branch by the rank?"""
    if not function.owner or function.name == "__init__":
        return False
    if not machine.context.effects.graph.is_short(function):
        return False
    return machine.context.changes_something(function) and _is_in_arm_by_rank(machine)


def _is_in_arm_by_rank(machine: Interpreter) -> bool:
    arms, k = machine.context.arms_by_rank, machine.k
    while k is not None and arms:
        if isinstance(k, RestOfBlock) and id(k.block) in arms:
            return True
        k = k.next
    return False


def keeps_ranks(
    machine: Interpreter,
    function: ir.Function,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    relevant: Sequence[Value],
) -> bool:
    """Are these numbers of the rank, which the function keeps to itself?"""
    if not all(isinstance(value, v.PerRank) for value in relevant):
        return False
    ranked = params_with(v.is_ranked, function, args, keywords)
    return ranked is not None and not machine.context.leaks(function, ranked)


def captured(machine: Interpreter, target: v.Func) -> Iterator[Value]:
    """What a function in a function reads of the variables of that one."""
    if target.function.nested:
        for name in sorted(target.function.tokens - target.function.locals):
            value = machine.store.get((target.scope, name))
            if value is not None:
                yield value


def weighed(
    machine: Interpreter,
    function: ir.Function,
    given: tuple[Value, ...],
    keywords: dict[str, Value],
) -> tuple[Value, ...]:
    """The arguments on which the result of a function that is not run may depend."""
    if not any(map(v.is_own_number, given)):
        return given
    own = params_with(v.is_own_number, function, given[: len(given) - len(keywords)], keywords)
    if own is None or not machine.context.ignores(function, own):
        return given
    return tuple(const(None) if v.is_own_number(value) else value for value in given)


def telling(machine: Interpreter, value: Value) -> bool:
    """Can a value make a difference to what a function does?"""
    if isinstance(value, (v.PerRank, v.Group, v.Partial)):
        return True
    if isinstance(value, v.Method) and isinstance(value.receiver, v.Obj):
        return machine.catalogue.member_is_telling(value.receiver.kind, value.name)
    if isinstance(value, v.Method):
        return True
    if isinstance(value, v.Obj):
        inner = value.inner
        return (
            machine.catalogue.is_telling(value.kind)
            or (inner is not None and telling(machine, inner))
            or holds_telling(machine, value)
        )
    if isinstance(value, v.Func):
        return machine.context.matters(value.function)
    if isinstance(value, v.External):
        entry = machine.catalogue.lookup(value.name)
        return entry is not None and entry.tells
    if isinstance(value, v.Instance):
        return holds_telling(machine, value)
    if isinstance(value, v.Phi):
        return value.local or telling(machine, value.then) or telling(machine, value.orelse)
    if isinstance(value, v.Seq):
        return any(telling(machine, item) for item in value.items)
    if isinstance(value, v.Map):
        return any(telling(machine, item) for _, item in value.items)
    return value.local


def holds_telling(machine: Interpreter, value: v.Instance | v.Obj) -> bool:
    """Has one of the attributes of an object a value that can make a difference?"""
    if value.oid in machine.asking:
        return False  # it holds itself
    machine.asking.append(value.oid)
    try:
        return any(
            key[0] == value.oid and not isinstance(held, v.Instance) and telling(machine, held)
            for key, held in machine.store.items()
        )
    finally:
        machine.asking.pop()


def params_with(
    holds: Callable[[Value], bool],
    function: ir.Function,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
) -> frozenset[str] | None:
    """The parameters that are given values of a kind; None if that cannot be told."""
    params = {param.name: param for param in function.params if not param.star}
    places = [name for name, param in params.items() if not param.keyword_only]
    named = chain(zip(chain(places, repeat("*")), args, strict=False), keywords.items())
    own = frozenset(name for name, value in named if holds(value))
    return own if own <= params.keys() else None
