"""DST213: data that is divided between the ranks twice."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects import CallSite, Objects, objects_of
from distlint.fixers import calls
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._shards import shard_of
from distlint.rules.training import Made, draws_from, loaders, samplers
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_TAKERS = frozenset(f"accelerate.Accelerator.{name}" for name in ("prepare", "prepare_data_loader"))


class DoubleSharding(SourceRule):
    """A loader that already gives each rank its part goes through `accelerator.prepare`.

    ## What it finds

    `accelerator.prepare(loader)`, or `prepare_data_loader`, where the loader draws from a
    `DistributedSampler`, or its data set was cut by the rank: `files[rank::world_size]`,
    `split_dataset_by_node(...)`, `.shard(...)`.

    ## Why it matters

    `prepare` takes the loader for one over all data and gives each process every n-th batch of it.
    Of its own n-th part each process then sees an n-th: with 8 GPUs an epoch is an eighth as long,
    and seven eighths of the data are never read. No warning is printed.

    ## What to do

    Divide in one place. With Accelerate, give `prepare` a plain loader with `shuffle=True`; or keep
    the sampler, and do not prepare the loader.

    ## Fix

    Unsafe: a `DistributedSampler` is taken off the loader, which shuffles by itself then if the
    sampler did. Epochs become as long as they were meant to be. Other ways to divide are left to
    you.

    ## When it is silent

    - The loader is not prepared, or it is prepared and divided nowhere else.
    - The test under which it is divided has sent these runs away before it is prepared.
    - The file sets `dispatch_batches`, where one process reads for all.
    """

    code = "DST213"
    name = "double-sharding"
    severity = Severity.ERROR

    good = (
        Example(
            title="Accelerate divides",
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
            title="The sampler divides, and the loader is not prepared",
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
            title="A slice by the rank, prepared",
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
        if "DataLoader" not in module.words or "dispatch_batches" in module.tokens:
            return
        objects = objects_of(module, catalogue)
        for loader in loaders(objects):
            taker = _taker(objects, loader)
            shard = shard_of(loader) if taker is not None else None
            if taker is not None and shard is not None:
                if shard[1] is not None and _have_parted(shard[1].point, taker.point):
                    continue
                locator = locators.of(module.key)
                how, site = shard
                made = locator.place((site or loader.site).call.site)
                yield self.finding(
                    message=f"this loader's data are divided by {how} already, and `prepare` "
                    "divides them once more",
                    severity=Severity.ERROR,
                    place=locator.place(taker.call.site),
                    related=(Related("divided here", made),),
                    effect="each process sees a part of its part; the rest is never read",
                    advice="Divide in one place: give prepare a plain loader, or do not prepare "
                    "this one.",
                    fix=partial(_plain, loader, Draft(locator, module, catalogue)),
                )


def _plain(loader: Made, draft: Draft) -> Fix:
    """The loader shuffles by itself, if its sampler did."""
    sampler = next((s for s in samplers(loader.objects) if draws_from(loader, s)), None)
    call = draft.node(loader.options.call.site, cst.Call)
    given = calls.argument(call, "sampler")
    if sampler is None or given is None or len(loader.origins("sampler")) != 1:
        raise Doubt("the data are not divided by a sampler alone")
    shuffles = sampler.constant("shuffle", True)
    if shuffles is ...:
        raise Doubt("the sampler may shuffle or not")
    if calls.argument(call, "shuffle") is not None:
        calls.set_keyword(draft, call, "shuffle", str(shuffles))
        calls.remove_argument(draft, call, given)
    elif shuffles:
        assert given.keyword is not None
        draft.splice(draft.bounds(given.keyword)[0], draft.bounds(given.value)[1], "shuffle=True")
    else:
        calls.remove_argument(draft, call, given)
    return draft.fix("unsafe", "Let prepare divide the data")


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


def _taker(objects: Objects, loader: Made) -> CallSite | None:
    for site in objects.calls({name.rpartition(".")[2] for name in _TAKERS}):
        if objects.called(site) in _TAKERS and any(
            objects.is_made_by(loader.call, argument.value, site.point)
            for argument in site.call.args
        ):
            return site
    return None
