"""The measuring of phases, which finds what it times by name."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest


@pytest.mark.campaign
def test_each_phase_is_entered() -> None:
    command = [sys.executable, "-m", "benchmarks.phases", "examples"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    spent = dict(re.findall(r"^(\w[\w ]*?) +([\d.]+) CPU s", ran.stdout, re.MULTILINE))
    assert spent.keys() >= {"parse", "lower", "slices", "walk", "replay", "source rules"}
    # some clocks tick every few milliseconds, which is more than the others take here
    assert all(float(spent[phase]) > 0 for phase in ("walk", "replay")), ran.stdout
