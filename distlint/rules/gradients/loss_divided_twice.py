"""DST627: a loss that is divided by the number of accumulated batches, which is done for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.gates import gates_before
from distlint.analyzer.static.names import nodes_of, placed
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.fixers import statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._branches import Setting, contradict, settings_of
from distlint.rules.gradients._dividing import Dividing, dividing_in, is_own
from distlint.rules.gradients._divisions import Division, is_same_number, scaling_of
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class LossDividedTwice(SourceRule):
    """A loss is divided by the number of accumulated batches, and the framework divides it again.

    ```python
    accelerator = Accelerator(gradient_accumulation_steps=args.steps)
    loss = model(**batch).loss
    loss = loss / args.steps  # bad: `backward` divides as well
    accelerator.backward(loss)
    ```

    ## Use instead

    ```python
    accelerator = Accelerator(gradient_accumulation_steps=args.steps)
    loss = model(**batch).loss
    accelerator.backward(loss)
    ```

    Alternatively, keep the division, and do not pass the number to `Accelerator`.

    ## Why is this bad?

    The gradients of the accumulated batches are added up, so each loss has to be divided by their
    number once. `accelerator.backward` does so, `backward` of a DeepSpeed engine too, and so does
    Lightning with what `training_step` returns. Divided twice, the gradients are an n-th of what
    they should be: with SGD the learning rate is too small by that factor, and clipping, weight
    decay and the epsilon of Adam weigh more than intended. Nothing fails.

    ## What is reported

    - Accelerate: what `accelerator.backward` is given was divided by the number that
      `Accelerator(gradient_accumulation_steps=...)`, `GradientAccumulationPlugin(num_steps=...)` or
      `DeepSpeedPlugin(gradient_accumulation_steps=...)` got, by the same variable or option, or by
      `accelerator.gradient_accumulation_steps`.
    - DeepSpeed: `engine.backward(loss / n)`, where `n` is `engine.gradient_accumulation_steps()`,
      or what the configuration in the code has under `gradient_accumulation_steps`.
    - Lightning: `training_step` returns a loss that is divided by
      `self.trainer.accumulate_grad_batches`, or by what `Trainer(accumulate_grad_batches=...)` got.

    The division may be in another function or file, in several statements, or written as
    `loss.div(n)` or `loss * (1 / n)`.

    ## What is not reported

    - `Accelerator` without a number, or with 1: it divides by 1. The number may still come from
      `accelerate launch --gradient_accumulation_steps`, which is not looked at.
    - Other divisors: tokens, losses, the number of processes.
    - `Fabric.backward`, `manual_backward` and `Trainer` of transformers.
    - DeepSpeed with `scale_wrt_gas=False` or in `no_sync()`, where it does not divide.

    ## Fix safety

    Unsafe: the division is removed, so the gradients grow by that factor, and the learning rate may
    have been chosen without it.

    ## References

    - [Accelerate: gradient accumulation](https://huggingface.co/docs/accelerate/usage_guides/gradient_accumulation)
    - [DeepSpeed: training API](https://deepspeed.readthedocs.io/en/latest/training.html)
    - [Lightning: accumulate gradients](https://lightning.ai/docs/pytorch/stable/advanced/training_tricks.html#accumulate-gradients)
    """

    code = "DST627"
    name = "loss-divided-twice"
    severity = Severity.WARNING

    good = (
        Example(
            title="Divided by the Accelerator",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

steps = 4
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=steps)
model = torch.nn.Linear(2, 1, bias=False)
for _ in range(steps):
    loss = model(torch.ones(1, 2)).sum()
    accelerator.backward(loss)
assert torch.allclose(model.weight.grad, torch.ones(1, 2))
""",
        ),
        Example(
            title="Divided by hand only",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

steps = 4
accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(2, 1, bias=False)
for _ in range(steps):
    loss = model(torch.ones(1, 2)).sum() / steps
    accelerator.backward(loss)
assert torch.allclose(model.weight.grad, torch.ones(1, 2))
""",
        ),
        Example(
            title="Divided for the log",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

steps, logged = 4, 0.0
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=steps)
model = torch.nn.Linear(2, 1, bias=False)
for _ in range(steps):
    loss = model(torch.ones(1, 2)).sum()
    logged += loss.item() / steps
    accelerator.backward(loss)
assert torch.allclose(model.weight.grad, torch.ones(1, 2))
""",
        ),
    )

    bad = (
        Example(
            title="A quarter of the gradient",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

steps = 4
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=steps)
model = torch.nn.Linear(2, 1, bias=False)
for _ in range(steps):
    loss = model(torch.ones(1, 2)).sum()
    loss = loss / steps  # expect: DST627
    accelerator.backward(loss)
grad = model.weight.grad
assert torch.allclose(grad, torch.ones(1, 2)), f"the gradient is {grad}"
""",
        ),
        Example(
            title="In the call, with a plugin",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from accelerate.utils import GradientAccumulationPlugin

plugin = GradientAccumulationPlugin(num_steps=2)
accelerator = Accelerator(cpu=True, gradient_accumulation_plugin=plugin)
model = torch.nn.Linear(2, 1, bias=False)
for _ in range(2):
    loss = model(torch.ones(1, 2)).sum()
    accelerator.backward(loss / accelerator.gradient_accumulation_steps)  # expect: DST627
grad = model.weight.grad
assert torch.allclose(grad, torch.ones(1, 2)), f"the gradient is {grad}"
""",
        ),
        Example(
            title="Lightning divides what the step returns",
            effect="static",
            why_static="it shows in the gradients that Lightning makes",
            code="""\
import lightning as L
import torch


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        loss = self.net(batch).mean()
        return loss / self.trainer.accumulate_grad_batches  # expect: DST627


def fit(loader):
    trainer = L.Trainer(devices=2, strategy="ddp", accumulate_grad_batches=4)
    trainer.fit(Regression(), loader)
""",
        ),
        Example(
            title="A DeepSpeed engine divides",
            effect="static",
            why_static="it needs DeepSpeed",
            code="""\
import deepspeed


def train(args, model, loader):
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": args.accumulation,
    }
    engine, *_ = deepspeed.initialize(model=model, config=config)
    for batch in loader:
        loss = engine(batch).mean()
        engine.backward(loss / args.accumulation)  # expect: DST627
        engine.step()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        objects = objects_across(module, catalogue)
        seen: set[int] = set()
        for dividing in dividing_in(objects):
            for division in _repeated(objects, dividing):
                place = division.point if division.point.scope.module is module else dividing.point
                if place.statement.site not in seen:
                    seen.add(place.statement.site)
                    yield self._finding(dividing, division, place, module, catalogue, locators)

    def _finding(
        self,
        dividing: Dividing,
        division: Division,
        place: Point,
        module: Module,
        catalogue: Catalogue,
        locators: Locators,
    ) -> Finding:
        locator = locators.of(module.key)
        related = []
        if place is not division.point:
            there = locators.of(division.point.scope.module.key)
            related.append(Related("divided here", there.place(division.site)))
        elif division.point.statement is not dividing.point.statement:
            related.append(Related(dividing.where, locator.place(dividing.point.statement.site)))
        draft = Draft(locator, module, catalogue)
        return self.finding(
            message=f"loss is divided by the accumulation steps, and again by {dividing.by}",
            severity=Severity.WARNING,
            place=locator.place(place.statement.site),
            related=tuple(related),
            effect="the gradients are too small by the number of accumulated batches",
            help=f"Remove the division: {dividing.by} divides",
            fix=partial(_fix, division, draft) if place is division.point else None,
        )


# ---- whether a loss was divided by the same number before


def _repeated(objects: Objects, dividing: Dividing) -> Iterator[Division]:
    """The divisions of a loss by the number that it is divided by again."""
    scaling = scaling_of(objects, dividing.loss, dividing.point)
    if any(_is_number(objects, *factor, dividing) for factor in scaling.factors):
        return
    for division in scaling.divisions:
        if (
            _is_number(objects, division.divisor, division.point, dividing)
            and not _is_mean_of_parts(division)
            and not _excluded(objects, division, dividing)
        ):
            yield division


def _is_number(objects: Objects, node: ir.Expr, point: Point, dividing: Dividing) -> bool:
    return is_own(objects, node, point, dividing.own) or any(
        is_same_number(objects, node, point, number, at) for number, at in dividing.numbers
    )


def _is_mean_of_parts(division: Division) -> bool:
    """Is it the mean of as many losses as are added up, by a number that is written there?"""
    return isinstance(division.divisor, ir.Literal) and not (
        path_of(division.value) is not None or isinstance(division.value, ir.Call)
    )


def _excluded(objects: Objects, division: Division, dividing: Dividing) -> bool:
    """Is the loss divided only where it is not given to what divides?

    Also where it is divided on some other condition than that of accumulating at all.
    """
    there = _settings(objects, division.point)
    if contradict(there, _settings(objects, dividing.point)):
        return True
    around = {id(here.owner) for here in dividing.point.around}
    named = ir.tokens_of(division.divisor)
    return division.point.scope is dividing.point.scope and any(
        isinstance(here.owner, ir.If)
        and id(here.owner) not in around
        and named.isdisjoint(ir.tokens_of(here.owner.test))
        for here in division.point.around
    )


def _settings(objects: Objects, point: Point) -> set[Setting]:
    found: set[Setting] = set()
    for gate in gates_before(point):
        if gate.wanted is not None:
            found |= settings_of(objects.at(point), gate.test, gate.wanted, gate.place)
    return found


# ---- the fix


def _fix(division: Division, draft: Draft) -> Fix:
    statement = division.point.statement
    if any(
        isinstance(here.owner, ir.If) and len(here.block) == 1
        for here in division.point.around[-1:]
    ):
        raise CannotFix("nothing would be left in the branch")
    if _is_multiplied_back(division):
        raise CannotFix("what is reported of the loss would be too large")
    small = draft.locator.node(statement.site)
    if isinstance(small, cst.AugAssign) or (
        isinstance(small, cst.Assign) and _is_itself(draft, small)
    ):
        statements.remove(draft, small)
    else:
        _undivide(draft, getattr(small, "value", None))
    return draft.fix("unsafe", "Remove the division")


def _is_multiplied_back(division: Division) -> bool:
    """Does its function multiply the loss by the number again, such as for a log?"""
    loss = ir.last_name(division.value)
    factor = path_of(division.divisor)
    return factor is not None and any(
        isinstance(node, ir.Binary)
        and node.op == "*"
        and factor in (path_of(node.left), path_of(node.right))
        and loss in ir.tokens_of(node)
        for statement, _ in placed(division.point.scope.body)
        for node in nodes_of(statement)
    )


def _is_itself(draft: Draft, small: cst.Assign) -> bool:
    """``loss = loss / n``."""
    value = small.value
    return (
        len(small.targets) == 1
        and isinstance(value, cst.BinaryOperation)
        and isinstance(value.operator, cst.Divide)
        and draft.text(small.targets[0].target) == draft.text(value.left)
    )


def _undivide(draft: Draft, value: object) -> None:
    """Put what is divided in the place of the quotient."""
    if isinstance(value, cst.Call) and len(value.args) == 1:
        value = value.args[0].value
    if not isinstance(value, cst.BinaryOperation) or not isinstance(value.operator, cst.Divide):
        raise CannotFix("the division is a part of something larger")
    draft.replace(value, draft.text(value.left))
