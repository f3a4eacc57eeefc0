"""DST602: the logarithm of a softmax."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._tensors import Applied, applied, logarithms
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class LogOfSoftmax(SourceRule):
    """`log` is applied to the result of a softmax.

    ```python
    log_probs = torch.log(F.softmax(logits, dim=-1))  # bad: log(0) is -inf
    loss = F.nll_loss(log_probs, target)
    ```

    ## Use instead

    ```python
    log_probs = F.log_softmax(logits, dim=-1)
    loss = F.nll_loss(log_probs, target)
    ```

    `F.cross_entropy(logits, target)` computes both in one call.

    ## Why is this bad?

    A probability below 1e-38 is 0 in float32, below 6e-8 in float16. Its logarithm is minus
    infinity, the loss is infinite and the gradients are NaN. A small number added inside the
    logarithm hides this and cuts off the gradient; in float16, `1e-8` is itself 0.

    ## What is reported

    `torch.log(F.softmax(x, dim=-1))` and `x.softmax(-1).log()`, also with a small number added
    inside.

    ## What is not reported

    - Probabilities that are assigned to a variable first: they may be used elsewhere as well.
    - A `softmax` that is defined in the project.
    - The file is a test (`test_*.py`).

    ## Fix safety

    Safe: `log_softmax` replaces both calls. Not offered for a layer, whose dimension is not visible
    in the call.

    Unsafe: the same where a number is added inside, because the result changes.

    ## References

    - [PyTorch: log_softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html)
    """

    code = "DST602"
    name = "log-of-softmax"
    severity = Severity.WARNING
    words = ("log(torch.softmax", "log(F.softmax")

    good = (
        Example(
            title="log_softmax",
            ranks=1,
            code="""\
import torch
import torch.nn.functional as F

logits = torch.tensor([[0.0, 200.0]], requires_grad=True)
F.nll_loss(F.log_softmax(logits, dim=-1), torch.tensor([0])).backward()
assert torch.isfinite(logits.grad).all()
entropy = -(F.softmax(logits, dim=-1) * F.log_softmax(logits, dim=-1)).sum()
""",
        ),
    )

    bad = (
        Example(
            title="Nested functions",
            effect="fail",
            ranks=1,
            code="""\
import torch
import torch.nn.functional as F

logits = torch.tensor([[0.0, 200.0]], requires_grad=True)
log_probs = torch.log(F.softmax(logits, dim=-1))  # expect: DST602
F.nll_loss(log_probs, torch.tensor([0])).backward()
assert torch.isfinite(logits.grad).all(), logits.grad
""",
        ),
        Example(
            title="A softmax layer",
            effect="fail",
            ranks=1,
            code="""\
import torch


class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = torch.nn.Softmax(dim=1)

    def forward(self, logits):
        return -torch.log(self.softmax(logits))[0, 0]  # expect: DST602


logits = torch.tensor([[0.0, 200.0]], requires_grad=True)
Loss()(logits).backward()
assert torch.isfinite(logits.grad).all(), logits.grad
""",
        ),
        Example(
            title="Tensor methods",
            effect="fail",
            ranks=1,
            code="""\
import torch

logits = torch.tensor([[0.0, 200.0]], requires_grad=True)
loss = -logits.softmax(-1).log()[0, 0]  # expect: DST602
loss.backward()
assert torch.isfinite(logits.grad).all(), logits.grad
""",
        ),
        Example(
            title="A small number that is 0 in float16",
            effect="fail",
            ranks=1,
            code="""\
import torch

logits = torch.tensor([[0.0, 200.0]]).half()
log_probs = torch.log(torch.softmax(logits, dim=-1) + 1e-8)  # expect: DST602
assert torch.isfinite(log_probs).all(), log_probs
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        locator = locators.of(module.key)
        for log, point, objects in logarithms(document, module, catalogue):
            inner, added = _without_number(log.operand)
            softmax = applied(objects, inner, point, "softmax")
            if softmax is not None and not _is_own(objects, softmax, point):
                yield self.finding(
                    message="`log` of a softmax is infinite for small probabilities",
                    severity=Severity.WARNING,
                    place=locator.place(log.call.site),
                    effect="the loss becomes infinite, and the gradients NaN",
                    help="Use `log_softmax`",
                    fix=partial(_fix, log, softmax, added, Draft(locator, module, catalogue)),
                )


def _without_number(node: ir.Expr) -> tuple[ir.Expr, bool]:
    """What stands beside a small number that is added."""
    if isinstance(node, ir.Binary) and node.op == "+":
        if isinstance(node.right, (ir.Literal, ir.Name, ir.Attribute)):
            return node.left, True
        if isinstance(node.left, (ir.Literal, ir.Name, ir.Attribute)):
            return node.right, True
    return node, False


def _is_own(objects: Objects, softmax: Applied, point: Point) -> bool:
    """Is it a method of the file's own, which may do something else?"""
    return isinstance(objects.callee(CallSite(softmax.call, point)), ir.Function)


def _gives_dim(softmax: Applied) -> bool:
    """Is a tensor's method called with a dimension, and not a layer with a tensor?"""
    first = softmax.rest[0] if softmax.rest else None
    if first is None or first.keyword is not None:
        return first is not None and first.keyword == "dim"
    value = first.value.value if isinstance(first.value, ir.Unary) else first.value
    return isinstance(value, ir.Literal)


def _fix(log: Applied, softmax: Applied, added: bool, draft: Draft) -> Fix:
    outer, inner = draft.node(log.call.site, cst.Call), draft.node(softmax.call.site, cst.Call)
    func = inner.func
    if not isinstance(func, cst.Attribute):
        raise CannotFix("log_softmax would have to be imported")
    if softmax.method and not _gives_dim(softmax):
        raise CannotFix("it is a layer, and log_softmax needs its dimension")
    if draft.comments_in(*draft.bounds(outer)):
        raise CannotFix("a comment would be lost")
    text = draft.text(inner)
    start = draft.bounds(func.attr)[0] - draft.bounds(inner)[0]
    draft.replace(outer, f"{text[:start]}log_{text[start:]}")
    return draft.fix("unsafe" if added else "safe", "Use `log_softmax`")
