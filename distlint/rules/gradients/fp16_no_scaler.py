"""DST605: gradients in float16 without a scaler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._autocast import autocasts, dtype_of
from distlint.rules.gradients._steps import backwards, passed_backward
from distlint.rules.training import leaves_no_gradient
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locator, Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_SCALES = re.compile(
    r"scaler|loss_?scal|scale_loss|grad_scale|amp_scale|accelerat|deepspeed|fabric|lightning|apex|"
    r"^scale$|unscale|optimizer_wrapper|OptimWrapper|manual_backward",
    re.IGNORECASE,
)
_NO_OPTIMIZER = re.compile(r"sched|prof|^env$", re.IGNORECASE)
_FSDP_TYPES = {"MixedPrecision": "ShardedGradScaler", "MixedPrecisionPolicy": "GradScaler"}
"""What gives FSDP its types, and what scales the loss there."""
_SHARDS = frozenset({"FullyShardedDataParallel", "FSDP", "fully_shard", "auto_wrap", "wrap"})
_BEHIND_FORWARD = frozenset({"backward", "step", "zero_grad"})


class Fp16NoScaler(SourceRule):
    """The forward pass runs in float16, but the loss is not scaled before the backward pass.

    ```python
    with torch.autocast("cuda", dtype=torch.float16):  # bad: no GradScaler
        loss = model(batch).mean()
    loss.backward()
    optimizer.step()
    ```

    ## Use instead

    ```python
    scaler = torch.amp.GradScaler("cuda")
    ...
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(batch).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    ```

    Where the hardware supports it, `dtype=torch.bfloat16` has the range of float32 and needs no
    scaler.

    ## Why is this bad?

    The gradients of float16 layers are float16 as well. Values below 6e-8 become 0, so layers with
    small gradients stop learning, without an error.

    ## What is reported

    `autocast` with `float16`, its default on CUDA, in a function that also calls `backward()`, in a
    file without a `GradScaler` or other loss scaling. Also `MixedPrecision(param_dtype=...)` with
    `float16` that the file gives to `FullyShardedDataParallel`, or `MixedPrecisionPolicy` to
    `fully_shard`, if it calls `backward()` and the step of an optimizer as well: there,
    `ShardedGradScaler` and `GradScaler` scale the loss.

    ## What is not reported

    - Files that mention a scaler, Accelerate, DeepSpeed, Lightning, Fabric or Apex.
    - Regions whose dtype is not known, or that are switched off with `enabled=False`.
    - Backward passes of an optimizer, `optimizer.backward(loss)`, which may scale.
    - Functions without a backward pass: inference.
    - Functions whose gradients no optimizer of the file uses, in them, in their class, in what they
      call or in what calls them: the gradients are only measured, or used elsewhere.
    - Regions around the backward pass and the step only; the one around the forward pass is
      reported.
    - Regions inside `no_grad`, and regions that contain nothing but a `no_grad` block: frozen
      features.
    - The file is a test.

    ## Fix safety

    None: a scaler is used in four places of the training step, and bfloat16 needs hardware support.

    ## References

    - [PyTorch: Gradient scaling](https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling)
    - [PyTorch: AMP examples](https://docs.pytorch.org/docs/stable/notes/amp_examples.html)
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
            title="With a GradScaler",
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
            title="Measuring the memory of a backward pass",
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
            title="Small gradients become 0",
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
        Example(
            title="FSDP in float16",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision

dist.init_process_group("gloo")
precision = MixedPrecision(param_dtype=torch.float16)  # expect: DST605
net = torch.nn.Linear(4, 4, bias=False)
model = FSDP(net, device_id=torch.device("cpu"), mixed_precision=precision)
optimizer = torch.optim.SGD(model.parameters(), lr=1e6)
before = [parameter.detach().clone() for parameter in model.parameters()]
loss = model(torch.ones(2, 4)).float().sum() * 1e-9
loss.backward()
optimizer.step()
after = [parameter.detach() for parameter in model.parameters()]
assert not all(map(torch.equal, before, after)), "nothing is learned"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if words.isdisjoint({"autocast", *_FSDP_TYPES}) or _may_scale(module):
            return
        objects = objects_across(module, catalogue)
        if document.is_test:
            return
        scopes = {
            id(each.site.point.scope)
            for each in backwards(objects)
            if not each.site.call.args  # optimizer.backward(loss) may scale
        }
        scopes |= {
            id(each.site.point.scope)
            for each, inner in passed_backward(objects)
            if not inner.site.call.args and not _may_scale(inner.site.point.scope.module)
        }
        steps = _Steps(objects)
        if any(steps.reach(each) for each in objects.names.scopes if id(each) in scopes):
            yield from self._sharded(objects, locators.of(module.key))
        for region in autocasts(objects):
            if region.dtype != "float16" or _is_frozen(region.site.point):
                continue
            if _is_behind_forward(region.site.point.statement):
                continue
            if id(region.site.point.scope) in scopes and steps.reach(region.site.point.scope):
                yield self.finding(
                    message="float16 autocast is used without loss scaling",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(region.site.call.site),
                    effect="gradients below 6e-8 become 0, and layers stop learning",
                    help="Use a `GradScaler`, or bfloat16",
                )

    def _sharded(self, objects: Objects, locator: Locator) -> Iterator[Finding]:
        """The types of FSDP in which gradients are float16."""
        here = ((site, site) for site in objects.calls(_FSDP_TYPES))
        elsewhere = (each for each in objects.relayed if _is_elsewhere(objects, each[1]))
        for site, made in (*here, *elsewhere):
            given = objects.argument(made, "param_dtype", 0).value
            if made.name not in _FSDP_TYPES or given is None:
                continue
            if dtype_of(objects, given, made) == "float16" and any(
                each.name in _SHARDS for each, _ in objects.uses.passed_to(made.call)
            ):
                yield self.finding(
                    message="FSDP trains in float16 without loss scaling",
                    severity=Severity.WARNING,
                    place=locator.place(site.call.site),
                    effect="gradients below 6e-8 become 0, and layers stop learning",
                    help=f"Use a `{_FSDP_TYPES[made.name]}`, or bfloat16",
                )


def _may_scale(module: Module) -> bool:
    return any(map(_SCALES.search, module.words))


def _is_elsewhere(objects: Objects, site: CallSite) -> bool:
    return site.point.scope.module is not objects.module


class _Steps:
    """The functions of a module in which an optimizer steps."""

    def __init__(self, objects: Objects) -> None:
        self._scopes = objects.names.scopes
        self._backward = {id(each.site.point.scope) for each in backwards(objects)}
        self._stepping = [s.point.scope for s in objects.calls({"step"}) if _is_step(s)]
        for site in (CallSite(*each) for each in objects.nodes(ir.Call)):
            there, function = function_called(objects, site) or (objects, None)
            scope = there.scope_of(function) if function and there is not objects else None
            if scope and any(map(_is_step, there.calls_in(scope, {"step"}))):
                self._stepping.append(site.point.scope)
        self._mentioned = {
            id(scope): frozenset[str]().union(
                *(ir.tokens_of(point.statement) for point in objects.points_in(scope))
            )
            for scope in self._scopes
        }

    def reach(self, scope: Scope) -> bool:
        """Does a step use the gradients of a function: in it, around it, or by what it calls?

        In another method of its class, or where a caller steps.
        """
        seen = [scope]
        for each in seen:  # grows by the callers
            if any(self._is_close(each, stepping) for stepping in self._stepping):
                return True
            if each.function is not None:
                name = each.function.name
                seen += [
                    other
                    for other in self._scopes
                    if name in self._mentioned[id(other)] and other not in seen
                ]
        return False

    def _is_close(self, scope: Scope, stepping: Scope) -> bool:
        own, other = scope.function, stepping.function
        if scope is stepping or scope.outer is stepping is not self._scopes[0]:
            return True
        if other is None:
            return False
        if own is not None and own.owner and own.owner == other.owner:
            return True
        # a function that goes backward itself steps for that
        return id(stepping) not in self._backward and other.name in self._mentioned[id(scope)]


def _is_step(site: CallSite) -> bool:
    func = site.call.func
    return isinstance(func, ir.Attribute) and not _NO_OPTIMIZER.search(ir.last_name(func.value))


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
