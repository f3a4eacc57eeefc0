"""DST105: ranks issue different collectives, or the same ones in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._wording import WHAT, condition, headline

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness


class DivergentCollectiveOrder(WitnessRule):
    """The branches of a condition call different collectives, or the same ones in another order.

    ```python
    if rank == 0:
        dist.broadcast(weights, src=0)
        dist.all_reduce(loss)
    else:
        dist.all_reduce(loss)
        dist.broadcast(weights, src=0)
    ```

    ## Use instead

    ```python
    dist.broadcast(weights, src=0)
    dist.all_reduce(loss)
    ```

    Call the same collectives in the same order on all ranks. Where roles differ, let the rank
    select the arguments, not the call: `dist.broadcast(tensor, src=0)` both sends and receives.

    ## Why is this bad?

    Collectives have no names. A backend matches the first call on one rank with the first call on
    another, whatever the two calls are. NCCL hangs or corrupts memory. If the sizes happen to
    match, each rank continues with data that belongs to another call.

    ## What is reported

    Ranks that take different branches of a condition and call different collectives there:
    `all_reduce` in one branch and `broadcast` in the other, or the two in reverse order; also the
    same call on tensors that were created with different shapes, such as two reductions in reverse
    order.

    ## What is not reported

    - The branches call the same sequence of collectives, on tensors whose shapes are not known.
    - The branches use different groups, and the members of each group agree on the sequence.

    ## Fix safety

    None: distlint cannot know which order is intended.

    ## References

    - [PyTorch: collective functions](https://docs.pytorch.org/docs/stable/distributed.html#collective-functions)
    - [NCCL: collective operations](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/usage/collectives.html)
    """

    code = "DST105"
    name = "divergent-collective-order"
    rank = 140

    good = (
        Example(
            title="The rank selects the tensor, not the call",
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
            title="Two stages, each with a separate group",
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
            title="A gather whose list is on the root only",
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
            title="Two collectives in reverse order",
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
            title="A barrier on rank 0, an all_reduce on the others",
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
            title="An all_gather on even ranks, an all_reduce on odd ranks",
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
        differs, event = witness.same_event_arguments, witness.first
        if differs and event is not None:
            calls = f"mismatched `{event.op}` calls on {condition(witness)}"
            return f"{calls}: the {WHAT[differs]} differs" if differs in WHAT else calls
        return headline(witness, f"collective mismatch on {condition(witness)}")

    def help(self, witness: Witness) -> str:
        return (
            "Call the same collectives in the same order on all ranks, and vary only the arguments"
        )
