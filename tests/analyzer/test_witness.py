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


LOOP = """\
import math
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
rank = dist.get_rank()
model = DDP(torch.nn.Linear(4, 4).cuda())


def train(data):
    loss = model(data).sum()
    loss.backward()
    return loss.item()


def evaluate(data):
    total = model(data).sum()
    dist.all_reduce(total)
    return total


"""

DECIDED_AFTERWARDS = {
    "stop": """\
best = 1e9
for data in torch.rand(10, 8, 4):
    loss = train(data)
    if rank == 0:
        evaluate(data)
    if loss > best:
        break
    best = loss
""",
    "skip": """\
for data in torch.rand(10, 8, 4):
    if rank == 0:
        dist.barrier()
    if math.isnan(data.sum().item()):
        continue
    train(data)
""",
    "timed": """\
start = time.time()
step = 0
while step < 100:
    if rank == 0:
        dist.barrier()
    if time.time() - start > 60:
        break
    train(torch.rand(8, 4))
    step += 1
""",
    "helper": """\
def late(loss):
    return loss > 3


def step(data):
    if rank == 0:
        evaluate(data)
    if late(data.sum().item()):
        return None
    return train(data)


for data in torch.rand(10, 8, 4):
    step(data)
""",
    "method": """\
class Trainer:
    def __init__(self):
        self.best = 1e9

    def run(self):
        for data in torch.rand(10, 8, 4):
            loss = train(data)
            if dist.get_rank() == 0:
                self.report(data)
            if loss > self.best:
                return
            self.best = loss

    def report(self, data):
        evaluate(data)


Trainer().run()
""",
    "signal": """\
import signal
stop = False


def handle(number, frame):
    global stop
    stop = True


signal.signal(signal.SIGUSR1, handle)
for data in torch.rand(10, 8, 4):
    train(data)
    if rank == 0:
        dist.barrier()
    if stop:
        break
""",
    "exists": """\
for data in torch.rand(10, 8, 4):
    if rank == 0:
        evaluate(data)
    if os.path.exists(f"stop-{os.getpid()}"):
        sys.exit(0)
    train(data)
""",
    "patience": """\
bad = 0
best = 1e9
for data in torch.rand(10, 8, 4):
    loss = train(data)
    if rank == 0:
        evaluate(data)
    if loss < best:
        best, bad = loss, 0
    else:
        bad += 1
        if bad > 3:
            break
""",
    "oom": """\
for data in torch.rand(10, 8, 4):
    if rank == 0:
        evaluate(data)
    try:
        train(data)
    except RuntimeError:
        torch.cuda.empty_cache()
        continue
""",
    "two": """\
for data in torch.rand(10, 8, 4):
    loss = train(data)
    if rank == 0:
        evaluate(data)
    if loss > 3:
        if data.sum().item() > 2:
            break
        continue
""",
    "best": """\
def main():
    best = float("inf")
    for epoch in range(10):
        loss = train(torch.randn(8, 4))
        if rank == 0:
            evaluate(torch.randn(8, 4))
            dist.barrier()
        if loss < best:
            best = loss
        else:
            break
    torch.save(model.state_dict(), "model.pt")


main()
""",
}
"""Rank 0 waits whatever the others decide for themselves once it does."""


@pytest.mark.parametrize("name", DECIDED_AFTERWARDS)
def test_what_is_decided_after_the_ranks_have_diverged_is_no_reason(name: str) -> None:
    found = [each for each in found_in(LOOP + DECIDED_AFTERWARDS[name]) if each.code == "DST101"]
    (finding,) = found
    assert finding.severity is Severity.ERROR
    assert finding.explanation is not None
    assert len(finding.explanation.decisions) == 1


NEEDED = {
    "inner": """\
for data in torch.rand(10, 8, 4):
    loss = train(data)
    if rank == 0:
        if loss > 3:
            evaluate(data)
""",
    "plain": """\
for data in torch.rand(10, 8, 4):
    loss = train(data)
    if loss > 3:
        break
""",
    "rendez": """\
for data in torch.rand(10, 8, 4):
    loss = train(data)
    if rank == 0:
        dist.barrier()
    elif loss > 3:
        dist.all_reduce(torch.ones(1))
    else:
        dist.barrier()
""",
}


@pytest.mark.parametrize("name", NEEDED)
def test_a_decision_that_leads_to_the_collective_is_a_reason(name: str) -> None:
    (finding,) = [each for each in found_in(LOOP + NEEDED[name]) if each.code.startswith("DST1")]
    assert finding.severity is Severity.WARNING
    assert finding.explanation is not None
    assert "loss > 3" in [each.text for each in finding.explanation.decisions]


AFTER_A_FAILURE = """
for data in torch.rand(10, 8, 4):
    try:
        loss = model(data).sum()
    except {handler}:
        {test}continue
    loss.backward()
"""


@pytest.mark.parametrize(
    ("handler", "test", "severity"),
    [
        ("torch.cuda.OutOfMemoryError", "", Severity.WARNING),
        ("torch.OutOfMemoryError as error", "", Severity.WARNING),
        ("(ValueError, torch.OutOfMemoryError)", "", Severity.WARNING),
        (
            "RuntimeError as error",
            'if "out of memory" not in str(error):\n            raise\n        ',
            Severity.WARNING,
        ),
        ("RuntimeError", "", Severity.INFO),
        ("Exception as error", "print(error)\n        ", Severity.INFO),
    ],
)
def test_to_run_out_of_memory_is_no_rare_failure(
    handler: str, test: str, severity: Severity
) -> None:
    source = LOOP + AFTER_A_FAILURE.format(handler=handler, test=test)
    (finding,) = [each for each in found_in(source) if each.code == "DST108"]
    assert finding.severity is severity
