"""Legitimate code on which an earlier version raised a false alarm: nothing is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver
from tests.rules.scripts import Script, scripts
from tests.support import findings


@pytest.mark.parametrize("script", scripts("silent"), ids=lambda script: script.name)
def test_nothing_is_reported(script: Script) -> None:
    assert findings(script.source, preview=False) == []


ON_ONE_NODE = """\
import os

import torch.distributed as dist

dist.init_process_group("gloo")
if os.path.exists("cache.pt"):
    dist.barrier()
dist.destroy_process_group()
"""


def test_a_file_that_may_be_on_one_node_only_is_for_preview(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(ON_ONE_NODE)
    assert check_paths([script], Resolver()).findings == ()
    shown = check_paths([script], Resolver(Overrides(preview=True))).findings
    assert [finding.code for finding in shown] == ["DST103"]


def test_nothing_is_reported_behind_a_raise_on_all_ranks() -> None:
    """Whatever the option says, no rank comes to the collective."""
    script = """\
import argparse
import random

import torch.distributed as dist

args = argparse.ArgumentParser().parse_args()
if not args.final_eval or args.final_eval:
    raise RuntimeError("unexpected")
if random.random() > 0.9:
    dist.barrier()
"""
    assert findings(script) == []
