"""What surrounds the code: workflows, issue forms, hooks for contributors, and releases."""

from __future__ import annotations

import datetime
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from scripts import release
from tests.support import ROOT
from tests.test_packaging import pyproject

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")

MAY_WRITE = {
    ("docs", "deploy"): {"id-token", "pages"},
    ("release", "pypi"): {"id-token"},
    ("release", "github"): {"contents"},
}
"""The jobs that have more than the right to read the repository."""

PROGRAMS = {
    "lint-imports": "import-linter",
    "mkdocs": "mkdocs",
    "mypy": "mypy",
    "ruff": "ruff",
}
"""Programs that jobs run, and the requirement that installs each."""

OF_THE_RUNNER = ("gh", "npm", "python")


class Command(NamedTuple):
    workflow: str
    job: str
    words: list[str]
    installed: frozenset[str]
    """The extras that the job has installed before."""

    @property
    def text(self) -> str:
        return shlex.join(self.words)


def jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for file in WORKFLOWS:
        for name, job in loaded(file)["jobs"].items():
            yield file.stem, name, job


def commands() -> Iterator[Command]:
    for workflow, name, job in jobs():
        extras: set[str] = set()
        for step in job.get("steps", ()):
            for line in step.get("run", "").splitlines():
                words = shlex.split(line.partition(" > ")[0])
                extras |= set(re.findall(r"\.\[(\w+)\]", line))
                yield Command(workflow, name, words, frozenset(extras))


def loaded(file: Path) -> Any:
    return yaml.safe_load(file.read_text("utf-8"))


