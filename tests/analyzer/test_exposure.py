"""What counts as read later: the rest of a state may differ between ranks and ways unseen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from distlint.analyzer import ir
from distlint.analyzer.project.project import Project
from distlint.analyzer.static.slicing import RUN
from distlint.analyzer.symbolic.live_variables import Jumps, LiveVariables
from distlint.analyzer.symbolic.state import Frame
from distlint.source.document import Document


class _Everything:
    """A relevance under which every statement is run and every name can decide something."""

    names = frozenset("abc")

    def of(self, module: Any, statement: ir.Stmt) -> str:
        return RUN

    def needed(self, frame: Frame, variables: frozenset[str]) -> frozenset[str]:
        return variables & self.names


def read(text: str, wanted: str = "a b c") -> str:
    """Which of ``wanted`` the body of a function may read before it binds them."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    path = Path("script.py")
    module = Project(path.parent).add(Document.from_bytes(f"def f():\n{body}".encode(), path))
    (function, *_) = module.functions
    frame = Frame(1, module, function, 0)
    live_variables = LiveVariables(_Everything())  # type: ignore[arg-type]
    names = live_variables.block(function.body, frozenset(), Jumps(), frame)[0]
    names |= live_variables.captured(frame)
    return " ".join(name for name in wanted.split() if name in names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = b\nprint(a)", "b"),
        ("a += 1", "a"),
        ("a.x = 1\nb[c] = 2", "a b c"),
        ("a, (b, *c) = f()\nprint(a, b, c)", ""),
        ("x.a = 1\nprint(x.a)", ""),
    ],
    ids=["bound first", "augmented", "attributes and items", "unpacked", "names of attributes"],
)
def test_assignments(text: str, expected: str) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if c:\n    a = 1\nprint(a)", "a c"),
        ("if c:\n    a = 1\nelse:\n    a = 2\nprint(a)", "c"),
        ("for a in b:\n    print(a)", "b"),
        ("for a in b:\n    pass\nprint(a)", "a b"),
        ("while c:\n    print(a)\n    a = 1", "a c"),
        ("while c:\n    a = 1\n    print(a)", "c"),
        ("while c:\n    if a:\n        break\n    b = 1\nprint(b)", "a b c"),
        ("while c:\n    b = 1\n    if b:\n        continue\n    print(a)\n    a = 2", "a c"),
        ("return 1\nprint(a)", ""),
    ],
    ids=[
        "on one arm", "on both arms", "loop variable", "loop variable afterwards",
        "in the turn before", "in the same turn", "after break", "after continue", "never reached",
    ],
)  # fmt: skip
def test_control_flow(text: str, expected: str) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("try:\n    a = f()\nexcept E:\n    pass\nprint(a)", "a"),
        ("try:\n    a = f()\n    b = g()\nexcept E:\n    print(a)\n    return", "a"),
        ("try:\n    return b\nfinally:\n    print(a)", "a b"),
        ("try:\n    pass\nexcept E as a:\n    print(a)", ""),
        ("with open(b) as a:\n    print(a)", "b"),
    ],
    ids=["failed before", "in the handler", "in finally", "the exception", "with"],
)
def test_ways_out(text: str, expected: str) -> None:
    assert read(text) == expected


def test_what_nested_functions_read_is_never_dead() -> None:
    assert read("a = 1\nb = 2\ndef g(b):\n    return a + b\nreturn g") == "a"
    assert read("a = 1\nreturn sorted(x, key=lambda b: a + b)") == "a"
