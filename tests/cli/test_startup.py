"""What is imported for what: the quick answers stay quick."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from distlint import __version__
from tests.cli.conftest import BUGGY

HEAVY = ("libcst", "rich", "torch", "multiprocessing")


def imported(arguments: list[str]) -> set[str]:
    """The top-level modules that a command imports."""
    code = (
        "import sys, contextlib, io\n"
        "from distlint.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        f"    main({arguments!r})\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["check", "--help"],
        ["trace", "--help"],
        ["rule", "--help"],
        ["vendor", "--help"],
        ["config", "select"],
        ["completion", "bash"],
    ],
    ids=" ".join,
)
def test_help_and_version_import_nothing_heavy(arguments: list[str]) -> None:
    assert imported(arguments).isdisjoint(HEAVY)


def test_a_clean_file_imports_neither_parser_nor_terminal(tmp_path: Path) -> None:
    file = tmp_path / "clean.py"
    file.write_text("import json\nprint(json.dumps({}))\n")
    assert imported(["check", str(file)]).isdisjoint({*HEAVY, "json", "tempfile", "hashlib"})


def test_findings_without_a_terminal_need_no_rich(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(BUGGY)
    loaded = imported(["check", str(file)])
    assert "libcst" in loaded
    assert loaded.isdisjoint({"rich", "torch", "multiprocessing"})


def test_what_was_found_before_is_told_without_parser_and_terminal(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(BUGGY)
    assert "libcst" in imported(["check", str(file)])
    assert imported(["check", str(file)]).isdisjoint(HEAVY)
    assert imported(["check", "--select", "DST101,DST102", str(file)]) >= {"libcst"}
    assert imported(["check", "--select", "DST101,DST102", str(file)]).isdisjoint(HEAVY)


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version(option: str, capfd: pytest.CaptureFixture[str]) -> None:
    subprocess.run([sys.executable, "-m", "distlint", option], check=True)
    assert capfd.readouterr().out == f"distlint {__version__}\n"
