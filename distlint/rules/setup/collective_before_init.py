"""DST509: the process group is used before it is made, or made twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import ASKS, asks_for_group, inits, may_be_made, surely_before
from distlint.rules.setup._sequence import before_made
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
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
    """The process group is used before `init_process_group`, or initialized twice.

    ```python
    sampler = DistributedSampler(dataset)  # bad: there is no process group yet
    loader = DataLoader(dataset, sampler=sampler)
    dist.init_process_group("nccl")
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl")
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    ```

    Where the process group may exist already, guard the call with `if not dist.is_initialized():`.

    ## Why is this bad?

    torch raises "Default process group has not been initialized", or "trying to initialize the
    default process group twice!".

    ## What is reported

    - A collective, `get_rank`, `new_group`, `DistributedDataParallel(...)`, or a
      `DistributedSampler` that is not given both `num_replicas` and `rank`, if it always runs
      before `init_process_group` in the same function, or in the default of a parameter.
    - A second `init_process_group` after the first one.
    - The same through functions, methods and constructors of the project that are called in any
      case, also of other files: `data = load()` before `setup()`, where `load` makes a
      `DistributedSampler`.

    ## What is not reported

    - Code that may initialize the process group runs first: Accelerate, DeepSpeed, a function that
      does so under a condition, or one that is not in sight and is named after it.
    - The function that uses the group may return before, or asks for `is_initialized()`.
    - The call, or `init_process_group`, is guarded by a test of `is_initialized()` or of
      `GroupMember.WORLD`; or the one that comes first is guarded by a condition that does not guard
      the other one.
    - The process group is destroyed between the two `init_process_group` calls.

    ## Fix safety

    None: distlint does not know which other statements have to move with the call.

    ## References

    - [torch.distributed: initialization](https://docs.pytorch.org/docs/stable/distributed.html#initialization)
    - [DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
    """

    code = "DST509"
    name = "collective-before-init"
    severity = Severity.WARNING

    good = (
        Example(
            title="Initialized first",
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
            title="A sampler that is given the world size and the rank",
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
            title="A sampler before the process group",
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
            title="Initialized twice",
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
        if not any("init_process_group" in each.words for each in module.import_closure()):
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        made = list(inits(objects))
        for init in made:
            if asks_for_group(objects, init.point):
                continue
            for use in _uses(objects):
                if surely_before(use.point, init.point) and not may_be_made(objects, use):
                    yield self.finding(
                        message=f"`{use.name}` runs before `init_process_group`",
                        severity=Severity.WARNING,
                        place=locator.place(use.call.site),
                        related=(Related("initialized here", locator.place(init.call.site)),),
                        effect='torch raises "Default process group has not been initialized"',
                        help="Call `init_process_group` first",
                    )
            for other in made:
                if surely_before(other.point, init.point) and not _destroyed(objects, other, init):
                    yield self.finding(
                        message="the process group is already initialized",
                        severity=Severity.WARNING,
                        place=locator.place(init.call.site),
                        related=(
                            Related("first initialized here", locator.place(other.call.site)),
                        ),
                        effect="torch raises an error about initializing the process group twice",
                        help="Initialize it once, or check `dist.is_initialized()` first",
                    )
                    break
        yield from self._through_functions(objects, locators)

    def _through_functions(self, objects: Objects, locators: Locators) -> Iterator[Finding]:
        """The same where the group is used or made by functions that are called."""
        told: set[int] = set()
        for first, made in before_made(objects, _needs_group):
            call, inner = (made.call, made) if first.kind == "make" else (first.call, first)
            if call.site in told:
                continue
            told.add(call.site)
            here = locators.of(objects.module.key)
            there = locators.of(inner.where.module.key)
            used = ir.last_name(first.inner.func)
            related = () if inner.is_direct else (Related("here", there.place(inner.inner.site)),)
            if first.kind == "make":
                yield self.finding(
                    message="the process group is already initialized",
                    severity=Severity.WARNING,
                    place=here.place(call.site),
                    related=(
                        Related("first initialized here", here.place(first.call.site)),
                        *related,
                    ),
                    effect="torch raises an error about initializing the process group twice",
                    help="Initialize it once, or check `dist.is_initialized()` first",
                )
            else:
                yield self.finding(
                    message=f"`{used}` runs before `init_process_group`",
                    severity=Severity.WARNING,
                    place=here.place(call.site),
                    related=(*related, Related("initialized here", here.place(made.call.site))),
                    effect='torch raises "Default process group has not been initialized"',
                    help="Call `init_process_group` first",
                )


def _uses(objects: Objects) -> Iterator[CallSite]:
    for name in (*_WRAPS, _SAMPLER):
        yield from (site for site in objects.calls_to(name) if _needs_group(objects, site))
    yield from (site for site in objects.calls(_USES) if _needs_group(objects, site))


def _needs_group(objects: Objects, site: CallSite) -> bool:
    """Does a call raise where there is no process group?"""
    if site.name in _USES:
        return objects.called(site).startswith("torch.distributed.") and not _asked_in(site)
    if objects.is_call_to(site, _SAMPLER):
        given = objects.argument(site, "num_replicas", 1), objects.argument(site, "rank", 2)
        return any(each.absent for each in given)
    return objects.is_call_to(site, *_WRAPS)


def _asked_in(site: CallSite) -> bool:
    """``dist.get_rank() if dist.is_initialized() else 0``"""
    return not ASKS.isdisjoint(ir.tokens_of(site.point.statement))


def _destroyed(objects: Objects, first: CallSite, second: CallSite) -> bool:
    return any(
        first.point.statement.site < site.point.statement.site < second.point.statement.site
        for site in objects.calls({"destroy_process_group"})
    )
