"""One rank's projection of a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer import ir
from distlint.analyzer.project.project import Project
from distlint.analyzer.static.effects import effects_of
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.attributes import assigned_attribute
from distlint.analyzer.symbolic.cluster import Cluster
from distlint.analyzer.symbolic.context import ExecutionContext
from distlint.analyzer.symbolic.machine import Machine
from distlint.analyzer.symbolic.parameters import unbound_param
from distlint.analyzer.symbolic.state import Frame
from distlint.source.document import Document
from tests.support import about_hangs, findings


def machine_of(folder: Path, text: str) -> Machine:
    project = Project(folder)
    module = project.add(Document.from_bytes(text.encode(), folder / "script.py"))
    catalogue = project.catalogue_of(module)
    effects = effects_of(project, module, catalogue)
    machine = Machine(ExecutionContext(project, catalogue, Cluster(2, 2), module, effects), 0)
    machine.start(Frame(0, module, None, 0), module.body, {})
    return machine


def test_what_another_module_evaluates_leaves_the_call_where_it_stands(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("import torch\n" + "x = dict(a=1)\n" * 50 + "DEVICE = torch.device('cpu')\n")
    machine = machine_of(tmp_path, "from other import DEVICE\n")
    machine.site = 3
    imported = machine.context.project.by_key(str(other))
    assert imported is not None
    made = imported.definitions["DEVICE"][0].node
    assert isinstance(made, ir.Call)
    machine.evaluate_statically(imported, made)
    assert machine.site == 3


@pytest.mark.parametrize(("name", "is_ranked"), [("set_rank", True), ("set_virtual_rank", False)])
def test_a_rank_that_nobody_is_seen_to_pass(name: str, is_ranked: bool, tmp_path: Path) -> None:
    """The virtual rank in a pipeline counts the parts of the model that one rank has."""
    machine = machine_of(
        tmp_path, f"import torch.distributed as dist\n\ndef {name}(rank):\n    dist.barrier()\n"
    )
    function = machine.frame.module.functions[0]
    value = unbound_param(machine, machine.frame.module, function, function.params[0])
    assert v.is_ranked(value) is is_ranked


def test_what_a_method_without_a_caller_is_given_is_not_known() -> None:
    source = """\
import torch.distributed as dist

class Log:
    def log(self, text, **options):
        in_order = options.pop("in_order", False)
        if dist.get_rank() == 0:
            print(text)
        elif in_order:
            dist.barrier()
"""
    assert about_hangs(findings(source)) == [(6, "DST101")]


@pytest.mark.parametrize("joins", [True, False])
def test_an_attribute_is_the_same_on_ranks_that_are_led_and_on_others(
    joins: bool, tmp_path: Path
) -> None:
    """A rank that is led along one way joins no branches, but what a class holds is no way."""
    source = """\
import torch.distributed as dist

class Metrics:
    writer = None

    def __init__(self, options):
        self.options = options
        if Metrics.writer is None and options.folder and dist.get_rank() == 0:
            Metrics.writer = options.folder

    def gathered(self):
        if self.writer is not None:
            dist.barrier()

class Trainer:
    def __init__(self, options):
        self.metrics = self.made(options)

    def made(self, options):
        metrics = Metrics(options)
        return metrics
"""
    machine = machine_of(tmp_path, source)
    machine.context.begin_root()
    machine.joins = joins
    cls = machine.frame.module.classes["Trainer"]
    held = assigned_attribute(machine, cls, v.instance(cls, 1), "metrics")
    assert isinstance(held, v.Instance)
    assert held.cls.name == "Metrics"
    assert machine.joins is joins


STRIDE = """\
import os
import torch.distributed as dist

def sum_up(options):
    rank = dist.get_rank()
    for name in options.files[{start}::dist.get_world_size()]:
        dist.barrier()
    {then}
"""
FAILED = 'assert int(os.environ["LOCAL_RANK"]) == 0'


@pytest.mark.parametrize(
    ("start", "then", "expected"),
    [
        ("rank", FAILED, []),
        ("3 - rank", FAILED, [(6, "DST109")]),
        ("rank", "print()", [(6, "DST109")]),
    ],
)
def test_no_rank_has_more_items_than_one_whose_part_starts_earlier(
    start: str, then: str, expected: list[tuple[int, str]]
) -> None:
    """Where rank 0 or 2 waits for a further file, 1 and 3 have failed: the job ends at once."""
    assert about_hangs(findings(STRIDE.format(start=start, then=then))) == expected


def test_leaving_the_process_runs_the_exit_of_a_context_in_full() -> None:
    source = """\
import random
import torch.distributed as dist

class First:
    def __init__(self, first):
        self.first = first

    def __enter__(self):
        if not self.first:
            dist.barrier()

    def __exit__(self, *details):
        if self.first:
            if random.random() < 0.5:
                exit(0)
            dist.barrier()

with First(dist.get_rank() == 0):
    exit(0)
"""
    assert about_hangs(findings(source)) == [(15, "DST104")]


def test_an_option_asked_for_again_in_a_function_is_what_it_was() -> None:
    """The options are parsed, and that name is not read any more; the option itself is."""
    source = """\
import argparse
import random
import torch.distributed as dist
from project.switches import enabled

args = argparse.ArgumentParser().parse_args()

def persist():
    if args.verbose:
        dist.barrier()
    return random.random() < 0.5

if not args.verbose:
    if enabled("sync"):
        pass
    elif persist():
        dist.barrier()
"""
    assert about_hangs(findings(source)) == [(16, "DST103")]


def test_what_has_failed_before_an_inner_try_is_caught_by_the_outer_one() -> None:
    source = """\
import torch.distributed as dist
from project.data import load_shard

def restore(options):
    try:
        if options.resume:
            raise OSError("gone")
    except ValueError:
        pass

def main(options, rank):
    try:
        load_shard(rank)
        restore(options)
    except ValueError:
        dist.barrier()
"""
    assert about_hangs(findings(source)) == [(15, "DST108")]
