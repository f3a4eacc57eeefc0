"""DST002: what is said about entry points that were not analysed in full, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from distlint.rules.general.incomplete_analysis import IncompleteAnalysis
from tests.cli.conftest import BUGGY, Run

(EXAMPLE,) = IncompleteAnalysis.bad
SCRIPT = EXAMPLE.code.replace("  # expect: DST002", "")
ROW = 1 + SCRIPT.splitlines().index('dist.init_process_group("gloo")')
OFF = ("--ignore", "DST503")


def in_function(name: str) -> str:
    """The same script, run by a function."""
    head, _, tail = SCRIPT.partition("dist.init_process_group")
    lines = ("dist.init_process_group" + tail).splitlines()
    return head + f"def {name}():\n" + "".join(f"    {line}\n" for line in lines)


@pytest.fixture(autouse=True)
def script(project: Path) -> Path:
    path = project / "train.py"
    path.write_text(SCRIPT)
    return path


def test_a_note_ends_a_report_for_people(distlint: Run) -> None:
    result = distlint("check", *OFF)
    assert result.returncode == 0
    assert "DST002" not in result.stdout
    assert result.stdout.startswith("No findings (checked 1 file).\n")
    note = result.stdout[result.stdout.index("note:") :].replace("\n     ", "")
    assert note.startswith("note: the analysis of 1 entry point is incomplete")
    assert f"the module body (train.py:{ROW}:1)" in note


def test_verbose_tells_why(distlint: Run) -> None:
    assert "nested too deeply" in distlint("check", *OFF, "-v").stdout
    assert "nested too deeply" not in distlint("check", *OFF).stdout
    assert distlint("check", *OFF, "-q").stdout == ""


def test_the_note_names_a_few_and_verbose_all(distlint: Run, project: Path) -> None:
    for number in range(5):
        (project / f"n{number}.py").write_text(in_function(f"main_{number}"))
    short, long = (
        " ".join(distlint("check", *OFF, *options).stdout.split()) for options in ((), ("-v",))
    )
    assert "the analysis of 6 entry points is incomplete" in short
    assert "main_2()" not in short
    assert "`--verbose` lists them" in short
    assert all(f"main_{number}()" in long for number in range(5))


def test_the_note_fits_the_terminal(distlint: Run) -> None:
    for options in ((), ("-v",)):
        shown = distlint("check", *OFF, *options, COLUMNS="50").stdout
        assert max(map(len, shown.splitlines())) <= 50


@pytest.mark.parametrize("chosen", [("--select", "DST002"), ("--extend-select", "DST002")])
def test_selected_by_name_it_is_a_finding(distlint: Run, chosen: tuple[str, str]) -> None:
    result = distlint("check", *OFF, *chosen, "--output-format", "concise")
    assert f"train.py:{ROW}:1: info[DST002] the analysis of " in result.stdout
    assert "note:" not in result.stdout
    assert result.returncode == 0
    assert distlint("check", *OFF, *chosen, "--fail-on", "info").returncode == 1


def test_the_exit_status_does_not_change_by_it(distlint: Run) -> None:
    assert distlint("check", *OFF, "--fail-on", "info").returncode == 0


@pytest.mark.parametrize("selector", ["DST002", "incomplete-analysis"])
def test_it_can_be_ignored(distlint: Run, selector: str) -> None:
    assert "note:" not in distlint("check", *OFF, "--ignore", selector).stdout
    ignored = distlint("check", *OFF, "--per-file-ignores", f"train.py:{selector}").stdout
    assert "note:" not in ignored


def test_a_comment_suppresses_it(distlint: Run, script: Path) -> None:
    line = 'dist.init_process_group("gloo")'
    script.write_text(SCRIPT.replace(line, f"{line}  # distlint: ignore[DST002]"))
    result = distlint("check", *OFF)
    assert "note:" not in result.stdout
    assert "DST001" not in result.stdout


def test_it_is_said_also_if_only_other_rules_are_selected(distlint: Run) -> None:
    assert "note:" in distlint("check", "--select", "DST1").stdout
    found = distlint("check", "--select", "DST1", "--output-format", "json").stdout
    assert json.loads(found) == []


def test_it_is_not_said_where_ranks_are_not_compared(distlint: Run) -> None:
    assert "note:" not in distlint("check", "--select", "DST5", *OFF).stdout


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab", "junit", "rdjson"])
def test_programs_are_told_at_the_entry_point(distlint: Run, form: str) -> None:
    result = distlint("check", *OFF, "--output-format", form)
    assert result.returncode == 0
    assert result.stdout.count("nested too deeply") >= 1
    assert "DST002" in result.stdout
    ignored = distlint("check", *OFF, "--ignore", "DST002", "--output-format", form)
    assert "DST002" not in ignored.stdout


def test_github_has_one_notice_for_all(distlint: Run, project: Path) -> None:
    (project / "other.py").write_text(in_function("main"))
    lines = distlint("check", *OFF, "--output-format", "github").stdout.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("::notice title=distlint::the analysis of 2 entry points")


def test_severity_and_statistics(distlint: Run, project: Path) -> None:
    (project / "distlint.toml").write_text('[severity]\nDST002 = "warning"\n')
    result = distlint("check", *OFF, "--output-format", "json")
    assert [each["severity"] for each in json.loads(result.stdout)] == ["warning"]
    assert result.returncode == 0
    assert "1 entry point not analysed in full" in distlint("check", *OFF, "--statistics").stdout


def test_a_baseline_holds_it_where_it_is_selected(distlint: Run) -> None:
    select = (*OFF, "--extend-select", "DST002", "--baseline", "base.json")
    distlint("check", *select, "--update-baseline")
    assert "No new findings" in distlint("check", *select, "--fail-on", "info").stdout


def test_the_cache_and_the_parts_of_a_run_keep_it(distlint: Run, project: Path) -> None:
    for number in range(9):
        (project / f"n{number}.py").write_text(in_function(f"main_{number}"))
    first = distlint("check", "--cache-dir", "cache")
    assert "the analysis of 10 entry points" in first.stdout
    assert distlint("check", "--cache-dir", "cache") == first
    for part in ("1/2", "2/2"):
        name = f"{part[0]}.json"
        distlint("check", "--shard", part, "--output-format", "report", "-o", name)
    assert distlint("merge", "1.json", "2.json").stdout == distlint("check", "n0.py", ".").stdout


def test_what_is_found_in_an_incomplete_analysis_is_reported_beside_it(
    distlint: Run, project: Path
) -> None:
    (project / "buggy.py").write_text(BUGGY)
    result = distlint("check", "--select", "DST1")
    assert result.returncode == 1
    assert "Found 1 error in 1 file" in result.stdout
    assert "note: the analysis of 1 entry point" in result.stdout


def test_a_trace_says_why(distlint: Run) -> None:
    text = " ".join(distlint("trace", "train.py").stdout.split())
    assert "the analysis is incomplete: some calls that may communicate are nested" in text
    (found,) = json.loads(distlint("trace", "train.py", "--output-format", "json").stdout)
    assert not found["complete"]
    assert [each["reason"] for each in found["incomplete"]] == ["calls"]
