"""DST212: a random split or order of the data that is another one in each process."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.objects.arguments import Passed
from distlint.analyzer.static.objects.following import ends
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, place_of
from distlint.fixers import calls, imports
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._differences import difference, seedings
from distlint.rules.data._orders import becomes_data, loader_orders_data
from distlint.rules.data._rank_seeds import files_that_seed, is_of_one_generator, is_seeded_alike
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locator, Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_SPLITS: dict[str, tuple[str, int | None]] = {
    "torch.utils.data.random_split": ("generator", 2),
    "sklearn.model_selection.train_test_split": ("random_state", None),
}
"""Functions that split, and the parameter that makes the split the same everywhere."""

_ORDERS: dict[str, tuple[str, int | None]] = {
    "torch.randperm": ("generator", None),
    "numpy.random.permutation": ("", None),
    "numpy.random.choice": ("", None),
    "random.sample": ("", None),
}
_SHUFFLES = ("random.shuffle", "numpy.random.shuffle")
_SAMPLERS = (
    "torch.utils.data.Sampler", "torch.utils.data.BatchSampler", "torch.utils.data.RandomSampler"
)  # fmt: skip
_LOADER = "torch.utils.data.DataLoader"
_SAMPLE = "sample"
"""The method of a frame that draws rows of it, in a random order."""

_JOINS = frozenset(
    {
        "init_process_group", "DistributedDataParallel", "FullyShardedDataParallel", "fully_shard",
        "DistributedSampler", "deepspeed", "Accelerator",
    }
)  # fmt: skip
_FRAMEWORKS = frozenset(
    {
        "LightningModule", "LightningDataModule", "Trainer", "process_index",
        "split_dataset_by_node",
    }
)  # fmt: skip
_ONE_RANK = re.compile(r"rank|main_process|is_main|is_master|local_zero|global_zero")


class UnseededSplit(SourceRule):
    """Data is split or shuffled at random in each process, without a seed that all ranks share.

    ```python
    dist.init_process_group("nccl")
    train, val = random_split(data, [0.9, 0.1])
    sampler = DistributedSampler(train)
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl")
    generator = torch.Generator().manual_seed(0)
    train, val = random_split(data, [0.9, 0.1], generator=generator)
    sampler = DistributedSampler(train)
    ```

    ## Why is this bad?

    Without a seed, generators differ between processes, so each rank has a different split:
    validation samples of one rank are training samples of another. If a `DistributedSampler` shards
    lists that are ordered differently, its shards overlap. The validation score is too good,
    without any error.

    ## What is reported

    In a distributed script whose file does not seed the generator, or seeds it with the rank:

    - `random_split` without `generator=`, and `train_test_split` without `random_state=`.
    - `dataset.shuffle()` without `seed=` before `split_dataset_by_node`.
    - `permutation`, `randperm`, `shuffle` or `frame.sample(frac=1)` whose result selects the
      samples of a dataset, or is divided by the rank or into a training and a validation set;
      also through functions, methods and other files, or one by one: the samples put into a list,
      flags set for them. Likewise `random.sample` and `numpy.random.choice`.
    - A loader with `shuffle=True` and no `generator=`, if what a loop over it collects is ranked,
      and places in that ranking then pick the samples of a dataset.

    Also `random.shuffle` in the `__iter__` of a sampler, if the file sets a seed only on request.

    If the file is not a script, its caller may set the seed; such findings are in preview. In a
    file that does not mention several processes, a call is reported if a distributed script of the
    project calls its function, and neither of them, nor a file that they import, sets a seed, or
    only seeds that depend on the rank.

    ## What is not reported

    - The file seeds generators with a value that does not depend on the rank.
    - The call has its own generator or seed, only one rank makes it, or the result is broadcast.
    - What is shuffled does not become a dataset: an order of channels, frames or patches of a
      tensor, or of the samples of one batch.
    - The call is in a Trainer of transformers, which seeds all generators on all ranks when it is
      created.

    ## Fix safety

    Unsafe: `random_split` gets `generator=torch.Generator().manual_seed(0)`, `train_test_split`
    gets `random_state=0`. The split is then the same in each run, and differs from the old one.

    ## References

    - [random_split](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split)
    - [Reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html)
    """

    code = "DST212"
    name = "unseeded-split"
    severity = Severity.WARNING
    shared = (
        r"\brandom_split\b",
        r"\btrain_test_split\b",
        r"\brandperm\b",
        r"\bpermutation\b",
        r"\bshuffle\(",
        r"\.sample\(",
        r"\brandom\.choice\(",
        r"\bshuffle\s*=\s*True",
    )

    good = (
        Example(
            title="A generator for the split",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import random_split

dist.init_process_group("gloo")
generator = torch.Generator().manual_seed(0)
train, val = random_split(range(1000), [900, 100], generator=generator)
print("val =", sorted(val.indices))
dist.destroy_process_group()
""",
        ),
        Example(
            title="The same seed on all ranks",
            code="""\
import random
import torch
import torch.distributed as dist
from torch.utils.data import Subset, random_split

dist.init_process_group("gloo")
random.seed(1)
torch.manual_seed(1)
order = list(range(1000))
random.shuffle(order)
train, val = random_split(Subset(range(1000), order), [900, 100])
print("val =", sorted(val.indices))
dist.destroy_process_group()
""",
        ),
        Example(
            title="A Trainer, which seeds the generators when it is created",
            effect="static",
            why_static="needs transformers and a dataset",
            needs=("transformers",),
            code="""\
import numpy as np
from transformers import Trainer


class ProbingTrainer(Trainer):
    def probe(self, data, count):
        some = np.random.choice(len(data), size=(count,))
        return self.evaluate(data.select(some))
""",
        ),
        Example(
            title="Rank 0 splits for all ranks",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import Subset

dist.init_process_group("gloo")
order = [torch.randperm(1000).tolist()]
dist.broadcast_object_list(order, src=0)
val = Subset(range(1000), order[0][:100])
print("val =", sorted(val.indices))
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Each rank splits differently",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import random_split

dist.init_process_group("gloo")
train, val = random_split(range(1000), [900, 100])  # expect: DST212
print("val =", sorted(val.indices))
dist.barrier()
""",
        ),
        Example(
            title="The split uses a seed that depends on the rank",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import random_split

dist.init_process_group("gloo")
torch.manual_seed(3 + 1000 * dist.get_rank())
train, val = random_split(range(1000), [900, 100])  # expect: DST212
print("val =", sorted(val.indices))
dist.barrier()
""",
        ),
        Example(
            title="A sampler that shuffles, with an optional seed",
            effect="fail",
            code="""\
import os
import random
import torch
import torch.distributed as dist
from torch.utils.data import BatchSampler


class Buckets(BatchSampler):
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        random.shuffle(self.batches)  # expect: DST212
        yield from self.batches


seed = os.environ.get("SEED")
if seed is not None:
    random.seed(int(seed))
dist.init_process_group("gloo")
order = list(Buckets(list(range(64))))
orders = [None] * dist.get_world_size()
dist.all_gather_object(orders, order)
assert orders[0] == orders[1], "each rank takes its share of another list"
""",
        ),
        Example(
            title="A list shuffled before the sampler shards it",
            effect="fail",
            code="""\
import random
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

dist.init_process_group("gloo")
samples = list(range(64))
random.shuffle(samples)  # expect: DST212
sampler = DistributedSampler(samples, shuffle=False)
drawn = torch.cat(list(DataLoader(samples, batch_size=8, sampler=sampler)))
parts = [torch.empty_like(drawn) for _ in range(dist.get_world_size())]
dist.all_gather(parts, drawn)
seen = set(torch.cat(parts).tolist())
assert len(seen) == 64, f"of 64 samples the ranks drew {len(seen)}"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = {
            name.rpartition(".")[2] for name in (*_SPLITS, *_ORDERS, *_SHUFFLES, _SAMPLE, _LOADER)
        }
        if words.isdisjoint(module.words):
            return
        objects = objects_of(module, catalogue)
        if not _has_processes(module):
            yield from self._on_ranks_of_others(objects, locators)
            return
        why = _why_different(objects)
        if why is None:
            yield from self._in_samplers(objects, locators.of(module.key))
            return
        seeding = set(_trainers(objects))
        for site in _draws(objects):
            function = site.point.scope.function
            if function is not None and function.owner in seeding:
                continue
            if not _on_one_rank(site):
                finding = self._of_draw(objects, site, why, locators)
                yield replace(finding, preview="__main__" not in module.tokens and _is_part(module))

    def _of_draw(self, objects: Objects, site: CallSite, why: str, locators: Locators) -> Finding:
        locator = locators.of(objects.module.key)
        draft = Draft(locator, objects.module, objects.catalogue)
        return self.finding(
            message=f"each rank draws different values: {why}",
            severity=Severity.WARNING,
            place=locator.place(site.call.site),
            effect="splits or orders of the data differ between ranks and overlap",
            help="Pass a seed or generator that is the same on all ranks",
            fix=partial(_seeded, objects, site, draft),
        )

    def _on_ranks_of_others(self, objects: Objects, locators: Locators) -> Iterator[Finding]:
        """Draws in a file that says nothing of ranks, as others call it on all of them."""
        guards = guards_of(objects.module, objects.catalogue)
        for site in _draws(objects):
            scope = site.point.scope
            if _on_one_rank(site) or guards.may_be_some_ranks(site.point, call=site.call):
                continue
            if guards.on_many_ranks(scope, site) and not is_seeded_alike(guards, scope):
                seeded = files_that_seed(guards, scope)
                why = "seed depends on the rank" if seeded else "no seed is set"
                yield self._of_draw(objects, site, why, locators)

    def _in_samplers(self, objects: Objects, locator: Locator) -> Iterator[Finding]:
        """Samplers that shuffle anew in each epoch, by a generator that is seeded on request."""
        seeds = [site for site in seedings(objects) if site.name != "manual_seed"]  # torch's own
        if not seeds or not all(_on_request(site) for site in seeds):
            return  # where nothing asks for a seed, the sampler may be that of one process
        for cls in objects.classes.subclasses_of(*_SAMPLERS):
            method = cls.methods.get("__iter__")
            for site in objects.calls_to(*_SHUFFLES) if method is not None else ():
                if site.point.scope.function is method:
                    yield self.finding(
                        message="each rank shuffles differently unless a seed is passed",
                        severity=Severity.WARNING,
                        place=locator.place(site.call.site),
                        effect="ranks pick their batches from lists in different orders",
                        help="Shuffle with a generator seeded with a constant and the epoch",
                    )


def _trainers(objects: Objects) -> Iterator[str]:
    """The classes that derive from a Trainer of transformers, also by a class of the project."""
    yield from (cls.name for cls in objects.classes.subclasses_of("transformers.Trainer"))
    if "transformers" not in objects.module.imported_roots:
        return
    for cls in objects.module.classes.values():
        for base in cls.bases:
            found = objects.module.imported_class(ir.last_name(base))
            if found is not None and any(ir.last_name(each) == "Trainer" for each in found.bases):
                yield cls.name


def _on_request(site: CallSite) -> bool:
    """Is it seeded only if a seed was given: ``if args.seed is not None``?"""
    return any(
        isinstance(here.owner, ir.If)
        and here.block is here.owner.body
        and any("seed" in token for token in ir.tokens_of(here.owner.test))
        for here in site.point.around
    )


def _seeded(objects: Objects, site: CallSite, draft: Draft) -> Fix:
    name = _SPLITS.get(objects.called(site), ("", None))[0]
    call = draft.node(site.call.site, cst.Call)
    if name == "generator":
        generator = imports.imported(draft, "torch", "Generator", call)
        calls.set_keyword(draft, call, name, f"{generator}().manual_seed(0)", 2)
    elif name == "random_state":
        calls.set_keyword(draft, call, name, "0")
    else:
        raise CannotFix("other code uses the same generator")
    return draft.fix("unsafe", "Pass a fixed seed to the split")


def _has_processes(module: Module) -> bool:
    """Do several processes run this, as far as the file shows?"""
    return not (_JOINS | _FRAMEWORKS).isdisjoint(module.words) or any(
        function.owner and function.name == "train_dataloader" for function in module.functions
    )


def _is_part(module: Module) -> bool:
    """Is this a file without a script's own set-up, so that a seed may be set by its caller?"""
    return "init_process_group" not in module.words


def _why_different(objects: Objects) -> str | None:
    seeds = [each for each in seedings(objects) if not is_of_one_generator(objects, each)]
    if not seeds:
        return "no seed is set"
    if all(
        any(difference(objects, argument.value, site.point) for argument in site.call.args)
        for site in seeds
    ):
        return "seed depends on the rank"
    return None


def _draws(objects: Objects) -> Iterator[CallSite]:
    """The calls that choose or order the samples of a data set."""
    for site in objects.calls_to(*_SPLITS):
        name, position = _SPLITS.get(objects.called(site), ("", None))
        if name and _is_none(objects, objects.argument(site, name, position), site):
            yield site
    for site in objects.calls_to(*_ORDERS):
        name = _ORDERS.get(objects.called(site), ("", None))[0]
        own = objects.argument(site, name) if name else Passed(None)
        if own.absent and becomes_data(objects, site, None):
            yield site
    for site in objects.calls_to(_LOADER):
        if _shuffles_by_itself(objects, site) and loader_orders_data(objects, site):
            yield site
    for site in objects.calls({_SAMPLE}):
        if _shuffles_frame(site) and becomes_data(objects, site, None):
            yield site
    for splitter in objects.calls({"split_dataset_by_node"}):
        for argument in splitter.call.args[:1]:
            yield from _shuffled(objects, argument.value, splitter.point)
    for site in objects.calls_to(*_SHUFFLES):
        path = place_of(site.call.args[0].value) if site.call.args else None
        if path is not None and becomes_data(objects, site, path):
            yield site


def _shuffles_by_itself(objects: Objects, site: CallSite) -> bool:
    """Does a loader shuffle, by no generator that it is given?"""
    return (
        objects.constant(objects.argument(site, "shuffle", 2), site.point) is True
        and objects.argument(site, "generator").absent
    )


def _shuffles_frame(site: CallSite) -> bool:
    """Is it ``frame.sample(frac=1)``, without a seed?"""
    given = {argument.keyword for argument in site.call.args}
    return "frac" in given and "random_state" not in given and None not in given


def _shuffled(objects: Objects, node: ir.Expr, point: Point) -> Iterator[CallSite]:
    """The calls of ``shuffle`` without a seed in the chain of methods that made a data set."""

    def receiver(origin: Origin) -> tuple[Origin, ...] | None:
        site = origin.site
        if site is None or site.name == "shuffle" or not isinstance(site.call.func, ir.Attribute):
            return None
        return objects.origins(site.call.func.value, site.point)

    for origin in ends(objects.origins(node, point), receiver):
        site = origin.site
        if site is not None and isinstance(site.call.func, ir.Attribute):
            if _is_none(objects, objects.argument(site, "seed", 0), site):
                yield site


def _is_none(objects: Objects, passed: Passed, site: CallSite) -> bool:
    return objects.constant(passed, site.point) is None


def _on_one_rank(site: CallSite) -> bool:
    """Is the call made by one rank, or is its result given to the others?"""
    for here in site.point.around:
        if isinstance(here.owner, ir.If) and any(
            _ONE_RANK.search(token.lower()) for token in ir.tokens_of(here.owner.test)
        ):
            return True
    function = site.point.scope.function
    body = function.body if function is not None else site.point.scope.body
    return any("broadcast" in token for token in ir.block_tokens(body))
