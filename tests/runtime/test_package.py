"""The package as it is imported, and what its documentation promises."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import subprocess
import sys
from typing import Any

import pytest

import distlint.runtime as runtime
from distlint.engine.vendor import RUNTIME
from distlint.harness.cluster import missing
from tests.runtime.conftest import Ranks
from tests.support import ROOT

NAMES = sorted(name for names in runtime.EXPORTS.values() for name in names)
INSTRUMENTS = sorted(name for names in runtime.WATCH_EXPORTS.values() for name in names)
needs_torch = pytest.mark.skipif(missing() is not None, reason="needs torch")


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


def test_importing_the_package_loads_nothing() -> None:
    code = "import sys, distlint.runtime; print('torch' in sys.modules, len(sys.modules) < 100)"
    assert python(code).stdout == "False True\n"


def test_without_torch_only_use_fails_and_says_why() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from distlint.runtime import DistributedError\n"
        "from distlint.runtime import any_rank\n"
    )
    done = python(code)
    assert (
        "ImportError: distlint.runtime.any_rank requires torch, which is not installed"
        in done.stderr
    )
    assert "pip install 'torch>=2.4'" in done.stderr


def test_names_for_type_checkers_are_those_at_run_time() -> None:
    tree = ast.parse((RUNTIME / "__init__.py").read_text())
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("distlint.runtime.")
        for alias in node.names
    }
    assert imported == {"start_from_environment", *NAMES, *INSTRUMENTS}
    assert {*NAMES, *INSTRUMENTS} <= set(dir(runtime))
    with pytest.raises(AttributeError, match="any_rnk"):
        runtime.any_rnk  # noqa: B018 - the access is the test


@needs_torch
@pytest.mark.parametrize("name", NAMES + INSTRUMENTS)
def test_documentation_says_what_it_has_to(name: str) -> None:
    thing: Any = getattr(runtime, name)
    text = inspect.getdoc(thing) or ""
    assert len(text) > 40
    functions = inspect.isfunction(thing) or name in ("distributed", "Trigger", "EarlyStopper")
    if functions:
        assert "Example:" in text
        assert ">>> " in text
        assert "ollective" in text or name in ("get_logger", "distributed", "EarlyStopper")


@needs_torch
@pytest.mark.parametrize("name", NAMES + INSTRUMENTS)
def test_examples_run_alone(name: str) -> None:
    thing = getattr(runtime, name)
    for test in doctest.DocTestFinder(recurse=False).find(thing, name):
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
        assert not result.failed


@pytest.mark.parametrize("size", [2])
def test_examples_run_on_two_ranks(ranks: Ranks, source: str, size: int) -> None:
    """All of them in one script, each rank in step with the other."""
    outcome = ranks(
        f"""
        import doctest
        for name in {NAMES}:
            for test in doctest.DocTestFinder(recurse=False).find(getattr(rt, name), name):
                failed = doctest.DocTestRunner().run(test).failed
                assert not failed, name
        """,
        size,
    )
    assert outcome.ranks[0].exit == 0


def test_names_are_defined_once() -> None:
    """A vendored file has all modules in one namespace."""
    seen: dict[str, str] = {}
    for file in sorted(RUNTIME.glob("*.py")):
        if file.name in ("__init__.py", "agent.py", "launch.py", "replicas.py"):
            continue  # not vendored
        for node in ast.parse(file.read_text()).body:
            names = [getattr(node, "name", "")]
            if isinstance(node, ast.Assign):
                if re.match(r"(TypeVar|ParamSpec)\(", ast.unparse(node.value)):
                    continue  # TypeVar("T") is the same everywhere
                names = [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            for name in names:
                if name and name != "_log":
                    assert seen.setdefault(name, file.name) == file.name, name
