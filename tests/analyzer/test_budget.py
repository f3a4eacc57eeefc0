"""What is found in a program that has too many ways to be compared, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.symbolic import entry_points as roots
from distlint.engine.run import check_paths
from distlint.engine.settings import Resolver
from tests.support import ROOT

PADDING = "".join(f"    value{number} = {number}\n" for number in range(15))
HELPERS = f"""\
import torch.distributed as dist


def evaluate(model):
{PADDING}
    return deep_inside(model)


def deep_inside(model):
{PADDING}
    for batch in model:
        dist.all_reduce(batch)
    return model


def decide(stop):
{PADDING}
    return really_decide(stop)


def really_decide(stop):
{PADDING}
    dist.broadcast(stop, 0)
    return stop.item() > 0
"""
HEAD = """\
import time

import torch
import torch.distributed as dist

from helpers import decide, evaluate


def main(model, epochs):
    start = time.time()
    for epoch in range(epochs):
"""
TAIL = """\
    dist.destroy_process_group()


dist.init_process_group("gloo")
main([torch.ones(2)], 3)
"""
SHALLOW = ((9, 5, 0), (1, 3_000, 0))
NOTHING = ((9, 5, 0), (1, 5, 0))


def found(folder: Path, body: str) -> list[tuple[int, str]]:
    (folder / "helpers.py").write_text(HELPERS)
    script = folder / "train.py"
    script.write_text(HEAD + body + TAIL)
    outcome = check_paths([script], Resolver())
    return [(finding.place.span.row, finding.code) for finding in outcome.findings]


@pytest.fixture(params=[SHALLOW, NOTHING], ids=["compared less deep", "simplest ways only"])
def levels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roots, "LEVELS", request.param)
    monkeypatch.setattr(roots, "FUNCTION_LEVELS", NOTHING)


@pytest.mark.usefixtures("levels")
@pytest.mark.parametrize(
    ("body", "row", "code"),
    [
        ("        if dist.get_rank() == 0:\n            evaluate(model)\n", 12, "DST101"),
        (
            "        if time.time() - start > 60:\n            break\n        evaluate(model)\n",
            13,
            "DST102",
        ),
        (
            "        if dist.get_rank() != 0:\n            return\n        evaluate(model)\n",
            13,
            "DST104",
        ),
    ],
)
def test_one_rank_alone_in_a_call(tmp_path: Path, body: str, row: int, code: str) -> None:
    assert found(tmp_path, body) == [(row, code)]


@pytest.mark.usefixtures("levels")
@pytest.mark.parametrize(
    "body",
    [
        "        evaluate(model)\n",
        "        evaluate(model)\n        if decide(torch.tensor(time.time() - start)):\n"
        "            break\n",
        "        evaluate(model)\n        if dist.get_rank() == 0:\n            print(epoch)\n",
        "        late = torch.tensor(float(time.time() - start > 60))\n"
        "        dist.all_reduce(late)\n"
        "        if late.item() > 0:\n            break\n        evaluate(model)\n",
        "        if epoch > 5:\n            evaluate(model)\n"
        "        else:\n            dist.barrier()\n",
        "        given = torch.cuda.is_available()\n"
        "        if dist.get_rank() == 0:\n            assert not given\n"
        "        if given:\n            evaluate(model)\n",
        "        flags = torch.load('flags.pt')\n"
        "        if isinstance(flags, tuple) and len(flags) == 2:\n            first = False\n"
        "        elif isinstance(flags, tuple):\n            first = flags[1]\n"
        "        else:\n            first = False\n"
        "        if first:\n            dist.barrier()\n"
        "        if isinstance(flags, tuple):\n            dist.all_reduce(model[0])\n",
    ],
)
def test_all_ranks_in_the_same_calls(tmp_path: Path, body: str) -> None:
    assert found(tmp_path, body) == []


def test_loops_without_end_and_early_ways_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The simplest way leads through a program, not out of it at the first check."""
    monkeypatch.setattr(roots, "LEVELS", NOTHING)
    monkeypatch.setattr(roots, "FUNCTION_LEVELS", NOTHING)
    body = (
        "        if not model:\n            raise ValueError(model)\n"
        "        while len(model) <= epoch + start:\n            model.append(model[0])\n"
        "        assert epochs > start\n"
        "        if dist.get_rank() == 0:\n            evaluate(model)\n"
    )
    assert found(tmp_path, body) == [(17, "DST101")]


def test_what_proves_nothing_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    path = ROOT / "tests" / "rules" / "silent" / "source_knows_what_it_sends.py"
    assert check_paths([path], Resolver()).over_budget == 0
    monkeypatch.setattr(roots, "REFUTED_BUDGET", 0)
    outcome = check_paths([path], Resolver())
    assert outcome.over_budget > 0
    assert not outcome.findings


def test_a_script_that_stays_in_its_file_has_a_larger_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roots, "LEVELS", ((9, 5, 20_000),))
    own_head = HEAD.replace("from helpers import decide, evaluate\n", "")
    alone = tmp_path / "alone.py"
    alone.write_text(HELPERS + own_head + "        evaluate(model)\n" + TAIL)
    assert check_paths([alone], Resolver()).over_budget == 0
    (tmp_path / "helpers.py").write_text(HELPERS)
    far = tmp_path / "far.py"
    far.write_text(HEAD + "        evaluate(model)\n" + TAIL)
    assert check_paths([far], Resolver()).over_budget > 0
