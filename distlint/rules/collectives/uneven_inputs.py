"""DST113: a wrapped model steps through data of which the ranks hold different amounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import equal_steps
from distlint.rules.collectives._wording import condition, contrast, proviso, steps

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.explanation import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class UnevenInputs(WitnessRule):
    """A wrapped model steps through a loader that is longer on some ranks than on others.

    ## What it finds

    A training loop over data that was divided by hand or by a setting that leaves remainders
    (`dataset[rank::world]`, a list of files per rank, an `IterableDataset` that yields only what
    belongs to this rank, `even_batches=False`), with the forward or backward of a DDP, FSDP or
    DeepSpeed model in the body. The finding is at the loop.

    ## Why it matters

    DDP and FSDP communicate in each step. The rank with one batch less leaves the loop, and the
    others wait for its gradients in the last step of the epoch.

    ## What to do

    - Use `DistributedSampler` or `accelerator.prepare`, which give each rank the same number.
    - Or run the loop in `with Join([model]):` (`accelerator.join_uneven_inputs([model])`).
    - Or stop at a count that all ranks agreed on.

    ## Fix

    Unsafe: `equal_steps(...)` around what the loop goes through ends it on all ranks when the first
    of them has nothing left; what the others have left over is not seen in this epoch. Each step
    costs a small all-reduce.

    ## When it is silent

    - A `DistributedSampler` or a prepared loader divides the data (Accelerate repeats samples to
      fill up, unless told not to).
    - The loop is inside `join()`, or cut to a fixed number with `islice` or `range`.
    - The loop only evaluates the bare module.
    """

    code = "DST113"
    name = "uneven-inputs"
    rank = 110

    good = (
        Example(
            title="DistributedSampler fills up the shorter rank",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.randn(5, 3))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=1, sampler=sampler)
model = DDP(torch.nn.Linear(3, 1))
for epoch in range(2):
    sampler.set_epoch(epoch)
    for (batch,) in loader:
        model(batch).mean().backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Uneven by intention, inside join()",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
samples = list(torch.randn(5, 3))
model = DDP(torch.nn.Linear(3, 1))
with model.join():
    for sample in samples[rank::world]:
        model(sample).mean().backward()
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A fixed number of steps",
            code="""\
import itertools
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

STEPS = 2

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
samples = list(torch.randn(5, 3))
model = DDP(torch.nn.Linear(3, 1))
for sample in itertools.islice(samples[rank::world], STEPS):
    model(sample).mean().backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A prepared loader",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(3, 1)
loader = DataLoader(TensorDataset(torch.randn(5, 3)), batch_size=1)
model, loader = accelerator.prepare(model, loader)
for (batch,) in loader:
    accelerator.backward(model(batch).mean())
accelerator.wait_for_everyone()
""",
        ),
    )

    bad = (
        Example(
            title="Data sliced by rank",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
samples = list(torch.randn(5, 3))
loader = DataLoader(samples[rank::world], batch_size=1)
model = DDP(torch.nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader:  # expect: DST113
    model(batch).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.barrier()
""",
        ),
        Example(
            title="A stream that yields what belongs to this rank",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __init__(self, lines, rank, world):
        self.lines, self.rank, self.world = lines, rank, world

    def __iter__(self):
        for number, line in enumerate(self.lines):
            if number % self.world == self.rank:
                yield line


dist.init_process_group("gloo")
stream = Lines(torch.randn(5, 3), dist.get_rank(), dist.get_world_size())
model = DDP(torch.nn.Linear(3, 1))
for batch in DataLoader(stream, batch_size=1):  # expect: DST113
    model(batch).mean().backward()
dist.barrier()
""",
        ),
        Example(
            title="Accelerate, told not to fill up",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from torch.utils.data import DataLoader, TensorDataset

config = DataLoaderConfiguration(even_batches=False)
accelerator = Accelerator(cpu=True, dataloader_config=config)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(5, 3)), batch_size=1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for (batch,) in loader:  # expect: DST113
    accelerator.backward(model(batch).mean())
    optimizer.step()
    optimizer.zero_grad()
accelerator.wait_for_everyone()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return witness.cause.kind == "loop" and steps(witness)

    def message(self, witness: Witness) -> str:
        return (
            f"the loop over {condition(witness)} may be longer on some ranks, and a wrapped model "
            f"steps in it: {contrast(witness)}{proviso(witness)}"
        )

    def advice(self, witness: Witness) -> str:
        return (
            "Divide the data evenly (DistributedSampler, accelerator.prepare), or run the loop "
            "inside `join()`."
        )

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return equal_steps(witness, draft)
