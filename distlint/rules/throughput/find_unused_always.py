"""DST705: DDP looks for unused parameters in every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import DDP
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_FLAG = "find_unused_parameters"


class FindUnusedAlways(SourceRule):
    """`DistributedDataParallel` searches for unused parameters in every step.

    ```python
    model = DDP(
        net,
        device_ids=[local_rank],
        find_unused_parameters=True,  # bad: if all parameters are used
    )
    ```

    ## Use instead

    ```python
    model = DDP(net, device_ids=[local_rank])
    ```

    If parameters are never used, delete their layers. If the graph is the same in each step,
    `static_graph=True` searches only once.

    ## Why is this bad?

    DDP traverses the whole graph after each forward pass, and cannot start communication before
    that. If all parameters are used, this time is wasted, and torch says so once, in a warning.

    ## What is reported

    `find_unused_parameters=True` as a constant. This rule is in preview: the source does not show
    whether the option is needed.

    ## What is not reported

    - Values that are not the constant `True`.
    - The file is a test.

    ## Fix safety

    None: whether all parameters are used is known only at run time.

    ## References

    - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "DST705"
    name = "find-unused-always"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Without the search",
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
        objects = objects_across(module, catalogue)
        for site in objects.calls_to(*DDP):
            if objects.constant(objects.argument(site, _FLAG), site.point, False) is True:
                yield self.finding(
                    message="DDP searches for unused parameters in every step",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="each step traverses the graph, and communication starts later",
                    help="Remove `find_unused_parameters=True` if all parameters are used",
                )
