"""DST312: what is gathered from all ranks piles up on the GPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import loops_around
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Path
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_GATHERS = frozenset({"accelerate.Accelerator.gather", "accelerate.Accelerator.gather_for_metrics"})
_NAMES = frozenset(name.rpartition(".")[2] for name in _GATHERS)
_TAKES_OFF = frozenset({"cpu", "item", "tolist", "numpy"})
_EMPTIES = frozenset({"clear", "pop", "popleft"})


class Rank0GpuAccumulation(SourceRule):
    """Tensors that are gathered from all ranks are kept on the GPU for a whole loop.

    ```python
    outputs = []
    for batch in loader:
        logits = accelerator.gather_for_metrics(model(batch))
        outputs.append(logits)  # bad: stays on the GPU
    ```

    ## Use instead

    ```python
    outputs = []
    for batch in loader:
        logits = accelerator.gather_for_metrics(model(batch))
        outputs.append(logits.cpu())
    ```

    Or update a metric batch by batch.

    ## Why is this bad?

    A gathered tensor is as large as the tensors of all ranks combined, and each rank gets all of
    it. Over an evaluation, they fill every GPU with the predictions for the whole dataset, and each
    additional rank makes it worse. The first GPU to run out of memory is one that has other work as
    well, usually that of rank 0.

    ## What is reported

    `outputs.append(accelerator.gather_for_metrics(...))` in a loop without `.cpu()`, if the list is
    not emptied in the loop.

    ## What is not reported

    - `.cpu()`, `.item()`, `.tolist()` or `.numpy()` is called before the value is appended.
    - The list is emptied or re-created in the same loop.
    - The value is not known to be gathered, or is a single loss per rank.

    ## Fix safety

    Unsafe: `.cpu()` is called on what is appended, so later operations on the list run on the CPU.
    Not offered for a whole batch, which may be a dict.

    ## References

    - [Accelerate: Accelerator](https://huggingface.co/docs/accelerate/package_reference/accelerator)
    """

    code = "DST312"
    name = "rank0-gpu-accumulation"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Kept on the CPU",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
outputs = []
for batch in torch.ones(4, 2, 3):
    outputs.append(accelerator.gather_for_metrics(batch).cpu())
accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="Emptied in each iteration",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
outputs = []
for batch in torch.ones(4, 2, 3):
    outputs.append(accelerator.gather_for_metrics(batch))
    print(torch.cat(outputs).mean().item())
    outputs.clear()
accelerator.wait_for_everyone()
""",
        ),
    )

    bad = (
        Example(
            title="All predictions of all ranks on every GPU",
            effect="static",
            needs=("accelerate",),
            why_static="on CPU there is no GPU memory to fill",
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator()
outputs = []
for batch in torch.ones(1000, 64, 32000):
    logits = accelerator.gather_for_metrics(batch.to(accelerator.device))
    outputs.append(logits)  # expect: DST312
total = torch.cat(outputs).mean()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _NAMES.isdisjoint(module.tokens) or "append" not in module.tokens:
            return
        objects = objects_across(module, catalogue)
        for site in objects.calls({"append"}):
            kept = (
                path_of(site.call.func.value) if isinstance(site.call.func, ir.Attribute) else None
            )
            loop = next(loops_around(site.point), None)
            if kept is None or loop is None or len(site.call.args) != 1:
                continue
            if _goes_to_cpu(loop, site.call.args[0].value) or _is_emptied(loop, kept):
                continue
            if _is_gathered(objects, site):
                yield self.finding(
                    message=f"`{'.'.join(kept)}` keeps gathered tensors on the GPU",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="GPU memory grows with the size of the dataset and the number of ranks",
                    help="Move the tensors to the CPU with `.cpu()`",
                    fix=partial(_fix, site, Draft(locators.of(module.key), module, catalogue)),
                )


def _is_gathered(objects: Objects, site: CallSite) -> bool:
    """Is it a gathered tensor, of more than a loss for each rank?"""
    origins = objects.origins(site.call.args[0].value, site.point)
    return bool(origins) and all(
        origin.site is not None
        and objects.called(origin.site) in _GATHERS
        and not any("loss" in token.lower() for token in ir.tokens_of(origin.node))
        for origin in origins
    )


def _goes_to_cpu(loop: ir.For | ir.While, value: ir.Expr) -> bool:
    """Is it taken off the GPU where it is kept, or where it is bound?"""
    if not _TAKES_OFF.isdisjoint(ir.tokens_of(value)):
        return True
    path = path_of(value)
    return any(
        isinstance(statement, ir.Assign)
        and any(path_of(target) == path for target in statement.targets)
        and not _TAKES_OFF.isdisjoint(ir.tokens_of(statement.value))
        for statement, _ in placed(loop.body)
    )


def _is_emptied(loop: ir.For | ir.While, kept: Path) -> bool:
    for statement, _ in placed(loop.body):
        if isinstance(statement, ir.Assign):
            if any(path_of(target) == kept for target in statement.targets):
                return True
        for item in calls_of(statement):
            if ir.last_name(item.func) in _EMPTIES:
                if isinstance(item.func, ir.Attribute) and path_of(item.func.value) == kept:
                    return True
    return False


def _fix(site: CallSite, draft: Draft) -> Fix:
    value = draft.node(site.call.site, cst.Call).args[0].value
    loop = draft.around(value, cst.For)
    if isinstance(value, cst.Call) and loop is not None:
        targets = {name.value for name in names.inside(loop.target) if isinstance(name, cst.Name)}
        if any(draft.text(arg.value) in targets for arg in value.args):
            raise CannotFix("a batch may be a dict, which has no cpu()")
    draft.replace(value, f"{draft.text(value)}.cpu()")
    return draft.fix("unsafe", "Move the tensor to the CPU")
