"""Paths that meet are explored as one: nothing is lost by it, and the analysis comes to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.project.project import Project
from distlint.rules.find import find
from distlint.rules.found import Found
from distlint.source.document import Document

HEAD = """\
import argparse
import random
import time

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
args = parser.parse_args()
dist.init_process_group("nccl")
rank = dist.get_rank()
"""

KINDS = "SGD Adam AdamW Adagrad Adadelta Adamax ASGD NAdam RAdam RMSprop Rprop LBFGS".split()
CHAIN = "".join(
    f"""\
    {"el" if number else ""}if args.optimizer == "{kind.lower()}":
        options["kind"] = "{kind}"
        made = torch.optim.{kind}
"""
    for number, kind in enumerate(KINDS)
)
OPTIMIZERS = f"""
def optimizer_of(model):
    options = {{}}
    made = None
{CHAIN}
    optimizer = made(model.parameters())
    name = made.__module__ + "." + made.__name__
    told = ",".join([f"{{key}}={{value}}" for key, value in options.items()])
    if hasattr(optimizer, "train") and callable(optimizer.train):
        dist.barrier()
    return name, told, optimizer


name, told, optimizer = optimizer_of(torch.nn.Linear(1, 1))
"""
SEEDED = """
if args.seed is not None:
    random.seed(args.seed)
if random.random() < 0.5:
    dist.barrier()
"""
SEEDED_IN_A_FUNCTION = """
def seed_all(seed):
    dist.barrier()
    if seed:
        random.seed(seed)


seed_all(args.seed)
order = list(range(8))
random.shuffle(order)
if order[0] == 3:
    dist.barrier()
"""
METADATA = """
class Metadata:
    def __init__(self, title, date):
        self.title = title
        self.date = date


def described(title, timestamp, options=None):
    options = options or {}
    if title is None:
        title = "model"
    if args.author:
        options["author"] = args.author
    if args.license:
        options["license"] = args.license
    if args.tags:
        options["tags"] = args.tags
    return Metadata(f"{title}@{timestamp}", timestamp)


if rank == 0:
    data = described(args.title, time.time())
    torch.save(vars(data), "metadata.pt")
"""
WRITER = """
class Trainer:
    def __init__(self):
        self.writer = open("log", "w") if rank == 0 else None

    def log(self, text):
        if self.writer is not None:
            self.writer.write(text)

    def fit(self):
        for epoch in range(args.epochs):
            for step in range(args.steps):
                if args.verbose:
                    self.log("step")
                dist.all_reduce(torch.ones(1).cuda())
            if args.evaluate:
                self.log("evaluated")
                dist.barrier()


Trainer().fit()
"""
METRICS = """
def reduced(data):
    if isinstance(data, dict):
        return {key: reduced(value) for key, value in data.items()}
    if not isinstance(data, torch.Tensor):
        data = torch.tensor(data).cuda()
    dist.all_reduce(data)
    return data


for step in range(args.steps):
    reduced({"loss": step, "accuracy": step, "seen": step})
"""
KEPT_RANK = """
def split(local_rank, name):
    if args.first:
        name = "first" + name
    if args.second:
        name = "second" + name
    if local_rank == 0:
        print("splitting", name)
    return name


split(rank, "data")
"""
HANG = """
if rank == 0:
    dist.barrier()
"""


def checked(source: str) -> Found:
    path = Path("/nowhere/train.py")
    return find(Document.from_bytes(source.encode(), path), Project(path.parent))


def hangs(found: Found) -> list[str]:
    return [each.code for each in found.findings if each.code.startswith("DST1")]


@pytest.mark.parametrize(
    "text",
    [OPTIMIZERS, METADATA, WRITER, METRICS, KEPT_RANK],
    ids=["optimizers", "metadata", "writer of rank 0", "dict of metrics", "rank kept to itself"],
)
def test_it_comes_to_its_end_and_finds_what_comes_after(text: str) -> None:
    found = checked(HEAD + text)
    assert not found.incomplete
    assert not hangs(found)
    assert hangs(checked(HEAD + text + HANG))


@pytest.mark.parametrize("text", [SEEDED, SEEDED_IN_A_FUNCTION], ids=["branch", "function"])
def test_what_is_drawn_after_a_seed_that_may_not_have_been_set(text: str) -> None:
    assert hangs(checked(HEAD + text))
    always = text.replace("if args.seed is not None:", "if True:").replace("if seed:", "if True:")
    assert not hangs(checked(HEAD + always))


def test_a_writer_that_only_rank_0_has_decides() -> None:
    text = WRITER.replace("self.writer.write(text)", "dist.barrier()")
    assert hangs(checked(HEAD + text))
