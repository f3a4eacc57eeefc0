"""DST621: a mean loss is multiplied by the world size, although DDP averages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._steps import backwards
from distlint.rules.training import DDP
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.gradients._steps import Backward
    from distlint.source.document import Document

_WORLD = re.compile(r"^(?:get_)?world_?size$|^num_replicas$|^num_processes$", re.IGNORECASE)
_ACCUMULATION = re.compile(r"accum|grad_acc|micro", re.IGNORECASE)
_MEETS = re.compile(r"reduce|gather|register_comm_hook|scatter|broadcast")
_LOSSES = (
    "cross_entropy", "mse_loss", "nll_loss", "l1_loss", "smooth_l1_loss", "kl_div", "huber_loss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits",
)  # fmt: skip
_CLASSES = (
    "CrossEntropyLoss", "MSELoss", "NLLLoss", "L1Loss", "SmoothL1Loss", "BCELoss",
    "BCEWithLogitsLoss", "HuberLoss",
)  # fmt: skip
_FUNCTIONS = frozenset(f"torch.nn.functional.{name}" for name in _LOSSES)
_CRITERIA = frozenset(f"torch.nn.{name}" for name in _CLASSES)


class LossTimesWorldSize(SourceRule):
    """A mean loss is multiplied by the world size, although DDP averages gradients.

    ```python
    model = DDP(net)
    loss = F.cross_entropy(model(batch), target)
    loss = loss * dist.get_world_size()  # bad: gradients grow with the number of GPUs
    loss.backward()
    ```

    ## Use instead

    ```python
    model = DDP(net)
    loss = F.cross_entropy(model(batch), target)
    loss.backward()
    ```

    The factor is correct for a loss that is a sum, divided by a count over all ranks.

    ## Why is this bad?

    DDP averages the gradients over the ranks. For mean losses over batches of equal size, the
    result is the gradient of the global batch. Multiplied by the world size, it grows with the
    number of GPUs: a run on eight GPUs has eight times the gradients of a run on one, as if the
    learning rate were too high.

    ## What is reported

    `loss * world_size` before `backward()`, also in one expression with the loss or the backward
    pass and divided by the number of accumulated batches, in a file that wraps its model in
    `DistributedDataParallel`, if the loss is one of torch's with its default mean reduction, and
    nothing in the file is reduced or gathered.

    ## What is not reported

    - Losses that are not clearly a mean computed by torch in the same function: `reduction="sum"`,
      or a function of the project.
    - Files that reduce, gather or broadcast anything, such as token counts or embeddings of other
      ranks.

    ## Fix safety

    None: the learning rate may have been chosen with the factor.

    ## References

    - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "DST621"
    name = "loss-times-world-size"
    severity = Severity.WARNING

    good = (
        Example(
            title="A sum divided by the token count of all ranks",
            code="""\
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 3))
count = torch.tensor(4.0)
dist.all_reduce(count)
logits = model(torch.ones(4, 2))
loss = F.cross_entropy(logits, torch.zeros(4, dtype=torch.long), reduction="sum") / count
loss = loss * dist.get_world_size()
loss.backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A sum over the local batch",
            code="""\
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
loss = F.mse_loss(model(torch.ones(4, 2)), torch.zeros(4, 1), reduction="sum")
loss = loss * dist.get_world_size()
loss.backward()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Twice the gradient on two ranks",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1, bias=False))
criterion = torch.nn.MSELoss()
inputs, wanted = torch.ones(4, 2), torch.zeros(4, 1)
criterion(model.module(inputs), wanted).backward()
alone = model.module.weight.grad.clone()
model.zero_grad()
loss = criterion(model(inputs), wanted)
loss *= dist.get_world_size()  # expect: DST621
loss.backward()
assert torch.allclose(model.module.weight.grad, alone), "the gradient grew with the ranks"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "backward" not in module.tokens or not any(map(_WORLD.search, module.tokens)):
            return
        if {"DistributedDataParallel", "DDP"}.isdisjoint(module.words):
            return
        if any(map(_MEETS.search, module.tokens)):
            return
        objects = objects_across(module, catalogue)
        if next(objects.calls_to(*DDP), None) is None:
            return
        locator = locators.of(module.key)
        for backward in backwards(objects):
            for factor in _factors(objects, backward):
                yield self.finding(
                    message="mean loss is multiplied by the world size",
                    severity=Severity.WARNING,
                    place=locator.place(factor.site),
                    related=(Related("backward pass", locator.place(backward.site.call.site)),),
                    effect="the gradients grow with the number of ranks",
                    help="Remove the factor: DDP averages the gradients",
                )


def _factors(objects: Objects, backward: Backward) -> Iterator[ir.Stmt]:
    """The statements up to a backward pass that multiply its mean loss by the world size."""
    last = _product(backward.loss)
    loss = path_of(last.value) if last is not None else None
    means, end = False, backward.site.point
    points = objects.points_in(end.scope) if loss is not None else ()
    for point in sorted(points, key=lambda each: each.statement.site):
        statement = point.statement
        if statement.site >= end.statement.site:
            break
        if isinstance(statement, ir.Assign) and any(path_of(t) == loss for t in statement.targets):
            made = _product(statement.value)
            means = made is not None and (
                (means and path_of(made.value) == loss) or _is_mean(objects, made.value, point)
            )
            if means and made is not None and made.by_world:
                yield statement
        elif isinstance(statement, ir.AugAssign) and path_of(statement.target) == loss:
            if means and statement.op.startswith("*") and _is_world(statement.value):
                yield statement
            elif not (statement.op.startswith("/") and _is_accumulation(statement.value)):
                means = False
    if last is not None and last.by_world and (means or _is_mean(objects, last.value, end)):
        yield end.statement


class _Product(NamedTuple):
    """A value, and whether it is multiplied by the world size."""

    value: ir.Expr
    by_world: bool


def _product(node: ir.Expr) -> _Product | None:
    """The one value that is scaled by numbers, by the world size or for accumulation."""
    above, below = _split(node)
    world = [each for each in above if _is_world(each)]
    values = [each for each in above if not _is_world(each) and not isinstance(each, ir.Literal)]
    if len(values) != 1 or len(world) > 1 or not all(map(_is_accumulation, below)):
        return None
    return _Product(values[0], bool(world))


def _split(node: ir.Expr) -> tuple[list[ir.Expr], list[ir.Expr]]:
    """The factors of a product, and what it is divided by."""
    if isinstance(node, ir.Binary) and node.op in ("*", "/"):
        (left, under), (right, other) = _split(node.left), _split(node.right)
        if node.op == "*":
            return left + right, under + other
        return left + other, under + right
    return [node], []


def _is_accumulation(node: ir.Expr) -> bool:
    """Is it a number, or that of the batches of which a step accumulates gradients?"""
    return isinstance(node, ir.Literal) or bool(_ACCUMULATION.search(ir.last_name(node)))


def _is_mean(objects: Objects, value: ir.Expr, point: Point) -> bool:
    """Is it a loss of torch's, which is a mean unless it is told otherwise?"""
    if not isinstance(value, ir.Call):
        return False
    site = CallSite(value, point)
    if objects.called(site) in _FUNCTIONS:
        return objects.argument(site, "reduction").absent
    made = [origin.site for origin in objects.origins(value.func, point)]
    return bool(made) and all(
        each is not None
        and objects.called(each) in _CRITERIA
        and objects.argument(each, "reduction").absent
        for each in made
    )


def _is_world(node: ir.Expr) -> bool:
    """Is it the world size, by its name?"""
    called = node.func if isinstance(node, ir.Call) else node
    return isinstance(called, (ir.Name, ir.Attribute)) and bool(_WORLD.search(ir.last_name(called)))
