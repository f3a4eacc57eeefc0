"""The examples of every rule: the bad ones give the marked findings, the good ones none."""

from __future__ import annotations

import pytest

from distlint.rules.base import Example
from distlint.rules.registry import rules
from tests.support import about_hangs, expected, findings

RULES = [code for code in rules() if not code.startswith("DST0")]


def examples(kind: str) -> list[object]:
    return [
        pytest.param(code, example, id=f"{code}-{example.title}")
        for code in RULES
        for example in getattr(rules()[code], kind)
    ]


@pytest.mark.parametrize(("code", "example"), examples("bad"))
def test_bad_example_is_reported(code: str, example: Example) -> None:
    marks = expected(example.code)
    assert {mark for _, mark in marks} == {code}
    assert [each for each in findings(example.code) if each[1][:4] == code[:4]] == marks


@pytest.mark.parametrize(("code", "example"), examples("good"))
def test_good_example_is_silent(code: str, example: Example) -> None:
    assert expected(example.code) == []
    found = findings(example.code)
    assert about_hangs(found) + [mark for mark in found if mark[1] == code] == []


@pytest.mark.parametrize("code", RULES)
def test_documentation_has_its_parts(code: str) -> None:
    text = rules()[code].documentation()
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "## What it finds",
        "## Why it matters",
        "## What to do",
        "## When it is silent",
    ]
    assert rules()[code].summary().endswith(".")
