"""``distlint rule``: everything about a rule, by code or name."""

from __future__ import annotations

import json

import pytest

from distlint import cli
from distlint.rules.registry import rules

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("word", ["DST101", "collective-in-rank-branch"])
def test_by_code_or_name(word: str, capsys: Captured) -> None:
    assert cli.main(["rule", word]) == 0
    page = capsys.readouterr().out
    assert page.startswith(
        "# collective-in-rank-branch (DST101)\n\nA collective runs on some ranks"
    )
    for heading in ("What it finds", "Why it matters", "Severity", "Not reported", "Reported"):
        assert f"\n## {heading}\n" in page
    assert "```python\n" in page
    assert "# expect:" not in page


def test_all(capsys: Captured) -> None:
    assert cli.main(["rule", "--all"]) == 0
    page = capsys.readouterr().out
    assert all(f"# {rule.name} ({code})\n" in page for code, rule in rules().items())


def test_as_json(capsys: Captured) -> None:
    assert cli.main(["rule", "DST000", "--output-format", "json"]) == 0
    rule = json.loads(capsys.readouterr().out)
    assert rule["name"] == "syntax-error"
    assert rule["severity"] == "error"
    assert "expect" not in rule["bad"][0]["code"]
    assert cli.main(["rule", "--all", "--output-format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(rules())


def test_a_rule_to_come(capsys: Captured) -> None:
    assert cli.main(["rule", "empty-cache-in-loop"]) == 0
    assert capsys.readouterr().out.startswith("DST306 (empty-cache-in-loop) is reserved")


def test_no_such_rule(capsys: Captured) -> None:
    assert cli.main(["rule", "unsynced-brake"]) == 2
    assert "did you mean `unsynced-break`?" in capsys.readouterr().err


def test_in_colour(capsys: Captured) -> None:
    assert cli.main(["rule", "DST101", "--color", "always"]) == 0
    assert "\x1b[" in capsys.readouterr().out
