"""DST109: a loop of collectives that runs a different number of times on each rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import agreed_loop
from distlint.rules.collectives._wording import condition, proviso

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class RankDependentLoopCount(WitnessRule):
    """A loop that calls a collective runs a different number of times on each rank.

    ```python
    size = torch.zeros(1, device="cuda")
    for name in files[rank::world_size]:
        size += len(name)
        dist.all_reduce(size)
    ```

    ## Use instead

    ```python
    size = torch.zeros(1, device="cuda")
    for name in files[rank::world_size]:
        size += len(name)
    dist.all_reduce(size)
    ```

    If the collective has to stay in the loop, agree on the number of iterations first (`all_reduce`
    of `len(mine)` with `MAX`), and let ranks that have no more data contribute zeros.

    ## Why is this bad?

    The rank with the fewest iterations leaves the loop first. The other ranks wait for it, or are
    matched with whatever collective it calls next. With `files[rank::world_size]`, the job works as
    long as the number of files happens to be a multiple of the world size.

    ## What is reported

    A `for` or a comprehension over something whose length depends on the rank or on its data
    (`files[rank::world_size]`, a list that each rank fills, `range(rank)`, `labels.unique()`, the
    lines of `open(f"part-{rank}.txt")`), or a `while` on a rank-local value (a queue, a clock, a
    residual), with a collective in the body.

    ## What is not reported

    - The number of iterations is the same on all ranks, or was agreed on with a collective.
    - The loop calls no collective, and no collective depends on its results.
    - Point-to-point calls in a loop over peers.

    ## Fix safety

    Unsafe: `all_ranks(...)` around the condition of a `while` ends the loop on all ranks when it
    ends on one. This is offered for conditions made of comparisons or flags. No fix is offered for
    a loop over rank-local data, the rest of which would be lost.

    ## References

    - [PyTorch: collective functions](https://docs.pytorch.org/docs/stable/distributed.html#collective-functions)
    """

    code = "DST109"
    name = "rank-dependent-loop-count"
    rank = 130

    good = (
        Example(
            title="The ranks agree on the number of iterations",
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
            title="A local loop, one reduction after it",
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
            title="Point-to-point calls to a rank-dependent number of peers",
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
            title="A residual that is reduced in each iteration",
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
            title="Files sharded by rank",
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
            title="A queue that each rank fills separately",
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
            title="A range that depends on the rank",
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
            title="A time limit on each rank's clock",
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
        return f"loop on {condition(witness)} may run longer on some ranks{proviso(witness)}"

    def help(self, witness: Witness) -> str:
        return "Agree on the number of iterations first, or move the collective after the loop"

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return agreed_loop(witness, draft)
