"""Which files import a file, and what they take from it, by their text."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.project import importers
from distlint.analyzer.project.project import Project


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(project: Project, name: str) -> dict[str, set[str]]:
    root = project.root
    return {
        str(Path(path).relative_to(root)): set(names)
        for path, names in project.importers(root / name).items()
    }


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("from lib.files import save\n", {"save"}),
        ("from lib.files import save as write, load\n", {"save", "load"}),
        ("from lib.files import (\n    save,  # the model\n    load,\n)\n", {"save", "load"}),
        ("from lib.files import save, \\\n    load\n", {"save", "load"}),
        ("from lib.files import *\n", {""}),
        ("from lib import files\n", {""}),
        ("import lib.files\n", {""}),
        ("import os, lib.files as f\n", {""}),
        ("import lib\n", None),
        ("def f():\n    from lib.files import save\n", {"save"}),
        ("from lib.other import save\n", None),
        ("import files\n", None),
        ("x = 'from lib.files import save'\n", None),
    ],
)
@pytest.mark.parametrize("is_package", [True, False])
def test_forms_of_imports(
    tmp_path: Path, text: str, taken: set[str] | None, is_package: bool
) -> None:
    write(tmp_path, {"train.py": text, "lib/files.py": "", "lib/other.py": ""})
    if is_package:
        write(tmp_path, {"lib/__init__.py": ""})
    wanted = {} if taken is None else {"train.py": taken}
    assert found(Project(tmp_path), "lib/files.py") == wanted


def test_relative_imports(tmp_path: Path) -> None:
    write(tmp_path, {f"lib/{name}.py": "" for name in ("__init__", "files", "sub/__init__")})
    write(
        tmp_path,
        {
            "lib/a.py": "from .files import save\n",
            "lib/b.py": "from . import files\n",
            "lib/sub/c.py": "from ..files import load\n",
            "lib/sub/d.py": "from .. import files as f\n",
        },
    )
    project = Project(tmp_path)
    assert found(project, "lib/files.py") == {
        "lib/a.py": {"save"},
        "lib/b.py": {""},
        "lib/sub/c.py": {"load"},
        "lib/sub/d.py": {""},
    }


def test_a_package_is_imported_by_its_own_modules(tmp_path: Path) -> None:
    write(tmp_path, {"lib/__init__.py": "save = print\n", "lib/a.py": "from . import save\n"})
    assert found(Project(tmp_path), "lib/__init__.py") == {"lib/a.py": {"save"}}


def test_tests_and_what_is_installed_do_not_count(tmp_path: Path) -> None:
    names = ("test_a.py", "a_test.py", "tests/run.py", "venv/a.py", ".hidden/a.py", "a.py")
    write(tmp_path, {"u.py": "", **dict.fromkeys(names, "import u\n")})
    assert found(Project(tmp_path), "u.py") == {"a.py": {""}}


def test_what_has_changed_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, {"u.py": "", "a.py": "import u\n", "b.py": ""})
    project = Project(tmp_path)
    assert found(project, "u.py") == {"a.py": {""}}
    write(tmp_path, {"a.py": "", "b.py": "from u import f\n"})
    project.forget(tmp_path / "a.py")
    project.forget(tmp_path / "b.py")
    assert found(project, "u.py") == {"b.py": {"f"}}
    (tmp_path / "b.py").unlink()
    project.forget(tmp_path / "b.py")
    assert found(project, "u.py") == {}


def test_in_a_large_project_nobody_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"u.py": "", "a.py": "import u\n", "b.py": ""})
    monkeypatch.setattr(importers, "MOST_FILES", 2)
    assert found(Project(tmp_path), "u.py") == {}
