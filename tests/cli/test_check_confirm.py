"""``distlint check --confirm``: marks for the hangs that a script shows, in every format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from distlint.confirm import marks
from distlint.confirm.reproducers import Reproducer
from distlint.confirm.run import Confirmation
from distlint.harness import cluster
from distlint.harness.cluster import Effect
from tests.cli.conftest import BUGGY, Run

REASON = {"hang": "rank 0: stuck", "finishes": "the script finishes"}


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[Effect]:
    """How the scripts end that are run: all as the last one that the test adds."""
    effects: list[Effect] = []

    def confirmed(reproducers: Sequence[Reproducer]) -> list[Confirmation]:
        return [
            Confirmation(each, effects[-1] if each.script else None, (("rank 0", "stuck"),))
            for each in reproducers
        ]

    monkeypatch.setattr(marks, "confirmed", confirmed)
    monkeypatch.setattr(cluster, "missing", lambda needs=(): None)
    return effects


@pytest.mark.skipif(cluster.missing() is not None, reason="torch is not installed")
def test_a_hang_is_confirmed_under_gloo(distlint: Run, project: Path) -> None:
    (project / "train.py").write_text(BUGGY + "if dist.get_rank() == 1:\n    dist.barrier()\n")
    result = distlint("check", "--confirm", "train.py")
    assert result.returncode == 1
    assert "ranks diverge on `dist.get_rank() == 0` (confirmed)" in result.stdout
    note = " ".join(result.stdout.split())
    assert "= note: confirmed: rank 0: stuck in all_reduce (line 7: dist.all_reduce(x));" in note


def test_without_the_option_nothing_is_run(
    distlint: Run, project: Path, ends: list[Effect]
) -> None:
    (project / "train.py").write_text(BUGGY)
    assert "confirmed" not in distlint("check", "train.py").stdout


def test_what_finishes_is_one_severity_lower(
    distlint: Run, project: Path, ends: list[Effect]
) -> None:
    (project / "train.py").write_text(BUGGY)
    ends.append("finishes")
    result = distlint("check", "--confirm", "train.py")
    assert "warning[DST101]: ranks diverge on `dist.get_rank() == 0` (not confirmed)" in (
        result.stdout
    )
    assert "= note: not confirmed: the script finishes" in result.stdout
    assert result.returncode == 1
    assert distlint("check", "--confirm", "--fail-on", "error", "train.py").returncode == 0


@pytest.mark.parametrize("effect", ["hang", "finishes"])
@pytest.mark.parametrize(
    "form", ["concise", "full", "github", "gitlab", "html", "json", "junit", "rdjson", "sarif"]
)
def test_each_format_has_the_mark(
    distlint: Run, project: Path, ends: list[Effect], form: str, effect: Effect
) -> None:
    (project / "train.py").write_text(BUGGY)
    ends.append(effect)
    found = distlint("check", "--confirm", "--output-format", form, "train.py").stdout
    word = "confirmed" if effect == "hang" else "not confirmed"
    assert word in found
    if form in {"full", "html", "json", "sarif"}:
        assert REASON[effect] in found


def test_programs_read_the_verdict(distlint: Run, project: Path, ends: list[Effect]) -> None:
    (project / "train.py").write_text(BUGGY)
    ends.append("hang")
    (found,) = json.loads(
        distlint("check", "--confirm", "--output-format", "json", "train.py").stdout
    )
    assert found["confirmation"] == {"reason": "rank 0: stuck", "verdict": "confirmed"}
    assert found["message"] == "ranks diverge on `dist.get_rank() == 0`"
    (found,) = json.loads(distlint("check", "--output-format", "json", "train.py").stdout)
    assert found["confirmation"] is None
    sarif = json.loads(
        distlint("check", "--confirm", "--output-format", "sarif", "train.py").stdout
    )
    (result,) = sarif["runs"][0]["results"]
    assert result["properties"]["confirmation"]["verdict"] == "confirmed"


def test_a_merged_report_keeps_the_marks(distlint: Run, project: Path, ends: list[Effect]) -> None:
    (project / "train.py").write_text(BUGGY)
    ends.append("hang")
    distlint("check", "--confirm", "--output-format", "report", "-o", "one.json", "train.py")
    assert "(confirmed)" in distlint("merge", "one.json").stdout


def test_a_hang_in_a_notebook_has_no_script(
    distlint: Run, project: Path, ends: list[Effect]
) -> None:
    cell = {"cell_type": "code", "source": BUGGY, "metadata": {}, "outputs": []}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "train.ipynb").write_text(json.dumps(notebook))
    result = distlint("check", "--confirm", "train.ipynb")
    assert "= note: no script: it is found in a notebook" in result.stdout
    assert "error[DST101]" in result.stdout


def test_without_torch_a_line_says_so_and_nothing_else_changes(
    distlint: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "train.py").write_text(BUGGY)
    monkeypatch.setattr(cluster, "missing", lambda needs=(): "torch is not installed")
    result = distlint("check", "--confirm", "train.py")
    assert "--confirm executes scripts under gloo: torch is not installed" in result.stderr
    plain = distlint("check", "train.py")
    assert (result.stdout, result.returncode) == (plain.stdout, plain.returncode)


@pytest.mark.parametrize("other", ["--fix", "--watch", "--add-ignores"])
def test_what_does_not_go_together_is_refused(distlint: Run, project: Path, other: str) -> None:
    (project / "train.py").write_text(BUGGY)
    result = distlint("check", "--confirm", other, "train.py")
    assert result.returncode == 2
    assert "--confirm cannot be combined with" in result.stderr
