"""Process groups: which values are one, and which ranks are in it."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.values import Unknown, Value


def is_group(value: Value | None) -> bool:
    """Is it a process group, or called one, as a parameter or an attribute?"""
    if not isinstance(value, Unknown):
        return isinstance(value, v.Group)
    name = value.args[-1] if value.op in {"param", "attr"} else ""
    return isinstance(name, str) and name.endswith(("group", "pg"))
