"""Fifteen small scripts that tell analyses of collective matching apart.

They restate for torch.distributed the questions of a microbenchmark suite for MPI checkers: is
the analysis sensitive to fields, indexes, control dependence, aliases, loop counts, groups?

    python -m benchmarks.microbenchmarks
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

from benchmarks.verdict import verdict

HEAD = """\
import torch
import torch.distributed as dist

"""


@dataclass(frozen=True)
class Microbenchmark:
    """One question to an analysis."""

    name: str
    label: Literal["divergent", "aligned"]
    question: str
    body: str

    @property
    def source(self) -> str:
        """The script."""
        return HEAD + self.body.lstrip("\n")


MICROBENCHMARKS = (
    Microbenchmark(
        "barrier_against_reduce",
        "divergent",
        "two operations in the opposite order by parity of the rank",
        """
dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
if rank % 2 == 0:
    dist.barrier()
    dist.reduce(x, dst=0)
else:
    dist.reduce(x, dst=0)
    dist.barrier()
""",
    ),
    Microbenchmark(
        "barrier_against_scatter",
        "divergent",
        "the root does its two operations in the opposite order",
        """
dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.zeros(1)
if rank == 0:
    dist.scatter(x, [torch.ones(1) for _ in range(dist.get_world_size())], src=0)
    dist.barrier()
else:
    dist.barrier()
    dist.scatter(x, src=0)
""",
    ),
    Microbenchmark(
        "broadcast_against_reduce",
        "divergent",
        "a common first operation, then the opposite order",
        """
dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
dist.broadcast(x, src=0)
if rank % 2 == 0:
    dist.reduce(x, dst=0)
    dist.broadcast(x, src=0)
else:
    dist.broadcast(x, src=0)
    dist.reduce(x, dst=0)
""",
    ),
    Microbenchmark(
        "field",
        "aligned",
        "one field of an object depends on the rank, the other, which is tested, does not",
        """
class Place:
    def __init__(self):
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()


dist.init_process_group("gloo")
place = Place()
if place.size > 1:
    dist.barrier()
""",
    ),
    Microbenchmark(
        "index",
        "divergent",
        "a list of constants read at the rank",
        """
dist.init_process_group("gloo")
rank = dist.get_rank()
takes_part = [place % 2 == 0 for place in range(dist.get_world_size())]
if takes_part[rank]:
    dist.barrier()
""",
    ),
    Microbenchmark(
        "loop_count",
        "divergent",
        "nine barriers on some ranks, ten on the others",
        """
dist.init_process_group("gloo")
count = 10
if dist.get_rank() % 2:
    count = 9
for _ in range(count):
    dist.barrier()
""",
    ),
    Microbenchmark(
        "missing",
        "divergent",
        "a barrier on odd ranks only",
        """
dist.init_process_group("gloo")
if dist.get_rank() % 2:
    dist.barrier()
""",
    ),
    Microbenchmark(
        "other_group",
        "divergent",
        "the same operation on two groups of the same ranks",
        """
dist.init_process_group("gloo")
copy = dist.new_group()
if dist.get_rank() % 2:
    dist.barrier()
else:
    dist.barrier(group=copy)
""",
    ),
    Microbenchmark(
        "asynchronous_alone",
        "divergent",
        "some ranks start an asynchronous operation, the others a blocking one of another kind",
        """
dist.init_process_group("gloo")
x = torch.ones(1)
if dist.get_rank() % 2:
    dist.barrier()
else:
    work = dist.all_reduce(x, async_op=True)
    work.wait()
""",
    ),
    Microbenchmark(
        "argument_of_callee",
        "divergent",
        "the callee tests a parameter whose value depends on the caller's rank",
        """
def exchange(n, x):
    if n > 0:
        dist.all_reduce(x)


def main():
    dist.init_process_group("gloo")
    n = 0
    if dist.get_rank() == 0:
        n = 1
    exchange(n, torch.ones(1))


main()
""",
    ),
    Microbenchmark(
        "no_error",
        "aligned",
        "a barrier that all ranks reach",
        """
dist.init_process_group("gloo")
if dist.get_rank() % 2:
    print("odd")
else:
    print("even")
dist.barrier()
""",
    ),
    Microbenchmark(
        "two_complementary_tests",
        "aligned",
        "each rank passes one of two barriers",
        """
dist.init_process_group("gloo")
rank = dist.get_rank()
if rank % 2:
    dist.barrier()
if not rank % 2:
    dist.barrier()
""",
    ),
    Microbenchmark(
        "control_dependence",
        "divergent",
        "a variable gets one of two constants under a test of the rank",
        """
dist.init_process_group("gloo")
if dist.get_rank() % 2:
    value = 1
else:
    value = 2
if value == 1:
    dist.barrier()
""",
    ),
    Microbenchmark(
        "alias",
        "divergent",
        "the tested value is written through another name of the same object",
        """
dist.init_process_group("gloo")
state = {"turn": 0}
alias = state
if state["turn"] == 0:
    dist.barrier()
alias["turn"] = dist.get_rank()
if state["turn"] == 0:
    dist.barrier()
""",
    ),
    Microbenchmark(
        "later_value",
        "divergent",
        "a variable is the same everywhere at its first test and depends on the rank at its second",
        """
dist.init_process_group("gloo")
value = 0
if value == 0:
    dist.barrier()
value = dist.get_rank()
if value == 0:
    dist.barrier()
""",
    ),
)


def main() -> int:
    """Print each question and the answer; 1 when one is wrong."""
    wrong = 0
    for each in MICROBENCHMARKS:
        said = verdict(each.source)
        wrong += said != each.label
        mark = "ok   " if said == each.label else "WRONG"
        print(f"{mark} {each.name:26} {each.label:10} {each.question}")
    print(f"{len(MICROBENCHMARKS) - wrong} of {len(MICROBENCHMARKS)} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
