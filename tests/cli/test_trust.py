"""Rules that a project brings along: which commands run them, and what is said about it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CLEAN, Run
from tests.engine.own_rule import CONFIG, FILE

MARKED = f"""\
from pathlib import Path

Path(__file__).with_name("ran").touch()
{FILE}"""
CHOSEN = f'{CONFIG}extend-select = ["LAB001"]\nseverity = {{group-without-timeout = "info"}}\n'


@pytest.fixture
def lab(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A project with a rule of its own, which says when it is run, and a user who never saw it."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    (project / "tools").mkdir()
    (project / "tools" / "lab.py").write_text(MARKED)
    (project / "distlint.toml").write_text(CHOSEN)
    (project / "train.py").write_text(CLEAN)
    (project / "sub").mkdir()
    return project


def ran(lab: Path) -> bool:
    return (lab / "tools" / "ran").exists()


SAID = (
    "distlint: running custom rules of the project: tools/lab.py; "
    "skip them with --isolated or DISTLINT_NO_PROJECT_RULES=1\n"
)


@pytest.mark.parametrize(
    "command",
    [
        *(("check",), ("check", "--select", "ALL", "sub", "."), ("check", "--diff"), ("fix",)),
        *(("fix", "--diff"), ("trace", "train.py"), ("check", "--add-ignores", "--diff")),
        *(("test-rule", "LAB001"), ("test-rule", "DST101"), ("check", "-o", "report.txt")),
    ],
    ids=" ".join,
)
def test_commands_that_run_rules_say_so(lab: Path, distlint: Run, command: tuple[str, ...]) -> None:
    assert SAID in distlint(*command).stderr
    assert ran(lab)


@pytest.mark.parametrize(
    "command",
    [
        *(("check", "--show-settings"), ("check", "--show-files"), ("clean",), ("clean", "sub")),
        *(("check", "--show-settings", "--select", "LAB001"), ("vendor", "ranks.py", "--all")),
        *(("vendor", "ranks.py", "--names", "any_rank"), ("rule", "LAB001"), ("rule", "--all")),
        *(("rule", "group-without-timeout"), ("rule", "LAB"), ("rule", "NOPE001"), ("rule", "ALL")),
        *(
            ("rule", "DST101"),
            ("config",),
            ("config", "rules"),
            ("completion", "bash"),
            ("doctor",),
        ),
        *(("check", "--isolated"), ("fix", "--isolated"), ("trace", "train.py", "--isolated")),
        *(("--version",), ("diagnose", "train.py"), ("init", "sub")),
    ],
    ids=" ".join,
)
def test_the_others_do_not(lab: Path, distlint: Run, command: tuple[str, ...]) -> None:
    result = distlint(*command)
    assert "running custom rules" not in result.stderr
    assert "internal error" not in result.stderr
    assert not ran(lab)


def test_reports_are_merged_without_running_rules(lab: Path, distlint: Run) -> None:
    distlint("check", "--output-format", "report", "-o", "report.json")
    (lab / "tools" / "ran").unlink()
    shutil.copytree(lab, lab.parent / "elsewhere")
    os.chdir(lab.parent / "elsewhere")
    result = distlint("merge", "report.json", "--output-format", "sarif")
    assert result.returncode == 0
    (rule,) = [
        r
        for r in json.loads(result.stdout)["runs"][0]["tool"]["driver"]["rules"]
        if r["id"] == "LAB001"
    ]
    assert rule["name"] == "group-without-timeout"
    assert not (lab.parent / "elsewhere" / "tools" / "ran").exists()


def test_it_is_said_once_for_each_state_of_the_rules(lab: Path, distlint: Run) -> None:
    assert distlint("check").stderr == SAID
    assert distlint("check").stderr == ""
    assert distlint("fix").stderr == ""
    (lab / "tools" / "lab.py").write_text(f"{MARKED}\n# changed\n")
    assert distlint("check").stderr == SAID
    (lab / "sub" / "clone").mkdir()
    for name in ("tools", "distlint.toml", "train.py"):
        (lab / name).rename(lab / "sub" / "clone" / name)
    assert distlint("check").stderr == SAID.replace("tools", "sub/clone/tools")


def test_it_is_said_each_time_where_it_cannot_be_noted(
    lab: Path, distlint: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("cache") / "no folder"
    file.touch()
    for _ in range(2):
        assert distlint("check", XDG_CACHE_HOME=str(file)).stderr == SAID


def test_quiet_runs_neither_say_it_nor_note_it(lab: Path, distlint: Run) -> None:
    assert distlint("check", "--quiet").stderr == ""
    assert distlint("check").stderr == SAID


def test_machine_formats_are_not_disturbed(lab: Path, distlint: Run) -> None:
    result = distlint("check", "--output-format", "json")
    (finding,) = [each for each in json.loads(result.stdout) if each["code"] == "LAB001"]
    assert finding["severity"] == "info"
    assert result.stderr == SAID


@pytest.mark.parametrize("command", [("check",), ("fix",), ("trace", "train.py")], ids=" ".join)
@pytest.mark.parametrize("how", ["variable", "file"])
def test_a_user_may_switch_them_off(
    lab: Path, distlint: Run, how: str, command: tuple[str, ...]
) -> None:
    environment = {}
    why = "DISTLINT_NO_PROJECT_RULES is set"
    if how == "variable":
        environment["DISTLINT_NO_PROJECT_RULES"] = "1"
    else:
        file = Path(os.environ["XDG_CONFIG_HOME"], "distlint", "distlint.toml")
        file.parent.mkdir(parents=True)
        file.write_text("run-project-rules = false\n")
        why = f"`run-project-rules` is false in {file}"
    for _ in range(2):
        result = distlint(*command, **environment)
        assert result.returncode == 0
        assert (
            f"distlint: custom rules of the project were not run: tools/lab.py ({why})\n"
            in result.stderr
        )
        assert "LAB001" not in result.stdout
    assert not ran(lab)


def test_comments_for_rules_that_are_not_run_stay(lab: Path, distlint: Run) -> None:
    start = 'dist.init_process_group("gloo")'
    (lab / "train.py").write_text(CLEAN.replace(start, f"{start}  # distlint: ignore[LAB001]"))
    assert "DST001" not in distlint("check").stdout
    assert "DST001" not in distlint("check", "--no-cache", DISTLINT_NO_PROJECT_RULES="1").stdout


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("run-project-rule = false", "unknown key `run-project-rule`"),
        ('rules = ["x.py"]', "only `run-project-rules` is allowed"),
        ('run-project-rules = "no"', "must be true or false"),
        ("run-project-rules = ", "invalid TOML"),
    ],
)
def test_a_broken_user_configuration_runs_nothing(
    lab: Path, distlint: Run, text: str, why: str
) -> None:
    file = Path(os.environ["XDG_CONFIG_HOME"], "distlint", "distlint.toml")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    result = distlint("check")
    assert result.returncode == 2
    assert why in result.stderr
    assert not ran(lab)


def test_rule_shows_what_a_file_declares(lab: Path, distlint: Run) -> None:
    shown = distlint("rule", "LAB001")
    assert "# group-without-timeout (LAB001)" in shown.stdout
    assert "LAB001" in distlint("rule", "LAB").stdout
    entry = json.loads(distlint("rule", "LAB001", "--output-format", "json").stdout)
    assert (entry["code"], entry["severity"]) == ("LAB001", "warning")
    missing = distlint("rule", "LAB999")
    assert missing.returncode == 2
    assert "unknown rule `LAB999`" in missing.stderr
    assert "it may be defined in tools/lab.py" in missing.stderr


@pytest.mark.parametrize(
    "text",
    [
        "x = [",
        "(" * 100_000,
        "\0",
        "class A:\n    code = 1\n",
        "class A:\n    code = 'DST101'\n    name = 'x'\n",
    ],
)
def test_rule_files_that_declare_nothing(lab: Path, distlint: Run, text: str) -> None:
    (lab / "tools" / "lab.py").write_text(text)
    assert distlint("check", "--show-settings").returncode == 0
    assert distlint("rule", "DST101").returncode == 0
    assert "internal error" not in distlint("rule", "LAB001").stderr


MODULES = ("json", "re", "typing", "torch", "libcst", "rich", "distlint", "multiprocessing")


@pytest.mark.parametrize(
    "command",
    [
        *(("check", "."), ("check", "-j", "2", "."), ("trace", "train.py"), ("doctor",)),
        ("check", "--watch", "train.py"),
        pytest.param(("doctor", "--smoke"), marks=pytest.mark.campaign),
    ],
    ids=" ".join,
)
def test_no_module_of_the_working_directory_is_imported(
    project: Path, command: tuple[str, ...]
) -> None:
    (project / "train.py").write_text(CLEAN)
    for name in MODULES:
        (project / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit(3)\n")
    script = Path(sys.executable).with_name("distlint")
    started = subprocess.Popen(
        [script, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert started.stdout is not None
    if "--watch" in command:
        while "Watching" not in started.stdout.readline():
            assert started.poll() is None
        started.send_signal(signal.SIGINT)
    started.communicate(timeout=60)
    assert not (project / "ran").exists()
