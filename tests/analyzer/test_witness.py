"""Which partings of the ranks are told, and which are let be."""

from __future__ import annotations

import pytest

from tests.support import about_hangs, findings

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
