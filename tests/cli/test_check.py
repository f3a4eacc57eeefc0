"""``distlint check`` from the outside: exit statuses, streams, options, signals."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.conftest import BUGGY, CLEAN, Run

FINDING = "collective-in-rank-branch"
MESSAGE = "ranks diverge on `dist.get_rank() == 0`"


@pytest.fixture
def buggy(project: Path) -> Path:
    (project / "train.py").write_text(BUGGY)
    return project / "train.py"


class TestStatus:
    def test_clean(self, project: Path, distlint: Run) -> None:
        (project / "a.py").write_text(CLEAN)
        result = distlint("check")
        assert result.returncode == 0
        assert result.stdout == "No findings (checked 1 file).\n"
        assert result.stderr == ""

    def test_findings(self, buggy: Path, distlint: Run) -> None:
        result = distlint("check", "train.py")
        assert result.returncode == 1
        assert result.stdout.startswith(f"error[DST101]: {MESSAGE}")
        assert "--> train.py:6:" in result.stdout
        assert "6 | if dist.get_rank() == 0:" in result.stdout
        assert "Found 1 error in 1 file (checked 1 file).\n" in result.stdout
        assert result.stdout.endswith("1 fixable with `distlint fix --unsafe-fixes` if verified.\n")
        assert result.stderr == ""

    def test_exit_zero(self, buggy: Path, distlint: Run) -> None:
        assert distlint("check", "--exit-zero").returncode == 0
        assert distlint("check", "--exit-zero", "missing.py").returncode == 2

    def test_fail_on(self, buggy: Path, distlint: Run) -> None:
        (buggy.parent / "distlint.toml").write_text('severity = {DST101 = "info"}')
        assert distlint("check").returncode == 0
        assert distlint("check", "--fail-on", "info").returncode == 1
        (buggy.parent / "distlint.toml").write_text('severity = {DST101 = "warning"}')
        assert distlint("check").returncode == 1
        assert distlint("check", "--fail-on", "error").returncode == 0

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["missing.py"], "error: missing.py: no such file or directory\n"),
            (["--select", "DST999"], "distlint: unknown rule `DST999`"),
            (["--select", "unsynced-brake"], "did you mean `unsynced-break`?"),
            (["--config", "no.toml"], "distlint: --config: no such file: no.toml\n"),
            (["--jobs", "many"], "argument -j/--jobs: invalid number of processes: many"),
            (["--fail-on", "never"], "argument --fail-on: invalid choice: 'never' (choose from "),
            (["--fail-on", "warnings"], "did you mean `warning`?"),
            (["--output-format", "xml"], "argument --output-format: invalid choice: 'xml'"),
            (["--output-format", "jsno"], "did you mean `json`?"),
            (["--output-file", "train.py/no"], "distlint: --output-file: train.py/no: Not a dir"),
            (["-", "train.py"], "distlint: `-` cannot be combined with other paths\n"),
            (["--selct=DST1"], "unrecognized arguments: --selct=DST1; did you mean `--select`?"),
            (["--no-preveiw"], "did you mean `--no-preview`?"),
            (["--smoke"], "unrecognized arguments: --smoke; it is an option of `distlint doctor`"),
        ],
    )
    def test_the_run_itself_fails(
        self, buggy: Path, distlint: Run, arguments: list[str], message: str
    ) -> None:
        result = distlint("check", *arguments)
        assert result.returncode == 2
        assert message in result.stderr
        assert "Traceback" not in result.stderr
        assert len(result.stderr.splitlines()) <= 2  # the mistake is not lost among all options

    def test_bad_configuration(self, buggy: Path, distlint: Run) -> None:
        (buggy.parent / "pyproject.toml").write_text("[tool.distlint]\nfail_on = 'error'\n")
        result = distlint("check")
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr == (
            "distlint: pyproject.toml: unknown key `fail_on`; did you mean `fail-on`?\n"
        )
        assert distlint("check", "--isolated").returncode == 1

    def test_what_exists_is_checked_beside_what_does_not(self, buggy: Path, distlint: Run) -> None:
        result = distlint("check", "missing.py", "train.py")
        assert result.returncode == 2
        assert MESSAGE in result.stdout

    def test_nothing_to_check(self, project: Path, distlint: Run) -> None:
        (project / "notes.md").write_text("# notes")
        result = distlint("check", "notes.md")
        assert result.returncode == 0
        assert result.stdout == "No files were checked.\n"
        assert result.stderr == "notes.md: nothing to check: unsupported file type\n"

    def test_no_command(self, buggy: Path, distlint: Run) -> None:
        assert distlint().returncode == 2
        assert "commands:" in distlint().stderr
        assert "did you mean `distlint check train.py`?" in distlint("train.py").stderr
        assert "did you mean `check`?" in distlint("chekc").stderr
        assert distlint("--verbose", "check").returncode == 2


class TestOutput:
    def test_concise(self, buggy: Path, distlint: Run) -> None:
        lines = distlint("check", "--output-format", "concise").stdout.splitlines()
        assert len(lines) == 3
        assert lines[0].startswith(f"train.py:6:1: error[DST101] {MESSAGE}")

    def test_json_is_the_document_and_nothing_else(self, buggy: Path, distlint: Run) -> None:
        (buggy.parent / "broken.py").symlink_to("gone.py")
        result = distlint("check", "--output-format", "json", "--statistics")
        (found,) = json.loads(result.stdout)
        assert result.stdout.startswith("[\n")
        assert found["filename"] == str(buggy)
        assert (found["code"], found["name"]) == ("DST101", FINDING)
        assert found["location"]["row"] == 6
        assert found["noqa_row"] == 6
        assert "skipped: broken.py: broken symbolic link" in result.stderr
        assert "1  DST101" in result.stderr

    def test_a_syntax_error_in_json(self, project: Path, distlint: Run) -> None:
        (project / "a.py").write_text("x = (\n")
        (found,) = json.loads(distlint("check", "--output-format", "json").stdout)
        assert found["code"] == "DST000"
        assert found["noqa_row"] is None
        assert found["fix"] is None
        assert found["location"] == {"row": 1, "column": 5}

    def test_nothing_found_in_json(self, project: Path, distlint: Run) -> None:
        assert json.loads(distlint("check", "--output-format", "json").stdout) == []

    def test_an_output_file(self, buggy: Path, distlint: Run) -> None:
        result = distlint("check", "--output-file", "report.txt", FORCE_COLOR="1")
        assert result.returncode == 1
        assert result.stdout == ""
        assert MESSAGE in (buggy.parent / "report.txt").read_text()

    def test_an_output_file_in_a_folder_that_is_not_there_yet(
        self, buggy: Path, distlint: Run
    ) -> None:
        assert distlint("check", "-o", "reports/lint/report.txt").returncode == 1
        assert MESSAGE in (buggy.parent / "reports" / "lint" / "report.txt").read_text()

    def test_statistics(self, buggy: Path, distlint: Run) -> None:
        result = distlint("check", "--statistics")
        assert result.returncode == 1
        assert result.stdout.startswith(f"1  DST101  {FINDING}\n\n1 file checked, 0 skipped\n")
        assert "0 over budget" in result.stdout

    def test_quiet(self, buggy: Path, distlint: Run) -> None:
        (buggy.parent / "big.py").write_text("x = 1\n" * 100)
        (buggy.parent / "distlint.toml").write_text("max-file-size = 400")
        result = distlint("check", "--quiet", "missing.py", ".", "--output-format", "concise")
        assert len(result.stdout.splitlines()) == 1
        assert result.stderr == "error: missing.py: no such file or directory\n"

    @pytest.mark.parametrize(
        ("options", "environment", "colored"),
        [
            ([], {}, False),
            ([], {"FORCE_COLOR": "1"}, True),
            ([], {"FORCE_COLOR": "0"}, False),
            ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
            (["--color", "always"], {"NO_COLOR": "1"}, True),
            (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        ],
    )
    def test_colour(
        self,
        buggy: Path,
        distlint: Run,
        options: list[str],
        environment: dict[str, str],
        colored: bool,
    ) -> None:
        assert ("\x1b[" in distlint("check", *options, **environment).stdout) == colored

    def test_the_width_of_the_terminal(self, buggy: Path, distlint: Run) -> None:
        narrow = distlint("check", COLUMNS="60").stdout.splitlines()
        assert len(narrow) > len(distlint("check", COLUMNS="120").stdout.splitlines())

    def test_an_encoding_that_lacks_characters(self, project: Path, process: Run) -> None:
        (project / "größe.py").write_text(BUGGY.replace("x", "größe"), encoding="utf-8")
        result = process("check", PYTHONIOENCODING="ascii")
        assert result.returncode == 1
        assert "--> gr\\xf6\\xdfe.py:6:1" in result.stdout
        assert "Traceback" not in result.stderr

    @pytest.mark.parametrize(
        ("files", "hint"),
        [
            ({}, ""),
            ({"notes.md": "#", "data.json": "{}", "build.sh": "make\n"}, ""),
            (
                {".gitignore": "*.py\n", "train.py": BUGGY},
                " (1 entry is excluded or ignored by git)",
            ),
            (
                {"build/a.py": BUGGY, "dist/b.py": BUGGY, ".git/x": ""},
                " (2 entries are excluded or ignored by git)",
            ),
        ],
    )
    def test_a_directory_without_files_to_check(
        self, project: Path, distlint: Run, files: dict[str, str], hint: str
    ) -> None:
        """It says which files were looked for, and whether some are left out."""
        for name, text in files.items():
            (project / name).parent.mkdir(exist_ok=True)
            (project / name).write_text(text)
        result = distlint("check")
        assert (result.returncode, result.stdout) == (0, "No files were checked.\n")
        assert result.stderr == (
            ".: nothing to check: no Python files, notebooks, or training settings in JSON, "
            f"YAML, shell scripts, Dockerfiles or Makefiles{hint}\n"
        )

    def test_a_crash_is_one_line_until_asked_for_more(self, buggy: Path) -> None:
        text, status, errors = in_process(
            "import distlint.rules.find as f\n"
            "def crash(*_, **__): raise RuntimeError('boom')\n"
            "f.Search.found = crash\n",
            ["check", "train.py"],
        )
        assert status == 2
        assert errors == "error: train.py: internal error: RuntimeError: boom\n"
        assert text == "No files were checked.\n"
        errors = in_process(
            "import distlint.rules.find as f\n"
            "def crash(*_, **__): raise RuntimeError('boom')\n"
            "f.Search.found = crash\n",
            ["check", "train.py", "--verbose"],
        )[2]
        assert "Traceback" in errors
        assert "in crash" in errors


class TestStandardInput:
    def test_it_is_checked(self, project: Path, distlint: Run) -> None:
        result = distlint("check", "-", stdin=BUGGY)
        assert result.returncode == 1
        assert "--> -:6:1" in result.stdout
        result = distlint("check", "-", "--stdin-filename", "sub/a.py", stdin=BUGGY)
        assert "--> sub/a.py:6:1" in result.stdout

    def test_undecodable_bytes(self, project: Path) -> None:
        command = [sys.executable, "-m", "distlint", "check", "-"]
        result = subprocess.run(command, input=b"x = '\xff'", capture_output=True, check=False)
        assert result.returncode == 1
        assert b"error[DST000]: byte 0xff is not valid UTF-8\n --> -:1:6" in result.stdout

    def test_empty(self, project: Path, distlint: Run) -> None:
        assert distlint("check", "-", stdin="").returncode == 0


class TestFiles:
    def test_excluded_files_that_a_hook_names(self, project: Path, distlint: Run) -> None:
        (project / "build").mkdir()
        (project / "build" / "a.py").write_text(BUGGY)
        assert distlint("check", "build/a.py").returncode == 1
        result = distlint("check", "--force-exclude", "build/a.py")
        assert result.returncode == 0
        assert result.stdout == "No files were checked.\n"

    def test_exclude(self, buggy: Path, distlint: Run) -> None:
        assert distlint("check", "--extend-exclude", "train.py,x").returncode == 0
        assert distlint("check", "--exclude", "other").returncode == 1

    def test_gitignore(self, buggy: Path, distlint: Run) -> None:
        (buggy.parent / ".gitignore").write_text("train.py\n")
        assert distlint("check").returncode == 0
        assert distlint("check", "--no-respect-gitignore").returncode == 1
        assert distlint("check", "train.py").returncode == 1

    def test_suppressed(self, buggy: Path, distlint: Run) -> None:
        text = BUGGY.replace("== 0:", "== 0:  # distlint: ignore[DST101] -- on purpose")
        buggy.write_text(text)
        assert distlint("check").returncode == 0
        text = BUGGY.replace("all_reduce(x)", "all_reduce(x)  # distlint: ignore[DST101]")
        buggy.write_text(text)
        assert distlint("check").returncode == 0


class TestPipes:
    def test_a_reader_that_has_seen_enough(self, project: Path) -> None:
        for number in range(200):
            (project / f"m{number}.py").write_text("x = (\n")
        command = f"{sys.executable} -m distlint check -j1 | head -n 1; echo ${{PIPESTATUS[0]}}"
        result = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, check=False
        )
        assert result.stderr == ""
        assert result.stdout.splitlines()[1] == "1"

    def test_a_full_disk(self, buggy: Path) -> None:
        with open("/dev/full", "w") as full:
            result = subprocess.run(
                [sys.executable, "-m", "distlint", "check"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert result.returncode == 2
        assert result.stderr == "distlint: cannot write: No space left on device\n"


class TestInterrupt:
    def interrupted(self, arguments: list[str], prelude: str = "") -> tuple[int, str, float]:
        process = subprocess.Popen(
            [sys.executable, "-c", program(prelude, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        start = time.monotonic()
        _, errors = process.communicate(timeout=30)
        return process.returncode, errors, time.monotonic() - start

    def test_it_ends_where_a_callback_has_swallowed_it(self, tmp_path: Path) -> None:
        """Python ignores what is raised in a weakref's callback, as of its own import locks."""
        script = tmp_path / "swallow.py"
        script.write_text(
            dedent(
                """
                import sys, time, weakref
                from distlint import cli

                class Thing:
                    pass

                def interrupted(_):
                    raise KeyboardInterrupt

                def work(arguments):
                    thing = Thing()
                    watched = weakref.ref(thing, interrupted)
                    del thing
                    time.sleep(60)

                cli._dispatch = work
                sys.exit(cli.main([]))
                """
            )
        )
        command = [sys.executable, str(script)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert (result.returncode, result.stdout, result.stderr) == (130, "", "")

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_it_ends_at_once(self, project: Path, jobs: str) -> None:
        for number in range(4):
            (project / f"m{number}.py").write_text(BUGGY)
        slow = "import time, distlint.rules.find as f\nf.Search.found = lambda *_: time.sleep(60)\n"
        status, errors, seconds = self.interrupted(["check", "-j", jobs], slow)
        assert status == 130
        assert errors == ""
        assert seconds < 5

    def test_while_it_waits_for_input(self, project: Path) -> None:
        status, errors, seconds = self.interrupted(["check", "-"])
        assert (status, errors) == (130, "")
        assert seconds < 5


def test_a_progress_bar_when_the_work_is_long(project: Path) -> None:
    for number in range(6):
        (project / f"m{number}.py").write_text(BUGGY)
    slow = (
        "import time, distlint.rules.find as f\n"
        "def find(*_, **__):\n    time.sleep(0.4)\n    return f.Found()\n"
        "f.Search.found = find\n"
    )
    shown = on_a_terminal([sys.executable, "-c", program(slow, ["check", "-j", "1"])])
    assert "checking" in shown
    assert "3/6" in shown
    assert "No findings (checked 6 files)." in shown


def test_no_progress_bar_when_it_is_short(project: Path) -> None:
    shown = on_a_terminal([sys.executable, "-c", program("", ["check"])])
    assert "checking" not in shown


def program(prelude: str, arguments: list[str]) -> str:
    return (
        f"import sys\n{prelude}\nprint('ready', flush=True)\n"
        f"from distlint.cli import main\nsys.exit(main({arguments!r}))"
    )


def in_process(prelude: str, arguments: list[str]) -> tuple[str, int, str]:
    result = subprocess.run(
        [sys.executable, "-c", program(prelude, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout.removeprefix("ready\n"), result.returncode, result.stderr


def on_a_terminal(command: list[str]) -> str:
    """What the command shows on a terminal of its own."""
    pty = pytest.importorskip("pty", reason="terminals of POSIX")
    leader, follower = pty.openpty()
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower):
        os.close(follower)
        shown = b""
        while select.select([leader], [], [], 20)[0]:
            try:
                part = os.read(leader, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
    os.close(leader)
    return shown.decode()


def test_as_a_program(buggy: Path, process: Run) -> None:
    result = process("check", "--quiet", "--output-format", "concise")
    assert result.returncode == 1
    assert result.stdout.count("\n") == 1
    assert result.stderr == ""


def test_imports_end_at_the_root_of_the_disk(
    tmp_path_factory: pytest.TempPathFactory, process: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path_factory.mktemp("alone") / "train.py"  # in no project, as in a container
    script.write_text("from nowhere.at_all import begin\nbegin()\n" + BUGGY)
    monkeypatch.chdir("/")
    result = process("check", "--isolated", "--no-cache", "--output-format", "concise", str(script))
    assert result.returncode == 1, result.stderr
    assert MESSAGE in result.stdout


@pytest.mark.parametrize("command", [("check", "-o"), ("trace", "train.py", "-o")])
def test_a_full_disk_leaves_the_output_file_as_it_was(
    buggy: Path, distlint: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("distlint.engine.writing.os.fsync", full)
    (buggy.parent / "old.txt").write_text("old")
    for name in ("old.txt", "new.txt"):
        result = distlint(*command, name)
        assert (result.returncode, result.stdout) == (2, "")
        assert f"--output-file: {name}: No space left on device" in result.stderr
    assert (buggy.parent / "old.txt").read_text() == "old"
    assert not (buggy.parent / "new.txt").exists()
