"""DST109: a loop of collectives that runs a different number of times on each rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import agreed_loop
from distlint.rules.collectives._wording import condition, contrast, proviso

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.explanation import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class RankDependentLoopCount(WitnessRule):
    """A loop with a collective in it runs a different number of times on each rank.

    ## What it finds

    A `for` over something whose length depends on the rank (`files[rank::world]`, a list that each
    rank fills, `range(rank)`), or a `while` on a value of this rank (a queue, a clock, a residual),
    with a collective in the body.

    ## Why it matters

    The rank with the shortest loop leaves first; the others wait for it, or meet whatever
    collective it calls next. With `files[rank::world]` the job works as long as the number of
    files happens to be a multiple of the world size.

    ## What to do

    Agree on the number of rounds and let the ranks that are done take part with an empty
    contribution; or keep the collective out of the loop and reduce once after it:

    ```python
    rounds = torch.tensor(len(mine))
    dist.all_reduce(rounds, op=dist.ReduceOp.MAX)
    for index in range(rounds.item()):
        part = measure(mine[index]) if index < len(mine) else torch.zeros(1)
        dist.all_reduce(part)
    ```

    ## Fix

    Unsafe: `all_ranks(...)` around the condition of a `while`, if that compares or asks for flags,
    ends the loop on all ranks when it ends on one. None for a loop over data of its own, whose rest
    would be lost.

    ## When it is silent

    - The number of rounds is the same everywhere, or was agreed by a collective.
    - The loop issues no collective, and none of its results decides about one.
    - Point-to-point calls in a loop over peers.
    """

    code = "DST109"
    name = "rank-dependent-loop-count"
    rank = 130

    good = (
        Example(
            title="The ranks agree on the number of rounds",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
files = ["a.txt", "b.txt", "c.txt"]
mine = files[rank::world]
rounds = torch.tensor(len(mine))
dist.all_reduce(rounds, op=dist.ReduceOp.MAX)
for index in range(int(rounds.item())):
    size = torch.tensor(float(len(mine[index])) if index < len(mine) else 0.0)
    dist.all_reduce(size)
    print(f"round {index}: {size.item()}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Local loop, one reduction after it",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
total = torch.zeros(1)
for number in range(rank, 7, world):
    total += number
dist.all_reduce(total)
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Pipes to as many peers as there are",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
x = torch.ones(1)
for peer in range(rank + 1, world):
    dist.send(x, dst=peer)
for peer in range(rank):
    dist.recv(x, src=peer)
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A residual that all ranks compute together",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
residual = torch.tensor(8.0 * (1 + dist.get_rank()))
dist.all_reduce(residual)
rounds = 0
while residual.item() > 1.0:
    residual /= 4
    dist.all_reduce(residual)
    rounds += 1
print("rounds =", rounds)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Files dealt out by rank",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
files = ["a.txt", "b.txt", "c.txt"]
for name in files[rank::world]:  # expect: DST109
    size = torch.tensor(float(len(name)))
    dist.all_reduce(size)
    print(f"after {name}: {size.item()}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="A queue that each rank fills on its own",
            effect="hang",
            code="""\
import random
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
random.seed(rank)
queue = [token for token in range(20) if random.random() < 0.5]
done = torch.zeros(1)
while queue:  # expect: DST109
    queue.pop()
    done += 1
    dist.all_reduce(done)
dist.barrier()
""",
        ),
        Example(
            title="Counting up to the own rank",
            effect="hang",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist


def warm_up(rounds):
    for _ in range(rounds):  # expect: DST109
        dist.all_reduce(torch.ones(1))


dist.init_process_group("gloo")
warm_up(rounds=1 + dist.get_rank() % 2)
dist.barrier()
""",
        ),
        Example(
            title="As many rounds as fit into a time slice",
            effect="hang",
            code="""\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
time.sleep(0.2 * dist.get_rank())
deadline = time.monotonic() + 0.1
rounds = 0
while time.monotonic() < deadline:  # expect: DST109
    time.sleep(0.002)
    dist.all_reduce(torch.ones(1))
    rounds += 1
dist.barrier()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return witness.cause.kind == "loop"

    def message(self, witness: Witness) -> str:
        return (
            f"the loop over {condition(witness)} may run longer on some ranks: "
            f"{contrast(witness)}{proviso(witness)}"
        )

    def advice(self, witness: Witness) -> str:
        return "Agree on the number of rounds first, or move the collective behind the loop."

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return agreed_loop(witness, draft)
