"""DST205: a stream that every worker, or every rank, reads from the start."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.callers import called_elsewhere, objects_in
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.fixers import imports, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._differences import difference
from distlint.rules.data._shards import own_shard_of
from distlint.rules.data._streams import Stream, goes_through_another, streamed, streams_of
from distlint.rules.training import (
    WRAPPERS,
    Made,
    evaluates,
    goes_elsewhere,
    is_named_for_evaluation,
    loaders,
)
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_WORKER = re.compile(r"worker|^shard_iter$")
_RANK = re.compile(r"rank|process_index|world|shard|split|partition|num_replicas|part_?id")
_DRAWS = re.compile(
    r"^(?:rand\w*|random\w*|choices?|shuffle\w*|sample\w*|uniform|normal|default_rng|generator|rng"
    r"|RandomState|seed)$"
)
_FRAMEWORKS = frozenset({"Accelerator", "Trainer", "Seq2SeqTrainer", "LightningModule", "Fabric"})
"""What divides the data of a loader itself."""
_DIVIDERS = _FRAMEWORKS | {"split_dataset_by_node", "shard", "split_by_node"}
_READS = frozenset({"open", "range", "glob", "listdir", "iterdir", "readlines", "read_csv", "load"})


class IterableNotSharded(SourceRule):
    """An `IterableDataset` yields all of its data in each worker, or on each rank.

    ```python
    class Lines(IterableDataset):
        def __iter__(self):
            with open("train.jsonl") as lines:
                yield from lines

    loader = DataLoader(Lines(), batch_size=32, num_workers=4)
    ```

    ## Use instead

    ```python
    class Lines(IterableDataset):
        def __iter__(self):
            info = get_worker_info()
            workers, worker = (info.num_workers, info.id) if info else (1, 0)
            part, parts = rank * workers + worker, world_size * workers
            with open("train.jsonl") as lines:
                yield from itertools.islice(lines, part, None, parts)
    ```

    `distlint.runtime.shard_iter(lines)` does the same. Shards may then differ in length by one
    sample between ranks, see [DST113](uneven-inputs.md).

    ## Why is this bad?

    An `IterableDataset` has no sampler. Each worker process gets a copy of the dataset and runs its
    `__iter__`, and so does each rank. With four workers on each of eight ranks, each sample is seen
    32 times per epoch.

    ## What is reported

    A subclass of `torch.utils.data.IterableDataset` that reads its data in `__iter__` without
    `get_worker_info()`, in a loader with several workers; or without the rank, in a file that wraps
    a model in DDP or FSDP, or that such a script imports. The class may be in another file, and
    the data be read by another object that it is made of. Data that each rank takes its part of
    have to be sharded by worker, too.

    In such files also a stream of Hugging Face Datasets (`streaming=True`, `to_iterable_dataset()`)
    without `split_dataset_by_node`: a loader shards it by worker, but not by rank.

    ## What is not reported

    - The class, or what it calls or is made of, refers to workers (or to the rank), or the loader
      has a `worker_init_fn`.
    - The dataset is sharded by rank elsewhere: `split_dataset_by_node`, `.shard(...)`, one list of
      files per rank, in loaders without several workers.
    - The class draws samples at random. A class that wraps another stream, which may be sharded
      itself, is reported in preview only.
    - A stream whose transforms, or the seed of its shuffling, depend on the rank.
    - The loader is passed to Accelerate, Lightning or code in another file.

    ## Fix safety

    Unsafe: the source of the items in `__iter__` is sharded, `for item in shard_iter(self.items):`.
    Offered if a single loop, `yield from` or `iter()` yields everything; in nested loops, it is not
    clear which one gives equal shards.

    ## References

    - [IterableDataset](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset)
    - [Hugging Face Datasets with PyTorch](https://huggingface.co/docs/datasets/use_with_pytorch)
    """

    code = "DST205"
    name = "iterable-not-sharded"
    severity = Severity.WARNING
    shared = (r"\bDataLoader\(",)

    good = (
        Example(
            title="Sharded by rank and worker",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Numbers(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        workers, worker = (info.num_workers, info.id) if info else (1, 0)
        part = dist.get_rank() * workers + worker
        for number in range(32):
            if number % (dist.get_world_size() * workers) == part:
                yield number


dist.init_process_group("gloo")
seen = torch.cat(list(DataLoader(Numbers(), batch_size=4)))
assert len(seen) == 16
dist.destroy_process_group()
""",
        ),
        Example(
            title="Each process draws random samples",
            code="""\
import random
import torch
from torch.utils.data import DataLoader, IterableDataset


class Crops(IterableDataset):
    def __iter__(self):
        rng = random.Random()
        for _ in range(8):
            yield rng.random()


loader = DataLoader(Crops(), batch_size=4, num_workers=2)
assert sum(len(batch) for batch in loader) == 16
""",
        ),
    )

    bad = (
        Example(
            title="Each worker reads everything",
            effect="fail",
            ranks=1,
            code="""\
import torch
from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __iter__(self):
        yield from range(16)


loader = DataLoader(Numbers(), batch_size=4, num_workers=2)  # expect: DST205
numbers = torch.cat(list(loader)).tolist()
for step in range(1):
    torch.ones(1, requires_grad=True).backward()
assert len(numbers) == 16, f"of 16 numbers came {len(numbers)}"
""",
        ),
        Example(
            title="Each rank reads everything",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __iter__(self):
        for number in range(16):
            yield torch.tensor([float(number)])


dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(1, 1))
seen = torch.zeros(1)
for batch in DataLoader(Numbers(), batch_size=4):  # expect: DST205
    model(batch).mean().backward()
    seen += len(batch)
dist.all_reduce(seen)
assert seen.item() == 16, f"of 16 numbers the ranks saw {seen.item():.0f}"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "DataLoader" not in module.words:
            return
        objects = objects_of(module, catalogue)
        for loader in loaders(objects):
            for where, stream in streams_of(loader):
                who = _repeated_by(where, loader, stream)
                if who:
                    yield self._finding(loader, stream, who, locators)
            loaded = streamed(loader) if _may_stream(objects, loader) else None
            if loaded is not None:
                yield self._whole(loader, locators)

    def _finding(self, loader: Made, stream: Stream, who: str, locators: Locators) -> Finding:
        objects, cls = stream.objects, stream.classes[0]
        there = locators.of(objects.module.key)
        finding = self.finding(
            message=f"`{cls.name}` yields all of its data {who}",
            severity=Severity.WARNING,
            place=locators.of(loader.objects.module.key).place(loader.call.site),
            related=(
                Related("not sharded by rank or worker", there.place(cls.methods["__iter__"].site)),
            ),
            effect="each sample is seen several times per epoch",
            help="Yield every n-th item by rank and worker, for example with `shard_iter`",
            fix=partial(_fix, stream, loader, Draft(there, objects.module, objects.catalogue)),
        )
        wraps = _READS.isdisjoint(_tokens(stream.reader)) or goes_through_another(stream.reader)
        return replace(finding, preview=wraps)

    def _whole(self, loader: Made, locators: Locators) -> Finding:
        return self.finding(
            message="each rank reads the whole stream",
            severity=Severity.WARNING,
            place=locators.of(loader.objects.module.key).place(loader.call.site),
            effect="all ranks train on the same samples; a loader divides them by worker only",
            help="Divide it by `split_dataset_by_node(stream, rank, world_size)` before",
        )


def _fix(stream: Stream, loader: Made, draft: Draft) -> Fix:
    cls = stream.classes[0]
    if len(stream.classes) > 1 or draft.module.key != loader.objects.module.key:
        raise CannotFix("another class or file reads the data")
    if own_shard_of(loader) is not None:
        raise CannotFix("the data is divided by the rank already")
    if "__len__" in cls.methods:
        raise CannotFix("its length would be wrong")
    items = _source_of(draft, draft.node(cls.methods["__iter__"].site, cst.FunctionDef))
    divided = imports.imported(draft, draft.catalogue.runtime, "shard_iter", items)
    draft.replace(items, f"{divided}({draft.text(items, brackets=False)})")
    return draft.fix("unsafe", "Shard the data across ranks and workers")


def _source_of(draft: Draft, method: cst.FunctionDef) -> cst.BaseExpression:
    """What the items of an ``__iter__`` come from, if that is one thing which is gone through once.

    Raises:
        CannotFix: if it is not.
    """
    own = [n for n in names.inside(method.body) if draft.around(n, cst.FunctionDef) is method]
    yields = [node for node in own if isinstance(node, cst.Yield)]
    returns = [n for n in own if isinstance(n, cst.Return) and n.value is not None]
    if len(yields) + len(returns) != 1:
        raise CannotFix("items come from several places")
    made = (yields or returns)[0]
    loops = [n for n in draft.ancestors(made) if isinstance(n, (cst.For, cst.While))]
    loops = [n for n in loops if draft.around(n, cst.FunctionDef) is method]
    value = made.value
    if isinstance(value, cst.From) and not loops:
        return value.item
    if isinstance(made, cst.Return) and not loops and isinstance(value, cst.Call):
        if names.dotted(value.func) == "iter" and len(value.args) == 1:
            return value.args[0].value
    if isinstance(made, cst.Yield) and len(loops) == 1 and isinstance(loops[0], cst.For):
        if not isinstance(value, cst.From) and not isinstance(loops[0].iter, cst.Tuple):
            return loops[0].iter
    raise CannotFix("it is not clear what to shard")


def _tokens(cls: ir.Class) -> frozenset[str]:
    return frozenset[str]().union(*(method.tokens for method in cls.methods.values()))


def _repeated_by(objects: Objects, loader: Made, stream: Stream) -> str:
    """Who reads the same data again: ``in each worker``, ``on each rank``, or nobody."""
    if any(_DRAWS.match(token) for token in _tokens(stream.reader)):
        return ""
    given = [argument.value for argument in stream.made.call.args]
    words = stream.tokens.union(*map(ir.tokens_of, given))
    workers = loader.constant("num_workers", 0)
    if (
        workers not in (0, 1, None)
        and loader.option("worker_init_fn").absent
        and not any(_WORKER.search(token.lower()) for token in words)
    ):
        return "in each worker"
    if (
        not any(_RANK.search(token.lower()) for token in stream.tokens)
        and not any(difference(objects, each, stream.made.point) for each in given)
        and own_shard_of(loader) is None
        and not _divides_in_workers(loader)
        and _is_wrapped(loader)
        and not goes_elsewhere(loader.objects, loader)
    ):
        return "on each rank"
    return ""


def _divides_in_workers(loader: Made) -> bool:
    """May the function that each worker begins with take a part of the data?"""
    for origin in loader.origins("worker_init_fn"):
        there = None
        if isinstance(origin.node, ir.Expr):
            there = called_elsewhere(loader.objects.module, origin.node)
        function = there[1] if there is not None else origin.node
        if isinstance(function, ir.Lambda):
            function = function.function
        if not isinstance(function, ir.Function) or any(map(_RANK.search, function.tokens)):
            return True
    return False


def _is_wrapped(loader: Made) -> bool:
    """Does the file, or one that imports it, wrap a model in DDP or FSDP?"""
    module = loader.objects.module
    return any(
        next(objects_in(each).calls_to(*WRAPPERS), None) is not None
        for each in (module, *filter(_trains, module.all_importers()))
    )


def _trains(module: Module) -> bool:
    return "backward" in module.tokens and _FRAMEWORKS.isdisjoint(module.words)


def _may_stream(objects: Objects, loader: Made) -> bool:
    """May a loader for training give all ranks one stream, as far as the files show?"""
    closure = objects.module.import_closure()
    return (
        "datasets" in frozenset[str]().union(*(each.imported_roots for each in closure))
        and not is_named_for_evaluation(loader.site)
        and not evaluates(loader.site.point)
        and loader.option("sampler").absent
        and _is_wrapped(loader)
        and all(_DIVIDERS.isdisjoint(each.words) for each in closure)
        and all(_DIVIDERS.isdisjoint(each.words) for each in objects.module.all_importers())
        and not goes_elsewhere(objects, loader)
    )
