"""What is called in a script, and how often."""

from __future__ import annotations

from textwrap import dedent

import pytest

from distlint.confirm.run import confirmed
from distlint.harness.cluster import missing
from tests.confirm.scripts import written

runs = pytest.mark.skipif(missing() is not None, reason="torch is not installed")

START = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
"""
ROOTS = [
    "dist.gather(x, dst=0 if rank < 2 else 1)",
    "dist.gather(x, dst=rank)",
    "dist.gather(x, dst=(rank + 1) % 3)",
    "dist.scatter(x, src=0 if rank == 0 else 1)",
    "dist.scatter(x, src=rank % 3)",
    "dist.reduce(x, dst=0 if rank < 2 else 1)",
    "dist.broadcast_object_list([x], src=0 if rank < 2 else 1)",
]
LAMBDAS = {
    "in a variable": """\
        save = lambda: dist.barrier()
        if rank == 0:
            save()
        """,
    "as an argument": """\
        def call(f):
            f()

        if rank == 0:
            call(lambda: dist.barrier())
        """,
    "in a dictionary": """\
        calls = {"save": lambda: dist.barrier()}
        if rank == 0:
            calls["save"]()
        """,
}


@runs
def test_the_roots_of_a_collective_differ() -> None:
    found = [each for code in ROOTS for each in written(f"{START}{code}\n")]
    assert len(found) == len(ROOTS)
    assert [each.reason for each in found] == [""] * len(ROOTS)
    outcomes = [(code, each.effect) for code, each in zip(ROOTS, confirmed(found), strict=True)]
    assert [each for each in outcomes if each[1] not in {"hang", "wrong data"}] == []


@pytest.mark.parametrize("where", LAMBDAS)
def test_what_a_lambda_does_stands_where_it_is_called(where: str) -> None:
    (found,) = written(START + dedent(LAMBDAS[where]))
    assert found.script is not None, found.reason
    assert found.script.source.count("dist.barrier()  #") == 1
    assert "iter(" not in found.script.source


CAUGHT = {
    "the end of the process": """\
        import sys

        for step in range(2):
            try:
                if rank == step:
                    sys.exit(3)
                dist.barrier()
            except SystemExit:
                dist.all_reduce(x)
        """,
    "the end of the process, by all handlers": """\
        import sys

        try:
            if rank == 0:
                sys.exit(0)
            dist.barrier()
        except:
            dist.all_reduce(x)
        """,
    "an exception, by a context manager": """\
        from contextlib import contextmanager

        @contextmanager
        def quiet():
            try:
                yield
            except ValueError:
                pass

        with quiet():
            if rank == 0:
                raise ValueError("bad")
            dist.barrier()
        dist.all_reduce(x)
        """,
}


@pytest.mark.parametrize("what", CAUGHT)
def test_what_is_caught_is_caught_in_the_script(what: str) -> None:
    (found,) = written(START + dedent(CAUGHT[what]))
    assert found.script is not None, found.reason


@runs
def test_a_process_that_goes_on_after_its_end_is_confirmed() -> None:
    (found,) = confirmed(written(START + dedent(CAUGHT["the end of the process"])))
    assert found.effect == "hang"


def test_the_check_of_a_recursion_has_an_end() -> None:
    code = """\
        def walk(depth):
            if depth == rank:
                dist.barrier()
                return
            try:
                walk(depth + 1)
            finally:
                walk(depth + 1)

        walk(0)
        """
    (found,) = written(START + dedent(code))
    assert found.script is not None or found.reason
