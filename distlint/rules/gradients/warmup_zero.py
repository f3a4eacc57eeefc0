"""DST612: the learning rate of the first step is 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_LAMBDA = "torch.optim.lr_scheduler.LambdaLR"


class WarmupZero(SourceRule):
    """A warm-up with `LambdaLR` starts with a learning rate of 0.

    ```python
    scheduler = LambdaLR(optimizer, lambda step: min(1.0, step / 1000))  # bad: 0 at first
    ```

    ## Use instead

    ```python
    scheduler = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 1000))
    ```

    ## Why is this bad?

    The scheduler is at step 0 during the first `optimizer.step()`, which therefore changes nothing:
    the first batch is wasted. This matters if there are few, long steps, as in training with large
    batches.

    ## What is reported

    `LambdaLR(optimizer, lambda step: min(1.0, step / warmup))`, and functions of the module that
    return `step / warmup` while `step < warmup`. This rule is in preview: common schedules, such as
    those of transformers, start at 0 by design.

    ## What is not reported

    - Something is added to the step, or the factor starts above 0.

    ## Fix safety

    None: every later step would shift by one as well, also in a run that is resumed.

    ## References

    - [PyTorch: LambdaLR](https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LambdaLR.html)
    """

    code = "DST612"
    name = "warmup-zero"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Counted from 1",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
assert scheduler.get_last_lr()[0] > 0
""",
        ),
    )

    bad = (
        Example(
            title="The first step does nothing",
            effect="fail",
            ranks=1,
            code="""\
import torch
from torch.optim.lr_scheduler import LambdaLR

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = LambdaLR(optimizer, lambda step: min(1.0, step / 10))  # expect: DST612
before = model.weight.detach().clone()
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
scheduler.step()
assert not torch.equal(before, model.weight), "nothing was learned"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "LambdaLR" not in module.words:
            return
        objects = objects_across(module, catalogue)
        for site in objects.calls_to(_LAMBDA):
            function = _given(objects, site)
            if function is not None and len(function.params) == 1 and _begins_at_0(function):
                yield self.finding(
                    message="learning rate of the first step is 0",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="the first step changes nothing",
                    help="Count from 1: `(step + 1) / warmup`",
                )


def _given(objects: Objects, site: CallSite) -> ir.Function | None:
    value = objects.argument(site, "lr_lambda", 1).value
    if isinstance(value, ir.Lambda):
        return value.function
    for origin in objects.origins(value, site.point) if value is not None else ():
        if isinstance(origin.node, ir.Lambda):
            return origin.node.function
        if isinstance(origin.node, ir.Function):
            return origin.node
    return None


def _begins_at_0(function: ir.Function) -> bool:
    """Does a function return 0 for 0, by its first statement?"""
    step = function.params[0].name
    first = function.body[0] if function.body else None
    if isinstance(first, ir.If) and _is_early(first.test, step) and first.body:
        first = first.body[0]
    return isinstance(first, ir.Return) and _is_0(first.value, step)


def _is_early(test: ir.Expr, step: str) -> bool:
    return (
        isinstance(test, ir.Compare)
        and len(test.ops) == 1
        and test.ops[0] in ("<", "<=")
        and isinstance(test.left, ir.Name)
        and test.left.id == step
    )


def _is_0(node: ir.Expr | None, step: str) -> bool:
    """Is an expression 0 when the step is?"""
    if isinstance(node, ir.Name):
        return node.id == step
    if isinstance(node, ir.Binary):
        if node.op == "*":
            return _is_0(node.left, step) or _is_0(node.right, step)
        return node.op in ("/", "//", "**") and _is_0(node.left, step)
    if isinstance(node, ir.Call):
        name = ir.last_name(node.func)
        if name == "float" and len(node.args) == 1:
            return _is_0(node.args[0].value, step)
        return name == "min" and any(_is_0(argument.value, step) for argument in node.args)
    return False
