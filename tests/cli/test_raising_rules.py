"""A rule about settings that raises: it is named, and the other findings stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from distlint.rules.configuration.debug_env_left_on import DebugVariableLeftOn
from distlint.rules.settings import Page
from distlint.source.finding import Finding
from tests.cli.conftest import Run
from tests.notebooks import notebook

LAUNCH = """\
export NCCL_ASYNC_ERROR_HANDLING=1
export CUDA_LAUNCH_BLOCKING=1
torchrun --nproc_per_node 2 train.py
"""
SCRIPT = """\
import os
import torch.distributed as dist

os.environ["NCCL_ASYNC_ERROR_HANDLING"] = "1"
dist.init_process_group("nccl")
if dist.get_rank() == 0:
    dist.barrier()
"""


def raising(rule: DebugVariableLeftOn, page: Page) -> Iterator[Finding]:
    raise LookupError("no such key")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DebugVariableLeftOn, "check", raising)


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    ("file", "text", "others"),
    [
        ("launch.sh", LAUNCH, {"DST821"}),
        ("train.py", SCRIPT, {"DST101", "DST821"}),
        ("train.ipynb", notebook(SCRIPT), {"DST101", "DST821"}),
    ],
)
def test_it_is_named_and_the_other_findings_stand(
    project: Path, distlint: Run, file: str, text: str, others: set[str]
) -> None:
    (project / file).write_text(text)
    result = distlint("check", "--output-format", "json")
    assert result.returncode == 2
    assert {entry["code"] for entry in json.loads(result.stdout)} == others
    message = f"{file}: the rule DST825 (debug-env-left-on) raised LookupError: no such key"
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert "Traceback" in distlint("check", "--verbose").stderr
    assert distlint("check", "--ignore", "DST825").returncode == 1  # a rule that is off is not run


@pytest.mark.usefixtures("broken")
def test_its_suppression_comments_are_not_reported_as_unused(project: Path, distlint: Run) -> None:
    comment = "# distlint: ignore[DST825]"
    (project / "launch.sh").write_text(f"{comment}\nexport OWN=1\ntorchrun train.py\n")
    assert "DST001" not in distlint("check").stdout


def test_no_fix_is_applied_where_it_raises_on_the_result(
    project: Path, distlint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = DebugVariableLeftOn.check

    def sometimes(rule: DebugVariableLeftOn, page: Page) -> list[Finding]:
        if "export CUDA" not in page.text:
            raise LookupError("no such key")
        return list(check(rule, page))

    monkeypatch.setattr(DebugVariableLeftOn, "check", sometimes)
    launch = project / "scripts" / "launch.sh"
    launch.parent.mkdir()
    launch.write_text(LAUNCH)
    result = distlint("fix", "--unsafe-fixes", "--select", "DST825")
    assert "could not be fully analysed" in result.stderr
    assert launch.read_text() == LAUNCH
