"""What fixes do with conditions, comments and neighbours, and where none is offered."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.rules.scripts import scripts
from tests.support import findings, fixes, repaired

HEAD = """\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
"""


def fixed(body: str) -> str:
    """What fixes make of a body behind the usual head; the imports are left out."""
    text = repaired(HEAD + dedent(body).lstrip("\n"))
    return text.partition("x = torch.ones(1)\n")[2]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            """
            for step in range(9):
                if rank == 0 and step % 3 == 0:  # now and then
                    dist.all_reduce(x)
                    print(x)
            """,
            """
            for step in range(9):
                if step % 3 == 0:
                    dist.all_reduce(x)
                if rank == 0 and step % 3 == 0:  # now and then
                    print(x)
            """,
            id="the rest of a condition goes on to decide",
        ),
        pytest.param(
            """
            if rank == 0:
                # the mean over all ranks
                total = x.clone()
                dist.all_reduce(total)  # sum

                print(total / 4)
            """,
            """
            # the mean over all ranks
            total = x.clone()
            dist.all_reduce(total)  # sum
            if rank == 0:

                print(total / 4)
            """,
            id="operands and comments come along",
        ),
        pytest.param(
            """
            if rank == 0:
                torch.save(x, "x.pt")
                dist.barrier()
            else:
                print("waiting")
            """,
            """
            if rank == 0:
                torch.save(x, "x.pt")
            else:
                print("waiting")
            dist.barrier()
            """,
            id="a barrier goes behind the work that it is for",
        ),
        pytest.param(
            "if rank == 0: dist.all_reduce(x); print(x)\n",
            "dist.all_reduce(x)\nif rank == 0: print(x)\n",
            id="on one line",
        ),
        pytest.param(
            """
            def save():
                if rank != 0:  # rank 0 alone
                    return

                torch.save(x, "x.pt")
                dist.barrier()


            save()
            """,
            """
            def save():
                if rank == 0:  # rank 0 alone
                    torch.save(x, "x.pt")
                dist.barrier()


            save()
            """,
            id="an exit becomes a guard",
        ),
        pytest.param(
            """
            def report():
                if rank != 0:
                    return
                print("reporting")
                total = x.clone()
                dist.all_reduce(total)
                # the mean
                print(total / 4)
                dist.barrier()


            report()
            """,
            """
            def report():
                if rank == 0:
                    print("reporting")
                total = x.clone()
                dist.all_reduce(total)
                # the mean
                if rank == 0:
                    print(total / 4)
                dist.barrier()


            report()
            """,
            id="an exit in front of several collectives",
        ),
        pytest.param(
            """
            def train():
                for step in range(9):
                    dist.all_reduce(x)
                    if time.time() > 9:
                        return step
                return 9


            train()
            """,
            """
            def train():
                for step in range(9):
                    dist.all_reduce(x)
                    if any_rank(time.time() > 9):
                        return step
                return 9


            train()
            """,
            id="a return out of a loop",
        ),
        pytest.param(
            """
            while True:
                dist.all_reduce(x)
                if time.time() > 9:
                    print("late")
                    if x.dim():
                        break
            """,
            """
            while True:
                dist.all_reduce(x)
                stop = False
                if time.time() > 9:
                    print("late")
                    if x.dim():
                        stop = True
                if any_rank(stop):
                    break
            """,
            id="an exit inside other work raises a flag",
        ),
        pytest.param(
            """
            while not (time.time() > 9):
                dist.all_reduce(x)
            """,
            """
            while all_ranks(not (time.time() > 9)):
                dist.all_reduce(x)
            """,
            id="the condition of a loop",
        ),
        pytest.param(
            """
            n = 0
            while n < 100 and time.time() < 9:
                dist.all_reduce(x)
                n += 1
            """,
            """
            n = 0
            while all_ranks(n < 100 and time.time() < 9):
                dist.all_reduce(x)
                n += 1
            """,
            id="a loop with a bound and a clock",
        ),
        pytest.param(
            """
            going = True
            while going:
                dist.all_reduce(x)
                going = time.time() < 9
            """,
            """
            going = True
            while all_ranks(going):
                dist.all_reduce(x)
                going = time.time() < 9
            """,
            id="a flag that keeps a loop going",
        ),
        pytest.param(
            """
            for step in range(9):
                dist.all_reduce(x)
                if time.time() < 9:
                    print("on")
                else:
                    break
            """,
            """
            for step in range(9):
                dist.all_reduce(x)
                if all_ranks(time.time() < 9):
                    print("on")
                else:
                    break
            """,
            id="an exit in the else",
        ),
    ],
)
def test_repaired(before: str, after: str) -> None:
    assert fixed(before) == dedent(after).lstrip("\n")


ACCELERATED = """\
import time
import torch
from accelerate import Accelerator

