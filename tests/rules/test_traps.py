"""Legitimate code that looks like a bug: nothing is reported about its collectives."""

from __future__ import annotations

import pytest

from tests.rules.scripts import Script, scripts
from tests.support import about_hangs, findings

TRAPS = scripts("traps")


def test_all_traps_are_here() -> None:
    assert [trap.name[:3] for trap in TRAPS] == [f"T{number:02d}" for number in range(1, 45)]


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_trap_is_silent(trap: Script) -> None:
    assert about_hangs(findings(trap.source)) == []
