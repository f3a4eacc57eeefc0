"""What fixes make of the bad scripts: run before they hang or fail, run after they finish.

The scripts before are those of test_examples, which asserts their effects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from distlint.harness.cluster import Outcome
from distlint.rules.registry import rules
from tests.executed.cases import Case, examples, of_folder
from tests.support import findings, repaired

RAISES = {"rank_local_skip__report_then_raise"}
"""What ends with an exception by design: after the fix on all ranks, without anybody waiting."""


ANEW = {"DST305-bad1-memory-runs-out-on-one-rank-fixed"}
"""Here a collective that nobody joins is given up on purpose, and the ranks begin anew."""


def fixed() -> Iterator[Case]:
    """The cases that fixes leave without any finding."""
    fixing = {c: rule for c, rule in rules().items() if _has_fixes(rule.documentation())}
    for case in examples("bad") + of_folder("bugs"):
        if case.code in fixing or case.code == "bugs":
            preview = case.code in fixing and fixing[case.code].preview
            text = repaired(case.source, preview=preview)
            if text != case.source and not _left(text, case.code):
                label = f"{case.label}-fixed"
                effect = "fail" if case.label in RAISES else "finishes"
                yield replace(case, label=label, source=text, effect=effect)


def _left(text: str, code: str) -> list[tuple[int, str]]:
    """What is still reported: by rules that are on, and by the one that the example is of."""
    known = findings(text, preview=False)
    return known + [each for each in findings(text) if each[1] == code and each not in known]


def _has_fixes(text: str) -> bool:
    return "\n## Fix\n" in text and "\n## Fix\n\nNone: " not in text


@pytest.mark.parametrize("case", list(fixed()), ids=lambda case: case.label)
def test_a_fixed_script_finishes(case: Case, outcome: Outcome) -> None:
    if case.label in ANEW:
        assert [rank.exit for rank in outcome.ranks] == [0] * case.ranks, f"{outcome}"
        return
    assert outcome.effect == case.effect, f"{outcome}\n{case.source}"
    assert not outcome.crossed, f"{outcome}\n{case.source}"