def requirements(extra: str) -> set[str]:
    project: Any = pyproject()["project"]
    return {re.split(r"[^\w.-]", each)[0] for each in project["optional-dependencies"][extra]}


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", WORKFLOWS),
        ("github-issue-forms", FORMS),
        ("github-issue-config", [GITHUB / "ISSUE_TEMPLATE" / "config.yml"]),
        ("dependabot", [GITHUB / "dependabot.yml"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_follows_the_schema(schema: str, files: list[Path]) -> None:
    assert files
    arguments = ["--builtin-schema", f"vendor.{schema}", *map(str, files)]
    subprocess.run([sys.executable, "-m", "check_jsonschema", *arguments], check=True)


class TestWorkflows:
    def test_every_command_can_be_run(self) -> None:
        """Programs, modules, extras, markers and scripts are those of this repository."""
        options: Any = pyproject()["tool"]
        markers = [each.partition(":")[0] for each in options["pytest"]["ini_options"]["markers"]]
        package = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))
        seen = set()
        for command in commands():
            program, *words = command.words
            seen.add(program)
            assert program in PROGRAMS or program in OF_THE_RUNNER, command
            needed = PROGRAMS.get(program)
            assert needed is None or needed in {
                each for extra in command.installed for each in requirements(extra)
            }, command
            if words[:1] == ["-m"]:
                assert find_spec(words[1]) is not None, command
            if words[1:2] == ["pytest"]:
                assert "dev" in command.installed
                assert "-m" not in words[2:] or words[words.index("-m", 2) + 1] in markers
            if words[:1] == ["run"]:
                assert words[1] in package["scripts"], command
            for word in words:
                assert "/" not in word or "*" in word or (ROOT / word).exists(), command
        assert seen == {*PROGRAMS, *OF_THE_RUNNER}

    def test_contributors_run_the_same(self) -> None:
        """But for the site, which a test builds, the extension, and what only a tag needs."""
        script = (ROOT / ".ci" / "run").read_text("utf-8")
        for command in commands():
            if command.workflow in ("tests", "campaign", "distribution") and command.job not in (
                "vscode",
                "installation",
                "accessibility",
            ):
                text = command.text.replace("'.[dev]'", '".[dev]"').partition(" --output")[0]
                assert text in script or "scripts.release" in text, text

    def test_they_test_the_versions_that_are_promised(self) -> None:
        project: Any = pyproject()["project"]
        prefix = "Programming Language :: Python :: 3."
        promised = [
            each.rpartition(" ")[2] for each in project["classifiers"] if each.startswith(prefix)
        ]
        matrix = loaded(GITHUB / "workflows" / "tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
        assert matrix["python"] == promised
        assert project["requires-python"] == f">={promised[0]}"
        assert {each.partition("-")[0] for each in matrix["os"]} == {"ubuntu", "macos", "windows"}

    @pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
    def test_they_may_only_read(self, file: Path) -> None:
        workflow = loaded(file)
        assert workflow["permissions"] == {"contents": "read"}
        assert workflow["concurrency"]["group"].startswith(file.stem)  # not that of a caller
        for name, job in workflow["jobs"].items():
            more = {right for right, kind in job.get("permissions", {}).items() if kind == "write"}
            assert more == MAY_WRITE.get((file.stem, name), set())
            assert "uses" in job or 0 < job["timeout-minutes"] <= 120

    def test_nothing_hides_a_failure(self) -> None:
        for workflow, name, job in jobs():
            text = json.dumps(job)
            for hiding in ("continue-on-error", "|| true", "|| :", "cache"):
                assert hiding not in text, (workflow, name)

    def test_actions_are_pinned_and_take_no_credentials_along(self) -> None:
        for _, _, job in jobs():
            if "uses" in job:
                called = loaded(ROOT / job["uses"])
                assert "workflow_call" in called[True]  # `on`, as YAML 1.1 reads it
            for step in job.get("steps", ()):
                action, _, version = step.get("uses", "@v1").partition("@")
                assert re.fullmatch(r"(release/)?v\d+", version), step
                if action == "actions/checkout":
                    assert step["with"]["persist-credentials"] is False

    def test_a_release_waits_for_the_tests(self) -> None:
        release_jobs = loaded(GITHUB / "workflows" / "release.yml")["jobs"]
        assert set(release_jobs["pypi"]["needs"]) == {"tests", "distribution"}
        assert release_jobs["pypi"]["environment"]["name"] == "pypi"
        assert release_jobs["github"]["needs"] == "pypi"


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_reports_come_with_what_reproduces_them(file: Path) -> None:
    required = {
        field["id"]
        for field in loaded(file)["body"]
        if field.get("validations", {}).get("required")
    }
    assert required >= {"script", "version", "command", "configuration"}


def test_the_hooks_for_contributors(tmp_path: Path) -> None:
    file = ROOT / ".pre-commit-config.yaml"
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(file)]
    subprocess.run(command, check=True)
    local = {
        hook["id"]: hook
        for repo in loaded(file)["repos"]
        if repo["repo"] == "local"
        for hook in repo["hooks"]
    }
    assert set(local) == {"lint-imports", "mypy", "ruff-check", "ruff-format"}
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    for hook in local.values():
        assert hook["entry"].removesuffix(" --force-exclude") in script


