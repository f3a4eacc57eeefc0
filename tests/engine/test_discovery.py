"""Which files a run is about, and what is said about the others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distlint.engine import discovery
from distlint.engine.discovery import Discovered, discover
from distlint.engine.settings import Overrides, Resolver
from tests.engine.conftest import write


def found(*names: str, **options: bool) -> list[str]:
    """The files below the working folder that a run on these paths is about."""
    return shown(discover([Path(name) for name in names], Resolver(), **options))


def shown(result: Discovered) -> list[str]:
    return [os.path.relpath(target.path) for target in result.targets]


def notices(*names: str) -> list[str]:
    result = discover([Path(name) for name in names], Resolver())
    return [
        f"{notice.kind} {os.path.relpath(notice.path or '')}: {notice.message}"
        for notice in result.notices
    ]


def test_python_files_below_a_folder_in_order(project: Path) -> None:
    write(project, dict.fromkeys(["b.py", "a/z.py", "a/c.pyw", "c.pyi", "d.txt", "e.PY", "f"], ""))
    assert found(".") == ["a/c.pyw", "a/z.py", "b.py", "c.pyi", "e.PY"]


def test_each_file_once_however_it_is_named(project: Path) -> None:
    write(project, {"src/a.py": "", "src/b.py": ""})
    os.symlink("a.py", project / "src" / "link.py")
    os.symlink("src", project / "other")
    assert found("src/b.py", "src", "./src/../src/a.py", "other/a.py") == ["src/a.py", "src/b.py"]


def test_default_exclusions_and_those_of_the_configuration(project: Path) -> None:
    write(project, dict.fromkeys(["a.py", "venv/b.py", "x/build/c.py", "gen/d.py", "e_pb2.py"], ""))
    assert found(".") == ["a.py", "e_pb2.py", "gen/d.py"]
    write(project, {"distlint.toml": 'extend-exclude = ["gen/", "*_pb2.py"]'})
    assert found(".") == ["a.py"]
    write(project, {"distlint.toml": 'exclude = ["/gen", "x/**/c.py"]'})
    assert found(".") == ["a.py", "e_pb2.py", "venv/b.py"]


def test_named_files_and_folders_are_checked_unless_exclusion_is_forced(project: Path) -> None:
    write(project, dict.fromkeys(["venv/b.py", "gen/sub/d.py", "gen/sub/build/e.py"], ""))
    write(project, {"distlint.toml": 'extend-exclude = ["gen/"]', ".gitignore": "venv\n"})
    assert found("venv/b.py", "gen/sub") == ["gen/sub/d.py", "venv/b.py"]
    assert found("venv") == ["venv/b.py"]
    assert found("venv/b.py", "gen/sub", force_exclude=True) == []


def test_exclusions_of_the_command_line_are_relative_to_the_working_folder(project: Path) -> None:
    write(project, dict.fromkeys(["a.py", "sub/a.py", "sub/deep/a.py"], ""))
    resolver = Resolver(Overrides(extend_exclude=("./sub/a.py", str(project / "sub" / "deep"))))
    assert shown(discover([Path()], resolver)) == ["a.py"]


def test_gitignore_files_at_every_level(project: Path) -> None:
    write(
        project,
        {
            ".gitignore": "*.gen.py\n/out/\n# comment\n\nlocal*\n!local_but_kept.py\n",
            "sub/.gitignore": "!kept.gen.py\ndata/\n",
            ".git/info/exclude": "private.py\n",
            **dict.fromkeys(
                [
                    "a.py",
                    "a.gen.py",
                    "out/b.py",
                    "sub/out/b.py",
                    "sub/kept.gen.py",
                    "sub/data/x.py",
                    "local.py",
                    "local_but_kept.py",
                    "private.py",
                ],
                "",
            ),
        },
    )
    kept = ["a.py", "local_but_kept.py", "sub/kept.gen.py", "sub/out/b.py"]
    assert found(".") == kept
    assert found("sub") == ["sub/kept.gen.py", "sub/out/b.py"]
    assert len(found(".", respect_gitignore=False)) == 9


def test_a_gitignore_with_lines_that_git_passes_over(project: Path) -> None:
    write(project, {"a.py": "", "b.py": ""})
    (project / ".gitignore").write_bytes(b"!\nb.py\n\xff\xfe\n")
    assert found(".") == ["a.py"]


def test_paths_that_do_not_exist(project: Path) -> None:
    assert notices("no.py", "no/where") == [
        "failed no.py: no such file or directory",
        "failed no/where: no such file or directory",
    ]


def test_the_other_paths_go_on(project: Path) -> None:
    write(project, {"a.py": ""})
    assert found("no.py", "a.py") == ["a.py"]


def test_links(project: Path) -> None:
    write(project, {"a.py": "", "sub/b.py": ""})
    os.symlink("self.py", project / "self.py")
    os.symlink("gone.py", project / "broken.py")
    os.symlink("..", project / "sub" / "up")
    assert found(".") == ["a.py", "sub/b.py"]
    assert found("sub/up") == ["a.py", "sub/b.py"] or found("sub/up")
    assert notices(".") == [
        "skipped broken.py: broken symbolic link",
        "skipped self.py: circular symbolic link",
    ]
    assert notices("self.py") == ["failed self.py: circular symbolic link"]


def test_what_is_neither_file_nor_folder(project: Path) -> None:
    os.mkfifo(project / "pipe.py")
    assert notices(".") == ["skipped pipe.py: not a regular file"]
    assert notices("pipe.py") == [
        "failed pipe.py: not a regular file; use - to read from standard input"
    ]


def test_a_folder_that_cannot_be_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, {"a.py": "", "locked/b.py": ""})
    scandir = os.scandir

    def refuse(folder: Path) -> object:
        if folder.name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(discovery.os, "scandir", refuse)
    assert found(".") == ["a.py"]
    assert notices(".") == ["failed locked: cannot read directory: permission denied"]


def test_strange_names(project: Path) -> None:
    names = [b"two\nlines.py", b"caf\xe9.py", "größe.py".encode(), b"-x.py", b" .py"]
    for name in names:
        (project / os.fsdecode(name)).touch()
    assert len(found(".")) == len(names)


def test_notebooks_are_found(project: Path) -> None:
    write(project, {"a.ipynb": "{}", "b.IPYNB": "{}", "c.py": ""})
    assert found(".") == ["a.ipynb", "b.IPYNB", "c.py"]


def test_a_tree_deeper_than_the_stack(project: Path) -> None:
    folder = project
    for _ in range(300):
        folder /= "d"
    os.makedirs(folder)
    (folder / "x.py").touch()
    assert len(found(".")) == 1
