"""DST705: DDP looks for unused parameters in every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer.static.objects import objects_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import DDP
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_FLAG = "find_unused_parameters"


class FindUnusedAlways(SourceRule):
    """`DistributedDataParallel` is told to look for unused parameters in each step.

    ## What it finds

    `find_unused_parameters=True` as a constant.

    ## Why it matters

    DDP goes through the whole graph after each forward pass, and cannot begin to send before. Where
    all parameters are used that is lost time, and torch says so once, in a warning. Where the graph
    is the same in each step, `static_graph=True` does it once.

    ## What to do

    Leave it out when no parameter is unused, or delete the layers that are.

    ## Fix

    None: whether all parameters are used shows only when it runs.

    ## When it is silent

    - The value is not the constant True.
    - The file is a test.

    In preview: of 11 findings in 58 repositories the source tells of none whether it is needed.
    """

    code = "DST705"
    name = "find-unused-always"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="The default",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1), find_unused_parameters=False)
model(torch.ones(1, 2)).sum().backward()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="All parameters are used",
            effect="static",
            why_static="torch warns, and the step takes a little longer",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1), find_unused_parameters=True)  # expect: DST705
model(torch.ones(1, 2)).sum().backward()
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _FLAG not in module.tokens or document.is_test:
            return
        objects = objects_of(module, catalogue)
        for site in objects.calls_to(*DDP):
            if objects.constant(objects.argument(site, _FLAG), site.point, False) is True:
                yield self.finding(
                    message="DDP looks for unused parameters in each step",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="a walk over the graph in each step, and messages that go out later",
                    advice="Leave it out where all parameters are used.",
                )
