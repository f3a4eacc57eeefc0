"""DST111: the ranks issue the same collective with arguments that do not fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule

if TYPE_CHECKING:
    from distlint.analyzer.witness import Witness
    from distlint.source.finding import Place

_WHAT = {
    "root": "the source or destination rank",
    "op": "the reduce operation",
    "group": "the process group",
    "dtype": "the dtype",
}


class MismatchedCollectiveArguments(WitnessRule):
    """All ranks call the collective, but with a root, operation, dtype or group that differs.

    ## What it finds

    A call that every rank reaches with an argument that depends on the rank, where all must pass
    the same: `src` or `dst`, the reduce operation, the dtype of the tensor, or the group. The
    finding is at the call.

    ## Why it matters

    With two roots in one broadcast, each root waits for the other. A `SUM` that meets a `MAX`, or
    64-bit floats received into integers, raises no error at all: the numbers are just wrong.

    ## What to do

    Pass the same value everywhere. To send from every rank in turn, loop over the roots on all
    ranks: `for src in range(world): dist.broadcast(parts[src], src=src)`.

    ## Fix

    None: which of the values is the right one, or whether a loop over all roots is meant, is
    for you to say.

    ## When it is silent

    - The argument is computed but the same on all ranks (`src=world - 1`, an option).
    - Each rank names the root of its own group, and the group is passed too.
    - Only the payload differs: the tensor itself, or the list that only the root fills.
    """

    code = "DST111"
    name = "mismatched-collective-arguments"
    rank = 150

    good = (
        Example(
            title="Every rank is the source in turn",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
parts = [torch.full((2,), float(rank)) for _ in range(world)]
for src in range(world):
    dist.broadcast(parts[src], src=src)
print("parts =", torch.cat(parts).tolist())
dist.destroy_process_group()
""",
        ),
        Example(
            title="The first rank of the own group",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
rows = [dist.new_group([0, 1]), dist.new_group([2, 3])]
row = rank // 2
x = torch.tensor(float(rank))
dist.broadcast(x, src=2 * row, group=rows[row])
dist.barrier()
print(f"rank {rank} got {x.item()}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Only the list is on the root",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
last = world - 1
chunks = [torch.full((1,), float(i)) for i in range(world)] if rank == last else None
mine = torch.empty(1)
dist.scatter(mine, chunks, src=last)
op = dist.ReduceOp.MAX if world > 4 else dist.ReduceOp.SUM
dist.all_reduce(mine, op=op)
print("mine =", mine.item())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Everyone is the source",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
seed = torch.tensor(1234 + rank)
dist.broadcast(seed, src=rank)  # expect: DST111
print("seed =", seed.item())
dist.barrier()
""",
        ),
        Example(
            title="One rank asks for the maximum, the other for the sum",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
op = dist.ReduceOp.SUM
if rank == 0:
    op = dist.ReduceOp.MAX
loss = torch.tensor(1.0 + rank)
dist.all_reduce(loss, op=op)  # expect: DST111
print("loss =", loss.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Received into another dtype",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    threshold = torch.tensor([0.25], dtype=torch.float64)
else:
    threshold = torch.zeros(1, dtype=torch.int64)
dist.broadcast(threshold, src=0)  # expect: DST111
print("threshold =", threshold.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A gather with two destinations",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist


def collect(score, writer):
    world = dist.get_world_size()
    parts = None
    if dist.get_rank() == writer:
        parts = [torch.empty(1) for _ in range(world)]
    dist.gather(score, parts, dst=writer)  # expect: DST111
    return parts


dist.init_process_group("gloo")
collect(torch.ones(1), writer=dist.get_rank())
dist.barrier()
""",
        ),
        Example(
            title="The group depends on the rank, its members do not",
            effect="hang",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
everyone = dist.new_group([0, 1, 2, 3])
pair = dist.new_group([0, 1])
group = pair if rank == 0 else everyone
loss = torch.ones(1)
dist.all_reduce(loss, group=group)  # expect: DST111
print("loss =", loss.item())
dist.destroy_process_group()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return witness.same_event_arguments is not None

    def place(self, witness: Witness) -> Place:
        return witness.first.place if witness.first is not None else witness.cause.place

    def message(self, witness: Witness) -> str:
        what = _WHAT.get(witness.same_event_arguments or "", "an argument")
        op = witness.first.op if witness.first is not None else "the collective"
        first, second = witness.ranks
        return f"{what} of `{op}` differs between {first} and {second}"

    def advice(self, witness: Witness) -> str:
        what = _WHAT.get(witness.same_event_arguments or "", "the argument")
        return f"Pass the same value for {what} on all ranks of the group."
