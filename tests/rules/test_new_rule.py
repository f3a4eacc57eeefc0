"""A rule is one file: where the prefilter keeps it from its example, ``test-rule`` says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import distlint
from distlint.analyzer.project.prefilter import mentions_framework
from distlint.rules.prefilter import worth_analysing
from scripts import generate_words

PACKAGE = Path(distlint.__file__).parent
REPOSITORY = Path(__file__).parents[2]

RULE = '''\
from distlint.rules.api import Example, ScriptRule


class ThreadsSet(ScriptRule):
    """The number of threads is set.

    ## Use instead

    Nothing.

    ## Why is this bad?

    It does not.

    ## What is reported

    A call of `torch.set_num_threads`.

    ## Fix safety

    None: there is nothing to fix.
    """

    code = "DST299"
    name = "threads-set"
    good = (Example(title="No call", code="import torch\\n"),)
    bad = (
        Example(
            title="A call",
            code="import torch\\n\\ntorch.set_num_threads(1)  # expect: DST299\\n",
        ),
    )

    def findings(self, script):
        for call in script.calls_to("torch.set_num_threads"):
            yield self.report(call, "found", effect="none", help="None.")
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place to import distlint from, with one more rule in it."""
    root = tmp_path_factory.mktemp("site")
    package, rules = root / "distlint", root / "distlint" / "rules"
    rules.mkdir(parents=True)
    for source, target in ((PACKAGE, package), (PACKAGE / "rules", rules)):
        for part in source.iterdir():
            if part.name not in ("rules", "table.py", "words.py", "__pycache__"):
                (target / part.name).symlink_to(part)
    shutil.copy(PACKAGE / "rules" / "words.py", rules)
    table = (PACKAGE / "rules" / "table.py").read_text(encoding="utf-8")
    row = '    "DST215": "process-dependent-hash",\n'
    assert row in table
    (rules / "table.py").write_text(table.replace(row, f'{row}    "DST299": "threads-set",\n'))
    (rules / "toys").mkdir()
    (rules / "toys" / "__init__.py").touch()
    return root


def run(site: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{REPOSITORY}"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True).stdout


@pytest.mark.campaign
def test_a_rule_is_asked_for_the_words_that_it_declares(site: Path) -> None:
    rule = site / "distlint" / "rules" / "toys" / "threads_set.py"
    test_rule = ("-m", "distlint", "test-rule", "DST299")
    rule.write_text(RULE)
    shown = run(site, *test_rule)
    assert "line 3: DST299 expected" in shown
    assert "the prefilter skips the script: the script contains neither" in shown

    rule.write_text(RULE.replace("    good =", '    words = ("set_num_threads",)\n    good ='))
    shown = run(site, *test_rule)
    assert "python -m scripts.generate_words" in shown

    words = run(site, "-c", "from scripts.generate_words import text; print(text(), end='')")
    (site / "distlint" / "rules" / "words.py").write_text(words)
    assert "A call: reported on line 3" in run(site, *test_rule)

    (site / "train.py").write_text("import torch\n\ntorch.set_num_threads(1)\n")
    check = ("-m", "distlint", "check", "train.py", "--no-cache", "--output-format", "concise")
    assert "train.py:3:1: warning[DST299]" in run(site, *check)


def test_the_words_of_the_rules_are_written_down() -> None:
    assert generate_words.FILE.read_text(encoding="utf-8") == generate_words.text()


@pytest.mark.parametrize(
    ("script", "passes"),
    [
        (b"import torch\n", False),
        (b"import torch\n\ntorch.load('a.pt')\n", True),
        (b"import torch\n\nnumber = abs(hash(name)) % 4\n", True),
        (b"import torch\n\nkey = hashed(name)\n", False),
        (b"import torch\n\nif rank == 0:\n    print()\n", True),
        (b"import torch\n\nfrom functools import partial, reduce\n", True),
        (b"import torch\n\nimport torch.nn as nn\n\nreduced = nn.Linear(1, 1)\n", False),
        (b"import json\n\njson.load(open('a'))  # barrier\n", False),
        (b"def finish(accelerator):\n    accelerator.gather(1)\n", True),
        (b"from datasets import load_dataset\n\nplot.scatter()\n", False),
        (b"from lightning.pytorch import Trainer\n", True),
        (b"import horovod.torch as anything\n", True),
        (b"array = 1  # ray tracing\ncontrol = broadcast\n", False),
    ],
)
def test_what_passes_the_prefilter(script: bytes, passes: bool) -> None:
    assert worth_analysing(script) is passes
    assert not passes or mentions_framework(script)
