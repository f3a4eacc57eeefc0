"""DST114: a process group that not all ranks create, or not in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import hoisted
from distlint.rules.collectives._wording import guarded, kinds, only_on

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class GroupCreatedOnSomeRanks(WitnessRule):
    """A process group is created on some ranks only, or with members that differ between ranks.

    ```python
    if rank < 2:
        group = dist.new_group([0, 1])  # all ranks must call it
        dist.all_reduce(x, group=group)
    ```

    ## Use instead

    ```python
    group = dist.new_group([0, 1])
    if rank < 2:
        dist.all_reduce(x, group=group)
    ```

    Create all groups on all ranks in the same order, and let each rank select its group. Or create
    the group on its members only, with `use_local_synchronization=True`.

    ## Why is this bad?

    Creating a group is a collective of all ranks, including those that are not members: groups are
    identified by the order in which they were created. A rank that skips a group, or passes another
    list, hangs there or at the next group, far from the cause.

    ## What is reported

    `dist.new_group`, `new_subgroups` or `init_device_mesh` under a rank check, or with a list of
    members that depends on the rank. The finding is at the call if its arguments differ, otherwise
    at the branch.

    ## What is not reported

    - All ranks create the same groups in the same order.
    - The group is created with `use_local_synchronization=True` by exactly its members.
    - Each rank selects one of several groups that all ranks have created.

    ## Fix safety

    Unsafe: the creation is moved out of the branch, so that all ranks create the group and its
    members use it. No fix is offered if the members differ between ranks.

    ## References

    - [PyTorch: new_group](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.new_group)
    """

    code = "DST114"
    name = "group-created-on-some-ranks"
    rank = 20

    good = (
        Example(
            title="All ranks create all groups, each uses one",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
pairs = [dist.new_group([first, first + 1]) for first in range(0, world, 2)]
mine = pairs[rank // 2]
x = torch.tensor(float(rank))
dist.all_reduce(x, group=mine)
dist.barrier()
print(f"rank {rank}: {x.item()}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Members only, with use_local_synchronization",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
members = [0, 2]
if rank in members:
    group = dist.new_group(members, use_local_synchronization=True)
    x = torch.tensor(float(rank))
    dist.all_reduce(x, group=group)
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A group for the ranks that evaluate",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
evaluators = [1, 3]
group = dist.new_group(evaluators)
if rank in evaluators:
    score = torch.tensor(float(rank))
    dist.all_reduce(score, group=group)
    print(f"rank {rank}: {score.item()}")
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A group of rank 0 and each rank",
            effect="hang",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
line = dist.new_group(sorted({0, rank}))  # expect: DST114
x = torch.tensor(float(rank))
dist.broadcast(x, src=0, group=line)
dist.barrier()
""",
        ),
        Example(
            title="A group with the next rank of a ring",
            effect="hang",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
neighbours = sorted([rank, (rank + 1) % world])
ring = dist.new_group(ranks=neighbours)  # expect: DST114
x = torch.tensor(float(rank))
dist.all_reduce(x, group=ring)
dist.barrier()
""",
        ),
        Example(
            title="Only the members create the group",
            effect="hang",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank in (0, 1):  # expect: DST114
    head = dist.new_group([0, 1])
    x = torch.tensor(float(rank))
    dist.all_reduce(x, group=head)
tail = dist.new_group([1, 2, 3])
if rank > 0:
    dist.barrier(group=tail)
dist.barrier()
""",
        ),
        Example(
            title="A helper that creates a group for half of the ranks",
            effect="hang",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist


def decoder_group():
    half = dist.get_world_size() // 2
    if dist.get_rank() >= half:  # expect: DST114
        return dist.new_group(list(range(half, 2 * half)))
    return None


dist.init_process_group("gloo")
decoder = decoder_group()
logging = dist.new_group()
x = torch.ones(1)
dist.all_reduce(x, group=logging)
print("x =", x.item())
dist.destroy_process_group()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return "group_creation" in kinds(witness)

    def message(self, witness: Witness) -> str:
        if witness.same_event_arguments is not None:
            return "members of this process group differ between ranks"
        found = only_on(witness, "group_creation")
        ranks = found[1] if found is not None else "some ranks"
        return guarded(witness, f"process group is created on {ranks} only")

    def help(self, witness: Witness) -> str:
        return (
            "Create all groups on all ranks in the same order, or pass "
            "`use_local_synchronization=True` on the members"
        )

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return hoisted(witness, draft)
