"""DST203: a sampler that shuffles in the same order in every epoch."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_of
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._epoch_seeds import is_seeded_by_epoch
from distlint.rules.data._epochs import Epochs, epochs_of, made_for_each_pass, set_epoch
from distlint.rules.data._epochs_elsewhere import Elsewhere, epochs_elsewhere
from distlint.rules.data._reordered import is_reordered
from distlint.rules.data._told import may_be_told, same_epoch_calls, told_late
from distlint.rules.training import (
    Made,
    goes_elsewhere,
    is_named_for_evaluation,
    loops_around,
    names_of,
    samplers,
)
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class SamplerSetEpoch(SourceRule):
    """A shuffling `DistributedSampler` is used for several epochs without `set_epoch`.

    ```python
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    for epoch in range(epochs):
        for batch in loader:
            train_step(batch)
    ```

    ## Use instead

    ```python
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)  # on all ranks, before the loop over the loader
        for batch in loader:
            train_step(batch)
    ```

    ## Why is this bad?

    The sampler shuffles with a generator seeded by `seed + epoch`, and without `set_epoch` the
    epoch stays 0. Each epoch then has the same order, the same batches, and the same samples on the
    same rank. There is no warning; accuracy may suffer.

    ## What is reported

    - A loop over epochs around a loop over a loader whose `DistributedSampler` shuffles, in a file
      that never calls its `set_epoch`. The finding is at the sampler. The loader may be one of a
      list or a dict that is filled item by item: `loaders[task] = DataLoader(...)`.
    - The same where the loop is in another file, which gets the loader from a function or class
      here, also in a tuple, a dict or an attribute, and hands it to functions of the project, or in
      a base class, which calls a method here for each epoch. The backward pass may be in functions
      and methods that the loop calls, of whatever file. The finding is at the sampler, and names
      the loop.
    - The same in a class that draws from its sampler in each `__iter__`.
    - `set_epoch(epoch)` after the loop over the loader: the second epoch then has the order of the
      first, and each later epoch the order of the one before it.

    ## What is not reported

    - The file calls `set_epoch` in some way: on `loader.sampler`, on a batch sampler, after a
      `hasattr` check. Calls on another sampler of the file do not count, nor with a number that
      nothing changes between epochs: a constant, or the epoch that a run begins with, also where it
      is set once before the loop, `set_epoch(start)`.
    - The epoch or the seed of the sampler is assigned in a loop, or the sampler is made again with
      a seed in which a loop counts, `seed=seed + epoch`.
    - The sampler does not shuffle, or is for evaluation.
    - The sampler or loader is passed to code that is not in the project, which may call it, or one
      of the files that hold it calls `set_epoch` on something that may be it.
    - The loader is passed to Accelerate, Lightning or the Trainer of transformers, which call
      `set_epoch` themselves.
    - The dataset itself is shuffled again in each epoch: `loader.dataset.shuffle(seed=epoch)`.
    - Each iteration of the loop takes another loader, of a list or a dict.
    - There is only one epoch, or the loop does not use its batches.

    ## Fix safety

    Unsafe: `set_epoch(epoch)` is added at the start of the epoch loop, on the sampler of the
    loader, if the loop counts epochs and the loader is available there. The order of each epoch
    changes; a resumed run has to continue the epoch count. Not where the loop is in another file.

    ## References

    - [DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
    """

    code = "DST203"
    name = "sampler-set-epoch"
    severity = Severity.WARNING

    good = (
        Example(
            title="Called on loader.sampler",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(16.0))
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
orders = []
for epoch in range(2):
    if hasattr(loader.sampler, "set_epoch"):
        loader.sampler.set_epoch(epoch)
    orders.append([batch.tolist() for (batch,) in loader])
assert orders[0] != orders[1]
dist.destroy_process_group()
""",
        ),
        Example(
            title="Batches that are not used",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(16.0))
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
for epoch in range(2):
    for step, batch in enumerate(loader):
        print(f"{step} batches read")
