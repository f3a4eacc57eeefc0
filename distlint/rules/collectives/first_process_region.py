"""DST112: a collective inside a region that one process enters before the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import out_of_region

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix, Place


class CollectiveInFirstProcessRegion(WitnessRule):
    """A collective is called inside a region that one process enters before the others.

    ```python
    with accelerator.main_process_first():
        lengths = tokenize(texts)
        longest = accelerator.gather(lengths).max()
    ```

    ## Use instead

    ```python
    with accelerator.main_process_first():
        lengths = tokenize(texts)
    longest = accelerator.gather(lengths).max()
    ```

    Only do local work inside the region (download, tokenize, write a cache), and call the
    collective after it.

    ## Why is this bad?

    The other ranks wait in a barrier until the first process has left the region. The first process
    waits in the collective for the other ranks, which is a deadlock. Nothing in the body shows that
    it runs on one rank at a time, so the call looks unconditional.

    ## What is reported

    A collective in the body of `accelerator.main_process_first()`, `local_main_process_first()`, or
    a context manager in your code that lets one rank go first with barriers. The finding is at the
    collective.

    ## What is not reported

    - The region calls no collective.
    - The collective runs on a group that contains only the rank inside the region.

    ## Fix safety

    Unsafe: a collective at the end of the region is moved after it.

    ## References

    - [Accelerate: execution process](https://huggingface.co/docs/accelerate/basic_tutorials/execution)
    """

    code = "DST112"
    name = "collective-in-first-process-region"
    rank = 10

    good = (
        Example(
            title="Local work inside the region, the collective after it",
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
            title="A context manager with two barriers",
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
            title="local_main_process_first, and a gather after it",
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
            title="A reduction in a function that the region calls",
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
            title="A broadcast from the process that enters first",
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
        inside = witness.region_event
        op = f"`{inside.op}`" if inside is not None else "collective"
        return f"{op} inside `{witness.region}` deadlocks"

    def help(self, witness: Witness) -> str:
        return "Move the collective after the region and keep only local work inside"

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return out_of_region(witness, draft)
