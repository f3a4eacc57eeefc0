"""``distlint config``, ``init``, ``--show-settings`` and ``--show-files``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from distlint.engine.keys import KEYS, schema
from tests.cli.conftest import BUGGY, CLEAN, Run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class TestConfig:
    def test_all_keys(self, project: Path, distlint: Run) -> None:
        shown = distlint("config").stdout
        assert all(f"  {key.name} " in shown for key in KEYS)
        assert "](" not in shown

    def test_one_key(self, project: Path, distlint: Run) -> None:
        assert distlint("config", "fail-on").stdout == (
            "fail-on\n"
            "  meaning  The least severity that makes the exit status 1.\n"
            '  default  "warning"\n'
            '  example  fail-on = "error"\n'
        )

    def test_json(self, project: Path, distlint: Run) -> None:
        every = json.loads(distlint("config", "--output-format", "json").stdout)
        assert [entry["key"] for entry in every] == [key.name for key in KEYS]
        one = json.loads(distlint("config", "select", "--output-format", "json").stdout)
        assert one == every[0]

    def test_the_schema(self, project: Path, distlint: Run) -> None:
        assert json.loads(distlint("config", "--schema").stdout) == schema()

    def test_a_key_that_is_none(self, project: Path, distlint: Run) -> None:
        result = distlint("config", "fail_on")
        assert result.returncode == 2
        assert result.stderr == "distlint: unknown key `fail_on`; did you mean `fail-on`?\n"


class TestInit:
    def test_a_file_of_its_own(self, project: Path, distlint: Run) -> None:
        result = distlint("init")
        assert result.returncode == 0
        assert result.stdout == "distlint.toml: written. Next: distlint check .\n"
        assert distlint("check").returncode == 0
        result = distlint("init")
        assert result.returncode == 2
        assert result.stderr == "distlint: distlint.toml already has a configuration\n"

    @pytest.mark.parametrize("before", ["", "[project]\nname = 'x'", "[tool.a]\r\nb = 1\r\n"])
    def test_a_table_in_the_file_that_is_there(
        self, project: Path, distlint: Run, before: str
    ) -> None:
        file = project / "pyproject.toml"
        file.write_bytes(before.encode())
        assert distlint("init").returncode == 0
        after = file.read_bytes().decode()
        assert after.startswith(before)
        assert after.count("\r\n") in (0, after.count("\n"))
        assert tomllib.loads(after)["tool"]["distlint"] == {}
        assert distlint("check").returncode == 0

    def test_what_is_behind_the_marks_may_be_switched_on(
        self, project: Path, distlint: Run
    ) -> None:
        distlint("init")
        file = project / "distlint.toml"
        lines = [line.removeprefix("# ") for line in file.read_text().splitlines()[1:]]
        file.write_text("\n".join(lines))
        assert distlint("check").returncode == 0

    def test_a_file_that_takes_no_table(self, project: Path, distlint: Run) -> None:
        (project / "pyproject.toml").write_text("tool = {a = {b = 1}}\n")
        result = distlint("init")
        assert result.returncode == 2
        assert result.stderr == "distlint: pyproject.toml: no table can be added; use --own-file\n"
        assert distlint("init", "--own-file").returncode == 0
        assert (project / "distlint.toml").exists()

    def test_another_folder(self, project: Path, distlint: Run) -> None:
        (project / "pkg").mkdir()
        assert distlint("init", "pkg").returncode == 0
        assert (project / "pkg" / "distlint.toml").exists()
        assert "gone: no such folder" in distlint("init", "gone").stderr

    def test_with_a_baseline(self, project: Path, distlint: Run) -> None:
        (project / "train.py").write_text(BUGGY)
        assert distlint("init", "--baseline").stdout == (
            "distlint-baseline.json holds 1 finding.\n"
            "distlint.toml: written. Next: distlint check .\n"
        )
        assert distlint("check").returncode == 0


class TestShowing:
    def test_files(self, project: Path, distlint: Run) -> None:
        (project / "pkg").mkdir()
        (project / "venv").mkdir()
        for name in ("b.py", "pkg/a.py", "venv/c.py", "notes.md"):
            (project / name).write_text(BUGGY)
        result = distlint("check", "--show-files")
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.splitlines() == ["b.py", "pkg/a.py"]
        result = distlint("check", "--show-files", "gone.py")
        assert result.returncode == 2
        assert "gone.py: no such file or folder" in result.stderr

    def test_settings_of_each_configuration(self, project: Path, distlint: Run) -> None:
        (project / "pkg").mkdir()
        for name in ("a.py", "b.py", "pkg/c.py"):
            (project / name).write_text(CLEAN)
        (project / "pkg" / "distlint.toml").write_text(
            'select = ["DST10"]\nper-file-ignores = {"!x/*" = ["DST101"]}\n'
            'severity = {DST102 = "info"}\nbaseline = "known.json"\nworld = [1, 8]\n'
        )
        result = distlint("check", "--show-settings", "--fail-on", "error")
        assert result.returncode == 0
        first, second = (tomllib.loads(text) for text in result.stdout.split("\n\n"))
        assert result.stdout.startswith(
            "# for a.py and 1 more\n# configuration: none, these are the defaults\n# project: .\n"
        )
        assert "# for pkg/c.py\n# configuration: pkg/distlint.toml\n" in result.stdout
        assert first["fail-on"] == second["fail-on"] == "error"
        assert "DST407" in first["select"]
        assert second["select"] == ["DST000", *(f"DST10{n}" for n in range(1, 10))]
        assert second["per-file-ignores"] == {"!x/*": ["DST101"]}
        assert second["severity"] == {"DST102": "info"}
        assert second["baseline"] == str(project / "pkg" / "known.json")
        assert second["world"] == [1, 8]

    def test_every_key_is_shown(self, project: Path, distlint: Run) -> None:
        (project / "distlint.toml").write_text('baseline = "b"\ncache-dir = "c"\n')
        shown = tomllib.loads(distlint("check", "--show-settings").stdout)
        folded = {"extend", "extend-select", "ignore", "extend-ignore", "extend-exclude"}
        assert shown.keys() == {key.name for key in KEYS} - folded
