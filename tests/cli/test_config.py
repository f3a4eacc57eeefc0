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
            "  meaning  Minimum severity for exit status 1.\n"
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
        assert result.stderr == (
            "distlint: distlint.toml already has a configuration; "
            "add a baseline to it with `distlint init --baseline`\n"
        )

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
        assert (
            result.stderr
            == "distlint: pyproject.toml: cannot add a table to this file; use --own-file\n"
        )
        assert distlint("init", "--own-file").returncode == 0
        assert (project / "distlint.toml").exists()

    def test_another_folder(self, project: Path, distlint: Run) -> None:
        (project / "pkg").mkdir()
        assert distlint("init", "pkg").returncode == 0
        assert (project / "pkg" / "distlint.toml").exists()
        assert "gone: no such directory" in distlint("init", "gone").stderr

    def test_with_a_baseline(self, project: Path, distlint: Run) -> None:
        (project / "train.py").write_text(BUGGY)
        assert distlint("init", "--baseline").stdout == (
            "distlint-baseline.json contains 1 finding.\n"
            "distlint.toml: written. Next: distlint check .\n"
        )
        assert distlint("check").returncode == 0

    def test_a_baseline_for_the_configuration_of_an_earlier_init(
        self, project: Path, distlint: Run
    ) -> None:
        (project / "train.py").write_text(BUGGY)
        distlint("init")
        before = (project / "distlint.toml").read_text()
        assert distlint("init", "--baseline").stdout == (
            "distlint-baseline.json contains 1 finding.\n"
            "distlint.toml: added `baseline`. Next: distlint check .\n"
        )
        line = 'baseline = "distlint-baseline.json"\n'
        assert (project / "distlint.toml").read_text() == before + line
        assert distlint("check").returncode == 0
        result = distlint("init", "--baseline")
        assert result.returncode == 2
        assert "record the findings with `distlint check --update-baseline`" in result.stderr
        assert distlint("check", "--update-baseline").returncode == 0

    @pytest.mark.parametrize(
        ("name", "before", "after"),
        [
            ("distlint.toml", "", "+"),
            ("distlint.toml", "fail-on = 'error'  # no newline", None),
            ("distlint.toml", "fail-on = 'error'\r\n# end\r\n", None),
            (
                "distlint.toml",
                "ignore = [\n  'DST101', # why\n]\n\n# Ours\n[versions]\ntorch = '2.4'\n",
                "ignore = [\n  'DST101', # why\n]\n+\n# Ours\n[versions]\ntorch = '2.4'\n",
            ),
            (
                "distlint.toml",
                "# Ours\n[versions]\ntorch = '2.4'\n",
                "+# Ours\n[versions]\ntorch = '2.4'\n",
            ),
            (
                "pyproject.toml",
                "[tool.distlint]  # a\nworld = [\n  2,\n  2,\n]\n\n\n[tool.ruff]\nselect = []\n",
                "[tool.distlint]  # a\nworld = [\n  2,\n  2,\n]\n+\n\n[tool.ruff]\nselect = []\n",
            ),
            ("pyproject.toml", "[ tool . distlint ]\n# none yet\n", None),
            (
                "pyproject.toml",
                "[tool.a]\nb = '''\n[tool.distlint]\n'''\n[tool.distlint]\n[tool.c]\n",
                "[tool.a]\nb = '''\n[tool.distlint]\n'''\n[tool.distlint]\n+[tool.c]\n",
            ),
            (
                "pyproject.toml",
                "[tool.distlint.versions]\ntorch = '2.4'\n",
                "[tool.distlint.versions]\ntorch = '2.4'\n\n[tool.distlint]\n+",
            ),
        ],
    )
    def test_a_baseline_for_a_configuration_of_the_users_own(
        self, project: Path, distlint: Run, name: str, before: str, after: str | None
    ) -> None:
        file = project / name
        file.write_bytes(before.encode())
        assert distlint("init", "--baseline").returncode == 0
        newline = "\r\n" if "\r\n" in before else "\n"
        line = f'baseline = "distlint-baseline.json"{newline}'
        if after is None:
            after = f"{before}{'' if before.endswith(newline) else newline}+"
        assert file.read_bytes().decode() == after.replace("+", line)

    @pytest.mark.parametrize(
        "text", ["tool = {distlint = {fail-on = 'error'}}\n", "[tool]\ndistlint.preview = true\n"]
    )
    def test_a_configuration_that_takes_no_key(
        self, project: Path, distlint: Run, text: str
    ) -> None:
        file = project / "pyproject.toml"
        file.write_text(text)
        result = distlint("init", "--baseline")
        assert result.returncode == 2
        assert 'add it manually: baseline = "distlint-baseline.json"' in result.stderr
        assert file.read_text() == text
        assert not (project / "distlint-baseline.json").exists()


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
        assert "gone.py: no such file or directory" in result.stderr

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
