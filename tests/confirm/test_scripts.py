"""Reproducers: what they hold, how they read, and what happens when they are run."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from distlint.confirm.reproducers import FROM_SOURCE, Reproducer
from distlint.confirm.run import confirmed
from distlint.harness.cluster import missing
from tests.confirm.scripts import bad_examples, in_folder, written

runs = pytest.mark.skipif(missing() is not None, reason="torch is not installed")

IMPORTS = {"contextlib", "datetime", "sys", "torch", "torch.distributed"}
START = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
"""
SHAPES = {
    "the rest of an if": """\
        if rank == 0:
            pass
        else:
            dist.barrier()
        """,
    "a helper, one call deeper": """\
        def save(model):
            dist.barrier()

        def finish(model):
            if rank == 0:
                save(model)

        finish(x)
        """,
    "a method of an object": """\
        class Trainer:
            def __init__(self, rank):
                self.main = rank == 0

            def step(self):
                if self.main:
                    dist.all_reduce(x)

        Trainer(rank).step()
        """,
    "a break on one rank": """\
        for batch in range(5):
            if batch > 2 + rank:
                break
            dist.all_reduce(x)
        dist.barrier()
        """,
    "a while that asks the others": """\
        def goes_on(value):
            dist.all_reduce(value)
            return value.item() > 0

        while goes_on(x):
            if rank == 1:
                break
        """,
    "a return before the collective": """\
        def main():
            if rank > 0:
                return
            dist.barrier()

        main()
        """,
    "an exception that is swallowed": """\
        import json
        try:
            json.load(open(f"part{rank}.json"))
            dist.barrier()
        except OSError:
            print("no file")
        """,
    "an exception of the program": """\
        try:
            if rank == 0:
                raise ValueError("bad")
            dist.barrier()
        except ValueError:
            pass
        """,
    "the end of the process": """\
        import sys
        if rank != 0:
            sys.exit(0)
        dist.barrier()
        """,
    "a context manager of the project": """\
        from contextlib import contextmanager

        @contextmanager
        def first():
            if rank != 0:
                dist.barrier()
            yield
            if rank == 0:
                dist.barrier()

        with first():
            dist.all_reduce(x)
        """,
    "an assertion that fails in one iteration": """\
        import random
        for step in range(3):
            try:
                assert random.random() > 0.1
                dist.barrier()
            except AssertionError:
                print("skipped")
        """,
    "objects and tensors": """\
        if rank == 0:
            dist.broadcast_object_list(["state"], src=0)
        else:
            dist.broadcast(x, src=0)
        """,
    "a group of some ranks": """\
        pair = dist.new_group([0, 1])
        if rank == 0:
            dist.all_reduce(x, group=pair)
        """,
    "another source on each rank": """\
        dist.broadcast(x, src=rank)
        """,
    "different iterations on each rank": """\
        for batch in range(rank + 1):
            dist.all_reduce(x)
        """,
    "a finally": """\
        try:
            print("work")
        finally:
            if rank == 0:
                dist.barrier()
        """,
}


@pytest.fixture(scope="module")
def by_shape() -> dict[str, list[Reproducer]]:
    return {name: written(START + dedent(code)) for name, code in SHAPES.items()}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_of_a_program_has_a_script(
    shape: str, by_shape: dict[str, list[Reproducer]]
) -> None:
    assert by_shape[shape]
    for each in by_shape[shape]:
        assert each.script is not None, each.reason


@runs
def test_the_scripts_hang(by_shape: dict[str, list[Reproducer]]) -> None:
    found = [each for shape in by_shape.values() for each in shape]
    effects = {each.reproducer.finding.message: each.effect for each in confirmed(found)}
    others = {message for message, effect in effects.items() if effect != "hang"}
    assert others <= {"ranks pass different `src` to `broadcast`"}, effects


def test_a_script_reads_like_the_source() -> None:
    source = START + dedent(
        """\
        def is_main():
            return dist.get_rank() == 0

        def evaluate(loader):
            for batch in loader:
                print(batch)
            dist.all_reduce(x)

        def train(args, loader):
            for epoch in range(args.epochs):
                if args.evaluates and is_main():
                    evaluate(loader)
                dist.barrier()

        train(parse(), [])
        """
    )
    (found,) = written(source)
    assert found.script is not None
    head, _, body = found.script.source.partition("rank = dist.get_rank()\n")
    assert "torchrun --nproc-per-node 4" in head
    assert body == dedent(
        """\


        def evaluate():  # line 10
            dist.all_reduce(torch.zeros(1))  # line 13: dist.all_reduce(x)


        def train():  # line 15
            for _ in range(1):  # line 16: for epoch in range(args.epochs)
                if rank == 0:  # line 17: if args.evaluates and is_main()
                    evaluate()  # line 18: evaluate(loader)
                dist.barrier()  # line 19: dist.barrier()


        train()  # line 21: train(parse(), [])
        print(f"rank {rank} has finished", flush=True)
        """
    )


def test_correct_code_has_none() -> None:
    assert written(START + "dist.all_reduce(x)\n") == []


@pytest.fixture(scope="module")
def examples() -> dict[str, list[Reproducer]]:
    return {name: written(code) for name, code in bad_examples().items()}


def test_the_examples_of_the_rules_have_scripts(examples: dict[str, list[Reproducer]]) -> None:
    reasons = {each.reason for found in examples.values() for each in found}
    assert reasons == {"", FROM_SOURCE}
    assert sum(each.script is not None for found in examples.values() for each in found) > 50


def test_a_script_uses_torch_and_nothing_that_reaches_the_machine(
    examples: dict[str, list[Reproducer]],
) -> None:
    for found in examples.values():
        for each in found:
            if each.script is None:
                continue
            names = set()
            for node in ast.walk(ast.parse(each.script.source)):
                if isinstance(node, ast.Import):
                    assert {alias.name for alias in node.names} <= IMPORTS
                assert not isinstance(node, ast.ImportFrom)
                if isinstance(node, ast.Name):
                    names.add(node.id)
            assert not names & {"open", "exec", "eval", "__import__", "compile", "input"}


def test_scripts_are_short_and_narrow(examples: dict[str, list[Reproducer]]) -> None:
    sources = [each.script.source for found in examples.values() for each in found if each.script]
    lengths = sorted(source.count("\n") for source in sources)
    assert lengths[len(lengths) // 2] <= 40
    assert max(len(line) for source in sources for line in source.splitlines()) <= 140


@runs
@pytest.mark.campaign
@pytest.mark.parametrize("folder", ["bugs", "variants", "cases"])
def test_what_is_reported_in_the_scripts_of_the_tests_is_confirmed(folder: str) -> None:
    labels, found = [], []
    for name, source in in_folder(folder).items():
        for each in written(source):
            labels.append(f"{name}: {each.finding.code} {each.reason}")
            found.append(each)
    outcomes = zip(labels, confirmed(found), strict=True)
    wrong = [label for label, each in outcomes if not each.is_confirmed]
    assert [label for label in wrong if not label.endswith(FROM_SOURCE)] == []


@runs
@pytest.mark.campaign
def test_the_examples_of_the_rules_are_confirmed(examples: dict[str, list[Reproducer]]) -> None:
    found = [each for listed in examples.values() for each in listed]
    outcomes = [(each.reproducer.finding.message, each.effect) for each in confirmed(found)]
    assert [each for each in outcomes if each[1] not in {None, "hang", "wrong data"}] == []
