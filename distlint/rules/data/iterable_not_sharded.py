"""DST205: a stream that every worker, or every rank, reads from the start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.fixers import imports, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._differences import difference
from distlint.rules.data._shards import own_shard_of
from distlint.rules.training import WRAPPERS, Made, goes_elsewhere, loaders
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
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
    a model in DDP or FSDP.

    ## What is not reported

    - The class refers to workers (or to the rank), or the loader has a `worker_init_fn`.
    - The dataset is sharded elsewhere: `split_dataset_by_node`, one list of files per rank.
    - The class draws samples at random. A class that wraps another stream, which may be sharded
      itself, is reported in preview only.
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
        if not {"IterableDataset", "DataLoader"} <= module.words:
            return
        objects = objects_of(module, catalogue)
        streams = set(objects.classes.subclasses_of(_STREAM))
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
            message=f"`{cls.name}` yields all of its data {who}",
            severity=Severity.WARNING,
            place=locator.place(loader.call.site),
            related=(Related("not sharded by rank or worker", method),),
            effect="each sample is seen several times per epoch",
            help="Yield every n-th item by rank and worker, for example with `shard_iter`",
            fix=partial(_fix, cls, draft),
        )
        return replace(finding, preview=_READS.isdisjoint(_tokens(cls)))


def _fix(cls: ir.Class, draft: Draft) -> Fix:
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
