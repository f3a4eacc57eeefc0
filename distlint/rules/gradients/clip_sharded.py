"""DST611: torch clips gradients that somebody else is in charge of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import calls_of, expressions_in
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Path, path_of
from distlint.fixers import names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._steps import (
    CLIP_NAMES,
    conditions,
    exclude,
    in_order,
    torch_clips,
)
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_FSDP = "torch.distributed.fsdp.FullyShardedDataParallel"
_ACCELERATOR = "accelerate.Accelerator"
_ENGINE = "deepspeed.initialize"
_PARAMETERS = frozenset({"parameters", "named_parameters"})
_LISTS = frozenset({"list", "tuple", "filter", "iter"})


class ClipSharded(SourceRule):
    """`torch.nn.utils.clip_grad_norm_` clips gradients that a framework shards or scales.

    ```python
    model = FSDP(net)
    optimizer = torch.optim.AdamW(model.parameters())
    loss = model(batch).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # bad: norm of the local shard
    optimizer.step()
    ```

    ## Use instead

    ```python
    model = FSDP(net)
    optimizer = torch.optim.AdamW(model.parameters())
    loss = model(batch).mean()
    loss.backward()
    model.clip_grad_norm_(1.0)
    optimizer.step()
    ```

    With Accelerate, call `accelerator.clip_grad_norm_(model.parameters(), 1.0)`. With DeepSpeed,
    set `"gradient_clipping": 1.0` in its configuration. `fully_shard` (FSDP2) works with torch's
    function.

    ## Why is this bad?

    With FSDP, each rank has a shard of every gradient and computes the norm of its shard only: the
    ranks scale their shards by different factors, and the update no longer has the direction of the
    gradient. With Accelerate in float16, the gradients are still multiplied by the loss scale. With
    DeepSpeed, they are in buffers of the engine, so that nothing is clipped.

    ## What is reported

    torch's function on the parameters of a model that is wrapped in `FullyShardedDataParallel`
    (error), here or in another file of the project: by a function, the caller, or a class above or
    below. Or in a function whose backward pass is `accelerator.backward` or that of a DeepSpeed
    engine (a warning).

    ## What is not reported

    - `ShardingStrategy.NO_SHARD`, and `fully_shard`.
    - A clip after `accelerator.unscale_gradients()` that is guarded by a condition on
      `distributed_type` or FSDP.
    - A clip where the backward pass of the framework is in the other branch of an `if`.
    - `amp.master_params(optimizer)`, the copy of the parameters that Apex keeps.
    - Models that may not be wrapped, and objects that may not be an `Accelerator`.

    ## Fix safety

    Unsafe: the method of the model or of the accelerator is called instead, and the updates change.
    Not offered where the function checks whether there is an accelerator.

    ## References

    - [PyTorch: FullyShardedDataParallel](https://docs.pytorch.org/docs/stable/fsdp.html)
    - [Accelerate: Accelerator](https://huggingface.co/docs/accelerate/package_reference/accelerator)
    """

    code = "DST611"
    name = "clip-sharded"

    good = (
        Example(
            title="The clipping method of FSDP",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("gloo")
model = FSDP(torch.nn.Linear(4, 4), device_id=torch.device("cpu"))
model(torch.ones(2, 4)).sum().backward()
model.clip_grad_norm_(1.0)
dist.destroy_process_group()
""",
        ),
        Example(
            title="torch's function with fully_shard",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
model = torch.nn.Linear(4, 4)
fully_shard(model, mesh=mesh)
model(torch.ones(2, 4)).sum().backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The parameters that Apex keeps",
            effect="static",
            why_static="it needs Apex",
            code="""\
import torch
from accelerate import Accelerator
from apex import amp


def train(model, optimizer, loader, use_apex):
    accelerator = Accelerator()
    for batch in loader:
        loss = model(batch).mean()
        if use_apex:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            accelerator.backward(loss)
        if use_apex:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        else:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
""",
        ),
    )

    bad = (
        Example(
            title="The norm of the local shard",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
model = FSDP(net, device_id=torch.device("cpu"))
model(torch.ones(2, 4)).sum().backward()
norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST611
norms = [None, None]
dist.all_gather_object(norms, round(norm.item(), 4))
assert norms[0] == norms[1], norms
""",
        ),
        Example(
            title="torch's function with Accelerate",
            effect="static",
            why_static="it shows in float16, FSDP or DeepSpeed, which the launcher chooses",
            code="""\
import torch
from accelerate import Accelerator


def train(model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        loss = model(batch).mean()
        accelerator.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST611
        optimizer.step()
        optimizer.zero_grad()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if CLIP_NAMES.isdisjoint(module.words):
            return
        is_managed = not {"accelerate", "deepspeed"}.isdisjoint(module.words)
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for clip in torch_clips(objects):
            draft = Draft(locator, module, catalogue)
            if _is_fsdp(objects, clip):
                yield self.finding(
                    message="FSDP gradients are clipped by the norm of the local shard",
                    severity=Severity.ERROR,
                    place=locator.place(clip.call.site),
                    effect="the ranks scale by different factors, and the update is wrong",
                    help="Call `model.clip_grad_norm_`",
                    fix=partial(_by_model, clip, draft),
                )
                continue
            manager = _backward_by(objects, clip) if is_managed else None
            if manager is not None and not _is_of_apex(clip):
                kind, owner, at = manager
                unscaled = kind == "Accelerate" and _is_unscaled(objects, clip, owner, at)
                if unscaled and _asks_kind(clip):
                    continue
                yield self.finding(
                    message=f"torch clips gradients that {kind} manages",
                    severity=Severity.WARNING,
                    place=locator.place(clip.call.site),
                    effect="if they are sharded, at most the local shard is clipped"
                    if unscaled
                    else "in float16 they are still scaled; if they are sharded, at most the local "
                    "shard is clipped",
                    help="Call `accelerator.clip_grad_norm_`"
                    if kind == "Accelerate"
                    else "Set `gradient_clipping` in the DeepSpeed configuration",
                    fix=partial(_by_accelerator, objects, clip, path, draft)
                    if not unscaled
                    and kind == "Accelerate"
                    and at.scope is clip.point.scope
                    and (path := path_of(owner)) is not None
                    else None,
                )


def _is_fsdp(objects: Objects, clip: CallSite) -> bool:
    """Are they the parameters of a model that is wrapped in FSDP, and sharded?"""
    given = clip.call.args[0].value if clip.call.args else None
    models = list(_models(objects, given, clip.point)) if given is not None else []
    return bool(models) and all(_is_sharded(objects, model, at) for model, at in models)


def _models(objects: Objects, node: ir.Expr, point: Point) -> Iterator[tuple[ir.Expr, Point]]:
    """The model of ``model.parameters()``, also in a list, a filter or a variable."""
    for origin in objects.origins(node, point):
        made = origin.node
        while isinstance(made, ir.Call) and ir.last_name(made.func) in _LISTS and made.args:
            made = made.args[-1].value
        if isinstance(made, ir.Comprehension):
            made = made.clauses[0][1]
        if isinstance(made, ir.Call) and ir.last_name(made.func) in _PARAMETERS:
            if isinstance(made.func, ir.Attribute):
                yield made.func.value, origin.point


def _is_sharded(objects: Objects, model: ir.Expr, point: Point) -> bool:
    found = objects.origins(model, point)
    wraps = [each for each in found if _wraps_itself(each, path_of(model))]
    return bool(found) and all(
        origin.site is not None
        and objects.is_call_to(origin.site, _FSDP)
        and "NO_SHARD" not in ir.tokens_of(origin.site.call)
        for origin in wraps or found
    )


def _wraps_itself(origin: Origin, path: Path | None) -> bool:
    """Is it ``self.model = FSDP(self.model)``, after which what was there is not used any more?"""
    statement = origin.point.statement
    return (
        path is not None
        and origin.call is not None
        and isinstance(statement, ir.Assign)
        and statement.value is origin.call
        and [path_of(target) for target in statement.targets] == [path]
        and any(path_of(argument.value) == path for argument in origin.call.args)
        and not any(isinstance(here.owner, (ir.If, ir.Try)) for here in origin.point.around)
    )


def _is_of_apex(clip: CallSite) -> bool:
    """Are they the parameters of ``amp.master_params(optimizer)``? Then Apex scales, alone."""
    given = clip.call.args[0].value if clip.call.args else None
    return isinstance(given, ir.Call) and ir.last_name(given.func) == "master_params"


def _backward_by(objects: Objects, clip: CallSite) -> tuple[str, ir.Expr, Point] | None:
    """Who does the backward pass that a clip follows, and where it is asked for that.

    In the function that clips, or in one that is called there; else in those that call it.
    """
    own = list(_backward_beside(objects, clip))
    if own:
        return next((found for each in own if (found := _manager(objects, each))), None)
    function = clip.point.scope.function
    callers = objects.flow.calls.callers(function) if function is not None else []
    around = [[_manager(objects, each) for each in _backward_beside(objects, c)] for c in callers]
    managers = [next(filter(None, each), None) for each in around if each]
    return managers[0] if managers and None not in managers else None


def _backward_beside(objects: Objects, clip: CallSite) -> Iterator[CallSite]:
    """The backward passes that the function of a call runs, itself or by functions it calls.

    Of the latter those that are run in any case: a test may choose who does it.
    """
    there = objects_across(clip.point.scope.module, objects.catalogue)
    for point in there.points_in(clip.point.scope):
        for site in (CallSite(call, point) for call in calls_of(point.statement)):
            if site.call is clip.call or exclude(point, clip.point):
                continue
            if site.name == "backward":
                yield site
            elif (called := function_called(there, site)) is not None:
                scope = called[0].scope_of(called[1])
                inner = called[0].calls_in(scope, {"backward"}) if scope is not None else ()
                yield from (each for each in inner if not any(conditions(each.point)))


def _manager(objects: Objects, backward: CallSite) -> tuple[str, ir.Expr, Point] | None:
    func, point = backward.call.func, backward.point
    if not isinstance(func, ir.Attribute) or not backward.call.args:
        return None
    if objects.class_of(func.value, point) == _ACCELERATOR:
        return "Accelerate", func.value, point
    is_engine = any(
        isinstance(origin.node, ir.Call)
        and origin.item == 0
        and objects.called(CallSite(origin.node, origin.point)) == _ENGINE
        for origin in objects.origins(func.value, point)
    )
    return ("DeepSpeed", func.value, point) if is_engine else None


def _is_unscaled(objects: Objects, clip: CallSite, manager: ir.Expr, point: Point) -> bool:
    """Has the accelerator been told to unscale the gradients before? It does that once a step."""
    told = {origin.node for origin in objects.origins(manager, point)}
    there = objects_across(point.scope.module, objects.catalogue)
    is_here = point.scope is clip.point.scope
    return any(
        isinstance(site.call.func, ir.Attribute)
        and told & {origin.node for origin in objects.origins(site.call.func.value, site.point)}
        and (in_order(site, clip) or (site.point.scope is point.scope and not is_here))
        for site in {*objects.calls({"unscale_gradients"}), *there.calls({"unscale_gradients"})}
    )


def _asks_kind(clip: CallSite) -> bool:
    """Does a test around tell how the model is distributed, so that shards go elsewhere?"""
    return any(
        token == "distributed_type" or "fsdp" in token.lower()
        for each in conditions(clip.point)
        for token in ir.tokens_of(each.test)
    )


def _asks_whether_there(test: ir.Expr, path: tuple[str, ...]) -> bool:
    """``accelerator is None``, ``if accelerator:``."""
    return path_of(test) == path or any(
        (isinstance(node, ir.Not) and path_of(node.value) == path)
        or (
            isinstance(node, ir.Compare)
            and path_of(node.left) == path
            and any(isinstance(each, ir.Literal) and each.value is None for each in node.rights)
        )
        for node in expressions_in(test)
    )


def _by_model(clip: CallSite, draft: Draft) -> Fix:
    call = draft.node(clip.call.site, cst.Call)
    parameters = call.args[0].value
    if ir.last_name(clip.call.func) == "clip_grad_value_" or not isinstance(parameters, cst.Call):
        raise CannotFix("FSDP clips by the norm alone")
    owner = parameters.func
    if not isinstance(owner, cst.Attribute) or len(call.args) < 2:
        raise CannotFix("not as it is usual")
    model = draft.text(owner.value)
    draft.splice(draft.bounds(call.args[0])[0], draft.bounds(call.args[1])[0], "")
    draft.replace(call.func, f"{model}.clip_grad_norm_")
    return draft.fix("unsafe", "Clip by the norm over all shards")


def _by_accelerator(objects: Objects, clip: CallSite, path: tuple[str, ...], draft: Draft) -> Fix:
    call = draft.node(clip.call.site, cst.Call)
    if any(
        isinstance(point.statement, ir.If) and _asks_whether_there(point.statement.test, path)
        for point in objects.points_in(clip.point.scope)
    ):
        raise CannotFix("there are runs without an accelerator")
    if not names.available(draft, path[0], call):
        raise CannotFix("the accelerator may not be there")
    last = ir.last_name(clip.call.func).rstrip("_") + "_"
    draft.replace(call.func, f"{'.'.join(path)}.{last}")
    return draft.fix("unsafe", "Use the clipping method of the accelerator")
