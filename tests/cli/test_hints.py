"""What the command line says of words that it does not know: what was meant, where one can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.cli import COMMANDS, SYNONYMS
from distlint.engine.config_file import KEYS
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["chekc"], "; did you mean `check`?"),
        (["explain", "DST101"], "; did you mean `distlint rule`?"),
        (["show", "DST101"], "; did you mean `distlint rule`?"),
        (["Describe"], "; did you mean `distlint rule`?"),
        (["rules"], "; did you mean `distlint rule ALL`?"),
        (["lint", "."], "; did you mean `distlint check`?"),
        (["run-watch"], "; did you mean `distlint run --watch`?"),
        (["version"], "; did you mean `distlint --version`?"),
        (["DST101"], "; did you mean `distlint rule DST101`?"),
        (["unsynced-break"], "; did you mean `distlint rule unsynced-break`?"),
        (["--select", "DST1"], "; did you mean `distlint check --select`?"),
        (["--smoke"], "; did you mean `distlint doctor --smoke`?"),
        (["xyzzy"], ""),
        (["--xyzzy"], ""),
    ],
    ids=" ".join,
)
def test_in_place_of_a_command(
    project: Path, distlint: Run, arguments: list[str], hint: str
) -> None:
    result = distlint(*arguments)
    assert result.returncode == 2
    what = "option" if arguments[0].startswith("-") else "command"
    assert result.stderr == f"distlint: unknown {what} `{arguments[0]}`{hint}\n"


def test_synonyms_lead_to_commands() -> None:
    assert SYNONYMS.keys().isdisjoint(COMMANDS)
    assert {meant.split()[0] for meant in SYNONYMS.values()} <= {*COMMANDS, "--version"}


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["check", "--world", "4"], "--world; `world` is a configuration key: "),
        (["check", "--world=4"], "--world=4; `world` is a configuration key: "),
        (["trace", "--src", "lib"], "--src; `src` is a configuration key: "),
        (
            ["fix", "--per-file-ignore", "x"],
            "is a configuration key: see `distlint config per-file-ignores`",
        ),
        (
            ["fix", "--max_file_size", "0"],
            "is a configuration key: see `distlint config max-file-size`",
        ),
        (["check", "--format", "json"], "; did you mean `--output-format`?"),
        (["check", "--version"], "; it is an option of `distlint`"),
    ],
    ids=" ".join,
)
def test_in_place_of_an_option(
    project: Path, distlint: Run, arguments: list[str], hint: str
) -> None:
    result = distlint(*arguments)
    assert result.returncode == 2
    assert hint in result.stderr


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["train"], "; did you mean `train.py`?"),
        (
            ["train.py::main"],
            "; functions are supported by `distlint trace` only; did you mean `train.py`?",
        ),
        (["--select", "DST101", "DST102", "train.py"], "; separate rules with commas: `--select "),
        (["trial.py::main"], ""),
        (["gone"], ""),
    ],
    ids=" ".join,
)
def test_in_place_of_a_path(project: Path, distlint: Run, arguments: list[str], hint: str) -> None:
    (project / "train.py").write_text("")
    for command in ("check", "fix"):
        errors = distlint(command, *arguments).stderr
        assert f"no such file or directory{hint}" in errors
        assert (";" in errors) == bool(hint)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_the_configuration_is_never_taken_for_another_option(
    project: Path, distlint: Run, key: str
) -> None:
    """It is an option of a command as well, or the message names the key."""
    errors = distlint("check", f"--{key}").stderr
    if "unrecognized arguments" in errors and "it is an option of" not in errors:
        assert f"`{key}` is a configuration key: see `distlint config {key}`" in errors
        assert distlint("config", key).returncode == 0


def test_a_command_with_no_configuration_speaks_of_none(project: Path, distlint: Run) -> None:
    assert "configuration" not in distlint("doctor", "--world", "4").stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(project: Path, distlint: Run, command: str) -> None:
    result = distlint("help", command)
    assert result.returncode == 0
    assert result.stdout.startswith(f"usage: distlint {command} ")


@pytest.mark.parametrize(
    ("toml", "row"),
    [
        ('select = ["DST1"', 1),
        ('fail-on = "error"\n\n# Rules\nselect = [\n  "DST1",\n\n\n', 4),
        ('select = []\nexclude = ["a",\n"b"]\nruntime = """\nx\n', 4),
        ('select = []\nversions = {torch = "2.4"', 2),
    ],
)
def test_a_configuration_that_does_not_end(
    project: Path, distlint: Run, toml: str, row: int
) -> None:
    """TOML notices it at the end of the file; the user has to look where it begins."""
    (project / "distlint.toml").write_text(toml)
    result = distlint("check")
    assert result.returncode == 2
    assert "distlint.toml: invalid TOML: " in result.stderr
    assert result.stderr.endswith(f" (the statement starts at line {row})\n")
