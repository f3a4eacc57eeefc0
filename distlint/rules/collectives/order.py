"""DST105: ranks issue different collectives, or the same ones in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._wording import condition, contrast, proviso

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.explanation import Witness


class DivergentCollectiveOrder(WitnessRule):
    """The arms of a branch issue different collectives, or the same ones in another order.

    ## What it finds

    Ranks that take different arms of a test and meet different collectives there: `all_reduce` in
    one arm and `broadcast` in the other, or the two in swapped order.

    ## Why it matters

    Collectives carry no name. A backend pairs the first call of one rank with the first call of
    the other, whatever they are. NCCL hangs or corrupts memory; where sizes happen to agree, each
    rank goes on with numbers that belong to another call.

    ## What to do

    Issue the same collectives in the same order on all ranks. Where roles differ, let the rank
    choose the argument, not the call: `dist.broadcast(tensor, src=0)` both sends and receives.

    ## Fix

    None: which of the orders is meant is for you to say.

    ## When it is silent

    - The arms issue the same sequence, whatever the tensors are.
    - The arms work on different groups, and each group's members agree among themselves.
    """

    code = "DST105"
    name = "divergent-collective-order"
    rank = 140

    good = (
        Example(
            title="The rank chooses the tensor, not the call",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank == 0:
    teacher = torch.arange(3.0)
    dist.broadcast(teacher, src=0)
    loss = teacher.sum()
    dist.all_reduce(loss)
else:
    teacher = torch.zeros(3)
    dist.broadcast(teacher, src=0)
    loss = teacher.mean()
    dist.all_reduce(loss)
print("loss =", loss.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Two stages, each on its own group",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
first = dist.new_group([0, 1])
second = dist.new_group([2, 3])
x = torch.tensor(float(rank))
if rank < 2:
    dist.all_reduce(x, group=first)
    dist.broadcast(x, src=0, group=first)
else:
    dist.broadcast(x, src=2, group=second)
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A gather with its list on the root",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
score = torch.tensor([rank * 2.0])
scores = [torch.empty(1) for _ in range(world)] if rank == 0 else None
dist.gather(score, scores, dst=0)
if rank == 0:
    print(f"scores {torch.cat(scores).tolist()}")
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Two collectives in swapped order",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
weights, loss = torch.ones(4), torch.ones(4)
if dist.get_rank() == 0:  # expect: DST105
    dist.broadcast(weights, src=0)
    dist.all_reduce(loss)
else:
    dist.all_reduce(loss)
    dist.broadcast(weights, src=0)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The root waits, the others send",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist


def sync(tensor, rank):
    if rank == 0:  # expect: DST105
        print("waiting for the workers")
        dist.barrier()
    else:
        dist.all_reduce(tensor)


dist.init_process_group("gloo")
sync(torch.ones(2), dist.get_rank())
dist.destroy_process_group()
""",
        ),
        Example(
            title="One side gathers, the other reduces",
            effect="hang",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
hits = torch.tensor([float(rank)])
if rank % 2 == 0:  # expect: DST105
    parts = [torch.empty(1) for _ in range(world)]
    dist.all_gather(parts, hits)
    total = torch.cat(parts).sum()
else:
    dist.all_reduce(hits)
    total = hits.sum()
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return witness.cause.kind == "order"

    def message(self, witness: Witness) -> str:
        return (
            f"the arms of {condition(witness)} issue different collectives: "
            f"{contrast(witness)}{proviso(witness)}"
        )

    def advice(self, witness: Witness) -> str:
        return "Issue the same collectives in the same order on all ranks; vary arguments only."
