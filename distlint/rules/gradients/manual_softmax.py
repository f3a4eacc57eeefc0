"""DST601: a softmax by hand, which overflows."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.following import ends
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import Origin
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._tensors import Applied, applied, same
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_PRODUCTS = frozenset({"mm", "matmul", "bmm", "einsum", "cosine_similarity"})
_TO_UNIT = re.compile(r"^normalize$|[lL]2_?[nN]orm|cosine_similarity")
_SHIFTS = frozenset({"max", "amax", "logsumexp", "cummax", "clamp", "maximum"})


class ManualSoftmax(SourceRule):
    """A softmax is computed by hand, without subtracting the maximum first.

    ```python
    scores = queries @ keys.transpose(-2, -1)
    weights = torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)  # bad: overflows
    ```

    ## Use instead

    ```python
    scores = queries @ keys.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1)
    ```

    `torch.softmax` subtracts the maximum before it computes `exp`.

    ## Why is this bad?

    `exp` overflows above 88 in float32 and above 11 in float16. The quotient is then `inf / inf`,
    which is NaN, and after one such batch all weights are NaN on all ranks.

    ## What is reported

    `torch.exp(x) / torch.exp(x).sum(...)`, also if the exponentials are assigned to a variable
    first.

    ## What is not reported

    - Something is subtracted from the operand, such as its maximum or logsumexp, or the operand is
      negated, as in a Gaussian.
    - The exponentials and the sum are of different values, as in a masked or weighted softmax.
    - `exp` is not torch's.
    - The operand is a product of features, scaled by a temperature, in a file that normalizes
      features to unit length: cosine similarities do not overflow.

    ## Fix safety

    Unsafe: `torch.softmax(x, dim=...)` replaces the quotient, if it is a single expression and the
    sum is given its dimension. The last digits can differ.

    ## References

    - [PyTorch: softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html)
    """

    code = "DST601"
    name = "manual-softmax"
    severity = Severity.WARNING

    good = (
        Example(
            title="torch.softmax, and a softmax that subtracts the maximum",
            ranks=1,
            code="""\
import torch

x = torch.tensor([[0.0, 200.0]])
first = torch.softmax(x, dim=-1)
shifted = x - x.max(dim=-1, keepdim=True).values
second = torch.exp(shifted) / torch.exp(shifted).sum(dim=-1, keepdim=True)
assert torch.equal(first, second)
""",
        ),
        Example(
            title="A sum over other values",
            ranks=1,
            code="""\
import torch

