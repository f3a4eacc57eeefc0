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


def test_a_prefix_lists_its_rules(capsys: Captured) -> None:
    assert cli.main(["rule", "DST1"]) == 0
    listed = capsys.readouterr().out
    assert listed.startswith(
        "  DST101  collective-in-rank-branch\n          A collective runs on some ranks"
    )
    assert listed.count("DST1") == sum(code.startswith("DST1") for code in rules())
    assert cli.main(["rule", "ALL", "--output-format", "json"]) == 0
    assert {rule["code"] for rule in json.loads(capsys.readouterr().out)} == set(rules())


def test_rules_in_preview_are_marked(capsys: Captured) -> None:
    assert cli.main(["rule", "DST3"]) == 0
    listed = capsys.readouterr().out
    assert "oom-retry-unsynced\n" in listed
    in_preview = [
        rule.name for code, rule in rules().items() if code[:4] == "DST3" and rule.preview
    ]
    assert [name for name in in_preview if f"{name} (preview)\n" not in listed] == []


def test_a_rule_to_come(capsys: Captured) -> None:
    assert cli.main(["rule", "empty-cache-in-loop"]) == 0
    assert capsys.readouterr().out.startswith("DST306 (empty-cache-in-loop) is reserved")


def test_no_such_rule(capsys: Captured) -> None:
    assert cli.main(["rule", "unsynced-brake"]) == 2
    assert "did you mean `unsynced-break`?" in capsys.readouterr().err


def test_in_colour(capsys: Captured) -> None:
    assert cli.main(["rule", "DST101", "--color", "always"]) == 0
    assert "\x1b[" in capsys.readouterr().out
