"""The calls that have modules train or evaluate."""

from __future__ import annotations

from distlint.analyzer import ir

MODE = "training"
"""The attribute that says whether a module trains or evaluates."""

SET_MODE = frozenset({"train", "eval"})
"""Methods that set it, for a module and its parts."""


def sets_mode(node: object) -> bool:
    """Is it ``model.eval()`` or ``model.train()``?"""
    return (
        isinstance(node, ir.Call)
        and isinstance(node.func, ir.Attribute)
        and node.func.attr in SET_MODE
    )
