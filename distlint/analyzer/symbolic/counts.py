"""What each rank counts for itself in a loop is any number from the second iteration on.

Two iterations stand for all that there are: what ranks differ in by one after the first, they may
differ in by more later. The walk takes such a count for a symbol (``CARRIED``), and so does a
replay, which asks the same questions about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.values import CARRIED, Value

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.state import Key, LoopPlace
    from distlint.analyzer.symbolic.view import View

Variables = dict["Key", Value]
Part = Value | None
"""The key of an item of a dict, or None for the value itself."""


def widened(
    view: View, where: LoopPlace, begun: Sequence[Variables], *, alike: bool
) -> Iterator[tuple[Key, Value]]:
    """The variables with the counts that become symbols when the second iteration begins.

    ``begun`` holds what they were when the loop began, where both ranks were in one state if
    they were ``alike``.
    """
    for key, value in view.store.items() if begun else ():
        new = value
        for part in _parts(value):
            count = _part(value, part)
            if count is None or not v.is_count(count):
                continue
            differs = _differs(view, key, part)
            has_counted = all(_part(head.get(key), part) is not count for head in begun)
            # of ranks that began alike and differ, one has counted
            if (differs and alike) or ((differs or count.local) and has_counted):
                atom = v.unknown(CARRIED, where, key, part, local=True, fresh=True)
                new = _replaced(new, part, atom)
        if new is not value:
            yield key, new


def assumed(view: View, where: LoopPlace) -> Iterator[tuple[Key, Value]]:
    """Those about which something is assumed for the rank at hand."""
    found: Variables = {}
    for question in view.known:
        if isinstance(question, tuple) and question[0] == view.side:
            for atom in question[1].atoms:
                if atom.op == CARRIED and atom.args[0] == where:
                    key, part = atom.args[1:]
                    value = found.get(key, view.store.get(key, atom))
                    found[key] = _replaced(value, part, atom)
    yield from found.items()


def _parts(value: Value) -> Iterator[Part]:
    """The parts in which a value may hold a count."""
    while isinstance(value, v.Phi):
        value = value.then
    if isinstance(value, v.Map):
        yield from (key for key, _ in value.items)
    else:
        yield None


def _part(value: Value | None, part: Part) -> Value | None:
    if part is None:
        return value
    if isinstance(value, v.Map):
        return dict(value.items).get(part)
    if isinstance(value, v.Phi):
        then, orelse = _part(value.then, part), _part(value.orelse, part)
        return None if then is None or orelse is None else v.phi(value.test, then, orelse)
    return None


def _replaced(value: Value, part: Part, new: Value) -> Value:
    if part is None:
        return new
    if isinstance(value, v.Map):
        return v.mapping([(key, new if key is part else item) for key, item in value.items])
    if isinstance(value, v.Phi):
        then, orelse = _replaced(value.then, part, new), _replaced(value.orelse, part, new)
        return v.phi(value.test, then, orelse)
    return value


def _differs(view: View, key: Key, part: Part) -> bool:
    """Had the other rank of a pair another value, where both were last at the same place?"""
    if view.level is None:
        return False
    first, second = (_part(variables.get(key), part) for variables in view.level)
    return first is not second
