"""The benchmark that attacks the check notices what it looks for, and finds nothing in little."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ROOT

if sys.platform != "linux":
    pytest.skip("limits are those of Linux", allow_module_level=True)

from benchmarks import hostile


def spin(data: bytes) -> str:
    while True:
        pass


def fill(data: bytes) -> str:
    return str(len(bytearray(2 * hostile.MEMORY)))


def crash(data: bytes) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def fail(data: bytes) -> str:
    raise RecursionError("too deep")


@pytest.mark.parametrize(
    ("check", "wrong"),
    [
        (spin, "more than 1 CPU seconds"),
        (fill, "raised MemoryError: "),
        (crash, "died: SIGKILL"),
        (fail, "raised RecursionError: too deep"),
    ],
)
def test_each_way_to_fail_is_noticed(
    check: Callable[[bytes], str], wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hostile, "SECONDS", 1)
    monkeypatch.setattr(hostile, "check", check)
    process = hostile.Process()
    assert process.check(b"x = 1\n")[0] == wrong
    process.end()


def test_a_mutant_is_the_same_each_time() -> None:
    texts = ["x = 1\ny = 2\n", "def f():\n    return 3\n"]
    mutants = [hostile.mutant(number, 1, texts) for number in range(20)]
    assert mutants == [hostile.mutant(number, 1, texts) for number in range(20)]
    assert len({mutant.data for mutant in mutants}) > 15


@pytest.mark.campaign
def test_nothing_fails(tmp_path: Path) -> None:
    texts = hostile.read(ROOT / "examples")
    cases = (hostile.mutant(number, 1, texts) for number in range(200))
    outcome = hostile.run(cases, tmp_path)
    assert outcome.checked.total() == 200
    assert not outcome.failed.total()