accelerator = Accelerator()
x = torch.ones(1)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            """
            while True:
                accelerator.reduce(x)
                if time.time() > 9:
                    print("late")
                    break
            """,
            """
            while True:
                accelerator.reduce(x)
                if time.time() > 9:
                    accelerator.set_trigger()
                if accelerator.check_trigger():
                    print("late")
                    break
            """,
            id="beside other work",
        ),
        pytest.param(
            """
            def train():
                for epoch in range(3):
                    for step in range(9):
                        accelerator.reduce(x)
                        if time.time() < 9:
                            print(step)
                        else:
                            return step


            train()
            """,
            """
            def train():
                for epoch in range(3):
                    for step in range(9):
                        accelerator.reduce(x)
                        if time.time() >= 9:
                            accelerator.set_trigger()
                        if not accelerator.check_trigger():
                            print(step)
                        else:
                            return step


            train()
            """,
            id="a return in the else, out of two loops",
        ),
    ],
)
def test_accelerate_has_a_trigger(before: str, after: str) -> None:
    text = repaired(ACCELERATED + dedent(before).lstrip("\n"))
    assert text.partition("x = torch.ones(1)\n")[2] == dedent(after).lstrip("\n")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
            if rank == 0:
                y = torch.load("y.pt")
                dist.all_reduce(y)
            """,
            id="the operand is loaded by one rank",
        ),
        pytest.param(
            """
            if rank == 0:
                print(x)
                dist.all_reduce(x)
                print(x)
            """,
            id="the tensor is looked at before",
        ),
        pytest.param(
            """
            if rank == 0:
                parts = [torch.empty(1) for _ in range(4)]
                dist.gather(x, parts, dst=0)
            """,
            id="roles differ",
        ),
        pytest.param(
            """
            if rank == 0 or x.dim() == 3:
                dist.all_reduce(x)
            """,
            id="an or",
        ),
        pytest.param(
            """
            work = [1] * int(time.time() % 3)
            while True:
                dist.all_reduce(x)
                if not work:
                    break
                work.pop()
            """,
            id="a rank is done with its own work",
        ),
        pytest.param(
            """
            if (
                rank == 0  # the others have nothing to say
                and x.dim() == 3
            ):
                dist.all_reduce(x)
            """,
            id="a comment in the condition would be lost",
        ),
        pytest.param(
            """
            with local_rank_zero_download_and_wait("data"):
                if rank == 0:
                    dist.all_reduce(x)
            """,
            id="the ranks take turns there",
        ),
        pytest.param(
            """
            def stop(rank):
                while True:
                    dist.all_reduce(x)
                    if rank == 0:
                        if time.time() > 9:
                            break


            stop(x.dim())
            """,
            id="only some ranks come there, by the name",
        ),
    ],
)
def test_no_certain_repair(body: str) -> None:
    source = HEAD + dedent(body).lstrip("\n")
    assert findings(source), "nothing to repair: the test says nothing"
    assert repaired(source) == source


def test_what_is_seldom_so_is_shown_only() -> None:
    (script,) = (s for s in scripts("bugs") if s.name.endswith("__file_probe"))
    assert [fix.applicability for fix in fixes(script.source, code="DST1")] == ["displayonly"]
    assert repaired(script.source, preview=True, only="DST1") == script.source


def test_an_exception_of_one_rank_is_shown_only() -> None:
    source = HEAD + dedent("""
        def prepared(path):
            try:
                return torch.load(path)
            except (OSError, RuntimeError):
                return None


        for path in paths:
            batch = prepared(path)
            if batch:
                dist.all_reduce(x)
        """)
    assert [fix.applicability for fix in fixes(source, code="DST1")] == ["displayonly"]
    assert repaired(source) == source


def test_a_form_feed_is_no_reason_to_write_in_the_wrong_place() -> None:
    source = HEAD + "\x0cif rank == 0:\n\x0c    dist.all_reduce(x)\n"
    assert repaired(source) in (source, HEAD + "\x0cdist.all_reduce(x)\n")
