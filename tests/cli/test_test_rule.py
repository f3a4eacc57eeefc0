"""``distlint test-rule``, and what the other commands make of a rule of the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from distlint.harness.cluster import missing
from tests.cli.conftest import Run
from tests.engine.own_rule import CONFIG, FILE, SCRIPT, changed


@pytest.fixture
def lab(project: Path) -> Path:
    (project / "tools").mkdir()
    (project / "tools" / "lab.py").write_text(FILE)
    (project / "distlint.toml").write_text(CONFIG)
    (project / "train.py").write_text(SCRIPT)
    return project


@pytest.mark.parametrize("word", ["tools/lab.py", "LAB001", "group-without-timeout"])
def test_by_file_code_or_name(lab: Path, distlint: Run, word: str) -> None:
    result = distlint("test-rule", word)
    assert result.returncode == 0, result.stderr
    assert result.stdout == (
        "LAB001 group-without-timeout\n"
        "  good  Five minutes: not reported\n"
        "  bad   The default: reported on line 3; fixed\n"
        "1 rule tested; all examples passed.\n"
    )


def test_a_file_that_no_configuration_names(lab: Path, distlint: Run) -> None:
    (lab / "distlint.toml").unlink()
    assert distlint("test-rule", "tools/lab.py").returncode == 0
    result = distlint("test-rule", "LAB001")
    assert result.returncode == 2
    assert "unknown rule `LAB001`" in result.stderr


def test_a_rule_of_distlint(distlint: Run) -> None:
    result = distlint("test-rule", "unawaited-collective")
    assert result.returncode == 0
    assert result.stdout.startswith("DST119 unawaited-collective\n  good  ")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ((".absent:", ".absent and False:"), "line 3: LAB001 expected, but not reported"),
        ((".absent:", ".absent or True:"), "line 5: unexpected LAB001: a process group"),
        (
            ('dist.init_process_group("gloo")  #', "dist.barrier()  #"),
            "line 3: LAB001 expected, but not reported",
        ),
        (
            ("dist.destroy_process_group()\n", "dist.init_process_group()\n"),
            "line 4: unexpected LAB001",
        ),
        (("    Safe:", "    Unsafe:"), "`## Fix safety` in the docstring should say: Safe"),
        (('"timeout",\n ', '"store",\n '), "it would leave LAB001 (line 4)"),
        (
            ("import torch.distributed as dist\n", "import as dist\n"),
            "the example is not valid Python",
        ),
        (("if call.argument", "if call.nothing"), "raised AttributeError"),
        (
            ('words = ("init_process_group",)', 'words = ("nothing",)'),
            "the prefilter skips the script: it contains none of the `words` of the rule",
        ),
    ],
)
def test_what_is_wrong_is_told(
    lab: Path, distlint: Run, change: tuple[str, str], complaint: str
) -> None:
    (lab / "tools" / "lab.py").write_text(changed(change))
    result = distlint("test-rule", "LAB001")
    assert result.returncode == 1
    assert complaint in result.stdout
    assert "FAILED" in result.stdout
    assert result.stdout.endswith("1 rule tested; failed: LAB001.\n")


@pytest.mark.campaign
@pytest.mark.skipif(missing() is not None, reason="executes scripts under torch.distributed")
def test_run_executes_the_examples(lab: Path, distlint: Run) -> None:
    result = distlint("test-rule", "tools/lab.py", "--run")
    assert result.returncode == 0, result.stdout
    assert "Five minutes: not reported; run: finishes" in result.stdout


@pytest.mark.campaign
@pytest.mark.skipif(missing() is not None, reason="executes scripts under torch.distributed")
def test_run_reports_an_effect_that_differs(lab: Path, distlint: Run) -> None:
    hang = changed(
        ('title="The default",', 'title="The default",\n            effect="hang",'),
        ("# expect: LAB001\n", "# expect: LAB001\nif dist.get_rank() == 0:\n    dist.barrier()\n"),
    )
    (lab / "tools" / "lab.py").write_text(hang)
    result = distlint("test-rule", "tools/lab.py", "--run")
    assert result.returncode == 1
    assert "run on 2 processes after its fixes: hang" in result.stdout
    (lab / "tools" / "lab.py").write_text(hang.replace('effect="hang"', 'effect="fail"'))
    assert (
        "run on 2 processes: hang, expected: fail"
        in distlint("test-rule", "LAB001", "--run").stdout
    )


def test_no_such_file(distlint: Run) -> None:
    result = distlint("test-rule", "tools/none.py")
    assert (result.returncode, result.stderr) == (2, "distlint: no such file: tools/none.py\n")


def test_the_other_commands_know_it(lab: Path, distlint: Run) -> None:
    assert distlint("rule", "LAB001").stdout.startswith("# group-without-timeout (LAB001)\n")
    rules = json.loads(distlint("rule", "--all", "--output-format", "json").stdout)
    assert rules[-1]["code"] == "LAB001"
    assert distlint("rule", "LAB001", "--isolated").returncode == 2
    assert distlint("trace", "train.py").returncode == 0
    sarif = json.loads(distlint("check", "--output-format", "sarif").stdout)
    described = sarif["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in described] == ["LAB001"]
    assert distlint("fix", "--diff").returncode == 1
    assert distlint("check", "--add-ignores=later").returncode == 0
    assert "# distlint: ignore[LAB001] -- later" in (lab / "train.py").read_text()
    assert distlint("check").returncode == 0


def test_a_rule_that_raises_makes_the_run_fail(lab: Path, distlint: Run) -> None:
    (lab / "tools" / "lab.py").write_text(changed(("if call.argument", "if call.nothing")))
    result = distlint("check")
    assert result.returncode == 2
    assert "train.py: the rule LAB001 (group-without-timeout) raised" in result.stderr
    assert "No findings (checked 2 files)." in result.stdout
