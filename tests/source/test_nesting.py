"""Texts that would end the parser's process are told apart, at a small cost, from large ones."""

from __future__ import annotations

import pytest

from distlint.source.nesting import too_deep


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"x = {'(' * 1000}1{')' * 1000}\n",
        f"x = {' + '.join(['1'] * 1000)}\n",
        f"x = [{', '.join(['-1'] * 20_000)}]\n",
        "x = [\n" + "    (1, -2),\n" * 5_000 + "]\n",
        f"x = '{'(+' * 5_000}'\n",
        "smile = ':('\n" * 2_000,
    ],
    ids=lambda text: text[:12],
)
def test_analysed(text: str) -> None:
    assert too_deep(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"x = {'(' * 1_500}1{')' * 1_500}\n", "1,000 brackets"),
        (f"x = {'f(' * 5_000}{')' * 5_000}\n", "1,000 brackets"),
        (f"x = {' + '.join(['1'] * 5_000)}\n", "3,000 operators"),
        ("x = (" + " +\n".join(["a"] * 5_000) + ")\n", "3,000 operators"),
    ],
)
def test_too_deep(text: str, reason: str) -> None:
    assert reason in (too_deep(text) or "")
