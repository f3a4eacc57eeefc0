"""DST509: the process group is used before it is made, or made twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects import objects_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import ASKS, asks_for_group, inits, may_be_made, surely_before
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.objects import CallSite, Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_USES = frozenset(
    {
        "barrier", "all_reduce", "broadcast", "all_gather", "reduce", "gather", "scatter",
        "broadcast_object_list", "all_gather_object", "get_rank", "get_world_size", "new_group",
        "all_gather_into_tensor", "reduce_scatter_tensor", "get_backend",
    }
)  # fmt: skip
_WRAPS = ("torch.nn.parallel.DistributedDataParallel",)
_SAMPLER = "torch.utils.data.DistributedSampler"


class CollectiveBeforeInit(SourceRule):
    """The process group is used before `init_process_group`, or made a second time.

    ## What it finds

    A collective, `get_rank`, `new_group`, `DistributedDataParallel(...)` or a `DistributedSampler`
    without `num_replicas` that runs in any case before `init_process_group` in the same function;
    a second `init_process_group` behind the first one.

    ## Why it matters

    torch raises: "Default process group has not been initialized", or "trying to initialize the
    default process group twice!".

    ## What to do

    Make the group first thing in the script; `if not dist.is_initialized():` where it may be there.

    ## Fix

    None: what has to move with the call is for the author to say.

    ## When it is silent

    - Something that may make the group comes first: Accelerate, DeepSpeed, a function of the file.
    - A test of `is_initialized()`, or whether `GroupMember.WORLD` is there, or any other test that
      only one of the two stands under.
    - The group is destroyed between the two.
    """

    code = "DST509"
    name = "collective-before-init"
    severity = Severity.WARNING

    good = (
        Example(
            title="Made first",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler, TensorDataset

if not dist.is_initialized():
    dist.init_process_group("gloo")
sampler = DistributedSampler(TensorDataset(torch.arange(8.0)))
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A sampler that is told, and a group made again",
            code="""\
import os

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler, TensorDataset

data = TensorDataset(torch.arange(8.0))
world, rank = int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"])
sampler = DistributedSampler(data, num_replicas=world, rank=rank)
dist.init_process_group("gloo")
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A sampler that asks how many ranks there are",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler, TensorDataset


def main():
    data = TensorDataset(torch.arange(8.0))
    sampler = DistributedSampler(data)  # expect: DST509
    dist.init_process_group("gloo")
    print(len(sampler))
    dist.destroy_process_group()


main()
""",
        ),
        Example(
            title="Twice",
            effect="fail",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
dist.barrier()
dist.init_process_group("gloo")  # expect: DST509
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "init_process_group" not in module.words:
            return
        objects = objects_of(module, catalogue)
        locator = locators.of(module.key)
        made = list(inits(objects))
        for init in made:
            if asks_for_group(objects, init.point):
                continue
            for use in _uses(objects):
                if surely_before(use.point, init.point) and not may_be_made(objects, use):
                    yield self.finding(
                        message=f"`{use.name}` needs the process group, which is made below",
                        severity=Severity.WARNING,
                        place=locator.place(use.call.site),
                        related=(Related("made here", locator.place(init.call.site)),),
                        effect="an error: the default process group has not been initialized",
                        advice="Call init_process_group first.",
                    )
            for other in made:
                if surely_before(other.point, init.point) and not _destroyed(objects, other, init):
                    yield self.finding(
                        message="the process group is there already",
                        severity=Severity.WARNING,
                        place=locator.place(init.call.site),
                        related=(Related("made here", locator.place(other.call.site)),),
                        effect="an error: trying to initialize the default process group twice",
                        advice="Make it once, or test dist.is_initialized().",
                    )
                    break


def _uses(objects: Objects) -> Iterator[CallSite]:
    yield from objects.calls_to(*_WRAPS)
    for site in objects.calls(_USES):
        if objects.called(site).startswith("torch.distributed."):
            if not _asked_in(site):
                yield site
    for site in objects.calls_to(_SAMPLER):
        given = objects.argument(site, "num_replicas", 1), objects.argument(site, "rank", 2)
        if any(each.absent for each in given):
            yield site


def _asked_in(site: CallSite) -> bool:
    """``dist.get_rank() if dist.is_initialized() else 0``"""
    return not ASKS.isdisjoint(ir.tokens_of(site.point.statement))


def _destroyed(objects: Objects, first: CallSite, second: CallSite) -> bool:
    return any(
        first.point.statement.site < site.point.statement.site < second.point.statement.site
        for site in objects.calls({"destroy_process_group"})
    )
