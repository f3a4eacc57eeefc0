"""Which file an import leads to, where several have the name."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.project.module_search import Finder

PACKAGE = ("net/__init__.py", "net/net.py", "net/launch.py")


@pytest.mark.parametrize(
    ("files", "importer", "dotted", "found"),
    [
        (PACKAGE, "net/launch.py", "net", "net/__init__.py"),
        (PACKAGE, "net/launch.py", "net.net", "net/net.py"),
        (PACKAGE, "net/launch.py", "net.launch", "net/launch.py"),
        (PACKAGE, "net/__init__.py", "net", "net/__init__.py"),
        (PACKAGE, "net/launch.py", ".net", "net/net.py"),
        (PACKAGE, "train.py", "net", "net/__init__.py"),
        (("src/net/__init__.py", "src/net/net.py"), "src/net/net.py", "net", "src/net/__init__.py"),
        (
            ("net/__init__.py", "net/sub/__init__.py", "net/sub/net.py"),
            "net/sub/a.py",
            "net",
            "net/__init__.py",
        ),
        # what is no package has no name by which it could be imported
        (("net/net.py", "net/launch.py"), "net/launch.py", "net", "net/net.py"),
        # another module beside a script, in a folder that is a package as well
        (("tools/__init__.py", "tools/net.py"), "tools/train.py", "net", "tools/net.py"),
        (("a/net.py", "net.py"), "a/train.py", "net", "a/net.py"),
        (("net.py",), "a/b/train.py", "net", "net.py"),
        ((), "train.py", "net", None),
    ],
)
def test_the_file_of_an_import(
    files: tuple[str, ...], importer: str, dotted: str, found: str | None, tmp_path: Path
) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()

    path = Finder(tmp_path, [tmp_path]).find(dotted, str(tmp_path / importer))

    assert path == (None if found is None else str(tmp_path / found))
