"""Functions that call each other many times are looked at a few times, not once for each way."""

from __future__ import annotations

import pytest

from tests.rules.test_scaling import work

_HEAD = """\
import torch
import torch.distributed as dist
from sklearn.metrics import f1_score
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

"""
_UPDATES = """
def main():
    dist.init_process_group("nccl")
    model = DDP(torch.nn.Linear(2, 2).cuda())
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for x in range(10):
        f4(opt, model)
        if dist.get_rank() == 0:
            opt.step()
        model(x).backward()
"""
_SCORES = """
def main(data):
    dist.init_process_group("nccl")
    loader = DataLoader(data, sampler=DistributedSampler(data))
    a, b = [], []
    for x, y in loader:
        a.append(x)
        b.append(y)
    score = f4(a, b)
    if dist.get_rank() == 0:
        print(score)
"""
_MODELS = """
def main():
    dist.init_process_group("nccl")
    f4(torch.nn.Linear(2, 2), 0)
"""
_SHAPES = {
    "updates": ("print(a)", _UPDATES),
    "scores": ("return f1_score(a, b)", _SCORES),
    "models": ("DDP(a, device_ids=[b])", _MODELS),
}


@pytest.mark.parametrize("shape", _SHAPES)
def test_work_does_not_grow_with_the_ways_to_a_function(shape: str) -> None:
    work(_layers(shape, 2))  # what is read once for all files
    assert work(_layers(shape, 16)) < 6 * work(_layers(shape, 8))


def _layers(shape: str, calls: int) -> str:
    """Five functions, each of which calls the one before many times."""
    innermost, main = _SHAPES[shape]
    text = f"{_HEAD}\ndef f0(a, b):\n    {innermost}\n"
    for index in range(1, 5):
        lines = "".join(f"    v = f{index - 1}(a, b)\n" for _ in range(calls))
        text += f"\n\ndef f{index}(a, b):\n{lines}    return v\n"
    return f"{text}\n{main}"