dist.destroy_process_group()
""",
        ),
        Example(
            title="A sampler that does not shuffle",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(8.0))
sampler = DistributedSampler(data, shuffle=False)
loader = DataLoader(data, batch_size=4, sampler=sampler)
total = torch.zeros(1)
for epoch in range(2):
    for (batch,) in loader:
        total += batch.sum()
dist.all_reduce(total)
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Accelerate calls set_epoch",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
loader = DataLoader(TensorDataset(torch.arange(16.0)), batch_size=4, shuffle=True)
loader = accelerator.prepare(loader)
orders = []
for epoch in range(2):
    orders.append([batch.tolist() for (batch,) in loader])
assert orders[0] != orders[1]
""",
        ),
        Example(
            title="A sampler for validation",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def validate(model, loader):
    with torch.no_grad():
        return sum(model(batch).sum() for (batch,) in loader)


dist.init_process_group("gloo")
data = TensorDataset(torch.ones(8, 2))
val_loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
model = torch.nn.Linear(2, 1, bias=False)
for epoch in range(2):
    validate(model, val_loader)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Epochs in a comprehension",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(16.0))
sampler = DistributedSampler(data, seed=3)  # expect: DST203
loader = DataLoader(data, batch_size=4, sampler=sampler)
one, other = [[batch.tolist() for (batch,) in loader] for epoch in range(2)]
assert one != other, "both epochs had the same order"
""",
        ),
        Example(
            title="A class that creates a loader for each pass",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Batches:
    def __init__(self, data):
        self.data = data
        self.order = DistributedSampler(data)  # expect: DST203

    def __iter__(self):
        return iter(DataLoader(self.data, batch_size=4, sampler=self.order))


dist.init_process_group("gloo")
batches = Batches(TensorDataset(torch.arange(16.0)))
one, other = ([batch.tolist() for (batch,) in batches] for epoch in range(2))
assert one != other, "both epochs had the same order"
""",
        ),
        Example(
            title="The same order in every epoch",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(16.0))
sampler = DistributedSampler(data)  # expect: DST203
loader = DataLoader(data, batch_size=4, sampler=sampler)
orders = []
for epoch in range(2):
    order = []
    for (batch,) in loader:
        order += batch.tolist()
    orders.append(order)
assert orders[0] != orders[1], "both epochs had the same order"
""",
        ),
        Example(
            title="The loop is in a trainer class",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Trainer:
    def __init__(self, loader):
        self.loader = loader
        self.seen = []

    def run_epoch(self):
        for (batch,) in self.loader:
            self.seen += batch.tolist()

    def train(self, epochs):
        for epoch in range(epochs):
            self.run_epoch()


dist.init_process_group("gloo")
data = TensorDataset(torch.arange(16.0))
sampler = DistributedSampler(data, shuffle=True)  # expect: DST203
trainer = Trainer(DataLoader(data, batch_size=4, sampler=sampler))
trainer.train(2)
assert trainer.seen[:8] != trainer.seen[8:], "both epochs had the same order"
""",
        ),
        Example(
            title="Inside a batch sampler",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(16.0))
order = DistributedSampler(data)  # expect: DST203
loader = DataLoader(data, batch_sampler=BatchSampler(order, 4, drop_last=True))
orders = []
for epoch in range(2):
    seen = []
    for (batch,) in loader:
        seen += batch.tolist()
    orders.append(seen)
