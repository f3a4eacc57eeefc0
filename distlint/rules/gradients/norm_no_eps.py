"""DST604: a division by a norm that may be 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._tensors import applied, same
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.gradients._tensors import Applied
    from distlint.source.document import Document
_HALF = frozenset({"half", "float16"})
_NORMS = ("norm", "std", "vector_norm")
_RANDOM = frozenset(f"torch.{name}" for name in ("rand", "randn", "rand_like", "randn_like"))
_LEAST = 6e-8
"""What is smaller is 0 in float16."""


class NormNoEps(SourceRule):
    """A tensor is divided by its norm or standard deviation, which may be 0.

    ```python
    features = encoder(images)
    features = features / features.norm(dim=-1, keepdim=True)  # bad: 0 / 0 for zero rows
    ```

    ## Use instead

    ```python
    features = encoder(images)
    features = F.normalize(features.float(), dim=-1)
    ```

    Or add a small number to the divisor: `features.norm(dim=-1, keepdim=True) + 1e-6`.

    ## Why is this bad?

    The norm of a row of zeros, such as padding or a dead unit, is 0, and so is the standard
    deviation of equal values: `0 / 0` is NaN, and so is the gradient. The usual remedy `+ 1e-8`
    does not help in float16, where that number is 0. Neither does `F.normalize` in float16, with
    its default `eps` of 1e-12.

    ## What is reported

    `x / x.norm(...)`, `(x - x.mean()) / x.std()` and similar expressions with nothing added to the
    divisor, or with less than 6e-8 in a function that also uses float16. This rule is in preview:
    most findings are about outputs of networks, in which a row of zeros is unlikely.

    ## What is not reported

    - Something is added to the divisor, or it is clamped.
    - The divisor is not the norm or standard deviation of the tensor that is divided.
    - The tensor is random, or the function compares a norm with 0.
    - The file is a test.

    ## Fix safety

    None: how large the number may be depends on the values.

    ## References

    - [PyTorch: normalize](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html)
    """

    code = "DST604"
    name = "norm-no-eps"
    severity = Severity.WARNING
    preview = True

    good = (
        Example(
            title="A small number is added",
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
            title="A norm that cannot be 0",
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
            title="A small number that is 0 in float16",
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
        objects = objects_across(module, catalogue)
        for point in objects.points:
            for node in nodes_of(point.statement):
                norm = _divisor(objects, node, point)
                if norm is None or _is_random(objects, norm.operand, point):
                    continue
                if _is_tested(objects, point):
                    continue
                spread = norm.name == "std"
                yield self.finding(
                    message="tensor is divided by its standard deviation, which may be 0"
                    if spread
                    else "tensor is divided by its norm, which may be 0",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(point.statement.site),
                    effect="the result is NaN, and then the gradients of all ranks",
                    help="Add `1e-6`" if spread else "Add `1e-6`, or use `F.normalize` in float32",
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
