"""DST609: a running sum in half precision."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import calls
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._autocast import dtype_of
from distlint.rules.training import loops_around
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_MAKES = ("torch.zeros", "torch.tensor", "torch.zeros_like", "torch.full")


class LowprecAccumulator(SourceRule):
    """A running sum is kept in float16 or bfloat16.

    ```python
    total = torch.zeros(1, dtype=torch.bfloat16, device=device)
    for batch in loader:
        total += count_correct(batch)  # bad: stops growing at 256
    ```

    ## Use instead

    ```python
    total = torch.zeros(1, dtype=torch.float32, device=device)
    for batch in loader:
        total += count_correct(batch)
    ```

    ## Why is this bad?

    bfloat16 has 8 significant bits: from 256 on, adding 1 changes nothing. A sum over many batches
    stops growing, and its mean falls. (A single call of `torch.sum` accumulates in float32.)

    ## What is reported

    `total = torch.zeros(..., dtype=torch.bfloat16)` (or float16) and `total += ...` in a loop.

    ## What is not reported

    - Sums whose dtype is not written where they are created.
    - Sums that are re-created in each iteration.

    ## Fix safety

    Unsafe: the sum is created with `dtype=torch.float32`, so its value and dtype change.

    ## References

    - [PyTorch: Numerical accuracy](https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html)
    """

    code = "DST609"
    name = "lowprec-accumulator"
    severity = Severity.INFO

    good = (
        Example(
            title="In float32",
            ranks=1,
            code="""\
import torch

total = torch.zeros(1, dtype=torch.float32)
for _ in range(512):
    total += torch.ones(1, dtype=torch.bfloat16)
assert total.item() == 512
""",
        ),
    )

    bad = (
        Example(
            title="The sum stops at 256",
            effect="fail",
            ranks=1,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")

total = torch.zeros(1, dtype=torch.bfloat16)
for _ in range(512):
    total += torch.ones(1, dtype=torch.bfloat16)  # expect: DST609
assert total.item() == 512, total
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if module.tokens.isdisjoint(("bfloat16", "float16", "half")):
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for point in objects.points:
            statement = point.statement
            if not isinstance(statement, ir.AugAssign) or statement.op not in ("+", "+="):
                continue
            loops = list(loops_around(point))
            if not loops or not isinstance(statement.target, ir.Name):
                continue
            for origin in objects.origins(statement.target, point):
                site = origin.site
                if site is None or objects.called(site) not in _MAKES:
                    continue
                if site.point.statement.site > loops[0].site:
                    continue  # begun anew in each turn
                given = objects.argument(site, "dtype").value
                dtype = dtype_of(objects, given, site) if given is not None else ""
                if dtype:
                    yield self.finding(
                        message=f"running sum is kept in {dtype} and stops growing",
                        severity=Severity.INFO,
                        place=locator.place(statement.site),
                        related=(Related("created here", locator.place(site.call.site)),),
                        effect="values that are small relative to the sum are lost",
                        help="Keep the sum in float32",
                        fix=partial(_fix, site, Draft(locator, module, catalogue)),
                    )


def _fix(site: CallSite, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    func = draft.text(call.func).rpartition(".")[0]
    calls.set_keyword(draft, call, "dtype", f"{func}.float32" if func else "torch.float32")
    return draft.fix("unsafe", "Keep the sum in float32")
