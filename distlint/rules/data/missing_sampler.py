"""DST202: every rank trains on all of the data."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import calls, imports, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._differences import difference, seedings
from distlint.rules.data._epochs import epochs_over, set_epoch
from distlint.rules.data._shards import own_shard_of
from distlint.rules.training import (
    WRAPPERS,
    Made,
    draws_from,
    evaluates,
    goes_elsewhere,
    is_evaluation,
    loaders,
    names_of,
    samplers,
)
from distlint.source.finding import Finding, Fix, Related, Severity
from distlint.source.requirements import is_beside

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_DIVIDES = re.compile(r"sampler|shard|split_|_split|webdataset|wds|streaming|get_worker_info", re.I)
"""Words of files that divide the data in some way, which is not followed here."""

_TORCH_NAMES = frozenset(
    {
        "sampler", "Sampler", "DistributedSampler", "RandomSampler", "SequentialSampler",
        "BatchSampler", "SubsetRandomSampler", "WeightedRandomSampler",
    }
)  # fmt: skip
"""Names of torch that say nothing where they are only imported."""

_OVERRIDE = "get_train_dataloader"
_TRAINERS = ("transformers.Trainer", "transformers.Seq2SeqTrainer")
_SPLITS = re.compile(r"prepare|sampler|rank|shard|split|process_index|world", re.I)

_ONLY_ASKS = frozenset({"len", "print", "isinstance", "type", "hasattr"})

_ONE_PROCESS = re.compile(r"distributed|world|ddp|rank|num_gpus|n_gpu|parallel", re.I)


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
    project calls: a `DataLoader` for training without `sampler=`, if nothing else in these files
    shards the data. In any file:

    - A `DistributedSampler` that is passed to no loader, next to a loader of the same data.
    - A loader that shuffles and has no sampler, next to a loader for evaluation that has a
      `DistributedSampler`.
    - A subclass of the `Trainer` of transformers whose `get_train_dataloader` returns a loader that
      Accelerate has not prepared.

    ## What is not reported

    - The loader has a sampler, or is passed to a framework or to a helper outside the file.
    - The dataset is sharded by rank, also in a script in the same directory that passes it on; or
      it is a stream, which may be sharded itself.
    - The seed depends on the rank: each rank then draws different samples.
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
        for sampler, loader in _forgotten(objects):
            yield self._forgot(loader, sampler, draft())
        for loader in _of_trainers(objects):
            yield self._unprepared(loader, draft())
        unlike = list(_unlike_evaluation(objects))
        for sampler, loader in unlike:
            yield self._finding(
                loader,
                "training data is not sharded, only evaluation data",
                Related("sampler for evaluation", draft().locator.place(sampler.call.site)),
                draft(),
            )
        if unlike or any(map(_DIVIDES.search, module.words - (_TORCH_NAMES - module.tokens))):
            return
        if _seeded_by_rank(objects):
            return
        wrap = next(objects.calls_to(*WRAPPERS), None)
        for loader in loaders(objects):
            if _trains_on_all(objects, loader) and not _is_cut_beside(loader, document.path):
                where, made = (module, wrap) if wrap is not None else _wrapped_by_others(loader)
                if made is not None:
                    yield self._finding(
                        loader,
                        "each rank trains on the whole dataset (no sampler)",
                        Related("model wrapped here", locators.of(where.key).place(made.call.site)),
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
            fix=partial(_given, loader, sampler, draft),
        )


def _wrapped_by_others(loader: Made) -> tuple[Module, CallSite | None]:
    """The file that leads to a loader on all ranks and wraps a model, and where it does so.

    Not if a file on the way, or one that it imports, divides the data.
    """
    objects = loader.objects
    guards = guards_of(objects.module, objects.catalogue)
    scope = loader.site.point.scope
    if guards.may_be_some_ranks(loader.site.point) or not guards.on_many_ranks(scope):
        return objects.module, None
    for each in guards.objects_leading_to(scope):
        for module in each.module.import_closure():
            if any(map(_DIVIDES.search, module.words - (_TORCH_NAMES - module.tokens))):
                return module, None
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


def _forgotten(objects: Objects) -> Iterator[tuple[Made, Made]]:
    """Samplers that no loader draws from, and loaders of the same data without a sampler."""
    if "DistributedSampler" not in objects.module.words:
        return
    for sampler in samplers(objects):
        if not _is_used(objects, sampler) and not any(map(is_evaluation, names_of(sampler.site))):
            for loader in loaders(objects):
                if _lacks_sampler(loader) and _same_data(loader, sampler):
                    yield sampler, loader


def _unlike_evaluation(objects: Objects) -> Iterator[tuple[Made, Made]]:
    """A loader that shuffles all of the data, where a sampler divides those for evaluation."""
    if "DistributedSampler" not in objects.module.tokens or _seeded_by_rank(objects):
        return
    drawn = [
        (loader, sampler)
        for sampler in samplers(objects)
        for loader in loaders(objects)
        if draws_from(loader, sampler)
    ]
    if not drawn or not all(_is_for_evaluation(loader) for loader, _ in drawn):
        return
    spoken = _TORCH_NAMES.union(*(names_of(sampler.site) for _, sampler in drawn))
    if any(_DIVIDES.search(word) for word in objects.module.tokens - spoken - _constants(objects)):
        return
    for loader in loaders(objects):
        if (
            _may_train_on_all(objects, loader)
            and loader.constant("shuffle", False) is True
            and not _is_hook(loader)
        ):
            yield drawn[0][1], loader


def _is_for_evaluation(loader: Made) -> bool:
    data = loader.option("dataset").value
    names = (*names_of(loader.site), ir.last_name(data) if data is not None else "")
    return any(map(is_evaluation, names)) or evaluates(loader.site.point)


def _is_hook(loader: Made) -> bool:
    """Does a framework call the function that makes it, and may divide the data itself?"""
    function = loader.site.point.scope.function
    return function is not None and function.name in {_OVERRIDE, "train_dataloader"}


def _constants(objects: Objects) -> set[str]:
    """The variables to which only constants are assigned, mostly None, and attributes of them."""
    found: dict[str, bool] = {}
    for point in objects.points:
        if isinstance(point.statement, ir.Assign):
            is_constant = _binds_constant(point.statement)
            for name in map(ir.last_name, point.statement.targets):
                keeps = ir.last_name(point.statement.value) == name
                found[name] = found.get(name, True) and (is_constant or keeps)
    return {name for name, is_constant in found.items() if is_constant}


def _is_used(objects: Objects, sampler: Made) -> bool:
    """Does anything but the caller get a sampler: a loader, another call, an object?"""
    statement = sampler.site.point.statement
    names = names_of(sampler.site)
    if not isinstance(statement, ir.Assign):
        return True
    value = statement.value
    arms = (value.body, value.orelse) if isinstance(value, ir.Conditional) else (value,)
    if not any(each is sampler.call for each in arms):
        return True
    if not all(isinstance(target, ir.Name) for target in statement.targets):
        return True
    if any(site.name not in _ONLY_ASKS for site, _ in objects.uses.passed_to(sampler.call)):
        return True
    scope = sampler.site.point.scope
    if any(_keeps(point.statement, names, statement) for point in objects.points_in(scope)):
        return True
    functions = objects.module.functions if scope.function is None else ()
    return any(not function.tokens.isdisjoint(names) for function in functions)


def _keeps(statement: ir.Stmt, names: Collection[str], made: ir.Stmt) -> bool:
    """May a statement keep one of these variables, other than as an argument of a call?"""
    if isinstance(statement, ir.For):
        return not ir.tokens_of(statement.iterable).isdisjoint(names)
    if isinstance(statement, (ir.Assign, ir.Evaluate)):
        if statement is made or isinstance(statement.value, ir.Call) or _binds_constant(statement):
            return False
    elif not isinstance(statement, (ir.Define, ir.DefineClass)):
        return False
    return not ir.tokens_of(statement).isdisjoint(names)


def _binds_constant(statement: ir.Stmt) -> bool:
    """``sampler = None``, as the other arm of a branch has it."""
    return isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Literal)


def _lacks_sampler(loader: Made) -> bool:
    return (
        all(loader.option(name).absent for name in ("sampler", "batch_sampler"))
        and not any(is_evaluation(name) for name in names_of(loader.site))
        and not evaluates(loader.site.point)
        and not _is_for_one_process(loader)
    )


def _same_data(loader: Made, sampler: Made) -> bool:
    """Do a loader and a sampler get the same data set, by its name?"""
    one, other = loader.option("dataset").value, sampler.option("dataset").value
    if one is None or other is None or loader.options is not loader.site:
        return False
    path = path_of(one)
    if path is None or path != path_of(other):
        return False
    return loader.site.point.scope is sampler.site.point.scope or path[0] == "self"


def _given(loader: Made, sampler: Made, draft: Draft) -> Fix:
    """The loader gets the sampler that is there, in place of shuffling."""
    call = draft.node(loader.call.site, cst.Call)
    name = next(iter(names_of(sampler.site)))
    if not names.available(draft, name, call):
        raise CannotFix("the sampler may not be there yet")
    if loader.constant("shuffle", False) is True:
        calls.set_keyword(draft, call, "shuffle", "False", 2)
    calls.add_argument(draft, call, f"sampler={name}")
    return draft.fix("unsafe", "Pass the sampler to the loader")


def _sampled(loader: Made, draft: Draft) -> Fix:
    """The loader gets a sampler, which shuffles if it did, and is told the epoch."""
    call = draft.node(loader.options.call.site, cst.Call)
    data = calls.argument(call, "dataset", 0)
    if data is None or not isinstance(data.value, (cst.Name, cst.Attribute)):
        raise CannotFix("the dataset has no name")
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


def _seeded_by_rank(objects: Objects) -> bool:
    return any(
        difference(objects, argument.value, site.point) == "the rank"
        for site in seedings(objects)
        for argument in site.call.args
    )


def _trains_on_all(objects: Objects, loader: Made) -> bool:
    return _may_train_on_all(objects, loader) and _is_trained_on(objects, loader)


def _may_train_on_all(objects: Objects, loader: Made) -> bool:
    return (
        all(loader.option(name).absent for name in ("sampler", "batch_sampler"))
        and loader.constant("batch_size", 1) is not None
        and not any(is_evaluation(name) for name in names_of(loader.site))
        and not evaluates(loader.site.point)
        and not _is_for_one_process(loader)
        and own_shard_of(loader) is None
        and not _knows_its_part(objects, loader)
        and not goes_elsewhere(objects, loader)
    )


def _is_cut_beside(loader: Made, path: Path) -> bool:
    """Does a script beside it divide the data that it hands to the function or class here?"""
    function = loader.site.point.scope.function
    if function is None or all(origin.site is not None for origin in loader.origins("dataset")):
        return False
    imports = rf"(?m)^\s*from\s[^\n]*\b{re.escape(path.stem)}\s+import\b"
    calls_it = rf"\b{re.escape(function.owner or function.name)}\("
    return is_beside(path, imports, calls_it, r"\.shard\(|\bsplit_dataset_by_node\(")


def _is_for_one_process(loader: Made) -> bool:
    return any(
        isinstance(here.owner, ir.If)
        and any(_ONE_PROCESS.search(token) for token in ir.tokens_of(here.owner.test))
        for here in loader.site.point.around
    )


def _knows_its_part(objects: Objects, loader: Made) -> bool:
    """Is the data set a stream, or made with the rank, or a test split?"""
    for origin in loader.origins("dataset"):
        if origin.site is None:
            continue
        cls = objects.callee(origin.site)
        if isinstance(cls, ir.Class):
            tokens = {token for method in cls.methods.values() for token in method.tokens}
            if "__iter__" in cls.methods or any("rank" in token for token in tokens):
                return True
        for argument in origin.site.call.args:
            if difference(objects, argument.value, origin.point) is not None:
                return True
            if argument.keyword == "train" and _is_false(argument.value):
                return True
    return False


def _is_false(node: ir.Expr) -> bool:
    return isinstance(node, ir.Literal) and node.value is False


def _is_trained_on(objects: Objects, loader: Made) -> bool:
    """Is it gone through, and not only where the code evaluates?"""
    uses = list(objects.uses.iterated_by(loader.call))
    if "backward" not in objects.module.tokens:  # then a function that is not here does it
        uses = []
    uses += [
        site.point for site, _ in objects.uses.passed_to(loader.call) if objects.is_undefined(site)
    ]
    return any(not evaluates(use) for use in uses)
