"""The scripts of examples/ really run, and a few of them as a user would start them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from distlint.harness.cluster import Cluster, missing
from tests.support import ROOT

EXAMPLES = ROOT / "examples"
STYLES = {"nanogpt": (), "accelerate": ("accelerate",), "lightning": ("lightning",)}


def need(style: str) -> None:
    reason = missing(STYLES[style])
    if reason is not None:
        pytest.skip(reason)


@pytest.mark.parametrize("style", STYLES)
def test_correct_script_finishes(cluster: Cluster, style: str) -> None:
    need(style)
    script = EXAMPLES / f"{style}_style" / "correct.py"
    outcome = cluster.run(script=script, needs=STYLES[style], limit=30)
    assert outcome.effect == "finishes", str(outcome)


@pytest.mark.parametrize("style", STYLES)
def test_buggy_script_hangs(cluster: Cluster, style: str) -> None:
    need(style)
    script = EXAMPLES / f"{style}_style" / "buggy.py"
    outcome = cluster.run(script=script, needs=STYLES[style], limit=30)
    assert outcome.effect == "hang", str(outcome)


@pytest.mark.parametrize(
    ("style", "kind"), [("nanogpt", "correct"), ("nanogpt", "buggy"), ("accelerate", "correct")]
)
@pytest.mark.campaign
def test_with_torchrun(style: str, kind: str) -> None:
    need(style)
    run = launched(EXAMPLES / f"{style}_style" / f"{kind}.py")
    if TEARDOWN in run.stderr:
        run = launched(EXAMPLES / f"{style}_style" / f"{kind}.py")
    assert (run.returncode == 0) == (kind == "correct"), run.stdout + run.stderr


TEARDOWN = "terminate called without an active exception"
"""What gloo says in the rare case that its threads outlive the interpreter; no fault of scripts."""


def launched(script: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.run(
        [*command, "--nproc-per-node", "2", str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
        check=False,
    )
