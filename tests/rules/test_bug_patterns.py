"""Bugs as they were reported in real projects, one script for each mechanism: all are found."""

from __future__ import annotations

import pytest

from distlint.engine.trial import marks as expected
from tests.rules.scripts import Script, scripts
from tests.support import about_hangs, findings

BUGS = scripts("bugs")
MISSES = scripts("misses")


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_is_found(bug: Script) -> None:
    marks = expected(bug.source)
    assert marks
    found = findings(bug.source)
    assert [mark for mark in marks if mark not in found] == [], f"found only {found}"


@pytest.mark.xfail(strict=True, reason="known misses: one that is found moves to bugs/")
@pytest.mark.parametrize("bug", MISSES, ids=lambda bug: bug.name)
def test_known_miss_is_found(bug: Script) -> None:
    test_bug_is_found(bug)


OWN_LOSS = "loss = train_one_epoch(model, loader, optimizer, log_every)"
SHARED = """\
def shared(value):
    tensor = torch.tensor([value])
    dist.all_reduce(tensor)
    return tensor.item()


def main("""


@pytest.mark.parametrize(
    "script",
    [each for each in BUGS + MISSES if OWN_LOSS in each.source],
    ids=lambda each: each.name,
)
def test_a_stop_on_a_loss_that_all_ranks_share_is_none(script: Script) -> None:
    shares = script.source.replace(OWN_LOSS, OWN_LOSS.replace("= ", "= shared(") + ")")
    assert about_hangs(findings(shares.replace("def main(", SHARED))) == []
