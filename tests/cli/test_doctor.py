"""``distlint doctor``: its options, output and exit status."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_startup import imported

QUIET = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29931"}


def test_the_report(distlint: Run) -> None:
    result = distlint("doctor", NCCL_TIMEOUT="300")
    assert result.returncode == 1
    assert "NCCL_TIMEOUT: no software reads this variable" in result.stdout
    assert "unset NCCL_TIMEOUT; use init_process_group" in " ".join(result.stdout.split())


def test_json(distlint: Run) -> None:
    document = json.loads(distlint("doctor", "--json", NCCL_TIMEOUT="300").stdout)
    assert document["format"] == 1
    names = {row["name"] for row in document["checks"]}
    assert {"kernel", "versions", "gpu", "launch", "rendezvous", "port", "ifname", "env"} <= names
    row = next(row for row in document["checks"] if row["looked_at"] == "$NCCL_TIMEOUT")
    assert (row["verdict"], row["rules"]) == ("error", ["DST820"])
    assert all(row["looked_at"] and row["found"] for row in document["checks"])


def test_only_what_is_wrong(distlint: Run) -> None:
    result = distlint("doctor", "--quiet", NCCL_TIMEOUT="300", **QUIET)
    assert all(
        not line.startswith(("ok", "info", "skipped")) for line in result.stdout.splitlines()
    )


def test_options_for_more(distlint: Run, project: Path) -> None:
    result = distlint("doctor", "--json", "--data", ".", "--checkpoint", "gone")
    rows = {row["name"]: row["verdict"] for row in json.loads(result.stdout)["checks"]}
    assert rows["data"] in ("ok", "info")
    assert rows["checkpoint"] == "error"
    assert result.returncode == 1


def test_a_report_for_others(distlint: Run, project: Path) -> None:
    result = distlint("doctor", "--report", "report.md", WANDB_API_KEY="hush")
    assert "Report written to report.md" in result.stdout
    text = (project / "report.md").read_text()
    assert text.startswith("# distlint doctor")
    assert "hush" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--hostfile", "none"], "no such file: none"),
        (["--smoke", "-n", "0"], "invalid number of processes: 0"),
        (["--timeout", "soon"], "invalid number of seconds: soon"),
    ],
)
def test_what_cannot_be_done(arguments: list[str], message: str, distlint: Run) -> None:
    result = distlint("doctor", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_neither_torch_nor_the_analyser_is_imported() -> None:
    assert imported(["doctor", "--json"]).isdisjoint({"torch", "libcst", "rich", "multiprocessing"})


def test_it_is_quick(process: Run) -> None:
    start = time.monotonic()
    process("doctor", **QUIET)
    assert time.monotonic() - start < 6
