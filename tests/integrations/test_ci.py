"""The GitHub Action and the jobs for GitLab: held against their schemas, and their scripts run.

What is left out is the services themselves, and the installation, which takes a package registry
(DISTLINT_TEST_REGISTRY=1).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from junitparser import JUnitXml

from scripts.release import latest
from tests.cli.conftest import BUGGY, CLEAN

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
CI = ROOT / "docs" / "ci"
_EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("github-actions", ROOT / "action.yml"),
        *(("github-workflows", path) for path in sorted(CI.glob("github*.yml"))),
        *(("gitlab-ci", path) for path in sorted(CI.glob("gitlab*.yml"))),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_it_follows_the_schema(schema: str, file: Path) -> None:
    transform = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []
    arguments = ["--builtin-schema", f"vendor.{schema}", *transform, str(file)]
    subprocess.run([sys.executable, "-m", "check_jsonschema", *arguments], check=True)


def loaded(file: Path) -> Any:
    return yaml.safe_load(file.read_text("utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "train.py").write_text(BUGGY)
    (folder / "clean.py").write_text(CLEAN)
    return folder


@dataclass
class Outcome:
    returncode: int
    log: str
    summary: str
    outputs: dict[str, str]


Action = Callable[..., Outcome]


@pytest.fixture
def action(project: Path, tmp_path: Path) -> Action:
    """Runs the steps of the action as a runner does: inputs and files of the runner by name."""
    temp = tmp_path / "runner"
    temp.mkdir()
    files = {name: temp / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_ENV")}

    def run(install: bool = False, **inputs: str) -> Outcome:
        definition = loaded(ROOT / "action.yml")
        values = {f"inputs.{name}": each["default"] for name, each in definition["inputs"].items()}
        values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        values["github.action_path"] = str(ROOT)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(temp),
            "RUNNER_TEMP": str(temp),
            "DISTLINT": str(BIN / "distlint"),
            **{name: str(file) for name, file in files.items()},
        }
        for file in files.values():
            file.write_text("")
        log, status = "", 0
        for step in definition["runs"]["steps"][0 if install else 1 :]:
            own = {name: expanded(text, values) for name, text in step["env"].items()}
            folder = project / expanded(step.get("working-directory", "."), values)
            result = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=folder,
                env={**environment, **own},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            log, status = log + result.stdout, result.returncode
            if status:
                break
            lines = files["GITHUB_ENV"].read_text().splitlines()
            environment |= dict(line.split("=", 1) for line in lines)
        lines = files["GITHUB_OUTPUT"].read_text().splitlines()
        outputs = dict(line.split("=", 1) for line in lines)
        return Outcome(status, log, files["GITHUB_STEP_SUMMARY"].read_text(), outputs)

    return run


def expanded(text: str, values: dict[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: values[match[1]], text)


@pytest.mark.campaign
class TestAction:
    def test_findings_become_annotations(self, project: Path, action: Action) -> None:
        outcome = action(sarif_file="out.sarif")
        assert outcome.returncode == 1
        (line,) = outcome.log.splitlines()
        assert line.startswith("::error title=distlint (DST101 collective-in-rank-branch),file=")
        assert outcome.outputs == {"findings": "1"}
        assert outcome.summary.startswith("```text\nerror[DST101]: ")
        assert "2 files checked" in outcome.summary
        assert outcome.summary.endswith("```\n")
        (run,) = json.loads((project / "out.sarif").read_text())["runs"]
        assert len(run["results"]) == 1

    def test_nothing_found(self, project: Path, action: Action) -> None:
        outcome = action(paths="clean.py")
        assert (outcome.returncode, outcome.log) == (0, "")
        assert outcome.outputs == {"findings": "0"}

    def test_every_input(self, project: Path, action: Action) -> None:
        (project / "sub folder").mkdir()
        (project / "own.toml").write_text('fail-on = "error"\nseverity = {DST101 = "warning"}\n')
        outcome = action(
            paths="../train.py\n../clean.py",
            arguments="--preview --select DST1 --shard 1/1",
            config="../own.toml",
            working_directory="sub folder",
            report_file="report.json",
        )
        assert outcome.returncode == 0
        assert outcome.log.startswith("::warning ")
        assert (project / "sub folder" / "report.json").exists()

    def test_a_baseline(self, project: Path, action: Action) -> None:
        command = [BIN / "distlint", "check", "--baseline", "b.json", "--update-baseline"]
        subprocess.run(command, cwd=project, check=True)
        assert action(baseline="b.json").returncode == 0

    @pytest.mark.parametrize(
        ("inputs", "message"),
        [
            ({"paths": "gone.py"}, "error: gone.py: no such file or directory"),
            ({"arguments": "--selct X"}, "unrecognized arguments: --selct"),
            ({"config": "gone.toml"}, "--config: no such file: gone.toml"),
        ],
    )
    def test_a_run_that_fails(
        self, project: Path, action: Action, inputs: dict[str, str], message: str
    ) -> None:
        outcome = action(**inputs)
        assert outcome.returncode != 0
        assert message in outcome.log

    @pytest.mark.skipif(
        not os.environ.get("DISTLINT_TEST_REGISTRY"), reason="installs packages from a registry"
    )
    def test_its_installation(self, project: Path, action: Action) -> None:
        outcome = action(install=True)
        assert outcome.returncode == 1
        assert "::error title=distlint" in outcome.log


def scripted(
    lines: list[str], folder: Path, programs: Path = BIN, install: bool = False, **environment: str
) -> int:
    """Run the script of a job of GitLab, by default but for the installation."""
    lines = [line for line in lines if install or "pip install" not in line]
    result = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", "\n".join(lines)],
        cwd=folder,
        env={"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", **environment},
        check=False,
    )
    return result.returncode


@pytest.mark.campaign
def test_the_job_for_gitlab(project: Path) -> None:
    job = loaded(CI / "gitlab.yml")["distlint"]
    assert scripted(job["script"], project) == 1
    reports = job["artifacts"]["reports"]
    (issue,) = json.loads((project / reports["codequality"]).read_text())
    assert issue["location"]["path"] == "train.py"
    assert JUnitXml.fromfile(str(project / reports["junit"])).failures == 1
    (project / "train.py").write_text(CLEAN)
    assert scripted(job["script"], project) == 0


@pytest.mark.campaign
def test_the_parts_for_gitlab(project: Path) -> None:
    jobs = loaded(CI / "gitlab-shards.yml")
    count = jobs["distlint-part"]["parallel"]
    for number in range(1, count + 1):
        index = {"CI_NODE_INDEX": str(number), "CI_NODE_TOTAL": str(count)}
        assert scripted(jobs["distlint-part"]["script"], project, **index) == 0
    assert scripted(jobs["distlint"]["script"], project) == 1
    (issue,) = json.loads((project / "code-quality.json").read_text())
    assert issue["check_name"] == "DST101"


JOBS = [CI / name for name in ("gitlab.yml", "gitlab-shards.yml")]


@pytest.mark.parametrize(
    "file", [*JOBS, CI / "github.yml", CI / "github-shards.yml"], ids=lambda file: file.name
)
def test_jobs_install_the_latest_release_from_a_repository(file: Path) -> None:
    """A package index may hold somebody else's distlint; see `DISTLINT_SOURCE` in the jobs."""
    named = re.findall(r"OWNER/distlint\S*", file.read_text("utf-8"))
    assert named
    assert {each.rstrip('"').removesuffix(f"@v{latest()}") for each in named} <= {
        "OWNER/distlint",
        "OWNER/distlint.git",
    }
    for source in re.findall(r"DISTLINT_SOURCE: (.*)", file.read_text("utf-8")):
        assert source.startswith('"git+https://')


@pytest.mark.skipif(
    not os.environ.get("DISTLINT_TEST_REGISTRY"), reason="installs packages from a registry"
)
@pytest.mark.parametrize("file", JOBS, ids=lambda file: file.name)
def test_the_installation_of_the_jobs_for_gitlab(file: Path, project: Path, tmp_path: Path) -> None:
    """With a clone on this disk in place of the repository that they name."""
    clone = tmp_path / "OWNER" / "distlint.git"
    subprocess.run(["git", "clone", "-q", "--bare", ROOT, clone], check=True)
    subprocess.run(["git", "-C", clone, "tag", "-f", f"v{latest()}", "HEAD"], check=True)
    job = loaded(file).get(".distlint") or loaded(file)["distlint"]
    named = job["variables"]["DISTLINT_SOURCE"]
    source = named.replace("https://gitlab.example.com", f"file://{tmp_path}")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "image"], check=True)
    lines = [*job.get("before_script", ()), *job.get("script", ["distlint check"])]
    image = tmp_path / "image" / "bin"
    assert scripted(lines, project, image, install=True, DISTLINT_SOURCE=source) == 1
    assert (image / "distlint").exists()
