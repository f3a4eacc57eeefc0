"""A forward of DDP on rank 0 hangs for certain if the model that is wrapped has buffers."""

from __future__ import annotations

import pytest

from distlint.source.finding import Severity
from tests.support import found_in

PROGRAM = """\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)


def one_of_two(name):
    if name == "plain":
        return Normed()
    return nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))


def moved(device):
    net = Normed()
    net = net.to(device)
    return net


def perhaps(name):
    return Normed() if name else build(name)


def either(name):
    if name:
        return Plain()
    return Normed()


def circular(net):
    other = nn.Sequential(net)
    net = nn.Sequential(other)
    return net


dist.init_process_group("gloo")
rank = dist.get_rank()
model = DDP({model})
for epoch in range(3):
    model(torch.randn(4, 8)).sum().backward()
    if rank == 0:
        with torch.no_grad():
            print(model(torch.ones(4, 8)).sum())
    dist.barrier()
"""


def severities(model: str) -> list[Severity]:
    found = found_in(PROGRAM.replace("{model}", model))
    return [each.severity for each in found if each.code == "DST115"]


@pytest.mark.parametrize(
    "model",
    [
        "nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))",
        "nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)).cuda()",
        "nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)).to(rank).train()",
        "nn.Sequential(nn.Sequential(nn.BatchNorm1d(8), nn.ReLU()), nn.Linear(8, 8)).cuda()",
        "nn.Sequential(nn.Sequential(nn.BatchNorm1d(8)).float(), nn.Linear(8, 8))",
        "one_of_two('plain')",
        "one_of_two('plain').cuda()",
        "moved(rank)",
        "Normed().cuda()",
    ],
)
def test_buffers_in_sight_make_it_an_error(model: str) -> None:
    assert severities(model) == [Severity.ERROR]


@pytest.mark.parametrize("model", ["build()", "perhaps(1)", "either(flag)", "circular(build())"])
def test_a_model_that_may_have_buffers_is_an_info(model: str) -> None:
    assert severities(model) == [Severity.INFO]


@pytest.mark.parametrize(
    "model",
    [
        "nn.Sequential(nn.Linear(8, 8), nn.ReLU()).cuda()",
        "nn.Linear(8, 8).to(rank)",
        "Plain().cuda()",
        "nn.Sequential(nn.BatchNorm1d(8)).cuda(), broadcast_buffers=False",
    ],
)
def test_without_buffers_nothing_is_sent(model: str) -> None:
    assert severities(model) == []
