"""What is picked out of a rank's own data by what stands in it: of other data, more or fewer."""

from __future__ import annotations

from distlint.analyzer.symbolic.values import UNEVEN, Unknown, Value

_PICKING = frozenset(
    """argwhere batched_nms flatnonzero masked_select nms nonzero unique
    unique_consecutive""".split()
)
"""Methods and functions whose result is as long as the data has such items."""

_AS_LONG = frozenset(
    """clone contiguous cpu cuda detach double flip float half int long numpy sort to
    tolist""".split()
)
"""Methods that leave the length as it is."""

OWN_FILE = "own file"
"""Operator of a text that is open for reading, with the rank in its path."""


def is_of_own_length(value: Value) -> bool:
    """Is it, by how it was made, longer on one rank than on another?"""
    if not isinstance(value, Unknown):
        return False
    return UNEVEN in value.tokens or is_picked(value)


def is_picked(value: Value) -> bool:
    """Is it what a search in this rank's data has found, in whatever form?"""
    while isinstance(value, Unknown) and value.op == "method" and value.args[1] in _AS_LONG:
        value = value.args[0]
    if is_of_own_file(value):
        return True
    if not isinstance(value, Unknown) or not value.local or getattr(value, "weak", False):
        return False
    if value.op == "method":
        return value.args[1] in _PICKING and value.args[0].local
    name = value.args[0] if value.op == "call" else None
    return isinstance(name, str) and name.rpartition(".")[2] in _PICKING


def is_of_own_file(value: Value) -> bool:
    """Are these the lines of a text that the rank's number is in the path of?"""
    if (
        isinstance(value, Unknown)
        and value.op == "method"
        and value.args[1] in {"split", "splitlines"}
    ):
        value = value.args[0]
        if not isinstance(value, Unknown) or value.op != "method" or value.args[1] != "read":
            return False
        value = value.args[0]
    elif isinstance(value, Unknown) and value.op == "method" and value.args[1] == "readlines":
        value = value.args[0]
    return isinstance(value, Unknown) and value.op == OWN_FILE
