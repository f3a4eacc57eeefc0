"""What assumptions about a value leave of it: one that is ``"a"`` is not ``"b"``."""

from __future__ import annotations

from distlint.analyzer.symbolic.state import Known
from distlint.analyzer.symbolic.values import Const, Seq, Unknown, Value

CHOICES = frozenset({"==", "is", "in"})
"""Tests that a value is one of some constants."""


def chosen(atom: Unknown, known: Known) -> bool | None:
    """Whether a value is one of some constants, by what has been assumed about it already.

    Assumptions about a value of the rank's own are kept by its side, and tell nothing here.
    """
    asked = _choice(atom)
    if asked is None:
        return None
    subject, wanted = asked
    left: frozenset[object] | None = None
    excluded: frozenset[object] = frozenset()
    for question, outcome in known.items():
        if not isinstance(question, Unknown) or question.op not in CHOICES:
            continue
        other = _choice(question)
        if other is None or other[0] is not subject:
            continue
        if outcome:
            left = other[1] if left is None else left & other[1]
        else:
            excluded |= other[1]
    if left is None:
        return False if wanted <= excluded else None
    left -= excluded
    if left <= wanted:
        return True if left else None
    return False if left.isdisjoint(wanted) else None


def _choice(atom: Unknown) -> tuple[Value, frozenset[object]] | None:
    """The value that a test is about, and the constants that it may be."""
    first, second = atom.args[:2] if len(atom.args) == 2 else (None, None)
    if atom.op != "in" and isinstance(first, Const):
        first, second = second, first
    if not isinstance(first, Value) or isinstance(first, Const):
        return None
    items = second.items if atom.op == "in" and isinstance(second, Seq) else (second,)
    if not all(isinstance(item, Const) for item in items):
        return None
    values = [item.value for item in items if isinstance(item, Const)]
    if not all(isinstance(value, (str, int, float, type(None))) for value in values):
        return None
    return first, frozenset(values)
