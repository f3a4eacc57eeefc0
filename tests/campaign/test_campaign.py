"""The machinery of the campaign, with stand-ins for the analyser."""

from __future__ import annotations

import pytest

from benchmarks.random_programs import campaign
from benchmarks.random_programs.generate import generate
from benchmarks.random_programs.oracle import judge
from benchmarks.verdict import Verdict


def always(answer: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "verdict", lambda _source: answer)


def test_a_blind_analyser_misses_all(monkeypatch: pytest.MonkeyPatch) -> None:
    always("aligned", monkeypatch)
    results = list(campaign.run(range(60), seed=1, limit=100))
    missed = [each for each in results if each.wrong]
    assert missed == [each for each in results if each.expected == "divergent"]
    assert f"{len(missed):13}" in campaign.table(results)


@pytest.mark.campaign
def test_an_anxious_analyser_is_contradicted_only_after_a_harder_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    always("divergent", monkeypatch)
    monkeypatch.setattr(campaign, "CONFIRMATION", 500)
    results = list(campaign.run(range(60), seed=1, limit=20))
    false = [each for each in results if each.wrong]
    assert false
    assert all(each.expected == "aligned" for each in false)
    assert all(
        each.executions == 500 or judge(generate(1, each.number).source).exhaustive
        for each in false
        if each.executions > 20
    )


def test_exhaustion_is_no_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    always("over-budget", monkeypatch)
    assert not any(each.wrong for each in campaign.run(range(30), seed=1, limit=50))


@pytest.mark.campaign
def test_disagreements_are_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    always("aligned", monkeypatch)
    number = next(r.number for r in campaign.run(range(60), seed=1, limit=100) if r.wrong)
    source = generate(1, number).source
    small = campaign.shrink(source, "divergent", "aligned", seconds=20)
    assert judge(small).verdict == "divergent"
    assert len(small.splitlines()) < min(30, len(source.splitlines()))