class TestRelease:
    @pytest.fixture
    def copy(self, tmp_path: Path) -> Path:
        """What a release changes, before the release of a version that is not out yet."""
        for name in {name for name, _ in release.mentions()} | {release.CHANGELOG}:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
        changes = f"## Unreleased\n\n- Faster.\n\n## {release.latest()} (2026-01-01)\n\n- First.\n"
        (tmp_path / release.CHANGELOG).write_text(changes, "utf-8")
        return tmp_path

    def test_all_places_name_the_same_version(self) -> None:
        assert {version for _, version in release.mentions()} == {release.latest()}

    def test_no_other_page_names_a_version(self) -> None:
        """It would not be changed by the next release."""
        known = {ROOT / name for name, _ in release.mentions()}
        pages = [
            ROOT / "README.md",
            *(ROOT / "docs").rglob("*.md"),
            *(ROOT / "docs").rglob("*.yml"),
        ]
        named = re.compile(r"distlint(\.git)?(@v|==)\d|rev: v\d")
        assert {page for page in pages if named.search(page.read_text("utf-8"))} - known == set()

    def test_it_is_prepared_and_checked(self, copy: Path) -> None:
        before = dict(release.mentions(copy))
        release.prepare("9.8.7", datetime.date(2030, 2, 1), copy)
        after = dict(release.mentions(copy))
        assert after == dict.fromkeys(before, "9.8.7")
        assert (copy / release.CHANGELOG).read_text("utf-8").startswith("## 9.8.7 (2030-02-01)\n")
        assert release.notes("v9.8.7", copy) == "- Faster.\n"
        lock = json.loads((copy / "editors/vscode/package-lock.json").read_text("utf-8"))
        assert [lock["version"], lock["packages"][""]["version"]] == ["9.8.7", "9.8.7"]
        built = copy / "dist"
        built.mkdir()
        for name in ("distlint-9.8.7.tar.gz", "distlint-9.8.7-py3-none-any.whl"):
            (built / name).touch()
        release.check("v9.8.7", built, copy)

    @pytest.mark.parametrize(
        ("tag", "file", "old", "new", "message"),
        [
            ("9.8.7", "", "", "", "a tag is vX.Y.Z"),
            ("v9.8.8", "", "", "", "begins with 9.8.7, not 9.8.8"),
            ("v9.8.7", "CHANGELOG.md", "2030-02-01", "unreleased", "has no date for 9.8.7"),
            ("v9.8.7", "docs/pre-commit.md", "v9.8.7", "v9.8.6", "docs/pre-commit.md names 9.8.6"),
            ("v9.8.7", "pyproject.toml", "fallback-version", "other", "names no version"),
            ("v9.8.7", "dist", "", "distlint-9.8.7+g123.tar.gz", "is not of 9.8.7"),
        ],
    )
    def test_what_stops_a_release(
        self, copy: Path, tag: str, file: str, old: str, new: str, message: str
    ) -> None:
        release.prepare("9.8.7", datetime.date(2030, 2, 1), copy)
        built = None
        if file == "dist":
            built = copy / file
            built.mkdir()
            (built / new).touch()
        elif file:
            text = (copy / file).read_text("utf-8")
            (copy / file).write_text(text.replace(old, new), "utf-8")
        with pytest.raises(release.ReleaseError, match=re.escape(message)):
            release.check(tag, built, copy)

    def test_nothing_is_released_twice_or_without_changes(self, copy: Path) -> None:
        changelog = copy / release.CHANGELOG
        with pytest.raises(release.ReleaseError, match="already, of 2026-01-01"):
            release.prepare(release.latest(), datetime.date(2030, 2, 1), copy)
        changelog.write_text("## 0.1.0 (2026-01-01)\n", "utf-8")
        with pytest.raises(release.ReleaseError, match="no heading `## Unreleased`"):
            release.prepare("9.8.7", datetime.date(2030, 2, 1), copy)

    def test_a_version_that_was_announced_gets_its_date(self, copy: Path) -> None:
        changelog = copy / release.CHANGELOG
        announced = "## 9.8.7 (unreleased)\n\n- Faster.\n"
        changelog.write_text(announced, "utf-8")
        release.prepare("9.8.7", datetime.date(2030, 2, 1), copy)
        assert release.latest(copy) == "9.8.7"
        changelog.write_text("## Unreleased\n\n- More.\n\n" + announced, "utf-8")
        with pytest.raises(release.ReleaseError, match="move what is under Unreleased"):
            release.prepare("9.8.7", datetime.date(2030, 2, 1), copy)


def test_a_checkout_that_was_never_installed_has_a_version_too(tmp_path: Path) -> None:
    (tmp_path / "distlint").mkdir()
    shutil.copy(ROOT / "distlint" / "__init__.py", tmp_path / "distlint")
    code = "import distlint; print(distlint.__file__, distlint.__version__)"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == [str(tmp_path / "distlint" / "__init__.py"), "0.0.0+unknown"]
