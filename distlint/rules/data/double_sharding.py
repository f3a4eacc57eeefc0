"""DST213: data that is divided between the ranks twice."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import calls
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._prepared import prepared_loaders
from distlint.rules.data._shards import shard_of
from distlint.rules.training import Made, draws_from, samplers
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class DoubleSharding(SourceRule):
    """A loader that already gives each rank its shard is passed to `accelerator.prepare`.

    ```python
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    model, loader = accelerator.prepare(model, loader)
    ```

    ## Use instead

    ```python
    loader = DataLoader(data, batch_size=32, shuffle=True)
    model, loader = accelerator.prepare(model, loader)
    ```

    Or keep the sampler, and do not prepare the loader.

    ## Why is this bad?

    `prepare` assumes that the loader iterates over all data, and gives each process every n-th
    batch. Each process then sees only an n-th of its shard: with 8 GPUs, an epoch is an eighth as
    long, and seven eighths of the data are never read. There is no warning.

    ## What is reported

    `accelerator.prepare(loader)` or `prepare_data_loader(loader)`, if the loader uses a
    `DistributedSampler` or its dataset is sharded by rank: `files[rank::world_size]`,
    `split_dataset_by_node(...)`, `.shard(...)`; also in the class of the dataset, or of a sampler
    of the project. The loader may be made in another file, and passed in a list or a dict,
    `prepare(*objects)`.

    ## What is not reported

    - The loader is not prepared, or is prepared and not sharded anywhere else.
    - The data is sharded under a condition, and an early exit under the same condition comes before
      `prepare`.
    - The file sets `dispatch_batches`, with which one process reads for all.

    ## Fix safety

    Unsafe: the `DistributedSampler` is removed from the loader, which shuffles itself if the
    sampler did. Epochs become as long as they were meant to be. No fix is offered for other kinds
    of sharding.

    ## References

    - [Accelerator.prepare](https://huggingface.co/docs/accelerate/package_reference/accelerator)
    - [DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
    """

    code = "DST213"
    name = "double-sharding"
    severity = Severity.ERROR

    good = (
        Example(
            title="Accelerate shards the data",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
loader = DataLoader(TensorDataset(torch.arange(16.0)), batch_size=2, shuffle=True)
loader = accelerator.prepare(loader)
seen = torch.cat([batch for (batch,) in loader])
assert len(set(accelerator.gather(seen).tolist())) == 16
""",
        ),
        Example(
            title="The sampler shards the data, and the loader is not prepared",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

accelerator = Accelerator(cpu=True)
data = TensorDataset(torch.arange(16.0))
sampler = DistributedSampler(data, accelerator.num_processes, accelerator.process_index)
loader = DataLoader(data, batch_size=2, sampler=sampler)
model = accelerator.prepare(torch.nn.Linear(1, 1))
seen = torch.cat([batch for (batch,) in loader])
assert len(set(accelerator.gather(seen).tolist())) == 16
""",
        ),
    )

    bad = (
        Example(
            title="A DistributedSampler, prepared",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

accelerator = Accelerator(cpu=True)
data = TensorDataset(torch.arange(16.0))
sampler = DistributedSampler(data, accelerator.num_processes, accelerator.process_index)
loader = DataLoader(data, batch_size=2, sampler=sampler)
loader = accelerator.prepare(loader)  # expect: DST213
seen = torch.cat([batch for (batch,) in loader])
seen = set(accelerator.gather(seen).tolist())
assert len(seen) == 16, f"of 16 samples the processes saw {len(seen)}"
""",
        ),
        Example(
            title="A rank-based slice, prepared",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, Dataset


class Shard(Dataset):
    def __init__(self, items, accelerator):
        self.items = items[accelerator.process_index :: accelerator.num_processes]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(1, 1)
loader = DataLoader(Shard(torch.arange(16.0), accelerator), batch_size=2)
model, loader = accelerator.prepare(model, loader)  # expect: DST213
seen = set(accelerator.gather(torch.cat(list(loader))).tolist())
assert len(seen) == 16, f"of 16 samples the processes saw {len(seen)}"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if module.tokens.isdisjoint({"prepare", "prepare_data_loader"}):
            return
        if "dispatch_batches" in module.tokens:
            return
        objects = objects_across(module, catalogue)
        seen: set[ir.Call] = set()
        for taker, loader in prepared_loaders(objects):
            shard = shard_of(loader) if loader.call not in seen else None
            if shard is None or "dispatch_batches" in loader.objects.module.tokens:
                continue
            if shard.site is not None and _have_parted(shard.site.point, taker.point):
                continue
            seen.add(loader.call)
            there = shard.objects if shard.site is not None else loader.objects
            made = locators.of(there.module.key).place((shard.site or loader.site).call.site)
            yield self.finding(
                message=f"data sharded by {shard.how} is sharded again",
                severity=Severity.ERROR,
                place=locators.of(module.key).place(taker.call.site),
                related=(Related("already sharded here", made),),
                effect="each process sees only a part of its shard; the rest is never read",
                help="Shard in one place: pass `prepare` a loader without sharding, or do not "
                "prepare this one",
                fix=partial(_plain, loader, Draft(locators.of(module.key), module, catalogue)),
            )


def _plain(loader: Made, draft: Draft) -> Fix:
    """The loader shuffles by itself, if its sampler did."""
    if loader.objects.module.key != draft.module.key:
        raise CannotFix("another file makes the loader")
    sampler = next((s for s in samplers(loader.objects) if draws_from(loader, s)), None)
    call = draft.node(loader.options.call.site, cst.Call)
    given = calls.argument(call, "sampler")
    if sampler is None or given is None or len(loader.origins("sampler")) != 1:
        raise CannotFix("the data is not sharded by a sampler alone")
    shuffles = sampler.constant("shuffle", True)
    if shuffles is ...:
        raise CannotFix("the sampler may shuffle or not")
    if calls.argument(call, "shuffle") is not None:
        calls.set_keyword(draft, call, "shuffle", str(shuffles))
        calls.remove_argument(draft, call, given)
    elif shuffles:
        assert given.keyword is not None
        draft.splice(draft.bounds(given.keyword)[0], draft.bounds(given.value)[1], "shuffle=True")
    else:
        calls.remove_argument(draft, call, given)
    return draft.fix("unsafe", "Let `prepare` shard the data")


def _have_parted(divided: Point, taken: Point) -> bool:
    """Has a test sent away the runs in which the data are divided: the same one stands there?"""
    around = {
        _written(part)
        for here in divided.around
        if isinstance(here.owner, ir.If) and here.block is here.owner.body
        for part in _conjuncts(here.owner.test)
    }
    return any(
        isinstance(earlier, ir.If)
        and ir.is_left(earlier.body)
        and (test := _written(earlier.test)) is not None
        and test in around
        for here in taken.around
        for earlier in here.block[: here.index]
    )


def _conjuncts(test: ir.Expr) -> tuple[ir.Expr, ...]:
    return test.values if isinstance(test, ir.BoolOp) and test.op == "and" else (test,)


def _written(test: ir.Expr) -> tuple[object, ...] | None:
    """How a comparison of names, attributes and constants is written; None for anything else."""
    found: list[object] = []
    for node in expressions_in(test):
        if isinstance(node, ir.Name):
            found.append(node.id)
        elif isinstance(node, ir.Attribute):
            found.append((".", node.attr))
        elif isinstance(node, ir.Literal):
            found.append(("constant", node.value))
        elif isinstance(node, ir.Compare):
            found.append(node.ops)
        elif isinstance(node, ir.Not):
            found.append("not")
        else:
            return None
    return tuple(found)
