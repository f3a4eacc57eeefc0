"""Keywords are set and taken out with their commas, lines and comments."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from distlint.fixers import calls
from distlint.fixers.draft import CannotFix
from tests.fixers.conftest import Bench

Make = Callable[[str], Bench]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(k=1)"),
        ("f(a)", "f(a, k=1)"),
        ("f(a, )", "f(a, k=1 )"),
        ("f(a, k=2)", "f(a, k=1)"),
        ("f(k = (2))", "f(k = 1)"),
        ("f(*a)", "f(*a, k=1)"),
        ("f(\n    a,\n    b,  # b\n)\n", "f(\n    a,\n    b,  # b\n    k=1,\n)\n"),
        ("f(\n    a,\n    b\n)\n", "f(\n    a,\n    b,\n    k=1\n)\n"),
        ("f(\n    a,\n    b  # b\n)\n", "f(\n    a,\n    b,  # b\n    k=1\n)\n"),
        ("f(\n    a, b,\n)\n", "f(\n    a, b, k=1,\n)\n"),
        ("f(a,\n  b)\n", "f(a,\n  b,\n  k=1)\n"),
        ("f(\r\n\ta,\r\n)\r\n", "f(\r\n\ta,\r\n\tk=1,\r\n)\r\n"),
        ("f((x for x in y))", "f((x for x in y), k=1)"),
        ("f(g(')'), \"(\")", "f(g(')'), \"(\", k=1)"),
    ],
)
def test_set(bench: Make, before: str, after: str) -> None:
    draft = bench(before)
    calls.set_keyword(draft, draft.call("f"), "k", "1")
    assert draft.result() == after


@pytest.mark.parametrize("before", ["f(**options)", "f(x for x in y)"])
def test_not_set(bench: Make, before: str) -> None:
    draft = bench(before)
    with pytest.raises(CannotFix):
        calls.set_keyword(draft, draft.call("f"), "k", "1")


def test_a_positional_argument_is_replaced(bench: Make) -> None:
    draft = bench("f(a, b)")
    calls.set_keyword(draft, draft.call("f"), "k", "1", position=1)
    assert draft.result() == "f(a, 1)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(k=1)", "f()"),
        ("f(a, k=1)", "f(a)"),
        ("f(k=1, a=2)", "f(a=2)"),
        ("f(a, k=1, **b)", "f(a, **b)"),
        ("f(a, k=1,)", "f(a,)"),
        ("f(\n    a,\n    k=1,\n    b=2,\n)", "f(\n    a,\n    b=2,\n)"),
        ("f(\n    a,\n    k=1,\n)", "f(\n    a,\n)"),
        ("f(\n    a,  # a\n    k=1,  # k\n)", "f(\n    a,  # a\n)"),
        ("f(\n    a,\n    k=1\n)", "f(\n    a,\n)"),
        ("f(a,  # a\n  k=1)", "f(a,  # a\n  )"),
        ("f(k=1,  # k\n  a=2)", "f(  # k\n  a=2)"),
        ("f(a, k='#')", "f(a)"),
    ],
)
def test_remove(bench: Make, before: str, after: str) -> None:
    draft = bench(before)
    calls.remove_keyword(draft, draft.call("f"), "k")
    assert draft.result() == after