similarity, mask = torch.rand(4, 4), torch.ones(4, 4)
kernel = torch.exp(-0.5 * torch.linspace(-50, 50, 9) ** 2)
kernel = kernel / kernel.sum()
weights = torch.exp(similarity) / (torch.exp(similarity) * mask).sum(dim=-1, keepdim=True)
assert torch.isfinite(weights).all()
""",
        ),
    )

    bad = (
        Example(
            title="In one expression",
            effect="fail",
            ranks=1,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")

x = torch.tensor([[0.0, 200.0]])
weights = torch.exp(x) / torch.exp(x).sum(dim=-1, keepdim=True)  # expect: DST601
assert torch.isfinite(weights).all(), weights
""",
        ),
        Example(
            title="Exponentials in a variable",
            effect="fail",
            ranks=1,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")


def attention(scores):
    e = scores.exp()
    return e / torch.sum(e, dim=-1, keepdim=True)  # expect: DST601


weights = attention(torch.tensor([[0.0, 200.0]]))
assert torch.isfinite(weights).all(), weights
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "exp" not in module.tokens or "sum" not in module.tokens:
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for point in objects.points:
            for node in nodes_of(point.statement):
                found = _softmax(objects, node, point)
                if found is not None:
                    total, exponential = found
                    yield self.finding(
                        message="softmax computed by hand overflows",
                        severity=Severity.WARNING,
                        place=locator.place(point.statement.site),
                        effect="values above 88 (11 in float16) give NaN",
                        help="Use `torch.softmax`",
                        fix=partial(
                            _fix, node, total, exponential, Draft(locator, module, catalogue)
                        ),
                    )


def _softmax(objects: Objects, node: object, point: Point) -> tuple[Applied, Applied] | None:
    """The sum and the exponentials of a quotient that is a softmax."""
    if not isinstance(node, ir.Binary) or node.op != "/":
        return None
    total = applied(objects, node.right, point, "sum")
    if total is None or not same(total.operand, node.left):
        return None
    made = node.left
    if isinstance(made, ir.Name):
        found = objects.origins(made, point)
        if len(found) != 1 or not isinstance(found[0].node, ir.Call) or found[0].attributes:
            return None
        made, point = found[0].node, found[0].point
    exponential = applied(objects, made, point, "exp")
    if exponential is None or not _is_tensor(objects, exponential, total, point):
        return None
    if _is_shifted(objects, exponential.operand, point) or _is_cosine(objects, exponential.operand):
        return None
    return total, exponential


def _is_tensor(objects: Objects, exponential: Applied, total: Applied, point: Point) -> bool:
    """Is one of the two written with torch's own function?"""
    return not exponential.method or not total.method or "torch" in objects.module.imported_roots


def _is_shifted(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """May something have been taken off the values, so that they are small?"""

    def named(origin: Origin) -> tuple[Origin, ...] | None:
        if not isinstance(origin.node, (ir.Name, ir.Attribute)):
            return None
        return objects.origins(origin.node, origin.point)

    return any(
        isinstance(origin.node, ir.Expr) and _is_small(origin.node)
        for origin in ends([Origin(node, point)], named)
    )


def _is_small(node: ir.Expr) -> bool:
    if isinstance(node, ir.Binary) and node.op == "-":
        return True
    if _is_negative(node):
        return True  # of distances: nothing overflows
    return not _SHIFTS.isdisjoint(ir.tokens_of(node))


def _is_cosine(objects: Objects, node: ir.Expr) -> bool:
    """Is it a product of features by a temperature, in a file that scales them to unit length?"""
    while isinstance(node, ir.Binary) and node.op in ("*", "/"):
        node = node.left
    is_product = (isinstance(node, ir.Binary) and node.op == "@") or (
        isinstance(node, ir.Call) and ir.last_name(node.func) in _PRODUCTS
    )
    return is_product and any(map(_TO_UNIT.search, objects.module.words))


def _is_negative(node: ir.Expr) -> bool:
    """Is it a product with a minus in front, as in the density of a Gaussian?"""
    if isinstance(node, ir.Unary):
        return node.op == "-"
    if isinstance(node, ir.Literal):
        return isinstance(node.value, (int, float)) and node.value < 0
    return (
        isinstance(node, ir.Binary)
        and node.op in ("*", "/")
        and (_is_negative(node.left) or _is_negative(node.right))
    )


def _fix(node: object, total: Applied, exponential: Applied, draft: Draft) -> Fix:
    assert isinstance(node, ir.Binary)
    if not isinstance(node.left, ir.Call):
        raise CannotFix("the exponentials have a name")
    dims = [a for a in total.rest if a.keyword in ("dim", "axis")]
    if len(dims) != 1:
        raise CannotFix("over which dimension")
    inner = draft.node(node.left.site, cst.Call)
    quotient = draft.around(inner, cst.BinaryOperation)
    outer = draft.node(total.call.site, cst.Call)
    if quotient is None or quotient.left is not inner or quotient.right is not outer:
        raise CannotFix("not as it reads")
    dim = next(
        a for a in outer.args if a.keyword is not None and a.keyword.value in ("dim", "axis")
    )
    if exponential.method:
        func = inner.func
        assert isinstance(func, cst.Attribute)
        text = f"{draft.text(func.value)}.softmax(dim={draft.text(dim.value)})"
    else:
        func = inner.func
        if not isinstance(func, cst.Attribute):
            raise CannotFix("softmax would have to be imported")
        value = draft.text(inner.args[0].value)
        text = f"{draft.text(func.value)}.softmax({value}, dim={draft.text(dim.value)})"
    draft.replace(quotient, text)
    return draft.fix("unsafe", "Use `softmax`")
