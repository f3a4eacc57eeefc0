"""Which partings of the ranks are told, and which are let be."""

from __future__ import annotations

import pytest

from distlint.source.finding import Severity
from tests.support import about_hangs, findings, found_in

HELPER = """\
import torch.distributed as dist


def share(tensor, group=None):
    if {test}:
        dist.broadcast(tensor, 0, group=group)
"""


@pytest.mark.parametrize("test", ["dist.get_rank() == 0", "not dist.get_rank()"])
def test_one_rank_alone_is_no_group(test: str) -> None:
    assert about_hangs(findings(HELPER.format(test=test))) == [(5, "DST101")]


@pytest.mark.parametrize("test", ["dist.get_rank() % 2 == 0", "dist.get_rank() < 2"])
def test_ranks_that_may_be_the_members_of_an_unknown_group(test: str) -> None:
    assert about_hangs(findings(HELPER.format(test=test))) == []


def test_a_group_that_an_object_keeps_may_reach_into_another_job() -> None:
    script = """\
import torch.distributed as dist


class Sender:
    def __init__(self, engine):
        if dist.get_rank() == 0:
            self.engine_group = engine.join()

    def send(self, tensor):
        if dist.get_rank() == 0:
            dist.broadcast(tensor, 0, group=self.engine_group)
"""
    assert about_hangs(findings(script)) == []


BEHIND_A_FAILURE = """\
import os
import torch.distributed as dist
dist.init_process_group("gloo")
try:
    os.makedirs("out")
except OSError:
    pass
if dist.get_rank() == 0:
    dist.barrier()
"""
AROUND_A_LOCAL_BRANCH = """\
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
loss = torch.rand(1)
if dist.get_rank() == 0:
    if loss.item() > 0.5:
        print("high", flush=True)
    else:
        print("low")
    dist.barrier()
"""


@pytest.mark.parametrize("source", [BEHIND_A_FAILURE, AROUND_A_LOCAL_BRANCH])
def test_a_decision_that_is_not_needed_is_no_reason(source: str) -> None:
    (finding,) = [each for each in found_in(source, "script.py") if each.code == "DST101"]
    assert finding.severity is Severity.ERROR
    assert finding.explanation is not None
    assert [each.text for each in finding.explanation.decisions] == ["dist.get_rank() == 0"]
