"""DST604: a division by a norm that may be 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects import objects_of
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._tensors import applied, same
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.gradients._tensors import Applied
    from distlint.source.document import Document
_HALF = frozenset({"half", "float16"})
_NORMS = ("norm", "std", "vector_norm")
_RANDOM = frozenset(f"torch.{name}" for name in ("rand", "randn", "rand_like", "randn_like"))
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
    - What is divided is random, or the function tests a norm against 0.
    - The file is a test.

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
        Example(
            title="A norm that is no 0 there",
            ranks=1,
            code="""\
import torch

probe = torch.randn(2, 4)
probe = probe / probe.norm(dim=-1, keepdim=True)


def largest(matrix):
    size = matrix.norm()
    if size == 0:
        return size
    column = matrix[:, 0] + matrix.sum()
    return (matrix @ (column / torch.linalg.vector_norm(column))).norm()


assert torch.isfinite(probe).all() and largest(torch.zeros(2, 2)) == 0
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
import torch.distributed as dist

dist.init_process_group("gloo")

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
import torch.distributed as dist

dist.init_process_group("gloo")


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
        if module.tokens.isdisjoint(_NORMS) or document.is_test:
            return
        objects = objects_of(module, catalogue)
        for point in objects.points:
            for node in nodes_of(point.statement):
                norm = _divisor(objects, node, point)
                if norm is None or _is_random(objects, norm.operand, point):
                    continue
                if _is_tested(objects, point):
                    continue
                spread = norm.name == "std"
                yield self.finding(
                    message="this divides by a deviation that is 0 where all values are the same"
                    if spread
                    else "this divides by a norm that is 0 for a row of zeros",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(point.statement.site),
                    effect="NaN, and with it the gradients of all ranks",
                    advice="Add 1e-6." if spread else "Add 1e-6, or use F.normalize in float32.",
                )


def _is_random(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is a tensor drawn at random, so that it is not 0?"""
    sites = [origin.site for origin in objects.origins(node, point)]
    return bool(sites) and all(s is not None and objects.called(s) in _RANDOM for s in sites)


def _is_tested(objects: Objects, point: Point) -> bool:
    """Does the function ask whether a norm is 0, and do something else then?"""
    points = objects.points_in(point.scope)
    norms = {
        ir.last_name(target)
        for each in points
        if isinstance(each.statement, ir.Assign)
        and applied(objects, each.statement.value, each, *_NORMS) is not None
        for target in each.statement.targets
    }
    return any(
        isinstance(test, ir.Compare)
        and isinstance(test.rights[0], ir.Literal)
        and test.rights[0].value == 0
        and (
            ir.last_name(test.left) in norms
            or applied(objects, test.left, each, *_NORMS) is not None
        )
        for each in points
        if isinstance(each.statement, ir.If)
        for test in expressions_in(each.statement.test)
    )


def _divisor(objects: Objects, node: object, point: Point) -> Applied | None:
    """The norm by which a tensor is divided that it is the norm of."""
    if not isinstance(node, ir.Binary) or node.op != "/":
        return None
    divisor = node.right
    if isinstance(divisor, ir.Binary) and divisor.op == "+":
        added = divisor.right.value if isinstance(divisor.right, ir.Literal) else None
        function = point.scope.function
        half = function is not None and not _HALF.isdisjoint(function.tokens)
        if not (isinstance(added, float) and 0 < added < _LEAST and half):
            return None
        divisor = divisor.left
    norm = applied(objects, divisor, point, *_NORMS)
    if norm is None:
        return None
    left = node.left
    if isinstance(left, ir.Binary) and left.op == "-" and not same(norm.operand, left):
        left = left.left
    return norm if same(norm.operand, left) else None
