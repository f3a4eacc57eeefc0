"""The package as it is built, and the promises about installing and testing it."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from distlint.cli.server import NEEDED
from tests.docs.blocks import pages

ROOT = Path(__file__).parent.parent
TEST_COMMAND = 'python -m pip install -e ".[dev]" && python -m pytest -n auto'

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def pyproject() -> dict[str, object]:
    content: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return content


@pytest.mark.parametrize("file", ["README.md", ".ci/run", "CONTRIBUTING.md"])
def test_there_is_one_way_to_run_the_tests(file: str) -> None:
    assert TEST_COMMAND in (ROOT / file).read_text("utf-8")


def test_few_dependencies_and_no_upper_bounds() -> None:
    project = pyproject()["project"]
    assert isinstance(project, dict)
    core = project["dependencies"]
    names = {re.split(r"[^A-Za-z0-9._-]", requirement)[0] for requirement in core}
    assert names == {
        "libcst",
        "rich",
        "ruamel.yaml",
        "tomli",
        "tree-sitter",
        "tree-sitter-bash",
    }
    extras = [
        r
        for name, group in project["optional-dependencies"].items()
        if name != "dev"
        for r in group
    ]
    assert not [r for r in (*core, *extras) if re.search(r"<(?!\s*'3)|==|~=", r.split(";")[0])]
    assert project["requires-python"] == ">=3.10"


def test_to_see_the_docs_needs_no_torch() -> None:
    """The README names the extra that holds what the site needs and little else."""
    project = pyproject()["project"]
    assert isinstance(project, dict)
    docs = {r.split(">")[0] for r in project["optional-dependencies"]["docs"]}
    assert docs == {"mkdocs", "mkdocs-material"}
    readme = (ROOT / "README.md").read_text("utf-8")
    assert 'python -m pip install -e ".[docs]" && mkdocs serve' in readme


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_no_page_installs_from_an_index_what_lies_in_none(page: Path) -> None:
    assert not re.search(r"pip install [^`\n&;|]*['\" ]distlint\b(?![.-])", page.read_text("utf-8"))


def test_the_message_about_what_the_server_needs_names_it_all() -> None:
    project = pyproject()["project"]
    assert isinstance(project, dict)
    assert shlex.split(NEEDED) == project["optional-dependencies"]["server"]


def test_data_files_lie_inside_the_package() -> None:
    assert list((ROOT / "distlint" / "catalogue" / "frameworks").glob("*.toml"))
    assert list((ROOT / "distlint" / "catalogue" / "settings").glob("*.json"))
    assert (ROOT / "distlint" / "py.typed").exists()
