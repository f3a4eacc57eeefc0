"""DST608: a scaler for bfloat16, which needs none."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import calls
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._autocast import SCALER, autocasts
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class ScalerWithBf16(SourceRule):
    """A `GradScaler` is used with bfloat16, which needs no loss scaling.

    ```python
    scaler = torch.amp.GradScaler("cuda")  # bad: not needed for bfloat16
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(batch).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    ```

    ## Use instead

    ```python
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(batch).mean()
    loss.backward()
    optimizer.step()
    ```

    If the dtype is an option, pass `enabled=dtype is torch.float16` to the scaler.

    ## Why is this bad?

    bfloat16 has the range of float32: nothing underflows, so loss scaling has no benefit. It
    processes all gradients and waits for the GPU in each step, and skips the steps in which the
    scaled gradients overflow.

    ## What is reported

    `GradScaler()` without `enabled=` in a file whose `autocast` regions all use `bfloat16`.

    ## What is not reported

    - Scalers that are given `enabled=`, and dtypes that are chosen at run time.

    ## Fix safety

    Unsafe: the scaler is disabled with `enabled=False`.

    ## References

    - [PyTorch: Gradient scaling](https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling)
    """

    code = "DST608"
    name = "scaler-with-bf16"
    severity = Severity.INFO
    words = ("GradScaler",)

    good = (
        Example(
            title="For float16 only",
            ranks=1,
            code="""\
import torch

dtype = torch.bfloat16
scaler = torch.amp.GradScaler("cpu", enabled=dtype is torch.float16)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = model(torch.ones(1, 2)).sum()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
""",
        ),
    )

    bad = (
        Example(
            title="A scaler for bfloat16",
            effect="fail",
            ranks=1,
            code="""\
import torch

scaler = torch.amp.GradScaler("cpu")  # expect: DST608
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
before = model.weight.detach().clone()
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = model(torch.ones(1, 2)).float().sum() * 1e35
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
assert not torch.equal(before, model.weight), "the step was skipped: the scale overflowed"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "GradScaler" not in module.words or "bfloat16" not in module.tokens:
            return
        objects = objects_across(module, catalogue)
        regions = {region.dtype for region in autocasts(objects)}
        if regions != {"bfloat16"}:
            return
        locator = locators.of(module.key)
        for site in objects.calls_to(SCALER):
            if objects.argument(site, "enabled").absent and len(site.call.args) < 3:
                yield self.finding(
                    message="`GradScaler` is not needed for bfloat16",
                    severity=Severity.INFO,
                    place=locator.place(site.call.site),
                    effect="each step is slower, and steps are skipped when the scale overflows",
                    help="Remove the scaler, or pass `enabled=False`",
                    fix=partial(_fix, site, Draft(locator, module, catalogue)),
                )


def _fix(site: CallSite, draft: Draft) -> Fix:
    calls.set_keyword(draft, draft.node(site.call.site, cst.Call), "enabled", "False")
    return draft.fix("unsafe", "Disable the scaler")
