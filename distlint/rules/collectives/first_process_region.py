"""DST112: a collective inside a region that one process enters before the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import out_of_region
from distlint.rules.collectives._wording import contrast

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.explanation import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix, Place


class CollectiveInFirstProcessRegion(WitnessRule):
    """A collective runs inside a region that one process enters before the others.

    ## What it finds

    A collective in the body of `accelerator.main_process_first()`, `local_main_process_first()`, or
    a context manager of your own that makes one rank go first with barriers. The finding is at the
    collective.

    ## Why it matters

    The region holds the other ranks in a barrier until the first has left it. The first one waits
    in the collective for the others, and they wait in the barrier for it. Nothing in the body says
    that it runs on one rank at a time, so it looks unconditional.

    ## What to do

    Keep to local work inside the region (download, tokenise, write a cache) and put the collective
    behind it.

    ## Fix

    Unsafe: a collective that ends the region moves behind it.

    ## When it is silent

    - The region holds no collective.
    - The collective is on a group that holds only the rank inside.
    """

    code = "DST112"
    name = "collective-in-first-process-region"
    rank = 10

    good = (
        Example(
            title="Local work inside, the collective behind",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
with accelerator.main_process_first():
    tokens = [len(word) for word in "the cache is built once".split()]
total = accelerator.reduce(torch.tensor(float(sum(tokens))))
print("total =", total.item())
""",
        ),
        Example(
            title="Rank 0 first, with two barriers",
            code="""\
import contextlib
import torch
import torch.distributed as dist


@contextlib.contextmanager
def rank_zero_first():
    if dist.get_rank() != 0:
        dist.barrier()
    yield
    if dist.get_rank() == 0:
        dist.barrier()


dist.init_process_group("gloo")
with rank_zero_first():
    data = torch.arange(4.0)
total = data.sum()
dist.all_reduce(total)
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="The first process of each node, and a gather after it",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import PartialState
from accelerate.utils import gather_object

state = PartialState(cpu=True)
with state.local_main_process_first():
    names = [f"shard-{state.process_index}"]
print("names =", gather_object(names))
""",
        ),
    )

    bad = (
        Example(
            title="A gather inside main_process_first",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
with accelerator.main_process_first():
    lengths = torch.tensor([3 + accelerator.process_index])
    longest = accelerator.gather(lengths).max()  # expect: DST112
print(f"pad to {longest.item()}")
""",
        ),
        Example(
            title="A reduction in a function called from the region",
            effect="hang",
            code="""\
import contextlib
import torch
import torch.distributed as dist


@contextlib.contextmanager
def rank_zero_first():
    if dist.get_rank() != 0:
        dist.barrier()
    yield
    if dist.get_rank() == 0:
        dist.barrier()


def build_vocabulary(text):
    words = sorted(set(text.split()))
    largest = torch.tensor(len(words))
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)  # expect: DST112
    return words, largest.item()


dist.init_process_group("gloo")
with rank_zero_first():
    words, largest = build_vocabulary("a rose is a rose")
dist.destroy_process_group()
""",
        ),
        Example(
            title="An option broadcast by the process that goes first",
            effect="hang",
            needs=("accelerate",),
            code="""\
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list

accelerator = Accelerator(cpu=True)
vocabulary = [None]
with accelerator.local_main_process_first():
    if accelerator.is_main_process:
        vocabulary = [sorted("hello world")]
    broadcast_object_list(vocabulary)  # expect: DST112
print(f"{len(vocabulary[0])} symbols")
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return witness.region is not None

    def place(self, witness: Witness) -> Place:
        inside = witness.region_event
        return inside.place if inside is not None else witness.cause.place

    def message(self, witness: Witness) -> str:
        return (
            f"collective inside `{witness.region}`, which ranks enter in turn: {contrast(witness)}"
        )

    def advice(self, witness: Witness) -> str:
        return "Move the collective behind the region and keep only local work inside."

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return out_of_region(witness, draft)
