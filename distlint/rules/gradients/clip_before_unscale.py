"""DST606: gradients are clipped while they are still multiplied by the scale."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, placed
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import names, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._scaled_by_fabric import clipped_while_scaled
from distlint.rules.gradients._steps import (
    CLIP_NAMES,
    Backward,
    backwards,
    conditions,
    exclude,
    in_order,
    torch_clips,
    wrapper_clips,
)
from distlint.rules.training import loops_around
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locator, Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_UNSCALE = "unscale_"
_SCALES = frozenset({"get_scale", "_scale"})


class ClipBeforeUnscale(SourceRule):
    """Gradients are clipped before they are unscaled with `scaler.unscale_(optimizer)`.

    ```python
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # bad: still scaled
    scaler.step(optimizer)
    scaler.update()
    ```

    ## Use instead

    ```python
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    ```

    ## Why is this bad?

    After the backward pass the gradients are multiplied by the loss scale, 65536 at first. Their
    norm is too large by this factor, so nearly every step is clipped. `scaler.step` then divides by
    the scale, which makes the update too small by the same factor. Training makes almost no
    progress, as if the learning rate were wrong.

    ## What is reported

    `scaler.scale(loss).backward()`, then `clip_grad_norm_` or `clip_grad_value_`, also FSDP's
    `model.clip_grad_norm_`, then `scaler.step(optimizer)`, with no `unscale_` before the clip.
    Another method of the class may run the backward pass, in a file that does not unscale
    elsewhere.

    Also `fabric.backward(loss)` and then a clip of torch's own, where Fabric was made with
    `precision="16-mixed"`. If the precision is an option, the finding is an info.

    ## What is not reported

    - Functions that call `unscale_` before the clip, or another function that calls it.
    - Losses that are not scaled: bfloat16, no scaler, DeepSpeed.
    - Functions that ask the scaler for its scale, as to clip at a bound that is scaled as well.
    - A clip in the other branch of the `if` that selects mixed precision.
    - `accelerator.clip_grad_norm_`, which unscales the gradients itself.

    ## Fix safety

    Unsafe: `scaler.unscale_(optimizer)` is inserted before the clip. The steps become larger, as
    intended; a learning rate that was tuned to the small steps no longer fits. If a condition
    decides whether to scale, the call gets the same condition.

    ## References

    - [PyTorch: Gradient clipping with AMP](https://docs.pytorch.org/docs/stable/notes/amp_examples.html)
    """

    code = "DST606"
    name = "clip-before-unscale"
    severity = Severity.ERROR
    exceptions = (Severity.INFO,)

    good = (
        Example(
            title="Unscaled before clipping",
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scaler = torch.amp.GradScaler("cpu")
before = model.weight.detach().clone()
scaler.scale(model(torch.ones(4, 2)).sum()).backward()
scaler.unscale_(optimizer)
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
scaler.step(optimizer)
scaler.update()
assert (model.weight - before).norm() > 0.5
""",
        ),
        Example(
            title="One branch scales, the other clips",
            code="""\
import torch

mixed = False
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scaler = torch.amp.GradScaler("cpu", enabled=mixed)
loss = model(torch.ones(4, 2)).sum()
if mixed:
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
else:
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
""",
        ),
        Example(
            title="bfloat16 needs no scaler",
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = model(torch.ones(4, 2)).mean()
loss.backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step()
""",
        ),
    )

    bad = (
        Example(
            title="The update is 65536 times too small",
            effect="fail",
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scaler = torch.amp.GradScaler("cpu")
before = model.weight.detach().clone()
scaler.scale(model(torch.ones(4, 2)).sum()).backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST606
scaler.step(optimizer)
scaler.update()
moved = (model.weight - before).norm().item()
assert moved > 0.5, f"the weights moved by {moved}"
""",
        ),
        Example(
            title="In a method, under a condition",
            effect="fail",
            code="""\
import torch


class Engine:
    def __init__(self, model, clip):
        self.model, self.clip = model, clip
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        self.scaler = torch.amp.GradScaler("cpu")

    def update(self, loss):
        self.scaler.scale(loss).backward()
        if self.clip > 0:
            torch.nn.utils.clip_grad_value_(self.model.parameters(), self.clip)  # expect: DST606
        self.scaler.step(self.optimizer)
        self.scaler.update()


model = torch.nn.Linear(2, 1)
before = model.weight.detach().clone()
Engine(model, 0.5).update(model(torch.ones(4, 2)).sum())
moved = (model.weight - before).norm().item()
assert moved > 0.5, f"the weights moved by {moved}"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if CLIP_NAMES.isdisjoint(module.words):
            return
        objects = objects_across(module, catalogue)
        if "Fabric" in module.words or "fabric" in module.tokens:
            yield from self._clipped_under_fabric(objects, locators.of(module.key))
        if "scale" not in module.tokens:
            return
        for clip in (*torch_clips(objects), *wrapper_clips(objects)):
            found = _scaled_before(objects, clip)
            if found is not None:
                scaled, step = found
                locator = locators.of(module.key)
                scaler = ".".join(scaled.scaler or ("scaler",))
                yield self.finding(
                    message=f"gradients are clipped before `{scaler}` unscales them",
                    severity=Severity.ERROR,
                    place=locator.place(clip.call.site),
                    related=(Related("scaled here", locator.place(scaled.site.call.site)),),
                    effect="nearly every update is clipped to almost nothing",
                    help=f"Call `{scaler}.unscale_(optimizer)` before clipping",
                    fix=partial(
                        _unscaled,
                        scaled,
                        clip,
                        step,
                        scaler,
                        any(objects.calls_in(clip.point.scope, {_UNSCALE})),
                        Draft(locator, module, catalogue),
                    ),
                )

    def _clipped_under_fabric(self, objects: Objects, locator: Locator) -> Iterator[Finding]:
        for clip, backward, scales in clipped_while_scaled(objects):
            yield self.finding(
                message="gradients are clipped before Fabric unscales them"
                + ("" if scales else ", with 16-mixed"),
                severity=Severity.ERROR if scales else Severity.INFO,
                place=locator.place(clip.call.site),
                related=(Related("scaled here", locator.place(backward.call.site)),),
                effect="nearly every update is clipped to almost nothing",
                help="Call `fabric.clip_gradients(model, optimizer, max_norm=...)`",
            )


def _unscaled(
    scaled: Backward, clip: CallSite, step: CallSite, scaler: str, late: bool, draft: Draft
) -> Fix:
    if late:
        raise CannotFix("gradients can be unscaled once only, and a later line does it")
    optimizer = path_of(step.call.args[0].value) if step.call.args else None
    if optimizer is None:
        raise CannotFix("the optimizer has no name")
    if _may_leave(clip, step):
        raise CannotFix("without the step the scaler would not know that these gradients are done")
    switch = _switch(scaled, clip, step)
    statement = statements.statement_of(draft, draft.node(clip.call.site, cst.Call))
    if not names.available(draft, optimizer[0], statement):
        raise CannotFix("the optimizer may not be there yet")
    line = f"{scaler}.{_UNSCALE}({'.'.join(optimizer)})"
    if switch is None:
        statements.insert_before(draft, statement, line)
    else:
        test = draft.text(draft.node(switch.site, cst.If).test)
        statements.insert_before(draft, statement, f"if {test}:", f"    {line}")
    return draft.fix("unsafe", "Unscale the gradients before clipping")


def _may_leave(clip: CallSite, step: CallSite) -> bool:
    """May the step be skipped behind the clip, as for a norm that is not finite?"""
    return any(
        isinstance(statement, (ir.Continue, ir.Break, ir.Return))
        for here in clip.point.around
        for later in here.block[here.index + 1 :]
        if later.site < step.point.statement.site
        for statement, _ in placed((later,))
    )


def _switch(scaled: Backward, clip: CallSite, step: CallSite) -> ir.If | None:
    """The test that chooses to scale, which the clip does not stand under, if there is one."""
    shared = list(conditions(clip.point))
    own = [each for each in conditions(step.point) if each not in shared]
    if not own:
        return None
    switch = own[0]
    is_plain = not any(isinstance(part, ir.Call) for part in expressions_in(switch.test))
    around = [ir.tokens_of(each.test) for each in conditions(scaled.site.point)]
    in_body = any(here.block is switch.body for here in step.point.around)
    if len(own) > 1 or not (is_plain and in_body and ir.tokens_of(switch.test) in around):
        raise CannotFix("the step is not taken wherever the gradients are clipped")
    return switch


def _scaled_before(objects: Objects, clip: CallSite) -> tuple[Backward, CallSite] | None:
    """The backward pass whose scaled gradients a call clips, and the step that follows."""
    scope = clip.point.scope
    backward_passes = [each for each in backwards(objects, scope) if each.scaler is not None]
    elsewhere = [] if backward_passes else list(_in_other_methods(objects, clip))
    for backward in backward_passes or elsewhere:
        if exclude(backward.site.point, clip.point):
            continue
        for step in objects.calls_in(scope, {"step"}):
            func = step.call.func
            sites = (clip, step) if elsewhere else (backward.site, clip, step)
            if (
                isinstance(func, ir.Attribute)
                and path_of(func.value) == backward.scaler
                and in_order(*sites)
                and not exclude(clip.point, step.point)
                and not _unscales(objects, clip, backward)
            ):
                return backward, step
    return None


def _in_other_methods(objects: Objects, clip: CallSite) -> Iterator[Backward]:
    """The backward passes with a scaler that another method of the class runs."""
    function = clip.point.scope.function
    if function is None or not function.owner or _calls_unscale(objects, but=function):
        return
    for backward in backwards(objects):
        other = backward.site.point.scope.function
        if backward.scaler is not None and backward.scaler[0] == "self":
            if other is not None and other.owner == function.owner:
                yield backward


def _calls_unscale(objects: Objects, but: ir.Function) -> bool:
    """Does another function of the file than one unscale?"""
    return any(site.point.scope.function is not but for site in objects.calls({_UNSCALE}))


def _unscales(objects: Objects, clip: CallSite, backward: Backward) -> bool:
    """Does the function unscale before a clip, itself or through one that it calls?"""
    function = clip.point.scope.function
    tokens = function.tokens if function is not None else objects.module.tokens
    if not _SCALES.isdisjoint(tokens):
        return True  # the bound is multiplied by the scale as well
    own = list(objects.calls_in(clip.point.scope, {_UNSCALE}))
    if any(not _is_too_late(site, clip, backward) for site in own):
        return True
    if function is None:
        return not own and _UNSCALE in objects.module.tokens
    if not own and _UNSCALE in function.tokens:
        return True
    return any(
        _UNSCALE in other.tokens and other.name in function.tokens
        for other in objects.module.functions
        if other is not function
    )


def _is_too_late(site: CallSite, clip: CallSite, backward: Backward) -> bool:
    """Are the gradients that a call clips unscaled only after it?"""
    func = site.call.func
    return (
        isinstance(func, ir.Attribute)
        and path_of(func.value) == backward.scaler
        and site.point.statement.site > clip.point.statement.site
        and not exclude(site.point, clip.point)
        and list(loops_around(site.point)) == list(loops_around(clip.point))
    )
