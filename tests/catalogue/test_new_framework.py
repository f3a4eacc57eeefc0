"""A framework is one TOML file: nothing else needs to know of it."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import distlint
from distlint.catalogue.shipped import FRAMEWORKS, frameworks

PACKAGE = Path(distlint.__file__).parent

FOOLIB = """\
modules = ["foolib"]
variables = ["foo_context"]
rank_signs = ["foolib"]

[[class]]
name = "foolib.Context"
hints = ["foo_context"]

[[rank]]
call = "foolib.Context.is_main"
test = "main"

[[collective]]
call = "foolib.start"
kind = "init"

[[collective]]
call = "foolib.Context.{sync,sync_nodes}"
kind = "barrier"

[[guard]]
name = "foolib.main_only"
runs_on = "main"

[[class]]
name = "foolib.Wrapped"
params = ["net"]
wraps = "net"
backward = true

[[collective]]
call = "foolib.Wrapped"
form = "construct"
kind = "wrap"
params = ["net"]

[[collective]]
call = "foolib.Wrapped.__call__"
kind = "forward"
"""

CASES = {
    "a barrier under a rank test": (
        """\
import foolib

ctx = foolib.Context()
if ctx.is_main():  # DST101
    ctx.sync()
""",
        "",
    ),
    "a launcher as a decorator": (
        """\
import foolib


@foolib.launch(processes=4)
def main():
    ctx = foolib.Context()
    if ctx.is_main():  # DST101
        ctx.sync()


main()
""",
        "",
    ),
    "a decorator that chooses a rank": (
        """\
import foolib

ctx = foolib.Context()


@foolib.main_only
def report():
    ctx.sync()


report()  # DST101
""",
        "",
    ),
    "a collective in another module": (
        """\
import foolib
from helper import finish

finish(foolib.Context())  # DST101
""",
        """\
from foolib import Context


def finish(ctx: Context) -> None:
    if ctx.is_main():
        ctx.sync()
""",
    ),
    "an object that a module is handed without an import": (
        """\
def finish(foo_context):
    if foo_context.is_main():  # DST101
        foo_context.sync_nodes()
""",
        "",
    ),
    "a parameter that is called rank": (
        """\
import foolib


def train(rank):
    ctx = foolib.Context()
    if rank == 0:  # DST101
        ctx.sync()
""",
        "",
    ),
    "a wrapped model that communicates in its forward": (
        """\
import foolib

ctx = foolib.Context()
model = foolib.Wrapped(object())
if ctx.is_main():  # DST115
    model(1)
""",
        "",
    ),
    "a file that all ranks write, by a rule about one file": (
        """\
import foolib
import torch


def main():
    model = foolib.Wrapped(torch.nn.Linear(1, 1))
    torch.save(model.net.state_dict(), "model.pt")  # DST406


main()
""",
        "",
    ),
    "a group that the framework makes for a wrapper of torch": (
        """\
import foolib
import torch
from torch.nn.parallel import DistributedDataParallel


def main():
    foolib.start()
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    torch.save(model.module.state_dict(), "model.pt")  # DST406


if __name__ == "__main__":
    main()
""",
        "",
    ),
    "no rank test": ("import foolib\n\nfoolib.Context().sync()\n", ""),
}


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place to import distlint from, with one more file among those that it ships."""
    root = tmp_path_factory.mktemp("site")
    package = root / "distlint"
    package.mkdir()
    for part in PACKAGE.iterdir():
        if part.name not in ("catalogue", "__pycache__"):
            (package / part.name).symlink_to(part)
    shutil.copytree(PACKAGE / "catalogue", package / "catalogue")
    (package / "catalogue" / "frameworks" / "foolib.toml").write_text(FOOLIB)
    return root


def test_a_file_among_the_shipped_ones_is_all_that_a_framework_needs(
    extended: Path, tmp_path: Path
) -> None:
    scripts, wanted = [], set()
    for number, (script, helper) in enumerate(CASES.values()):
        folder = tmp_path / f"case{number}"
        folder.mkdir()
        (folder / "distlint.toml").touch()
        (folder / "main.py").write_text(script)
        if helper:
            (folder / "helper.py").write_text(helper)
        scripts.append(f"case{number}/main.py")
        wanted |= {
            (number, row, match[1])
            for row, line in enumerate(script.splitlines(), start=1)
            if (match := re.search(r"# (DST\d+)", line))
        }
    command = [sys.executable, "-m", "distlint", "check", "--no-cache", "-j", "1"]
    command += ["--output-format", "concise", *scripts]
    environment = {**os.environ, "PYTHONPATH": str(extended)}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    found = {
        (int(match[1]), int(match[2]), match[3])
        for match in re.finditer(r"case(\d+)/main.py:(\d+):\d+: \w+\[(DST\d+)\]", ran.stdout)
    }
    assert found == wanted, ran.stdout + ran.stderr


# ---- the analyzer knows no framework

STILL_NAMED = {
    "analyzer/symbolic/builtin_calls.py",
    "analyzer/symbolic/framework_names.py",
    "analyzer/symbolic/strategies.py",
    "analyzer/static/guards/world_size.py",
    "analyzer/static/hooks.py",
    "analyzer/static/effects.py",
    "analyzer/symbolic/values/facts.py",
    "analyzer/static/vocabulary.py",
}
"""Modules that still name a framework: this list may shrink and must not grow."""


def _spoken(tree: ast.Module) -> Iterator[str]:
    """The names and texts of a module, but for what is said to its readers."""
    prose = {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def test_no_more_modules_of_the_analyzer_name_a_framework() -> None:
    packages = {root for name, roots in frameworks().items() if name != "python" for root in roots}
    packages -= {"distlint", "datasets"}  # the latter is an English word
    named = re.compile("|".join(rf"(?<![a-z]){each}" for each in packages), re.IGNORECASE)
    modules = [*(PACKAGE / "analyzer").rglob("*.py"), PACKAGE / "rules" / "prefilter.py"]
    found = {
        str(path.relative_to(PACKAGE).as_posix())
        for path in modules
        if any(map(named.search, _spoken(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert found == STILL_NAMED


def test_the_words_of_each_shipped_file_are_regular_expressions() -> None:
    from distlint.analyzer.project.prefilter import mentions_framework, worth_following
    from distlint.catalogue.shipped import words

    for patterns in (words().mentions, words().collectives, words().imports):
        assert all(map(re.compile, patterns))
    assert mentions_framework(b"import torch\n")
    assert worth_following(b"import torch.distributed\n")
    assert not mentions_framework(b"import numpy\n")
    assert len(frameworks()) == len(list(FRAMEWORKS.glob("*.toml")))
