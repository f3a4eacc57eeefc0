"""What fixes make of the bad scripts: run before they hang or fail, run after they finish.

The scripts before are those of test_examples, which asserts their effects.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.harness.cluster import Cluster
from distlint.rules.registry import rules
from tests.executed.cases import Case, examples, of_folder
from tests.support import findings, repaired

pytestmark = pytest.mark.campaign

RAISES = {"rank_local_skip__report_then_raise"}
"""What ends with an exception by design: after the fix on all ranks, none of which waits."""

STARTS_OVER = {"DST305-bad1-memory-runs-out-on-one-rank"}
"""Here a collective that no other rank joins is given up on purpose, and the ranks begin again."""

UNFIXED = frozenset(Path(__file__).with_name("unfixed.txt").read_text().splitlines())
"""The scripts that no fix leaves without a finding: bad examples by number, bugs by name."""


def listed(case: Case) -> str:
    """What a script is called in the list; an example whatever its title is."""
    return case.label if case.code == "bugs" else "-".join(case.label.split("-")[:2])


def fixable() -> list[Case]:
    """The bad scripts of rules with a fix."""
    return [
        case
        for case in examples("bad") + of_folder("bugs")
        if case.code == "bugs"
        or "\n## Fix safety\n\nNone: " not in rules()[case.code].documentation()
    ]


def fixed(case: Case) -> str | None:
    """The script after all its fixes, if they leave it without a finding."""
    preview = case.code != "bugs" and rules()[case.code].preview
    text = repaired(case.source, preview=preview)
    own = [each for each in findings(text) if each[1] == case.code]
    return None if text == case.source or own or findings(text, preview=False) else text


@pytest.mark.parametrize(
    "case",
    [case for case in fixable() if listed(case) not in UNFIXED],
    ids=lambda case: f"{case.label}-fixed",
)
def test_a_fixed_script_finishes(case: Case, cluster: Cluster) -> None:
    text = fixed(case)
    assert text is not None
    outcome = cluster.run(text, ranks=case.ranks, needs=case.needs, name=case.code.lower())
    if case.label in STARTS_OVER:
        assert [rank.exit for rank in outcome.ranks] == [0] * case.ranks, f"{outcome}"
        return
    effect = "fail" if case.label in RAISES else "finishes"
    assert outcome.effect == effect, f"{outcome}\n{text}"
    assert not outcome.crossed, f"{outcome}\n{text}"


@pytest.mark.parametrize(
    "case",
    [case for case in fixable() if listed(case) in UNFIXED],
    ids=lambda case: f"{case.label}-unfixed",
)
def test_a_script_without_a_fix_is_listed(case: Case) -> None:
    assert fixed(case) is None, "take it out of unfixed.txt"


def test_the_list_names_scripts_that_there_are() -> None:
    assert {listed(case) for case in fixable()} >= UNFIXED
