"""Every example does what its rule says: the bad ones hang, fail or give wrong data under gloo."""

from __future__ import annotations

import pytest

from tests.executed.cases import Case, examples
from tests.executed.cluster import Outcome


@pytest.mark.parametrize("case", examples("bad"), ids=lambda case: case.label)
def test_bad_example_shows_its_effect(case: Case, outcome: Outcome) -> None:
    shown = outcome.effect
    if shown == "finishes" and outcome.crossed:
        shown = "wrong data"
    assert shown == case.effect, str(outcome)


@pytest.mark.parametrize("case", examples("good"), ids=lambda case: case.label)
def test_good_example_finishes(case: Case, outcome: Outcome) -> None:
    assert case.effect == "finishes"
    assert outcome.effect == "finishes", str(outcome)


@pytest.mark.parametrize(
    "case",
    examples("bad", static=True) + examples("good", static=True),
    ids=lambda case: case.label,
)
def test_an_example_that_does_not_run_says_why(case: Case) -> None:
    assert case.why_static
    compile(case.source, case.label, "exec")
