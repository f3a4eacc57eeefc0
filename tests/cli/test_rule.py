"""``distlint rule``: everything about a rule, by code or name."""

from __future__ import annotations

import json
import re

import pytest

from distlint import cli
from distlint.cli import options
from distlint.rules.registry import rules

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("word", ["DST101", "collective-in-rank-branch"])
def test_by_code_or_name(word: str, capsys: Captured) -> None:
    assert cli.main(["rule", word]) == 0
    page = capsys.readouterr().out
    assert page.startswith(
        "# collective-in-rank-branch (DST101)\n\nA collective is called on some ranks"
    )
    for heading in ("What is reported", "Why is this bad?", "Severity", "How to suppress"):
        assert f"\n## {heading}\n" in page


def test_examples_are_shown_when_asked_for_and_last(capsys: Captured) -> None:
    assert cli.main(["rule", "DST101"]) == 0
    short = capsys.readouterr().out
    assert len(short.splitlines()) < 80
    assert "## Examples that are reported" not in short
    assert "`distlint rule DST101 --examples`" in short
    assert cli.main(["rule", "DST101", "--examples"]) == 0
    page = capsys.readouterr().out
    reported, silent = (
        page.index("\n## Examples that are reported\n"),
        page.index("\n## Examples that are not reported\n"),
    )
    assert page.index("\n## How to suppress\n") < reported < silent
    assert "```python\nimport" in page
    assert "# expect:" not in page
    assert "--examples" not in page


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
        "  DST101  collective-in-rank-branch\n          A collective is called on some ranks"
    )
    assert listed.count("DST1") == sum(code.startswith("DST1") for code in rules())
    assert cli.main(["rule", "ALL", "--output-format", "json"]) == 0
    assert {rule["code"] for rule in json.loads(capsys.readouterr().out)} == set(rules())


@pytest.mark.parametrize("word", ["dst101", "Collective-In-Rank-Branch", "dst1", "all"])
def test_case_does_not_matter(word: str, capsys: Captured) -> None:
    assert cli.main(["rule", word]) == 0
    assert "collective-in-rank-branch" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["collective", "Sampler", "sync", "rank"])
def test_a_word_lists_the_rules_with_it_in_their_name(word: str, capsys: Captured) -> None:
    assert cli.main(["rule", word, "--output-format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {rule["code"] for rule in listed} == {
        code for code, rule in rules().items() if word.lower() in rule.name
    }
    assert cli.main(["rule", word]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {rule['name']}" in shown for rule in listed)


def test_a_word_that_no_name_has_is_looked_up_in_the_summaries(capsys: Captured) -> None:
    names = " ".join(rule.name for rule in rules().values())
    words = re.findall(r"\b[a-z]{6,}\b", rules()["DST101"].summary())
    word = next(word for word in words if word not in names)
    assert cli.main(["rule", word]) == 0
    assert "  DST101  collective-in-rank-branch\n" in capsys.readouterr().out


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


def test_a_terminal_without_colours_shows_no_markdown(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "drawn", lambda stream: True)
    assert cli.main(["rule", "DST101", "--color", "never"]) == 0
    page = capsys.readouterr().out
    assert "## " not in page
    assert "`" not in page
    assert "\x1b[3" not in page
