"""Examples that need an interpreter of their own: torch as it is imported, and nothing recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.executed.cases import Case, examples

pytestmark = pytest.mark.campaign

HERE = "a fresh interpreter"
ALONE = {
    "RANK": "0",
    "LOCAL_RANK": "0",
    "WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1",
    "GLOO_SOCKET_IFNAME": "lo",
}
SAID = {
    "DST507": "timedelta",
    "DST508": "the level is as it was",
    "DST701": "torch._dynamo",
    "DST702": "nothing was compiled",
}


def cases(kind: str) -> list[Case]:
    return [case for case in examples(kind, static=True) if HERE in case.why_static]


def run(case: Case, folder: Path) -> subprocess.CompletedProcess[str]:
    """The example as one process that is all there is of its job."""
    script = folder / "script.py"
    script.write_text(case.source)
    environment = {**os.environ, **ALONE, "MASTER_PORT": "0"}
    return subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("case", cases("bad"), ids=lambda case: case.label)
def test_bad_example_fails(case: Case, tmp_path: Path) -> None:
    done = run(case, tmp_path)
    assert done.returncode == 1
    assert SAID[case.code] in done.stderr


@pytest.mark.parametrize("case", cases("good"), ids=lambda case: case.label)
def test_good_example_finishes(case: Case, tmp_path: Path) -> None:
    done = run(case, tmp_path)
    assert done.returncode == 0, done.stderr
