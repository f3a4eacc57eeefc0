"""Fixes of source rules: when they are offered, beyond what is in ``fixes/``."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.rules.registry import rules
from tests.rules.one_rule import asked, reported
from tests.support import fixes, repaired


def test_a_step_that_a_schedule_may_not_count_is_shown_only() -> None:
    example = next(e for e in rules()["DST308"].bad if e.title == "The last window of a loader")
    assert [fix.applicability for fix in fixes(example.code)] == ["displayonly"]
    assert repaired(example.code, preview=True) == example.code


STRIPPED = """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

net.load_state_dict({k.replace("module.", ""): v for k, v in torch.load("a.pt").items()})
model = DDP(net)
"""


@pytest.mark.parametrize(
    ("file", "text", "offered"),
    [
        ("pyproject.toml", '[project]\nrequires-python = ">=3.8"\n', False),
        ("setup.py", "setup(python_requires='>=3.7,<4')\n", False),
        ("setup.py", "setup(python_requires=LOWEST)\n", True),
        ("setup.cfg", "[options]\npython_requires = >=3.9\n", True),
        ("setup.cfg", "[options]\ninstall_requires = torch\n", True),
    ],
)
def test_a_method_that_an_older_python_lacks(
    tmp_path: Path, file: str, text: str, offered: bool
) -> None:
    (tmp_path / file).write_text(text)
    found = asked(STRIPPED, "DST402", tmp_path / "train.py")
    assert [finding.fix is not None for finding in found] == [offered]


def test_the_library_keeps_its_own_retry_in_its_examples(tmp_path: Path) -> None:
    package = tmp_path / "src" / "accelerate"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (example,) = rules()["DST305"].bad
    for path, offered in ((tmp_path / "examples" / "a.py", False), (Path("/nowhere/a.py"), True)):
        (finding,) = asked(example.code, "DST305", path)
        assert (finding.fix is not None) == offered


def test_a_state_whose_names_are_known_is_nobodys_business() -> None:
    (example,) = rules()["DST403"].bad
    assert reported(example.code, "DST403")
    known = example.code.replace("fresh.load", "state['bias'] = state['bias'] * 2\nfresh.load")
    assert not reported(known, "DST403")


def test_a_fix_of_a_finding_in_preview_is_for_preview() -> None:
    source = """\
from accelerate import Accelerator

accelerator = Accelerator()
kept = []
for batch in loader:
    logits = model(batch)
    kept.append(accelerator.gather_for_metrics(logits))
"""
    assert "(logits).cpu())" in repaired(source, preview=True)


def test_a_removal_before_a_barrier_is_done_by_rank_0() -> None:
    """Alone: another rule has a fix for the call after the barrier."""
    source = """\
import os
import shutil

import torch.distributed as dist

dist.init_process_group("gloo")
folder = os.environ["OUT"]
shutil.rmtree(folder)
dist.barrier()
os.makedirs(folder)
"""
    after = repaired(source, preview=True, only="DST413")
    assert "if dist.get_rank() == 0:\n    shutil.rmtree(folder)" in after
