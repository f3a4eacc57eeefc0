"""DST603: the likelihood of a softmax by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._tensors import applied, logarithms
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class ManualNll(SourceRule):
    """`log` is applied to probabilities that are selected from a softmax.

    ```python
    probs = F.softmax(logits, dim=-1)
    loss = -torch.log(probs[rows, targets]).mean()  # bad: log(0) is -inf
    ```

    ## Use instead

    ```python
    loss = F.cross_entropy(logits, targets)
    ```

    For the log-probabilities alone, use `F.log_softmax(logits, dim=-1).gather(...)`.

    ## Why is this bad?

    A probability below 1e-38 is 0 in float32, below 6e-8 in float16. Its logarithm is minus
    infinity and the gradient NaN, for exactly the samples from which there is most to learn. And
    `probs[targets]` selects rows, not classes.

    ## What is reported

    `torch.log(probs[rows, targets])` and `torch.log(probs.gather(1, targets))`, where `probs` is
    the result of a softmax.

    ## What is not reported

    - A number is added, or the probabilities are clamped, before the logarithm.
    - The selected values were drawn from these probabilities, so they are not 0.
    - The probabilities do not come from a softmax in the same file.
    - The file is a test (`test_*.py`).

    ## Fix safety

    None: the logits have to be available, and what is selected determines what the loss means.

    ## References

    - [PyTorch: cross_entropy](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html)
    """

    code = "DST603"
    name = "manual-nll"
    severity = Severity.WARNING

    good = (
        Example(
            title="cross_entropy",
            ranks=1,
            code="""\
import torch
import torch.nn.functional as F

logits = torch.tensor([[0.0, 200.0]], requires_grad=True)
F.cross_entropy(logits, torch.tensor([0])).backward()
assert torch.isfinite(logits.grad).all()
probs = F.softmax(logits, dim=-1)
safe = torch.log(probs.clamp(min=1e-6)[0, 0])
""",
        ),
    )

    bad = (
        Example(
            title="Selected by index",
            effect="fail",
            ranks=1,
            code="""\
import torch
import torch.nn.functional as F

logits = torch.tensor([[0.0, 200.0]], requires_grad=True)
probs = F.softmax(logits, dim=-1)
loss = -torch.log(probs[torch.arange(1), torch.tensor([0])]).mean()  # expect: DST603
loss.backward()
assert torch.isfinite(logits.grad).all(), logits.grad
""",
        ),
        Example(
            title="Selected with gather",
            effect="fail",
            ranks=1,
            code="""\
import torch

logits = torch.tensor([[0.0, 200.0]], requires_grad=True)
probs = torch.softmax(logits, dim=-1)
loss = -probs.gather(1, torch.tensor([[0]])).log().mean()  # expect: DST603
loss.backward()
assert torch.isfinite(logits.grad).all(), logits.grad
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        locator = locators.of(module.key)
        for log, point, objects in logarithms(document, module, catalogue):
            softmax = _picked_from(objects, log.operand, point)
            if softmax is not None:
                yield self.finding(
                    message="`log` of a softmax probability that may be 0",
                    severity=Severity.WARNING,
                    place=locator.place(log.call.site),
                    related=(
                        Related(
                            "softmax is computed here",
                            locators.of(softmax.point.scope.module.key).place(softmax.call.site),
                        ),
                    ),
                    effect="the loss becomes infinite, and the gradients NaN",
                    help="Use `F.cross_entropy`, or gather from `F.log_softmax`",
                )


def _picked_from(objects: Objects, node: ir.Expr, point: Point) -> CallSite | None:
    """The softmax whose result an expression picks values out of."""
    picked = False
    while True:
        if isinstance(node, ir.Subscript) and not _is_item_of_dict(node):
            if _is_drawn(objects, node, point):
                return None
            node, picked = node.value, True
            continue
        step = applied(objects, node, point, "gather", "squeeze", "view", "take_along_dim")
        if step is None:
            break
        node, picked = step.operand, picked or step.name in ("gather", "take_along_dim")
    if not picked or (path_of(node) is None and not isinstance(node, ir.Subscript)):
        return None
    found = objects.origins(node, point)
    if len(found) != 1 or found[0].attributes or found[0].item is not None:
        return None
    made = applied(objects, found[0].node, found[0].point, "softmax")
    return CallSite(made.call, found[0].point) if made is not None else None


def _is_item_of_dict(node: ir.Subscript) -> bool:
    return isinstance(node.index, ir.Literal) and isinstance(node.index.value, str)


def _is_drawn(objects: Objects, picked: ir.Subscript, point: Point) -> bool:
    """Are the values picked that ``torch.multinomial`` has drawn by the same probabilities?"""
    own = ir.tokens_of(picked.value)
    return any(
        isinstance(origin.node, ir.Expr)
        and "multinomial" in (tokens := ir.tokens_of(origin.node))
        and not own.isdisjoint(tokens)
        for name in expressions_in(picked.index)
        if isinstance(name, ir.Name)
        for origin in objects.origins(name, point)
    )
