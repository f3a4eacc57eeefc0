"""What failing programs really print, as ``python -m benchmarks.failing_jobs --record`` kept it."""

from __future__ import annotations

import importlib.util
import json

import pytest

from benchmarks.failing_jobs import JOBS, RECORDED, matches, run
from distlint.diagnose.report import as_json
from tests.diagnose.conftest import Logs

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="starts programs that import torch"
)


def test_every_job_is_recorded() -> None:
    assert {path.stem for path in RECORDED.glob("*.log")} == JOBS.keys()
    assert len({job.expected for job in JOBS.values()}) >= 25


@pytest.mark.parametrize("name", JOBS)
def test_recorded_output_is_diagnosed(name: str, logs: Logs) -> None:
    answer = json.loads(as_json(logs.answer(RECORDED / f"{name}.log")))
    assert matches(JOBS[name], answer), answer["cause"]
    assert answer["level"] in ("error", "warning", "info")


@needs_torch
@pytest.mark.parametrize("name", ["rank_branch", "no_launcher"])
@pytest.mark.campaign
def test_a_program_that_fails_here_and_now(name: str) -> None:
    outcome = run(JOBS[name])
    assert outcome.right(JOBS[name]), outcome.text


@pytest.mark.campaign
@pytest.mark.parametrize("options", [[], ["--gzip"], ["--debug"]])
def test_the_benchmark_of_large_logs_names_the_right_rank(options: list[str]) -> None:
    from benchmarks import large_log

    assert large_log.main(["--size", "3", "--ranks", "64", *options]) == 0
