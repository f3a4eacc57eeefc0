"""DST205: a stream that every worker, or every rank, reads from the start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects import Objects, objects_of
from distlint.fixers import imports, names
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._differences import difference
from distlint.rules.data._shards import own_shard_of
from distlint.rules.training import WRAPPERS, Made, goes_elsewhere, loaders
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_STREAM = "torch.utils.data.IterableDataset"
_WORKER = re.compile(r"worker|^shard_iter$")
_RANK = re.compile(r"rank|process_index|world|shard|split|partition|num_replicas|part_?id")
_DRAWS = re.compile(
    r"^(?:rand\w*|random\w*|choices?|shuffle\w*|sample\w*|uniform|normal|default_rng|generator|rng"
    r"|RandomState|seed)$"
)
_READS = frozenset({"open", "range", "glob", "listdir", "iterdir", "readlines", "read_csv", "load"})


class IterableNotSharded(SourceRule):
    """An `IterableDataset` yields all of its data in each worker, or on each rank.

    ## What it finds

    A class derived from `torch.utils.data.IterableDataset` that reads its data in `__iter__`
    without asking `get_worker_info()`, in a loader with several workers; or without using the rank,
    in a loader that feeds a DDP or FSDP model.

    ## Why it matters

    A stream has no sampler. Each worker process gets a copy of the data set and runs `__iter__` on
    it, and so does each rank. With four workers on eight ranks each sample comes 32 times an epoch.

    ## What to do

    Take every n-th item, n being ranks times workers:

    ```python
    info = get_worker_info()
    workers, worker = (info.num_workers, info.id) if info else (1, 0)
    for index, item in enumerate(self.items()):
        if index % (world * workers) == rank * workers + worker:
            yield item
    ```

    `distlint.runtime.shard_iter(items)` does this. The ranks then may differ by one sample: see
    DST113 for that.

    ## Fix

    Unsafe: what `__iter__` goes through is divided, `for item in shard_iter(self.items):`. Offered
    where one loop, `yield from` or `iter()` yields everything; in a loop inside of a loop it is not
    clear which of them divides into equal parts.

    ## When it is silent

    - The class mentions workers (or the rank), or the loader has a `worker_init_fn`.
    - The data set was divided outside: `split_dataset_by_node`, a list of files for each rank.
    - It draws samples at random, or wraps another stream that may divide itself (preview only).
    - The loader goes to Accelerate, Lightning or code in another file.
    """

    code = "DST205"
    name = "iterable-not-sharded"
    severity = Severity.WARNING

    good = (
        Example(
            title="Divided by rank and worker",
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
            title="Each process draws for itself",
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
        if not {"IterableDataset", "DataLoader"} <= module.words:
            return
        objects = objects_of(module, catalogue)
        streams = set(objects.subclasses_of(_STREAM))
        wrapped = next(objects.calls_to(*WRAPPERS), None) is not None
        for loader in loaders(objects):
            for cls in _classes(objects, loader):
                if cls in streams and "__iter__" in cls.methods:
                    who = _repeated_by(objects, loader, cls, wrapped)
                    if who:
                        draft = Draft(locators.of(module.key), module, catalogue)
                        yield self._finding(loader, cls, who, draft)

    def _finding(self, loader: Made, cls: ir.Class, who: str, draft: Draft) -> Finding:
        locator = draft.locator
        method = locator.place(cls.methods["__iter__"].site)
        finding = self.finding(
            message=f"`{cls.name}` yields all of its data {who}: nothing in it divides them",
            severity=Severity.WARNING,
            place=locator.place(loader.call.site),
            related=(Related("the data are read here", method),),
            effect="samples come several times in each epoch",
            advice="Take every n-th item, by rank and worker; distlint.runtime.shard_iter does it.",
            fix=partial(_fix, cls, draft),
        )
        return replace(finding, preview=_READS.isdisjoint(_tokens(cls)))


def _fix(cls: ir.Class, draft: Draft) -> Fix:
    if "__len__" in cls.methods:
        raise Doubt("the length that it tells would be wrong")
    items = _source_of(draft, draft.node(cls.methods["__iter__"].site, cst.FunctionDef))
    divided = imports.imported(draft, draft.catalogue.runtime, "shard_iter", items)
    draft.replace(items, f"{divided}({draft.text(items, brackets=False)})")
    return draft.fix("unsafe", "Divide the data among ranks and workers")


def _source_of(draft: Draft, method: cst.FunctionDef) -> cst.BaseExpression:
    """What the items of an ``__iter__`` come from, if that is one thing which is gone through once.

    Raises:
        Doubt: if it is not.
    """
    own = [n for n in names.inside(method.body) if draft.around(n, cst.FunctionDef) is method]
    yields = [node for node in own if isinstance(node, cst.Yield)]
    returns = [n for n in own if isinstance(n, cst.Return) and n.value is not None]
    if len(yields) + len(returns) != 1:
        raise Doubt("items come from several places")
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
    raise Doubt("it is not clear what to divide")


def _classes(objects: Objects, loader: Made) -> Iterator[ir.Class]:
    for origin in loader.origins("dataset"):
        if origin.site is not None and own_shard_of(loader) is None:
            cls = objects.callee(origin.site)
            given = [argument.value for argument in origin.site.call.args]
            if isinstance(cls, ir.Class) and not any(
                difference(objects, value, origin.point) for value in given
            ):
                yield cls


def _tokens(cls: ir.Class) -> frozenset[str]:
    return frozenset().union(*(method.tokens for method in cls.methods.values()))


def _repeated_by(objects: Objects, loader: Made, cls: ir.Class, wrapped: bool) -> str:
    """Who reads the same data again: ``in each worker``, ``on each rank``, or nobody."""
    tokens = _tokens(cls)
    if any(_DRAWS.match(token) for token in tokens):
        return ""
    workers = loader.constant("num_workers", 0)
    if (
        workers not in (0, 1, None)
        and loader.option("worker_init_fn").absent
        and not any(_WORKER.search(token.lower()) for token in tokens)
    ):
        return "in each worker"
    if (
        wrapped
        and not any(_RANK.search(token.lower()) for token in tokens)
        and not goes_elsewhere(objects, loader)
    ):
        return "on each rank"
    return ""
