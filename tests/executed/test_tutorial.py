"""The script of the tutorial hangs, and finishes once it is repaired as the tutorial says."""

from __future__ import annotations

from distlint.harness.cluster import Cluster
from tests.docs.blocks import blocks
from tests.support import ROOT, repaired


def test_it_hangs_and_finishes_once_repaired(cluster: Cluster) -> None:
    shown = blocks(ROOT / "docs" / "tutorial.md")
    script = next(block.text for block in shown if block.title == "train.py")
    printed = [block.text for block in shown if block.text.startswith("step 0: ")]
    assert cluster.run(script).effect == "hang"
    outcome = cluster.run(repaired(script), limit=30)
    assert outcome.effect == "finishes", str(outcome)
    assert [outcome.ranks[0].out] == printed
