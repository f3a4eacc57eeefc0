"""DST202: every rank trains on all of the data."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.arguments import with_called
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.objects import Objects, objects_across, objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import calls, imports
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._beside_divided import unlike_evaluation
from distlint.rules.data._dividing_words import divides, divides_near
from distlint.rules.data._epochs import epochs_over, set_epoch
from distlint.rules.data._lightning_loaders import left_alone
from distlint.rules.data._rank_seeds import draws_apart
from distlint.rules.data._shards import divides_by_rank, own_shard_of
from distlint.rules.data._trained_elsewhere import trained_elsewhere
from distlint.rules.data._unused_samplers import (
    forgotten,
    given,
)
from distlint.rules.data._whole_data import trains_on_all
from distlint.rules.training import (
    WRAPPERS,
    Made,
    loaders,
)
from distlint.source.finding import Finding, Fix, Related, Severity
from distlint.source.requirements import is_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_OVERRIDE = "get_train_dataloader"
_TRAINERS = ("transformers.Trainer", "transformers.Seq2SeqTrainer")
_SPLITS = re.compile(r"prepare|sampler|rank|shard|split|process_index|world", re.I)


class MissingDistributedSampler(SourceRule):
    """A DDP or FSDP model is trained with a loader that gives all of the data to each rank.

    ```python
    model = DDP(model)
    loader = DataLoader(data, batch_size=32, shuffle=True)
    for epoch in range(epochs):
        for batch in loader:
            model(batch).mean().backward()
    ```

    ## Use instead

    ```python
    model = DDP(model)
    sampler = DistributedSampler(data)  # shuffles by default
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            model(batch).mean().backward()
    ```

    ## Why is this bad?

    Each rank iterates over the whole dataset. An epoch takes as long as on one GPU and has as many
    steps. With the same seed on all ranks, they even compute the same batches, and the other GPUs
    add nothing. There is no error or warning.

    ## What is reported

    In a file that wraps a model in `DistributedDataParallel` or FSDP, or that such a script of the
    project calls: a `DataLoader` for training without `sampler=`, or with a `RandomSampler` or
    `SequentialSampler` of all data, if nothing else in these files shards the data. In any file:

    - A `DistributedSampler` that is passed to no loader, next to a loader of the same data.
    - A loader that shuffles and has no sampler, next to a loader for evaluation that has a
      `DistributedSampler`.
    - What `train_dataloader()` of Lightning returns, or what `fit` is given, if the `Trainer`, also
      in another file, has `use_distributed_sampler=False` (`replace_sampler_ddp=False`) and more
      than one device.
    - A subclass of the `Trainer` of transformers whose `get_train_dataloader` returns a loader that
      Accelerate has not prepared.

    ## What is not reported

    - The loader has another sampler, or is passed to a framework or to a helper outside the file.
    - The dataset is sharded by rank, also in a script in the same directory that passes it on; or
      it is a stream, which may be sharded itself.
    - The seed depends on the rank, and the loader shuffles, or the data are drawn with that
      generator: each rank then draws different samples.
    - The loader is for evaluation, or for runs of one process.
    - The method of the Trainer refers to a sampler, a rank or a split.

    ## Fix safety

    Unsafe: the loader gets `sampler=DistributedSampler(data)` instead of `shuffle=True`, and the
    epoch loop calls `set_epoch`; the loader of a Trainer is prepared. Epochs are then shorter by a
    factor of the number of ranks, so schedules in steps have to be adjusted.

    ## References

    - [DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
    - [Trainer](https://huggingface.co/docs/transformers/main_classes/trainer)
    """

    code = "DST202"
    name = "missing-distributed-sampler"
    severity = Severity.WARNING
    shared = (r"\bDataLoader\(",)

    good = (
        Example(
            title="Prepared by Accelerate",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(2, 1)
loader = DataLoader(TensorDataset(torch.ones(8, 2)), batch_size=2, shuffle=True)
model, loader = accelerator.prepare(model, loader)
for (batch,) in loader:
    accelerator.backward(model(batch).mean())
assert len(loader) == 2
""",
        ),
        Example(
            title="A different seed on each rank",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
torch.manual_seed(5 + dist.get_rank())
model = DDP(torch.nn.Linear(2, 1))
loader = DataLoader(TensorDataset(torch.randn(8, 2)), batch_size=2, shuffle=True)
for (batch,) in loader:
    model(batch).mean().backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A shard computed from the rank",
            code="""\
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset

rank = int(os.getenv("RANK", "0"))
world_size = int(os.getenv("WORLD_SIZE", "1"))


def train(model, data):
    size, rest = divmod(len(data), world_size)
    start = size * rank + min(rank, rest)
    own = list(range(len(data)))[start : start + size]
    loader = DataLoader(Subset(data, own), batch_size=2)
    for (batch,) in loader:
        model(batch).mean().backward()


dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
train(model, TensorDataset(torch.ones(8, 2)))
dist.destroy_process_group()
""",
        ),
        Example(
            title="Rank 0 validates on all data",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
val_loader = DataLoader(TensorDataset(torch.ones(8, 2)), batch_size=2)
if dist.get_rank() == 0:
    with torch.no_grad():
        for (batch,) in val_loader:
            model.module(batch)
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="An unprepared loader of a Trainer",
            effect="static",
            why_static="it needs transformers",
            code="""\
from torch.utils.data import DataLoader
from transformers import Trainer


class Balanced(Trainer):
    def get_train_dataloader(self):
        size = self.args.train_batch_size
        return DataLoader(self.train_dataset, size, shuffle=True)  # expect: DST202
""",
        ),
        Example(
            title="All ranks train on all samples",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(1, 1))
data = TensorDataset(torch.arange(16.0).unsqueeze(1))
train_loader = DataLoader(data, 4, shuffle=True, drop_last=True)  # expect: DST202
seen = torch.zeros(1)
for (batch,) in train_loader:
    model(batch).mean().backward()
    seen += len(batch)
dist.all_reduce(seen)
assert seen.item() == 16, f"an epoch over 16 samples went through {seen.item():.0f}"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "DataLoader" not in module.words:
            return
        objects = objects_of(module, catalogue)
        draft = partial(Draft, locators.of(module.key), module, catalogue)
        for sampler, loader in forgotten(objects):
            yield self._forgot(loader, sampler, draft())
        for loader in _of_trainers(objects):
            yield self._unprepared(loader, draft())
        for loader, where, trainer in left_alone(objects):
            if not draws_apart(loader):
                yield self._finding(
                    loader,
                    "each rank trains on the whole dataset: Lightning adds no sampler",
                    Related("turned off here", locators.of(where.key).place(trainer.call.site)),
                    draft(),
                )
        unlike = list(unlike_evaluation(objects, _OVERRIDE))
        for drawn, loader in unlike:
            yield self._finding(
                loader,
                "training data is not sharded, only evaluation data",
                Related(
                    "sampler for evaluation",
                    locators.of(drawn.point.scope.module.key).place(drawn.call.site),
                ),
                draft(),
            )
        if unlike or divides(module):
            return
        for loader in loaders(objects):
            if draws_apart(loader) or _is_cut_beside(loader, document.path):
                continue
            where, wrap = _wrapped(loader)
            if wrap is not None and not _imports_shards(where):
                yield self._finding(
                    loader,
                    "each rank trains on the whole dataset (no sampler)",
                    Related("model wrapped here", locators.of(where.key).place(wrap.call.site)),
                    draft(),
                )

    def _unprepared(self, loader: Made, draft: Draft) -> Finding:
        return self.finding(
            message="loader is not prepared: each rank gets all of the data",
            severity=Severity.WARNING,
            place=draft.locator.place(loader.call.site),
            effect="each rank runs the whole epoch; more GPUs do not shorten it",
            help="Return `self.accelerator.prepare(loader)`, as `Trainer` itself does",
            fix=partial(_prepared, loader, draft),
        )

    def _finding(self, loader: Made, message: str, why: Related, draft: Draft) -> Finding:
        return self.finding(
            message=message,
            severity=Severity.WARNING,
            place=draft.locator.place(loader.call.site),
            related=(why,),
            effect="each rank runs the whole epoch; more GPUs do not shorten it",
            help="Pass a `DistributedSampler`, and call its `set_epoch` in each epoch",
            fix=partial(_sampled, loader, draft),
        )

    def _forgot(self, loader: Made, sampler: Made, draft: Draft) -> Finding:
        locator = draft.locator
        return self.finding(
            message="the `DistributedSampler` is not passed to this loader",
            severity=Severity.WARNING,
            place=locator.place(loader.call.site),
            related=(Related("unused sampler", locator.place(sampler.call.site)),),
            effect="each rank runs the whole epoch; more GPUs do not shorten it",
            help="Pass the sampler to the loader",
            fix=partial(given, loader, sampler, draft),
        )


def _wrapped(loader: Made) -> tuple[Module, CallSite | None]:
    """The file in which a model is trained on a loader that gives each rank all of the data, and
    where the model is wrapped.
    """
    objects = loader.objects
    if trains_on_all(objects, loader):
        wrap = next(objects.calls_to(*WRAPPERS), None) or _wrapped_by_called(objects)
        if wrap is None:
            return _wrapped_by_others(loader)
        where = wrap.point.scope.module
        return where, wrap if not _imports_shards(objects.module) else None
    for module in trained_elsewhere(loader, divides_near):
        wrap = next(objects_in(module).calls_to(*WRAPPERS), None)
        if wrap is not None:
            return (module, wrap) if _is_on_all_ranks(loader) else (module, None)
    return objects.module, None


def _wrapped_by_called(objects: Objects) -> CallSite | None:
    """Where a function of another file wraps a model, and the file calls it."""
    across = objects_across(objects.module, objects.catalogue)
    for point in with_called(across, objects.points):
        if point.scope.module is not objects.module and not divides(point.scope.module):
            for call in calls_of(point.statement):
                if across.is_call_to(CallSite(call, point), *WRAPPERS):
                    return CallSite(call, point)
    return None


def _imports_shards(module: Module) -> bool:
    """Does a file that it imports take parts of data by the rank?"""
    return any(map(divides_by_rank, module.import_closure()))


def _is_on_all_ranks(loader: Made) -> bool:
    guards = guards_of(loader.objects.module, loader.objects.catalogue)
    site = loader.site
    if guards.may_be_some_ranks(site.point, call=site.call):
        return False
    return guards.on_many_ranks(site.point.scope, site)


def _wrapped_by_others(loader: Made) -> tuple[Module, CallSite | None]:
    """The file that leads to a loader on all ranks and wraps a model, and where it does so.

    Not if a file on the way, or one that it imports, divides the data.
    """
    objects = loader.objects
    if not _is_on_all_ranks(loader):
        return objects.module, None
    guards = guards_of(objects.module, objects.catalogue)
    site, scope = loader.site, loader.site.point.scope
    for each in guards.objects_leading_to(scope, site):
        if divides_near(each.module):
            return each.module, None
        wrap = next(each.calls_to(*WRAPPERS), None)
        if wrap is not None:
            return each.module, wrap
    return objects.module, None


def _of_trainers(objects: Objects) -> Iterator[Made]:
    """The loaders that subclasses of transformers' Trainer train on, and nothing divides."""
    if "transformers" not in objects.module.imported_roots:
        return
    methods = [
        cls.methods[_OVERRIDE]
        for cls in objects.classes.subclasses_of(*_TRAINERS)
        if _OVERRIDE in cls.methods
    ]
    for loader in loaders(objects):
        method = loader.site.point.scope.function
        if method not in methods or not isinstance(loader.site.point.statement, ir.Return):
            continue
        if all(loader.option(name).absent for name in ("sampler", "batch_sampler")):
            if own_shard_of(loader) is None and not any(map(_SPLITS.search, method.tokens)):
                yield loader


def _prepared(loader: Made, draft: Draft) -> Fix:
    call = draft.node(loader.call.site, cst.Call)
    draft.replace(call, f"self.accelerator.prepare({draft.text(call, brackets=False)})")
    return draft.fix("unsafe", "Let Accelerate shard the data")


def _sampled(loader: Made, draft: Draft) -> Fix:
    """The loader gets a sampler, which shuffles if it did, and is told the epoch."""
    call = draft.node(loader.options.call.site, cst.Call)
    data = calls.argument(call, "dataset", 0)
    if data is None or not isinstance(data.value, (cst.Name, cst.Attribute)):
        raise CannotFix("the dataset has no name")
    if not loader.option("sampler").absent:
        raise CannotFix("there is another sampler")
    shuffles = loader.constant("shuffle", False)
    if shuffles is ...:
        raise CannotFix("the loader may shuffle or not")
    sampler = imports.imported(draft, "torch.utils.data", "DistributedSampler", call)
    option = "" if shuffles else ", shuffle=False"
    given = calls.argument(call, "shuffle")
    written = f"sampler={sampler}({draft.text(data.value)}{option})"
    if given is not None and given.keyword is not None:
        draft.splice(draft.bounds(given.keyword)[0], draft.bounds(given.value)[1], written)
    else:
        calls.add_argument(draft, call, written)
    for epochs in epochs_over(loader.objects, loader, loader) if shuffles else ():
        set_epoch(epochs, draft, always=True)
        break
    return draft.fix("unsafe", "Shard the data with a `DistributedSampler`")


def _is_cut_beside(loader: Made, path: Path) -> bool:
    """Does a script beside it divide the data that it hands to the function or class here?"""
    function = loader.site.point.scope.function
    if function is None or all(origin.site is not None for origin in loader.origins("dataset")):
        return False
    imports = rf"(?m)^\s*from\s[^\n]*\b{re.escape(path.stem)}\s+import\b"
    calls_it = rf"\b{re.escape(function.owner or function.name)}\("
    return is_beside(path, imports, calls_it, r"\.shard\(|\bsplit_dataset_by_node\(")
