"""DST113: a wrapped model steps through data of which the ranks hold different amounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import equal_steps
from distlint.rules.collectives._wording import condition, proviso, steps

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class UnevenInputs(WitnessRule):
    """A wrapped model trains on a loader that has more batches on some ranks than on others.

    ```python
    loader = DataLoader(samples[rank::world_size], batch_size=8)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    ```

    ## Use instead

    ```python
    loader = DataLoader(samples, batch_size=8, sampler=DistributedSampler(samples))
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    ```

    `DistributedSampler` and `accelerator.prepare` give each rank the same number of batches. Or run
    the loop inside `with Join([model]):` (`accelerator.join_uneven_inputs([model])`), or stop at a
    number of steps that all ranks agreed on.

    ## Why is this bad?

    DDP and FSDP communicate in each step. The rank with one batch less leaves the loop, and the
    other ranks wait for its gradients in the last step of the epoch.

    ## What is reported

    A training loop over data that was sharded by hand, or by a setting that leaves remainders
    (`samples[rank::world_size]`, a block of `ceil(len(samples) / world_size)` samples, or of one
    more on the first ranks, or of all that is left on the last rank, a block from
    `rank * len(samples) // world_size` to where that of the next rank begins, `array_split`,
    `range(rank, len(samples), world_size)`, a list of files per rank, `even_batches=False`), with
    the forward or backward of a DDP, FSDP or DeepSpeed model in the body. The part may be taken in
    the constructor of a `Dataset`, an `IterableDataset` or a `Sampler`, or in `__iter__`. Also an
    evaluation of an FSDP model over such data, whose forward communicates. The finding is at the
    loop.

    ## What is not reported

    - The data is sharded by a `DistributedSampler` or a prepared loader (Accelerate repeats samples
      to make the shards even, unless configured otherwise).
    - The loop is inside `join()`, or limited to a fixed number of steps with `islice` or `range`.
    - The loop only evaluates the unwrapped module.

    ## Fix safety

    Unsafe: `equal_steps(...)` around the iterable ends the loop on all ranks as soon as one of them
    has no data left. The remaining data of the other ranks is not used in this epoch. Each step
    costs a small all-reduce.

    ## References

    - [PyTorch: distributed training with uneven inputs](https://docs.pytorch.org/tutorials/advanced/generic_join.html)
    - [PyTorch: DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
    """

    code = "DST113"
    name = "uneven-inputs"
    rank = 110

    good = (
        Example(
            title="DistributedSampler makes the shards even",
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
            title="Uneven inputs inside join()",
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
            title="An IterableDataset that yields the items of this rank",
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
            title="Accelerate with even_batches=False",
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
        loop = "loop" if witness.conditional else f"loop on {condition(witness)}"
        return f"uneven inputs: {loop} may run longer on some ranks{proviso(witness)}"

    def help(self, witness: Witness) -> str:
        return (
            "Shard the data evenly (`DistributedSampler`, `accelerator.prepare`), or run the loop "
            "inside `join()`"
        )

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return equal_steps(witness, draft)
