"""Scripts are no tests, whatever they are called; examples of a rule are tried together."""

from __future__ import annotations

from pathlib import Path

import pytest

collect_ignore = ["bugs", "cases", "fixes", "misses", "silent", "traps", "variants"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring what asks for the trials of one rule together: a worker keeps them for one rule."""
    path = Path(__file__).with_name("test_examples.py")
    places = [place for place, item in enumerate(items) if item.path == path]
    ours = sorted((items[place] for place in places), key=_code)
    for place, item in zip(places, ours, strict=True):
        items[place] = item


def _code(item: pytest.Item) -> str:
    code: str = item.callspec.params.get("code", "") if hasattr(item, "callspec") else ""
    return code
