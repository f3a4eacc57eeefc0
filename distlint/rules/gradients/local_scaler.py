"""DST626: a scaler that looks for infinite gradients in the shard of its own rank only."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.gates import gates_before
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import imports
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._autocast import SCALER
from distlint.rules.gradients._branches import Setting, contradict, settings_of
from distlint.rules.gradients._steps import exclude
from distlint.rules.training import DDP
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_FSDP = ("torch.distributed.fsdp.FullyShardedDataParallel", "FSDP")
_SHARDED = "ShardedGradScaler"
_SCALES = frozenset({"scale", "scaler", "grad_scaler", "unscale_"})


class LocalScaler(SourceRule):
    """A model in `FullyShardedDataParallel` is trained with a plain `GradScaler`.

    ```python
    model = FSDP(net, mixed_precision=MixedPrecision(param_dtype=torch.float16))
    scaler = torch.amp.GradScaler("cuda")  # bad: each rank looks at its own shard
    scaler.scale(model(batch).mean()).backward()
    scaler.step(optimizer)
    ```

    ## Use instead

    ```python
    from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

    scaler = ShardedGradScaler()
    ```

    bfloat16 needs no scaler.

    ## Why is this bad?

    `scaler.step(optimizer)` skips the step if a gradient is infinite. With FSDP, a rank has the
    gradients of its shard only: if these overflow on one rank, it skips the step and lowers its
    scale, while the others take the step. From then on the shards belong to different steps, and
    the losses are scaled differently, without an error. `ShardedGradScaler` reduces over the ranks
    whether something was infinite.

    ## What is reported

    `GradScaler` of torch whose `step` is called, in a file that wraps a model in
    `FullyShardedDataParallel`.

    ## What is not reported

    - The file mentions `ShardedGradScaler`.
    - `fully_shard`: its gradients are distributed tensors, and `GradScaler` reduces over them.
    - `enabled=False`, and `ShardingStrategy.NO_SHARD`.
    - The scaler and the wrap are in different branches of one `if`, or on different values of one
      setting, such as after `assert not args.fsdp`: the scaler may be for DDP. The same for a
      scaler that such a setting, or another type than float16, turns off by `enabled=`.
    - The optimizer has the parameters of a model in DDP, or another function wraps and trains.

    ## Fix safety

    Unsafe: the class is replaced, where it is called with a device and keywords. The ranks then
    skip the same steps, with one more reduction in each.

    ## References

    - [PyTorch: FullyShardedDataParallel](https://docs.pytorch.org/docs/stable/fsdp.html)
    - [PyTorch: Gradient scaling](https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling)
    """

    code = "DST626"
    name = "local-scaler"
    severity = Severity.WARNING

    good = (
        Example(
            title="ShardedGradScaler",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

dist.init_process_group("gloo")
rank = dist.get_rank()
model = FSDP(torch.nn.Linear(4, 4, bias=False), device_id=torch.device("cpu"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = ShardedGradScaler(device="cpu")
(weight,) = model.parameters()
before = weight.detach().clone()
scaler.scale(model(torch.ones(2, 4)).sum()).backward()
if rank == 0:
    weight.grad[0] = float("inf")  # an overflow in the shard of rank 0
scaler.step(optimizer)
scaler.update()
assert torch.equal(before, weight), "both ranks skip the step"
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="fully_shard",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
model = torch.nn.Linear(4, 4, bias=False)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
before = model.weight.to_local().detach().clone()
scaler.scale(model(torch.ones(2, 4)).sum()).backward()
if dist.get_rank() == 0:
    model.weight.grad.to_local()[0] = float("inf")
scaler.step(optimizer)
scaler.update()
assert torch.equal(before, model.weight.to_local()), "both ranks skip the step"
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="An overflow on rank 0",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("gloo")
rank = dist.get_rank()
model = FSDP(torch.nn.Linear(4, 4, bias=False), device_id=torch.device("cpu"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")  # expect: DST626
(weight,) = model.parameters()
before = weight.detach().clone()
scaler.scale(model(torch.ones(2, 4)).sum()).backward()
if rank == 0:
    weight.grad[0] = float("inf")  # an overflow in the shard of rank 0
scaler.step(optimizer)
scaler.update()
steps = [None] * dist.get_world_size()
dist.all_gather_object(steps, not torch.equal(before, weight))
assert len(set(steps)) == 1, f"which ranks took the step: {steps}"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "GradScaler" not in module.words or _SHARDED in module.words:
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        wraps = [each for each in _made(objects, *_FSDP) if not _is_unsharded(objects, each[1])]
        for made, scaler in _made(objects, SCALER) if wraps else ():
            wrap = _wrap_beside(objects, made, scaler, wraps)
            if wrap is not None:
                yield self.finding(
                    message="`GradScaler` decides on each rank whether FSDP takes the step",
                    severity=Severity.WARNING,
                    place=locator.place(made.call.site),
                    related=(Related("sharded here", locator.place(wrap.call.site)),),
                    effect="after an overflow on one rank, the shards belong to different steps",
                    help=f"Use `{_SHARDED}`",
                    fix=partial(_fix, scaler, module, Draft(locator, module, catalogue)),
                )


Made = tuple[CallSite, CallSite]
"""A call in the file, and the one that makes the object: itself, or one of another file."""


def _made(objects: Objects, *dotted: str) -> Iterator[Made]:
    for site, made in objects.made(*dotted):
        if site is made or made.point.scope.module is not objects.module:
            yield site, made


def _wrap_beside(
    objects: Objects, made: CallSite, scaler: CallSite, wraps: list[Made]
) -> CallSite | None:
    """The wrap of a model that a scaler may be for, where it decides about steps."""
    enabled = objects.argument(scaler, "enabled")
    if objects.constant(enabled, scaler.point, True) is False:
        return None
    steps = list(_steps(objects, scaler))
    if not steps or all(_is_of_ddp(objects, each) for each in steps):
        return None
    needs = _settings(objects, made) | _settings(objects, scaler)
    if enabled.value is not None:
        needs |= settings_of(objects, enabled.value, True, scaler.point)
    for wrap, inner in wraps:
        if exclude(wrap.point, made.point) or _trains_without(wrap, made):
            continue
        if not contradict(needs, _settings(objects, wrap) | _settings(objects, inner)):
            return wrap
    return None


def _steps(objects: Objects, scaler: CallSite) -> Iterator[CallSite]:
    """The steps of a scaler, in the file and in those of the functions that are given it."""
    called = (function_called(objects, site) for site, _ in objects.uses.passed_to(scaler.call))
    modules = [objects.module, *(each[0].module for each in called if each is not None)]
    for module in dict.fromkeys(modules):
        there = objects_across(module, objects.catalogue)
        yield from there.uses.methods_on(scaler.call, {"step"})


def _is_of_ddp(objects: Objects, step: CallSite) -> bool:
    """Has the optimizer that a scaler steps the parameters of models in DDP alone?"""
    optimizer = objects.argument(step, "optimizer", 0).value
    found = [
        objects.is_call_to(CallSite(origin.node, origin.point), *DDP)
        if isinstance(origin.node, ir.Call)
        else False
        for made in (objects.origins(optimizer, step.point) if optimizer is not None else ())
        if isinstance(made.node, ir.Call) and made.node.args
        for node in expressions_in(made.node.args[0].value)
        if isinstance(node, ir.Attribute) and node.attr in ("parameters", "named_parameters")
        for origin in objects.origins(node.value, made.point)
    ]
    return bool(found) and all(found)


def _trains_without(wrap: CallSite, made: CallSite) -> bool:
    """Does the function that wraps a model train it by itself, apart from the scaler?"""
    function = wrap.point.scope.function
    return (
        function is not None
        and wrap.point.scope is not made.point.scope
        and "backward" in function.tokens
        and _SCALES.isdisjoint(function.tokens)
    )


def _settings(objects: Objects, site: CallSite) -> set[Setting]:
    """The settings on which a call is reached."""
    asked = [(gate.test, gate.wanted, gate.place) for gate in gates_before(site.point)]
    for node in ir.nodes_of(site.point.statement):
        if isinstance(node, ir.Conditional):
            for arm, holds in ((node.body, True), (node.orelse, False)):
                if any(each is site.call for each in expressions_in(arm)):
                    asked.append((node.test, holds, site.point))
    found = set[Setting]()
    for test, wanted, point in asked:
        if wanted is not None:
            found |= settings_of(objects, test, wanted, point)
    return found


def _is_unsharded(objects: Objects, wrap: CallSite) -> bool:
    if "NO_SHARD" in ir.tokens_of(wrap.call):
        return True
    strategy = objects.argument(wrap, "sharding_strategy").value
    origins = objects.origins(strategy, wrap.point) if strategy is not None else ()
    return any(
        "NO_SHARD" in (*each.attributes, ir.last_name(each.node))
        for each in origins
        if isinstance(each.node, ir.Expr)
    )


def _fix(made: CallSite, module: Module, draft: Draft) -> Fix:
    if made.point.scope.module is not module:
        raise CannotFix("the scaler is made in another file")
    if any(argument.keyword is None and not _is_device(argument) for argument in made.call.args):
        raise CannotFix("arguments by position differ between versions of torch")
    call = draft.node(made.call.site, cst.Call)
    name = imports.imported(draft, "torch.distributed.fsdp.sharded_grad_scaler", _SHARDED, call)
    draft.replace(call.func, name)
    return draft.fix("unsafe", f"Use `{_SHARDED}`")


def _is_device(argument: ir.Argument) -> bool:
    """``GradScaler("cuda")``: both classes are given the device first."""
    return isinstance(argument.value, ir.Literal) and isinstance(argument.value.value, str)
