"""DST604: a division by a norm that may be 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.bindings import Point
from distlint.analyzer.names import nodes_of
from distlint.analyzer.objects import objects_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._tensors import applied, same
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.objects import Objects
    from distlint.analyzer.positions import Locators
    from distlint.analyzer.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_HALF = frozenset({"half", "float16"})
_LEAST = 6e-8
"""What is smaller is 0 in float16."""


class NormNoEps(SourceRule):
    """A tensor is divided by its own norm or deviation, which may be 0.

    ## What it finds

    `x / x.norm(...)`, `(x - x.mean()) / x.std()` and the like with nothing added to the divisor,
    or, in a function that also works in float16, with less than 6e-8 added.

    ## Why it matters

    A row of zeros, such as padding or a dead unit, has norm 0: `0 / 0` is NaN, and so is the
    gradient. The usual cure `+ 1e-8` does not hold in float16, where that number is 0; neither does
    `F.normalize`, whose default is 1e-12.

    ## What to do

    `F.normalize(x.float(), dim=-1)`, or `+ 1e-6`.

    ## Fix

    None: how large the number may be depends on the values.

    ## When it is silent

    - Something is added to the divisor, or it is clamped.
    - The divisor is not the norm or deviation of what is divided.

    In preview: the 40 findings in 58 repositories divide by a norm that nothing keeps from 0,
    and in none of them is a row of zeros known to occur: features of networks, mostly.
    """

    code = "DST604"
    name = "norm-no-eps"
    severity = Severity.WARNING
    preview = True

    good = (
        Example(
            title="Something is added",
            ranks=1,
            code="""\
import torch

x = torch.zeros(2, 4)
unit = x / (x.norm(dim=-1, keepdim=True) + 1e-6)
other = x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)
assert torch.isfinite(unit).all() and torch.isfinite(other).all()
""",
        ),
    )

    bad = (
        Example(
            title="A row of zeros",
            effect="fail",
            ranks=1,
            code="""\
import torch

x = torch.zeros(2, 4)
unit = x / x.norm(dim=-1, keepdim=True)  # expect: DST604
assert torch.isfinite(unit).all(), unit
""",
        ),
        Example(
            title="A small number that is none in float16",
            effect="fail",
            ranks=1,
            code="""\
import torch


def unit(x):
    x = x.half()
    return x / (x.norm(dim=-1, keepdim=True) + 1e-8)  # expect: DST604


assert torch.isfinite(unit(torch.zeros(2, 4))).all()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if module.tokens.isdisjoint(("norm", "std", "vector_norm")):
            return
        objects = objects_of(module, catalogue)
        for point in objects.points:
            for node in nodes_of(point.statement):
                if (
                    isinstance(node, ir.Binary)
                    and node.op == "/"
                    and _may_be_0(objects, node, point)
                ):
                    yield self.finding(
                        message="this divides by a norm that is 0 for a row of zeros",
                        severity=Severity.WARNING,
                        place=locators.of(module.key).place(point.statement.site),
                        effect="NaN, and with it the gradients of all ranks",
                        advice="Add 1e-6, or use F.normalize in float32.",
                    )


def _may_be_0(objects: Objects, node: object, point: Point) -> bool:
    if not isinstance(node, ir.Binary) or node.op != "/":
        return False
    divisor = node.right
    if isinstance(divisor, ir.Binary) and divisor.op == "+":
        added = divisor.right.value if isinstance(divisor.right, ir.Literal) else None
        function = point.scope.function
        half = function is not None and not _HALF.isdisjoint(function.tokens)
        if not (isinstance(added, float) and 0 < added < _LEAST and half):
            return False
        divisor = divisor.left
    norm = applied(objects, divisor, point, "norm", "std", "vector_norm")
    if norm is None:
        return False
    if same(norm.operand, node.left):
        return True
    return (
        isinstance(node.left, ir.Binary)
        and node.left.op == "-"
        and same(norm.operand, node.left.left)
    )