assert orders[0] != orders[1], "both epochs had the same order"
""",
        ),
        Example(
            title="set_epoch at the end of the epoch",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(16.0))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=4, sampler=sampler, drop_last=True)
weight = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
orders = []
for epoch in range(2):
    order = []
    for (batch,) in loader:
        order += batch.tolist()
        (weight * batch.mean()).sum().backward()
        optimizer.step()
    orders.append(order)
    sampler.set_epoch(epoch)  # expect: DST203
assert orders[0] != orders[1], "both epochs had the same order"
""",
        ),
        Example(
            title="Epochs hidden in an endless generator",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def endless(loader):
    while True:
        for batch in loader:
            yield batch


dist.init_process_group("gloo")
data = TensorDataset(torch.arange(16.0))
sampler = DistributedSampler(data)  # expect: DST203
loader = DataLoader(data, batch_size=4, sampler=sampler)
stream = endless(loader)
seen = [next(stream)[0].tolist() for _ in range(4)]
assert seen[:2] != seen[2:], "both epochs had the same order"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "DistributedSampler" not in module.words:
            return
        objects = objects_of(module, catalogue)
        for told, loop in told_late(objects):
            locator = locators.of(module.key)
            yield self.finding(
                message="`set_epoch` is called after the loop over the batches",
                severity=Severity.WARNING,
                place=locator.place(told.call.site),
                related=(Related("loop over the batches", locator.place(loop.site)),),
                effect="the second epoch has the same order as the first",
                help="Call `set_epoch` at the start of each epoch",
            )
        for sampler in samplers(objects):
            if may_be_told(objects, sampler) or is_reordered(objects, sampler):
                continue
            if not _shuffles(sampler) or is_seeded_by_epoch(sampler):
                continue
            if not goes_elsewhere(objects, sampler):
                epochs = next(epochs_of(objects, sampler), None)
                if epochs is not None:
                    draft = Draft(locators.of(module.key), module, catalogue)
                    yield self._finding(sampler, epochs, draft)
                    continue
            elsewhere = epochs_elsewhere(sampler)
            if elsewhere is not None:
                yield self._finding_elsewhere(sampler, elsewhere, locators)
            elif not goes_elsewhere(objects, sampler):
                again = made_for_each_pass(objects, sampler)
                if again is not None:
                    locator = locators.of(module.key)
                    yield self.finding(
                        message="`set_epoch` is never called: every pass has the same order",
                        severity=Severity.WARNING,
                        place=locator.place(sampler.call.site),
                        related=(Related("each pass starts here", locator.place(again.site)),),
                        effect="every epoch has the same batches",
                        help="Count the passes in `__iter__`, and call `set_epoch` there",
                    )

    def _finding_elsewhere(
        self, sampler: Made, elsewhere: Elsewhere, locators: Locators
    ) -> Finding:
        there = locators.of(elsewhere.objects.module.key)
        return self.finding(
            message="`set_epoch` is never called: every epoch has the same order",
            severity=Severity.WARNING,
            place=locators.of(sampler.objects.module.key).place(sampler.call.site),
            related=(Related("loop over epochs", there.place(elsewhere.loop.site)),),
            effect="every epoch has the same batches in the same order",
            help="Call `set_epoch(epoch)` on the sampler of the loader at the start of each epoch",
        )

    def _finding(self, sampler: Made, epochs: Epochs, draft: Draft) -> Finding:
        locator = draft.locator
        loop = locator.place(epochs.loop.statement.site)
        name = next(iter(names_of(sampler.site)), "loader.sampler")
        by_steps = _begins_at_times(epochs)
        again = "pass" if by_steps else "epoch"
        same = next(same_epoch_calls(sampler.objects, sampler), None)
        related = [Related("loop over steps" if by_steps else "loop over epochs", loop)]
        if same is not None:
            related.append(Related("the same number each time", locator.place(same.call.site)))
        what = "never called" if same is None else "given the same number each time"
        return self.finding(
            message=f"`set_epoch` is {what}: every {again} has the same order",
            severity=Severity.WARNING,
            place=locator.place(sampler.call.site),
            related=tuple(related),
            effect="every epoch has the same batches in the same order",
            help=f"Count the passes, and call `{name}.set_epoch(...)` before each of them"
            if by_steps
            else f"Call `{name}.set_epoch(epoch)` at the start of each epoch",
            fix=partial(_told, epochs, sampler, draft),
        )


def _begins_at_times(epochs: Epochs) -> bool:
    """Does a loop over steps begin a pass where the last one is at its end, not in each turn?"""
    around = epochs.use.around
    inside = [
        here
        for depth, here in enumerate(around)
        if any(each.owner is epochs.loop.statement for each in around[:depth])
    ]
    return not isinstance(epochs.use.statement, ir.For) and any(
        isinstance(here.owner, ir.If)
        or (isinstance(here.owner, ir.Try) and here.block is not here.owner.body)
        for here in inside
    )


def _told(epochs: Epochs, sampler: Made, draft: Draft) -> Fix:
    made = epochs.loader.origins("sampler")
    given = epochs.loader.option("sampler").value is not None
    sure = given and bool(made) and all(origin.call is sampler.call for origin in made)
    for site in same_epoch_calls(sampler.objects, sampler):
        if site.point.scope is not epochs.loop.scope or any(loops_around(site.point)):
            raise CannotFix("another call gives the sampler the old number again")
    set_epoch(epochs, draft, always=sure)
    return draft.fix("unsafe", "Call `set_epoch` at the start of each epoch")


def _shuffles(sampler: Made) -> bool:
    return (
        sampler.constant("shuffle", True) is not False
        and sampler.constant("num_replicas", 0) != 1
        and not is_named_for_evaluation(sampler.site)
    )
