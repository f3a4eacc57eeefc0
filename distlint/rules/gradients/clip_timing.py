"""DST615: gradients are clipped when they are not complete."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import Scope, calls_of
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.fixers import statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._steps import (
    BACKWARD,
    CLIP_NAMES,
    accelerator_clips,
    exclude,
    torch_clips,
    wrapper_clips,
)
from distlint.rules.gradients._windows import Steps, accumulates, at_the_end, is_optimizer
from distlint.rules.training import loops_around
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from distlint.analyzer.ir.positions import Locator, Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_BY_HAND = frozenset({"manual_backward", "automatic_optimization", "backward", "toggle_optimizer"})
_WORK = frozenset({*BACKWARD, "step", "zero_grad", "grad"})
"""What a function that only clips does not speak of."""

_DEPTH = 2
"""How many functions may lead to a clip."""


class ClipBeforeLastBackward(SourceRule):
    """Gradients are clipped after each micro-batch, or before the backward pass.

    ```python
    for index, batch in enumerate(loader):
        (model(batch).mean() / 4).backward()
        clip_grad_norm_(model.parameters(), 1.0)  # bad: on every micro-batch
        if (index + 1) % 4 == 0 or index + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
    ```

    ## Use instead

    ```python
    for index, batch in enumerate(loader):
        (model(batch).mean() / 4).backward()
        if (index + 1) % 4 == 0 or index + 1 == len(loader):
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    ```

    With Accelerate, clip inside `if accelerator.sync_gradients:`. With Lightning, use
    `Trainer(gradient_clip_val=...)`.

    ## Why is this bad?

    Clipping bounds the gradient of a whole step. Applied to each partial sum, it weakens the first
    micro-batches relative to the last ones, and the step no longer has the direction of the
    gradient. Under `no_sync()` of DDP it also acts on gradients that are not averaged yet, so that
    each rank clips by a different factor. Before the backward pass, it has no effect at all.

    ## What is reported

    - With gradient accumulation: a clip after each backward pass, while `optimizer.step()` runs
      once for several of them.
    - A clip in the arm of an `if` about the accumulation window that makes no step, or under
      `no_sync()`, even if the other arm clips as well.
    - `accelerator.clip_grad_norm_` inside `accelerator.accumulate(...)` that is not guarded by
      `accelerator.sync_gradients`.
    - A clip before the backward pass, in a loop or a function that also zeroes the gradients; also
      the call of a function of the same file that clips.
    - A clip in `training_step` of a `LightningModule` with automatic optimization: it runs before
      the backward pass.

    ## What is not reported

    - A clip inside a condition that tests for the end of the accumulation window.
    - Loops in which each backward pass is followed by a step, and the clip is between the two.

    ## Fix safety

    Unsafe: the clip is moved to the start of the branch that steps; with Accelerate it is put under
    `if accelerator.sync_gradients:`. The steps may become larger than those that were tuned for.
    Not offered for a clip before the backward pass.

    ## References

    - [Accelerate: Gradient accumulation](https://huggingface.co/docs/accelerate/usage_guides/gradient_accumulation)
    - [Lightning: Gradient clipping](https://lightning.ai/docs/pytorch/stable/advanced/training_tricks.html)
    """

    code = "DST615"
    name = "clip-before-last-backward"
    severity = Severity.WARNING

    good = (
        Example(
            title="Once per accumulation window",
            code="""\
import torch

model = torch.nn.Linear(2, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
before = model.weight.detach().clone()
batches = [torch.tensor([[3.0, 0.0]]), torch.tensor([[0.0, 3.0]])]
for index, batch in enumerate(batches):
    model(batch).sum().backward()
    if (index + 1) % 2 == 0:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
first, second = (before - model.weight.detach()).flatten().tolist()
assert abs(first - second) < 1e-6
""",
        ),
        Example(
            title="With Accelerate, only when gradients are synchronized",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
model, optimizer = accelerator.prepare(model, optimizer)
for _ in range(4):
    with accelerator.accumulate(model):
        accelerator.backward(model(torch.ones(1, 2)).sum())
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
""",
        ),
        Example(
            title="A step after each backward pass",
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
for step in range(4):
    model(torch.ones(1, 2)).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    if step % 2 == 0:
        print("step", step)
""",
        ),
    )

    bad = (
        Example(
            title="After each micro-batch",
            effect="fail",
            code="""\
import torch

model = torch.nn.Linear(2, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
before = model.weight.detach().clone()
batches = [torch.tensor([[3.0, 0.0]]), torch.tensor([[0.0, 3.0]])]
for index, batch in enumerate(batches):
    model(batch).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST615
    if (index + 1) % 2 == 0:
        optimizer.step()
        optimizer.zero_grad()
first, second = (before - model.weight.detach()).flatten().tolist()
assert abs(first - second) < 1e-6, f"equal inputs moved their weights by {first} and {second}"
""",
        ),
        Example(
            title="On every micro-batch in accumulate()",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = torch.nn.Linear(2, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
model, optimizer = accelerator.prepare(model, optimizer)
before = accelerator.unwrap_model(model).weight.detach().clone()
for batch in ([[30.0, 0.0]], [[0.0, 30.0]]):
    with accelerator.accumulate(model):
        accelerator.backward(model(torch.tensor(batch)).sum())
        accelerator.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST615
        optimizer.step()
        optimizer.zero_grad()
moved = before - accelerator.unwrap_model(model).weight.detach()
first, second = moved.flatten().tolist()
assert abs(first - second) < 1e-6, f"equal inputs moved their weights by {first} and {second}"
""",
        ),
        Example(
            title="Before Lightning's backward pass",
            effect="static",
            needs=("lightning",),
            why_static="the clip has no effect at all: there is nothing to see",
            code="""\
import lightning as L
import torch


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, index):
        loss = self.layer(batch).mean()
        torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)  # expect: DST615
        return loss
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if CLIP_NAMES.isdisjoint(module.words) and BACKWARD.isdisjoint(module.tokens):
            return
        objects = objects_across(module, catalogue)
        clips = list(_clips(objects))
        if not clips:
            return
        locator = locators.of(module.key)
        steps, draft = Steps(objects), partial(Draft, locator, module, catalogue)
        for site, clip, is_managed in clips:
            at_end = site is not clip and at_the_end(objects, clip.point)
            step = None if at_end else steps.of_micro_step(site)
            at_end = at_end or at_the_end(objects, site.point)
            if step is None and not at_end and not is_managed:
                step = steps.of_window(site)
            if step is not None:
                yield self._per_micro_batch(site, step, locator, draft)
            elif is_managed and accumulates(site.point) and not at_end:
                yield self.finding(
                    message="clip inside `accumulate` runs on every micro-batch",
                    severity=Severity.WARNING,
                    place=locator.place(site.call.site),
                    effect="the partial sums are clipped, not the gradient of the step",
                    help="Put it under `if accelerator.sync_gradients:`",
                    fix=partial(_guarded, site, draft()) if site is clip else None,
                )
            elif not is_managed and _is_before_backward(objects, site):
                yield self.finding(
                    message="`training_step` clips before Lightning runs backward",
                    severity=Severity.WARNING,
                    place=locator.place(site.call.site),
                    effect="the gradients are not clipped",
                    help="Use `Trainer(gradient_clip_val=...)` or `on_before_optimizer_step`",
                )
            else:
                yield from self._in_vain(objects, site, locator)

    def _per_micro_batch(
        self, clip: CallSite, step: CallSite, locator: Locator, draft: Callable[[], Draft]
    ) -> Finding:
        return self.finding(
            message="gradients are clipped per micro-batch, not per step",
            severity=Severity.WARNING,
            place=locator.place(clip.call.site),
            related=(Related("the optimizer steps here", locator.place(step.call.site)),),
            effect="the partial sums are clipped, not the gradient of the step",
            help="Clip once, right before `optimizer.step()`",
            fix=lambda: _moved(clip, step, draft()),
        )

    def _in_vain(self, objects: Objects, clip: CallSite, locator: Locator) -> Iterator[Finding]:
        backward = _backward_behind(objects, clip)
        if backward is not None:
            yield self.finding(
                message="gradients are clipped before the backward pass",
                severity=Severity.WARNING,
                place=locator.place(clip.call.site),
                related=(Related("backward pass", locator.place(backward.call.site)),),
                effect="the gradients are not clipped",
                help="Clip between `backward()` and `optimizer.step()`",
            )


def _clips(objects: Objects) -> Iterator[tuple[CallSite, CallSite, bool]]:
    """The calls that clip or have a function do so, the clip, and whether it is Accelerate's."""
    for clip, is_managed in _own_clips(objects):
        yield clip, clip, is_managed
        for site in _calls_that_clip(objects, clip, _DEPTH):
            yield site, clip, is_managed
    for site in (CallSite(*each) for each in objects.nodes(ir.Call)):
        there, function = function_called(objects, site) or (objects, None)
        if function is None or there.module is objects.module or _works(function):
            continue
        if not CLIP_NAMES.isdisjoint(function.tokens):
            there = objects_across(there.module, objects.catalogue)
            for clip, is_managed in _own_clips(there):
                if clip.point.scope.function is function:
                    yield site, clip, is_managed
                    break


def _own_clips(objects: Objects) -> Iterator[tuple[CallSite, bool]]:
    yield from ((clip, False) for clip in (*torch_clips(objects), *wrapper_clips(objects)))
    yield from ((clip, True) for clip in accelerator_clips(objects))


def _works(function: ir.Function) -> bool:
    """Does a function make gradients or use them?"""
    return not _WORK.isdisjoint(function.tokens)


def _calls_that_clip(objects: Objects, clip: CallSite, depth: int) -> Iterator[CallSite]:
    """The calls of a function that clips, and neither makes gradients nor uses them."""
    function = clip.point.scope.function
    if function is None or not depth or _works(function):
        return
    if depth == _DEPTH and next(objects.calls_in(clip.point.scope, CLIP_NAMES)) != clip:
        return  # the function counts once
    for caller in objects.callers(function):
        yield caller
        yield from _calls_that_clip(objects, caller, depth - 1)


def _guarded(clip: CallSite, draft: Draft) -> Fix:
    receiver = path_of(clip.call.func.value) if isinstance(clip.call.func, ir.Attribute) else None
    if receiver is None or not isinstance(clip.point.statement, ir.Evaluate):
        raise CannotFix("the norm is used in each iteration")
    statement = statements.statement_of(draft, draft.node(clip.call.site, cst.Call))
    statements.wrap(draft, f"if {'.'.join(receiver)}.sync_gradients:", statement)
    return draft.fix("unsafe", "Clip only when gradients are synchronized")


def _moved(clip: CallSite, step: CallSite, draft: Draft) -> Fix:
    """The clip goes to the start of the branch that steps, where that follows in its block."""
    here = clip.point.around[-1]
    branch = next(
        (
            each.owner
            for each in step.point.around
            if isinstance(each.owner, ir.If) and each.owner in here.block[here.index + 1 :]
        ),
        None,
    )
    if branch is None or not isinstance(clip.point.statement, ir.Evaluate):
        raise CannotFix("the branch that steps does not follow the clip")
    first = next(each for each in step.point.around if each.owner is branch).block[0]
    target = statements.statement_of(draft, draft.locator.node(first.site))
    statement = statements.statement_of(draft, draft.node(clip.call.site, cst.Call))
    statements.move_before(draft, target, statement)
    return draft.fix("unsafe", "Clip once, right before `optimizer.step()`")


def _is_before_backward(objects: Objects, clip: CallSite) -> bool:
    function = clip.point.scope.function
    if function is None or function.name != "training_step":
        return False
    cls = objects.module.class_of(function)
    return (
        cls is not None
        and any("LightningModule" in ir.tokens_of(base) for base in cls.bases)
        and all(_BY_HAND.isdisjoint(method.tokens) for method in cls.methods.values())
    )


def _backward_behind(objects: Objects, clip: CallSite) -> CallSite | None:
    """The first backward pass of a turn whose gradients are zeroed, where a clip comes before it.

    The turn is one of the clip's loop, or a call of its function. A step in between takes what the
    turn before has left, and so do gradients that come from elsewhere.
    """
    turn = _Turn(objects, clip)
    first = turn.first_pass()
    if first is None or turn.place(clip) > turn.place(first):
        return None
    at, behind = turn.place(clip), turn.place(first)
    zeroed = [turn.place(site) for site in turn.calls({"zero_grad"}) if turn.always(site)]
    steps = [turn.place(site) for site in turn.calls({"step"}) if is_optimizer(site)]
    if not zeroed or any(at < step < behind for step in steps):
        return None
    if min(zeroed) > at and not any(step > behind for step in steps):
        return None
    return None if turn.may_have_gradients() else first


@lru_cache(maxsize=16)
def _passes_of(objects: Objects, scope: Scope) -> tuple[CallSite, ...]:
    """The backward passes of a function, in the order of the source."""
    found = (
        site
        for site in objects.calls_in(scope, BACKWARD)
        if isinstance(site.call.func, ir.Attribute)
    )
    return tuple(sorted(found, key=lambda site: site.point.statement.site))


class _Turn:
    """One turn of the loop that a clip stands in, or one call of its function."""

    def __init__(self, objects: Objects, clip: CallSite) -> None:
        self._objects, self._clip = objects, clip
        self._loop = next(loops_around(clip.point), None)
        self._blocks = {id(here.block) for here in clip.point.around}

    def place(self, site: CallSite) -> int:
        return site.point.statement.site

    def calls(self, names: Collection[str]) -> Iterator[CallSite]:
        """The calls of these names in the same turn as the clip."""
        for site in self._objects.calls_in(self._clip.point.scope, names):
            if self._is_inside(site.point) and not exclude(site.point, self._clip.point):
                yield site

    def first_pass(self) -> CallSite | None:
        """The first backward pass of the turn."""
        passes = _passes_of(self._objects, self._clip.point.scope)
        found = (
            site
            for site in passes
            if self._is_inside(site.point) and not exclude(site.point, self._clip.point)
        )
        return next(found, None)

    def _is_inside(self, point: Point) -> bool:
        return self._loop is None or any(here.owner is self._loop for here in point.around)

    def always(self, site: CallSite) -> bool:
        """Is a call made in each turn that clips?"""
        return all(
            id(here.block) in self._blocks
            for here in site.point.around
            if isinstance(here.owner, (ir.If, ir.For, ir.While, ir.Try))
        )

    def may_have_gradients(self) -> bool:
        """Does the turn make gradients before the clip, by hand or in a function?"""
        for point in self._objects.points_in(self._clip.point.scope):
            if point.statement.site > self.place(self._clip) or not self._is_inside(point):
                continue
            if "grad" in ir.tokens_of(point.statement):
                return True
            for call in calls_of(point.statement):
                if self._goes_backward(CallSite(call, point)):
                    return True
        return False

    def _goes_backward(self, site: CallSite) -> bool:
        called = self._objects.callee(site)
        if called is None and isinstance(site.call.func, ir.Name):
            there = self._objects.module.imported(site.call.func.id)
            called = there[1] if there is not None else None
        return isinstance(called, ir.Function) and not BACKWARD.isdisjoint(called.tokens)
