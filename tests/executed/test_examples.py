"""Every example does what its rule says: the bad ones hang, fail or give wrong data under gloo.

So do the scripts that the static tests use as traps and as bugs.
"""

from __future__ import annotations

import pytest

from distlint.harness.cluster import Outcome
from tests.executed.cases import Case, examples, of_folder


@pytest.mark.parametrize(
    "case", examples("bad") + of_folder("bugs") + of_folder("misses"), ids=lambda case: case.label
)
def test_bad_script_shows_its_effect(case: Case, outcome: Outcome) -> None:
    shown = outcome.effect
    if shown == "finishes" and outcome.crossed:
        shown = "wrong data"
    assert shown in case.effect.split(" or "), str(outcome)


@pytest.mark.parametrize(
    "case",
    [
        *(pytest.param(case, marks=pytest.mark.campaign) for case in examples("good")),
        *of_folder("traps"),
        *of_folder("silent"),
    ],
    ids=lambda case: case.label,
)
def test_good_script_finishes(case: Case, outcome: Outcome) -> None:
    assert case.effect == "finishes"
    assert outcome.effect == "finishes", str(outcome)


@pytest.mark.parametrize(
    "case",
    examples("bad", static=True)
    + examples("good", static=True)
    + of_folder("bugs", static=True)
    + of_folder("traps", static=True),
    ids=lambda case: case.label,
)
def test_a_script_that_does_not_run_says_why(case: Case) -> None:
    assert case.why_static
    if case.file.endswith(".py"):
        compile(case.source, case.label, "exec")
