"""Whether modules train or evaluate: what ``eval()`` and ``train()`` make of ``self.training``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer.static.training_mode import MODE
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.continuations import ReturnToCaller
from distlint.analyzer.symbolic.values import Value, const

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.view import View


def set_mode(
    machine: View, module: Value, name: str, args: list[Value], keywords: dict[str, Value]
) -> None:
    """``module.eval()`` or ``module.train(mode)``, for the module and its parts.

    What trains is as if it had never been asked to evaluate: that it trains is not known, either.
    """
    given = args[0] if args else keywords.get("mode")
    evaluates = name == "eval" or given == const(False)
    for oid in sorted(set(_parts(machine, module))):
        if evaluates:
            machine.store[oid, MODE] = const(False)
        elif (oid, MODE) in machine.store:
            del machine.store[oid, MODE]


def _parts(machine: View, module: Value) -> Iterator[int]:
    held: dict[object, list[Value]] = defaultdict(list)
    for (owner, _), value in machine.store.items():
        if isinstance(owner, int) and isinstance(value, (v.Instance, v.Obj, v.Seq, v.Map)):
            held[owner].append(value)
    seen: set[Value] = set()
    stack = [module]
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, v.Seq):
            stack.extend(value.items)
        elif isinstance(value, v.Map):
            stack.extend(item for _, item in value.items)
        elif isinstance(value, (v.Instance, v.Obj)):
            yield value.oid
            stack.extend(held[value.oid])
            if isinstance(value, v.Obj) and value.inner is not None:
                stack.append(value.inner)


def mode_around(machine: View) -> Value | None:
    """``training`` of the innermost module with a known one that a method is being run of.

    A part that was made where nothing was executed is not known to be one, but runs inside it.
    """
    frame, k = machine.frame, machine.k
    while True:
        bound = frame.bound
        if isinstance(bound, (v.Instance, v.Obj)) and (bound.oid, MODE) in machine.store:
            return machine.store[bound.oid, MODE]
        while k is not None and not isinstance(k, ReturnToCaller):
            k = k.next
        if k is None:
            return None
        frame, k = k.caller, k.next
