"""The examples of every rule: the bad ones give the marked findings, the good ones none."""

from __future__ import annotations

import pytest

from distlint.rules.base import Example
from distlint.rules.registry import rules
from tests.support import about_hangs, expected, findings, fixes

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
    assert [
        each for each in findings(example.code, example.file) if each[1][:4] == code[:4]
    ] == marks


@pytest.mark.parametrize(("code", "example"), examples("good"))
def test_good_example_is_silent(code: str, example: Example) -> None:
    assert expected(example.code) == []
    found = findings(example.code, example.file)
    assert about_hangs(found) + [mark for mark in found if mark[1] == code] == []


@pytest.mark.parametrize("code", [code for code in rules() if code > "DST1"])
def test_a_rule_with_fixes_says_whether_they_are_safe(code: str) -> None:
    section = rules()[code].documentation().partition("\n## Fix\n")[2].partition("\n## ")[0]
    assert section, "a section about fixes, if only why there is none"
    said = {word for word in ("Safe", "Unsafe", "Shown only") if f"{word}:" in section}
    given = {
        fix.applicability
        for example in rules()[code].bad
        for fix in fixes(example.code, example.file, code=code)
    }
    words = {"safe": "Safe", "unsafe": "Unsafe", "displayonly": "Shown only"}
    assert said == {words[applicability] for applicability in given}
    assert bool(said) != section.startswith("\nNone: ")


@pytest.mark.parametrize("code", RULES)
def test_documentation_has_its_parts(code: str) -> None:
    text = rules()[code].documentation()
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert [line for line in headings if line != "## Fix"] == [
        "## What it finds",
        "## Why it matters",
        "## What to do",
        "## When it is silent",
    ]
    assert rules()[code].summary().endswith(".")
