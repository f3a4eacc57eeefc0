"""The hooks, run by pre-commit itself on a git repository.

So that nothing is installed, the user's configuration has the hooks run the program that is
installed already (``language: system``). With DISTLINT_TEST_REGISTRY=1 pre-commit also builds the
hooks' own environment, which takes a package registry and a minute.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from distlint.engine.discovery import is_source
from distlint.source.notebook import SUFFIX
from distlint.source.settings import kinds
from tests.cli.conftest import BUGGY, CLEAN
from tests.notebooks import notebook

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
HOOKS = ROOT / ".pre-commit-hooks.yaml"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@dataclass
class Result:
    returncode: int
    output: str


Git = Callable[..., Result]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A user with nothing but git and this environment's programs."""
    home = tmp_path_factory.mktemp("home")
    identity = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "a"), ("EMAIL", "a@example.org"))
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        **identity,
        "HOME": str(home),
        "PRE_COMMIT_HOME": str(home / "pre-commit"),
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
    }


@pytest.fixture(scope="module")
def run(environment: dict[str, str]) -> Git:
    def run(folder: Path, *command: str, check: bool = True) -> Result:
        result = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        assert not check or result.returncode == 0, result.stdout
        return Result(result.returncode, result.stdout)

    return run


@pytest.fixture(scope="module")
def hooks(run: Git, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that offers the hooks of this one."""
    folder = tmp_path_factory.mktemp("hooks")
    shutil.copy(HOOKS, folder)
    return committed(folder, run)


def committed(folder: Path, run: Git) -> Path:
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        run(folder, "git", *command)
    return folder


def configure(
    folder: Path,
    hooks: Path,
    run: Git,
    *,
    ids: Iterable[str] = ("distlint", "distlint-fix"),
    language: str = "system",
) -> None:
    revision = run(hooks, "git", "rev-parse", "HEAD").output.strip()
    ids = "".join(
        f"      - id: {name}\n        args: [--output-format, concise]\n"
        + (f"        language: {language}\n" if language else "")
        for name in ids
    )
    (folder / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {hooks}\n    rev: {revision}\n    hooks:\n{ids}"
    )


@pytest.fixture
def project(hooks: Path, run: Git, tmp_path: Path) -> Path:
    configure(tmp_path, hooks, run)
    run(tmp_path, "git", "init", "-q")
    run(tmp_path, "git", "add", "-A")
    return tmp_path


def hook(project: Path, run: Git, name: str) -> Result:
    run(project, "git", "add", "-A")
    return run(project, "pre-commit", "run", name, check=False)


def test_the_manifest_is_valid(run: Git, tmp_path: Path) -> None:
    run(tmp_path, "pre-commit", "validate-manifest", str(HOOKS))


def test_a_clean_file_passes(project: Path, run: Git) -> None:
    (project / "train.py").write_text(CLEAN)
    result = hook(project, run, "distlint")
    assert result.returncode == 0
    assert "Passed" in result.output


def test_a_commit_with_a_finding_does_not_come_about(project: Path, run: Git) -> None:
    run(project, "pre-commit", "install")
    (project / "train.py").write_text(BUGGY)
    run(project, "git", "add", "-A")
    result = run(project, "git", "commit", "-m", "x", check=False)
    assert result.returncode != 0
    assert "train.py:6:1: error[DST101]" in result.output
    assert run(project, "git", "log", check=False).returncode != 0


@pytest.mark.parametrize("name", ["distlint", "distlint-fix"])
def test_nothing_for_the_hook_to_look_at(project: Path, run: Git, name: str) -> None:
    (project / "notes.md").write_text("# notes")
    result = hook(project, run, name)
    assert result.returncode == 0
    assert "Passed" in result.output  # it is handed pre-commit's own YAML, and has nothing to say


@pytest.mark.parametrize("name", ["distlint", "distlint-fix"])
def test_all_files_are_excluded(project: Path, run: Git, name: str) -> None:
    (project / "distlint.toml").write_text('extend-exclude = ["third_party"]\n')
    (project / "third_party").mkdir()
    (project / "third_party" / "train.py").write_text(BUGGY)
    result = hook(project, run, name)
    assert result.returncode == 0
    assert "Passed" in result.output


def test_a_fix_fails_once_and_passes_then(project: Path, run: Git) -> None:
    (project / "distlint.toml").write_text("unsafe-fixes = true\n")
    (project / "train.py").write_text(BUGGY)
    result = hook(project, run, "distlint-fix")
    assert result.returncode != 0
    assert "Fixed 1 finding in 1 file." in result.output
    assert (project / "train.py").read_text() != BUGGY
    assert hook(project, run, "distlint-fix").returncode == 0


def test_the_fix_hook_fails_for_what_it_leaves(project: Path, run: Git) -> None:
    (project / "train.py").write_text(BUGGY)
    result = hook(project, run, "distlint-fix")
    assert result.returncode != 0
    assert "error[DST101]" in result.output


def test_what_the_hooks_are_for(project: Path, run: Git) -> None:
    """Stubs, scripts without a suffix, notebooks, configurations and launch files."""
    (project / "a.pyi").write_text("x: int\n")
    (project / "b.ipynb").write_text(notebook("x = 1", BUGGY))
    (project / "script").write_text("#!/usr/bin/env python3\n" + BUGGY)
    (project / "script").chmod(0o755)
    (project / "data.json").write_text("{}\n")
    (project / "launch.sh").write_text("export NCCL_TIMEOUT=3\n")
    run(project, "git", "add", "-A")
    result = run(project, "pre-commit", "run", "distlint", "--verbose", check=False)
    assert "script:7:1: error[DST101]" in result.output
    assert "launch.sh:1:8: warning[DST820]" in result.output
    assert "b.ipynb:cell 2:6:1: error[DST101]" in result.output
    assert "data.json" not in result.output


LAUNCH = "#!/bin/bash\nexport NCCL_TIMEOUT=3\ntorchrun train.py\n"
FILES = {
    "train.py": BUGGY,
    "train.ipynb": notebook(BUGGY),
    "Old.PY": BUGGY,
    "stubs/train.pyi": BUGGY,
    "jobs/train.slurm": LAUNCH,
    "jobs/train.sbatch": LAUNCH,
    "jobs/train.pbs": LAUNCH,
    "jobs/launch": LAUNCH,
    "jobs/launch.sh": LAUNCH,
    "Makefile": "train:\n\tNCCL_TIMEOUT=3 torchrun train.py\n",
    "docker/Dockerfile.gpu": "FROM pytorch\nENV NCCL_TIMEOUT=3\n",
    "docker/train.dockerfile": "FROM pytorch\nENV NCCL_TIMEOUT=3\n",
    ".github/workflows/train.yml": "env:\n  NCCL_TIMEOUT: 3\n",
    "accelerate.yaml": "distributed_type: NOSUCH\n",
    "ds.json": '{"zero_optimization": {"stage": 7}}\n',
    "ds.jsonc": '{"zero_optimization": {"stage": 7}}  // seven\n',
}
OTHERS = {"notes.md": "torchrun\n", "pyproject.toml": "", "job.txt": LAUNCH, "train.py.bak": BUGGY}


def test_the_hook_reports_what_a_check_of_the_directory_reports(
    project: Path, run: Git, hooks: Path
) -> None:
    """Also of job scripts that are not executable; each finding once."""
    for name, text in {**FILES, **OTHERS}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    checked = run(project, "distlint", "check", "--output-format", "concise", check=False)
    (hook,) = documented()
    configure(project, hooks, run, ids=[hook])
    run(project, "git", "add", "-A")
    hooked = run(project, "pre-commit", "run", "--all-files", check=False)
    reported = re.compile(r"^(?:\S+?):(?:cell )?\d+:\d+.*\[DST\d+\]", re.MULTILINE)
    findings = sorted(reported.findall(checked.output))
    assert {finding.split(":")[0] for finding in findings} == FILES.keys()
    assert sorted(reported.findall(hooked.output)) == findings


def documented() -> list[str]:
    """The hooks in the configuration that the docs show."""
    page = (ROOT / "docs" / "pre-commit.md").read_text()
    block = yaml.safe_load(page.split("```yaml")[1].split("```")[0])
    return [hook["id"] for hook in block["repos"][0]["hooks"]]


def test_the_fix_hook_reports_what_is_left_once(project: Path, run: Git, hooks: Path) -> None:
    """So that the other hook is not needed beside it."""
    configure(project, hooks, run, ids=["distlint-fix"])
    (project / "train.py").write_text(BUGGY)
    run(project, "git", "add", "-A")
    result = run(project, "pre-commit", "run", "--all-files", check=False)
    assert result.output.count("train.py:6:1: error[DST101]") == 1


@pytest.mark.parametrize("hook", ["distlint", "distlint-fix"])
def test_the_names_of_files_are_those_that_a_check_looks_at(hook: str) -> None:
    (entry,) = (each for each in yaml.safe_load(HOOKS.read_text()) if each["id"] == hook)
    pattern = re.compile(entry["files"])
    suffixes = [*kinds.BY_SUFFIX, SUFFIX, *(".toml", ".txt", ".md", ".cfg", ".pyc", ".ps1", ".bak")]
    stems = ["train", "a.b", ".hidden", *kinds.BY_NAME]
    names = [stem + suffix for stem in stems for suffix in ("", *suffixes)]
    names += [*map(str.upper, names), *map(str.title, names)]
    for name in names:
        for path in (name, f"some.dir/{name}"):
            assert bool(pattern.search(path)) == is_source(name), path


@pytest.mark.skipif(
    not os.environ.get("DISTLINT_TEST_REGISTRY"), reason="installs packages from a registry"
)
def test_the_environment_that_pre_commit_builds(run: Git, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("distlint", "pyproject.toml", "README.md", "LICENSE", HOOKS.name):
        origin = ROOT / name
        if origin.is_dir():
            shutil.copytree(
                origin, source / name, ignore=shutil.ignore_patterns("__pycache__", "_version.py")
            )
        else:
            shutil.copy(origin, source)
    committed(source, run)
    project = tmp_path / "project"
    project.mkdir()
    configure(project, source, run, language="")
    run(project, "git", "init", "-q")
    (project / "train.py").write_text(BUGGY)
    result = hook(project, run, "distlint")
    assert "Installing environment" in result.output
    assert "error[DST101]" in result.output
