"""DST605: gradients in float16 without a scaler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects import objects_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._autocast import autocasts
from distlint.rules.gradients._steps import backwards
from distlint.rules.training import leaves_no_gradient
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_SCALES = re.compile(
    r"scaler|loss_?scal|scale_loss|grad_scale|amp_scale|accelerat|deepspeed|fabric|lightning|apex|"
    r"^scale$|unscale|optimizer_wrapper|OptimWrapper|manual_backward",
    re.IGNORECASE,
)
_BEHIND_FORWARD = frozenset({"backward", "step", "zero_grad"})


class Fp16NoScaler(SourceRule):
    """The forward runs in float16, and the loss is not scaled before the backward.

    ## What it finds

    `autocast` in `float16`, which is its default on CUDA, in a function that also calls
    `backward()`, in a file without a `GradScaler` or anything else that scales a loss.

    ## Why it matters

    The gradients of float16 layers are float16 as well. What is smaller than 6e-8 becomes 0:
    layers with small gradients stop learning, without any message.

    ## What to do

    `dtype=torch.bfloat16`, which has the range of float32, or
    `scaler = torch.amp.GradScaler("cuda")` with `scaler.scale(loss).backward()`,
    `scaler.step(optimizer)` and `scaler.update()`.

    ## Fix

    None: a scaler takes part in four places of the step, and bfloat16 needs the hardware.

    ## When it is silent

    - The file mentions a scaler, Accelerate, DeepSpeed, Lightning or apex.
    - The type is not known, or `enabled=` is given.
    - The backward pass is that of an optimizer, or the file is a test.
    - There is no backward pass in the function: inference.
    - Nothing in the file takes a step: the gradients are only measured, or used elsewhere.
    - The region holds the backward pass and the step alone; that of the forward is reported.
    - The region is under `no_grad`, or all of it is: frozen features.
    """

    code = "DST605"
    name = "fp16-no-scaler"
    severity = Severity.WARNING
    words = ("autocast(",)

    good = (
        Example(
            title="bfloat16",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(4, 1)
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = model(torch.ones(2, 4)).sum() * 1e-9
loss.backward()
assert model.weight.grad.abs().sum() > 0
""",
        ),
        Example(
            title="Scaled",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
with torch.autocast("cpu", dtype=torch.float16):
    loss = model(torch.ones(2, 4)).sum() * 1e-5
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
""",
        ),
        Example(
            title="Inference",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(4, 1)


def predict(x):
    with torch.autocast("cpu", dtype=torch.float16), torch.no_grad():
        return model(x)


predict(torch.ones(2, 4))
""",
        ),
        Example(
            title="What a pass needs in memory",
            ranks=1,
            code="""\
import tracemalloc

import torch


def peak(model, x):
    tracemalloc.start()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = model(x).sum()
    loss.backward()
    return tracemalloc.get_traced_memory()[1]


print(peak(torch.nn.Linear(4, 1), torch.ones(2, 4)))
""",
        ),
        Example(
            title="Frozen features",
            ranks=1,
            code="""\
import torch

backbone = torch.nn.Linear(4, 4)
head = torch.nn.Linear(4, 1)
x = torch.ones(2, 4)
with torch.no_grad():
    with torch.autocast("cpu", dtype=torch.float16):
        features = backbone(x).float()
with torch.autocast("cpu", dtype=torch.float16), torch.no_grad():
    features += backbone(x).float()
loss = head(features).sum() * 1e-9
loss.backward()
assert head.weight.grad.abs().sum() > 0
""",
        ),
    )

    bad = (
        Example(
            title="Small gradients are gone",
            effect="fail",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e6)
with torch.autocast("cpu", dtype=torch.float16):  # expect: DST605
    loss = model(torch.ones(2, 4)).float().sum() * 1e-9
loss.backward()
before = model.weight.detach().clone()
optimizer.step()
assert not torch.equal(model.weight, before), "nothing is learned"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if "autocast" not in words or "backward" not in module.tokens:
            return
        if "step" not in module.tokens or any(_SCALES.search(word) for word in words):
            return
        objects = objects_of(module, catalogue)
        if document.is_test:
            return
        scopes = {
            id(each.site.point.scope)
            for each in backwards(objects)
            if not each.site.call.args  # optimizer.backward(loss) may scale
        }
        for region in autocasts(objects):
            enabled = [a for a in region.site.call.args if a.keyword == "enabled"]
            if region.dtype != "float16" or enabled or _is_frozen(region.site.point):
                continue
            if _is_behind_forward(region.site.point.statement):
                continue
            if id(region.site.point.scope) in scopes:
                yield self.finding(
                    message="the gradients are float16, and nothing scales the loss",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(region.site.call.site),
                    effect="gradients below 6e-8 become 0: layers stop learning",
                    advice="Use a GradScaler, or bfloat16.",
                )


def _is_behind_forward(region: ir.Stmt) -> bool:
    """Is nothing computed in it: is it around the backward pass and the step alone?"""
    return isinstance(region, ir.With) and all(
        isinstance(statement, ir.Evaluate)
        and isinstance(statement.value, ir.Call)
        and ir.last_name(statement.value.func) in _BEHIND_FORWARD
        for statement in region.body
    )


def _is_frozen(point: Point) -> bool:
    """Does a region stand under ``no_grad``, or is that all there is in it?"""
    if any(leaves_no_gradient(here.owner) for here in point.around):
        return True
    region = point.statement
    return (
        isinstance(region, ir.With) and len(region.body) == 1 and leaves_no_gradient(region.body[0])
    )
