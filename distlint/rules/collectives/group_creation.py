"""DST114: a process group that not all ranks create, or not in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import hoisted
from distlint.rules.collectives._wording import condition, kinds

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.explanation import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class GroupCreatedOnSomeRanks(WitnessRule):
    """A process group is created on some ranks only, or with members that differ per rank.

    ## What it finds

    `dist.new_group`, `new_subgroups` or `init_device_mesh` behind a rank test, or with a list of
    members that depends on the rank. The finding is at the call if its arguments differ, else at
    the branch.

    ## Why it matters

    Making a group is a collective of the whole world, also for ranks that are not in it: groups
    are told apart by the order in which they were made. A rank that skips one, or passes another
    list, hangs there or at the next group, far from the cause.

    ## What to do

    Let all ranks make all groups in the same order, then pick their own:

    ```python
    rows = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    mine = rows[rank // 2]
    ```

    Or make it on its members only, with `use_local_synchronization=True`.

    ## Fix

    Unsafe: the creation moves out of the branch, so that all ranks create the group and its members
    use it. None is offered where the members differ from rank to rank.

    ## When it is silent

    - All ranks make the same groups in the same order.
    - `use_local_synchronization=True` and exactly the members call it.
    - Each rank picks one of several groups that all have made.
    """

    code = "DST114"
    name = "group-created-on-some-ranks"
    rank = 20

    good = (
        Example(
            title="All ranks make all groups, each uses its own",
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
            title="Members only, with local synchronisation",
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
            title="One group for those who evaluate",
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
            title="A private line from rank 0 to each rank",
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
            title="A group with the next rank in the ring",
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
            title="Only the members make it",
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
            title="A helper that makes the group of one half",
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
            return "the members passed to this group creation differ from rank to rank"
        first, second = witness.ranks
        made_by = first if witness.first is not None else second
        return f"{condition(witness)} lets only some ranks ({made_by}) create this process group"

    def advice(self, witness: Witness) -> str:
        return (
            "Create all groups on all ranks in the same order and pick one, or pass "
            "use_local_synchronization=True on the members."
        )

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return hoisted(witness, draft)
