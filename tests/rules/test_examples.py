"""The examples of every rule, held against it by what users test theirs with."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from distlint.engine.check import Session
from distlint.engine.settings import Overrides, Resolver
from distlint.engine.trial import Trial, trials, untruths
from distlint.rules.registry import rules
from tests.support import about_hangs, findings

RULES = [code for code in rules() if not code.startswith("DST0")]

REFUSED = {
    ("DST213", "A DistributedSampler, prepared"): "it would introduce DST202",
    ("DST308", "The first window has one batch"): "remain after the fixes",
    ("DST406", "A guard that is not called"): "it would introduce DST512",
    ("DST822", "A number out of range, and words instead of numbers"): "it would introduce DST827",
    ("DST828", "Code instead of a file, and an option of another launcher"): "introduce DST824",
}
"""Examples whose fix is offered, tried, and taken back for what the analysis says of the result."""


@lru_cache(maxsize=1)
def session() -> Session:
    return Session(Resolver(Overrides(isolated=True), Path("/nowhere")))


@lru_cache(maxsize=1)
def tried(code: str) -> tuple[Trial, ...]:
    settings = session().resolver.of_folder(Path("/nowhere"))
    return tuple(trials(rules()[code], session(), settings))


@pytest.mark.parametrize(
    ("code", "index"),
    [
        pytest.param(code, index, id=f"{code}-{example.title}")
        for code, rule in rules().items()
        for index, example in enumerate((*rule.good, *rule.bad))
    ],
)
def test_an_example_is_as_it_should_be(code: str, index: int) -> None:
    trial = tried(code)[index]
    refusal = REFUSED.get((code, trial.example.title))
    if refusal is None:
        assert trial.problems == ()
    else:
        (problem,) = trial.problems
        assert refusal in problem


@pytest.mark.parametrize("code", RULES)
def test_the_documentation_says_which_fixes_there_are(code: str) -> None:
    section = rules()[code].documentation().partition("\n## Fix safety\n")[2].partition("\n## ")[0]
    assert section, "a section about fixes, if only why there is none"
    assert untruths(rules()[code], tried(code)) == []
    offers = any(trial.offered for trial in tried(code))
    assert offers != section.startswith("\nNone: ")


@pytest.mark.parametrize("code", RULES)
def test_good_examples_need_no_configuration(code: str) -> None:
    """Without preview they are silent as well, and so is everything about hangs."""
    for example in rules()[code].good:
        found = findings(example.code, example.file)
        assert about_hangs(found) + [mark for mark in found if mark[1] == code] == []
