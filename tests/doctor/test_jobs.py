"""What runs processes: the smoke test, the ranks of a job, and that nothing of it stays behind."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distlint.doctor import jobs
from distlint.doctor.machine import Machine

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="reduces for real"
)


@needs_torch
@pytest.mark.campaign
def test_a_real_all_reduce() -> None:
    rows = jobs.smoke(Machine(), 2, bench=True)
    assert [(row.name, row.verdict) for row in rows] == [("smoke", "ok"), ("bench", "info")]


@needs_torch
@pytest.mark.campaign
def test_the_ranks_of_a_job(tmp_path: Path) -> None:
    """Rank 1 has another variable; only rank 0 speaks, and both end alike."""
    script = tmp_path / "rank.py"
    script.write_text(
        "import os, sys\n"
        "if os.environ['RANK'] == '1':\n"
        "    os.environ['NCCL_DEBUG'] = 'INFO'\n"
        "from distlint.cli import main\n"
        "status = main(['doctor', '--ranks', '--json'])\n"
        "open(f\"status{os.environ['RANK']}\", 'w').write(str(status))\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    finished = subprocess.run(
        [*command, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    (row,) = json.loads(finished.stdout)["checks"]
    assert row["verdict"] == "warning"
    assert row["looked_at"] == "$NCCL_DEBUG"
    assert row["found"] == "missing on rank 0; INFO on rank 1"
    assert [(tmp_path / f"status{rank}").read_text() for rank in (0, 1)] == ["1", "0"]


@needs_torch
@pytest.mark.campaign
def test_a_rank_that_does_not_come() -> None:
    """Without torchrun rank 0 keeps the store, and names who did not write to it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    job = {"WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    (row,) = jobs.ranks(Machine({**os.environ, **job, "RANK": "0"}), limit=2) or ()
    assert (row.verdict, row.found) == ("error", "no response from ranks 1, 2")


@needs_torch
@pytest.mark.campaign
def test_options_of_torchrun_in_the_environment() -> None:
    """PET_NNODES=2 would make the smoke test wait for another node."""
    (row,) = jobs.smoke(Machine({**os.environ, "PET_NNODES": "2"}), 2)
    assert row.verdict == "ok"


@needs_torch
@pytest.mark.campaign
def test_a_smoke_test_that_fails_says_why() -> None:
    (row,) = jobs.smoke(Machine({**os.environ, "GLOO_SOCKET_IFNAME": "nosuch"}), 2)
    assert row.verdict == "error"
    assert "nosuch" in row.found
    assert "Root Cause" not in row.found


def test_outside_of_a_job() -> None:
    rows = jobs.ranks(Machine({}))
    assert rows is not None
    assert rows[0].verdict == "error"
    assert "RANK" in rows[0].found


def test_ranks_that_do_not_answer() -> None:
    rows = jobs.compared({"0": {"python": "3.11.7"}, "1": None}, "x")
    assert [row.verdict for row in rows] == ["error"]
    assert "ranks 1" in rows[0].found


def test_secrets_do_not_travel_into_what_is_shown() -> None:
    found = {"0": {"$DS_API_KEY": "abc"}, "1": {"$DS_API_KEY": "xyz"}}
    (row,) = jobs.compared(found, "x")
    assert "abc" not in row.found
    assert "xyz" not in row.found


def test_a_process_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    note = tmp_path / "child"
    child = f"import time; open({str(note)!r}, 'w').write('x'); time.sleep(60)"
    code = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True)\n"
        "time.sleep(60)\n"
    )
    start = time.monotonic()
    status, _ = jobs._bounded([sys.executable, "-c", code], 3.0, {})
    assert status is None
    assert time.monotonic() - start < 20
    assert note.exists()
    deadline = time.monotonic() + 10  # for the system to take away what was killed
    while (left := running(str(note))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left


def running(mark: str) -> list[Path]:
    """The processes whose command holds a text."""
    found = []
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark.encode() in cmdline.read_bytes():
                found.append(cmdline)
    return found


def test_without_torch() -> None:
    machine = Machine({})
    machine.__dict__["packages"] = {}
    (row,) = jobs.smoke(machine, 2)
    assert (row.verdict, row.fix) == ("skipped", "pip install torch")
