"""Statements go where they are sent, whatever they share their line with."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
import pytest

from distlint.fixers import statements
from distlint.fixers.draft import CannotFix
from tests.fixers.conftest import Bench

Make = Callable[[str], Bench]


@pytest.mark.parametrize(
    ("before", "place", "after"),
    [
        ("a\nb\n", "b", "a\nnew()\nb\n"),
        ("a\n# about b\nb\n", "b", "a\nnew()\n# about b\nb\n"),
        ("if x:\n\ta\n\tb\n", "b", "if x:\n\ta\n\tnew()\n\tb\n"),
        ("a; b; c\n", "b", "a\nnew()\nb; c\n"),
        ("if x: a\n", "a", "if x:\n    new()\n    a\n"),
        ("if x: a; b\n", "b", "if x:\n    a\n    new()\n    b\n"),
        ("if x:\r\n    a\r\n", "a", "if x:\r\n    new()\r\n    a\r\n"),
        ("a\r\nif x:\n    b", "b", "a\r\nif x:\n    new()\n    b"),
        ("@d\n@e(1)\ndef f(): pass\n", "@d", "new()\n@d\n@e(1)\ndef f(): pass\n"),
        ("match x:\n  case 1: a\n", "a", "match x:\n  case 1:\n    new()\n    a\n"),
        ("if x:\n    a\nelif y: b\n", "b", "if x:\n    a\nelif y:\n    new()\n    b\n"),
        ("#!/usr/bin/env python\n# coding: latin-1\na\n", "a", None),
        ("x = 1 + \\\n  2\ny\n", "x", "new()\nx = 1 + \\\n  2\ny\n"),
        ("def f():\n\x0c\n    a\n", "a", "def f():\n\x0c\n    new()\n    a\n"),
    ],
)
def test_before(bench: Make, before: str, place: str, after: str | None) -> None:
    draft = bench(before)
    statements.insert_before(draft, draft.find(place), "new()")
    assert draft.result() == (after or before.replace("a\n", "new()\na\n"))


@pytest.mark.parametrize(
    ("before", "place", "after"),
    [
        ("a\nb\n", "a", "a\nnew()\nb\n"),
        ("a", "a", "a\nnew()"),
        ("a  # note\r\n", "a", "a  # note\r\nnew()\r\n"),
        ("a; b\n", "a", "a\nnew()\nb\n"),
        ("a; b\n", "b", "a; b\nnew()\n"),
        ("if x: a; b\n", "b", "if x:\n    a; b\n    new()\n"),
        ("if x:\n    a\n    # end of it\nb\n", "if", "if x:\n    a\n    # end of it\nnew()\nb\n"),
        ("if x:\n    a\n\n# about b\nb\n", "if", "if x:\n    a\nnew()\n\n# about b\nb\n"),
        ("try: a\nfinally: b", "try", "try: a\nfinally: b\nnew()"),
    ],
)
def test_after(bench: Make, before: str, place: str, after: str) -> None:
    draft = bench(before)
    statements.insert_after(draft, draft.find(place), "new()")
    assert draft.result() == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f():\n    a\n", "def f():\n    new()\n    a\n"),
        ('def f():\n    """Doc."""\n    a\n', 'def f():\n    """Doc."""\n    new()\n    a\n'),
        ('def f():\n    """Doc."""\n', 'def f():\n    """Doc."""\n    new()\n'),
        ("def f():\n    global g\n    a\n", "def f():\n    global g\n    new()\n    a\n"),
        ("def f(): return 1\n", "def f():\n    new()\n    return 1\n"),
        ("@d\ndef f():\n  # first\n  a\n", "@d\ndef f():\n  new()\n  # first\n  a\n"),
    ],
)
def test_at_start(bench: Make, before: str, after: str) -> None:
    draft = bench(before)
    function = draft.tree.body[0]
    statements.insert_at_start(draft, function, "new()")
    assert draft.result() == after


@pytest.mark.parametrize(
    ("before", "doomed", "after"),
    [
        ("a\nb\n", ["a"], "b\n"),
        ("a\nb", ["b"], "a\n"),
        ("a\nb  # why\nc\n", ["b"], "a\n# why\nc\n"),
        ("a; b; c\n", ["a"], "b; c\n"),
        ("a; b; c\n", ["b"], "a; c\n"),
        ("a\n\nb\n\nc\n", ["b"], "a\n\nc\n"),
        ("a\n\nb\nc\n\n\nd\n", ["b", "c"], "a\n\n\nd\n"),
        ("a\nb\n\nc\n", ["b"], "a\n\nc\n"),
        ("if x:\n    a\n\n    b\n\nc\n", ["b"], "if x:\n    a\n\n\nc\n"),
        ("# above\na; b  # note\nc\n", ["a", "b"], "# above\n# note\nc\n"),
        ("a; b; c\n", ["c"], "a\n".replace("a", "a; b")),
        ("a; b;\n", ["b"], "a;\n"),
        ("if x:\n    a  # note\n", ["a"], "if x:\n    pass  # note\n"),
        ("if x: a; b\n", ["a", "b"], "if x: pass\n"),
        ("if x:\n    a\n    b\nc\n", ["a", "b"], "if x:\n    pass\nc\n"),
        ("f(1,\n  2)\nb\n", ["f"], "b\n"),
        ("if x:\r\n    a\r\n    b\r\n", ["b"], "if x:\r\n    a\r\n"),
    ],
)
def test_remove(bench: Make, before: str, doomed: list[str], after: str) -> None:
    draft = bench(before)
    statements.remove(draft, *map(draft.find, doomed))
    assert draft.result() == after


@pytest.mark.parametrize(
    ("before", "target", "moved", "after"),
    [
        ("if x:\n    a\n    b\n", "if", ["a"], "a\nif x:\n    b\n"),
        (
            "if x:\n    # why\n    a  # note\n    b\n",
            "if",
            ["a"],
            "# why\na  # note\nif x:\n    b\n",
        ),
        ("if x:\n    # why\n    a\n", "if", ["a"], "# why\na\nif x:\n    pass\n"),
        ("if x:\n\tf(1,\n\t  2)\n\tb\n", "if", ["f"], "f(1,\n  2)\nif x:\n\tb\n"),
        ("if x:\n  s = '''\n  in\n'''\n  b\n", "if", ["s"], "s = '''\n  in\n'''\nif x:\n  b\n"),
        ("if x: a; b\n", "if", ["a"], "a\nif x: b\n"),
        ("if x:\r\n    a; b\r\n", "if", ["b"], "b\r\nif x:\r\n    a\r\n"),
        ("if x:\n    a\n    b", "if", ["b"], "b\nif x:\n    a\n"),
    ],
)
def test_move(bench: Make, before: str, target: str, moved: list[str], after: str) -> None:
    draft = bench(before)
    statements.move_before(draft, draft.find(target), *map(draft.find, moved))
    assert draft.result() == after


@pytest.mark.parametrize(
    ("before", "wrapped", "after"),
    [
        ("a\nb\n", ["a", "b"], "if g:\n    a\n    b\n"),
        ("\tf(1,\n\t  2)\n", ["f"], "\tif g:\n\t\tf(1,\n\t\t  2)\n"),
        ("s = '''\nx\n'''\n", ["s"], "if g:\n    s = '''\nx\n'''\n"),
        ("if x: a; b\n", ["a", "b"], "if x:\n    if g:\n        a; b\n"),
        ("a\n\n# why\nb\n", ["a", "b"], "if g:\n    a\n\n    # why\n    b\n"),
        ("a\r\nb", ["b"], "a\r\nif g:\r\n    b"),
    ],
)
def test_wrap(bench: Make, before: str, wrapped: list[str], after: str) -> None:
    inside = before.startswith("\t")
    draft = bench(f"def f():\n{before}" if inside else before)
    statements.wrap(draft, "if g:", *map(draft.find, wrapped))
    assert draft.result() == (f"def f():\n{after}" if inside else after)


def test_an_elif_has_nothing_before_it(bench: Make) -> None:
    draft = bench("if a:\n    b\nelif c:\n    d\n")
    chain = draft.tree.body[0]
    assert isinstance(chain, cst.If)
    assert isinstance(chain.orelse, cst.If)
    with pytest.raises(CannotFix):
        statements.insert_before(draft, chain.orelse, "new()")


def test_a_wrapped_part_of_a_line_is_left_alone(bench: Make) -> None:
    draft = bench("a; b\n")
    with pytest.raises(CannotFix):
        statements.wrap(draft, "if g:", draft.find("b"))
