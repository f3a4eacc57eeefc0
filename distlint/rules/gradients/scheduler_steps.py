"""DST622: a scheduler that steps once for each process, told the steps of one process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_PREPARE = "accelerate.Accelerator.prepare"
_SCHEDULERS = {
    "get_scheduler": ("num_training_steps", 3),
    "get_linear_schedule_with_warmup": ("num_training_steps", 2),
    "get_cosine_schedule_with_warmup": ("num_training_steps", 2),
    "get_cosine_with_hard_restarts_schedule_with_warmup": ("num_training_steps", 2),
    "get_polynomial_decay_schedule_with_warmup": ("num_training_steps", 2),
    "CosineAnnealingLR": ("T_max", 1),
    "OneCycleLR": ("total_steps", 2),
}
"""What makes a scheduler, and the parameter that says for how many steps."""

_COUNTS = re.compile(r"num_processes|world_?size|split_batches|n_gpus?")
_OTHERWISE = frozenset({"split_batches", "step_scheduler_with_optimizer"})
_DEPTH = 6


class SchedulerSteps(SourceRule):
    """A scheduler that `accelerator.prepare` wraps is given the number of steps of one process.

    ```python
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    steps = epochs * len(loader)  # batches of one process
    scheduler = CosineAnnealingLR(optimizer, T_max=steps)
    scheduler = accelerator.prepare(scheduler)  # bad: steps once per process
    ```

    ## Use instead

    ```python
    steps = epochs * len(loader)  # batches of all processes
    scheduler = CosineAnnealingLR(optimizer, T_max=steps)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    scheduler = accelerator.prepare(scheduler)
    ```

    Alternatively, multiply the number of steps by `accelerator.num_processes`, or do not prepare
    the scheduler.

    ## Why is this bad?

    A prepared loader has the batches of one process. A prepared scheduler advances by the number of
    processes in each step, because it expects the number of batches of all processes. Combined, the
    schedule ends too early: on eight GPUs after an eighth of the training. The rest runs with the
    last learning rate, or repeats the schedule.

    ## What is reported

    A learning rate scheduler whose length is computed from `len()` of a prepared loader, and that
    is itself passed to `prepare`.

    ## What is not reported

    - The number of processes is part of the computation.
    - The file mentions `split_batches` or `step_scheduler_with_optimizer`.

    ## Fix safety

    None: only the author knows which of the three ways is right.

    ## References

    - [Accelerate: Comparing performance](https://huggingface.co/docs/accelerate/concept_guides/performance)
    """

    code = "DST622"
    name = "scheduler-steps-divided"
    severity = Severity.WARNING

    good = (
        Example(
            title="Counted before the loader is prepared",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
loader = DataLoader(TensorDataset(torch.ones(16, 2)), batch_size=2)
scheduler = CosineAnnealingLR(optimizer, len(loader))
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
for (batch,) in loader:
    accelerator.backward(model(batch).mean())
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
assert scheduler.get_last_lr()[0] < 1e-6
""",
        ),
        Example(
            title="An attribute that is prepared later",
            effect="static",
            why_static="it needs transformers",
            code="""\
from accelerate import Accelerator
from transformers import get_cosine_schedule_with_warmup


class Engine:
    def __init__(self, model, optimizer, loader):
        self.accelerator = Accelerator()
        self.model, self.optimizer = model, optimizer
        super().__init__(loader)

    def start(self, epochs):
        steps = epochs * len(self.loader)
        self.schedule = get_cosine_schedule_with_warmup(self.optimizer, 0, steps)
        self.model, self.optimizer, self.loader, self.schedule = self.accelerator.prepare(
            self.model, self.optimizer, self.loader, self.schedule
        )
""",
        ),
        Example(
            title="Multiplied by the number of processes",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
loader = DataLoader(TensorDataset(torch.ones(16, 2)), batch_size=2)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
steps = len(loader) * accelerator.num_processes
scheduler = accelerator.prepare(CosineAnnealingLR(optimizer, T_max=steps))
assert steps == 8
""",
        ),
    )

    bad = (
        Example(
            title="Twice as fast on two ranks",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
loader = DataLoader(TensorDataset(torch.ones(16, 2)), batch_size=2)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
epochs = 2
steps = epochs * len(loader)
scheduler = CosineAnnealingLR(optimizer, T_max=steps)
scheduler = accelerator.prepare(scheduler)  # expect: DST622
for epoch in range(epochs):
    for (batch,) in loader:
        accelerator.backward(model(batch).mean())
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    if epoch == 0:
        assert scheduler.get_last_lr()[0] > 0.1, "the schedule is over, and half of the training"
""",
        ),
        Example(
            title="A scheduler of transformers",
            effect="static",
            why_static="it needs transformers",
            code="""\
from transformers import get_cosine_schedule_with_warmup


def prepared(accelerator, args, model, optimizer, loader):
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    args.steps = args.epochs * len(loader)
    schedule = get_cosine_schedule_with_warmup(optimizer, args.warmup, args.steps)
    return model, optimizer, loader, accelerator.prepare(schedule)  # expect: DST622
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "prepare" not in module.words or not _OTHERWISE.isdisjoint(module.words):
            return
        if _SCHEDULERS.keys().isdisjoint(module.words):
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for prepare in objects.calls({"prepare"}):
            if objects.called(prepare) != _PREPARE:
                continue
            for scheduler in _schedulers(objects, prepare):
                name, position = _SCHEDULERS[scheduler.name]
                steps = objects.argument(scheduler, name, position).value
                if steps is not None and _is_divided(objects, steps, scheduler.point):
                    yield self.finding(
                        message="prepared scheduler is given the steps of one process",
                        severity=Severity.WARNING,
                        place=locator.place(prepare.call.site),
                        related=(Related("created here", locator.place(scheduler.call.site)),),
                        effect="the schedule runs too fast by a factor of the number of processes",
                        help="Compute the number of steps before the loader is prepared",
                    )


def _schedulers(objects: Objects, prepare: CallSite) -> Iterator[CallSite]:
    """The calls that made the schedulers which are prepared."""
    for argument in prepare.call.args:
        for origin in objects.origins(argument.value, prepare.point):
            if origin.site is not None and origin.site.name in _SCHEDULERS:
                yield origin.site


def _is_divided(objects: Objects, steps: ir.Expr, point: Point) -> bool:
    """Is the length of a prepared loader in a number, and not the number of processes?"""
    found = False
    waiting, seen = [(steps, point, _DEPTH)], set()
    while waiting:
        node, where, depth = waiting.pop()
        if any(_COUNTS.search(token) for token in ir.tokens_of(node)):
            return False
        for part in expressions_in(node):
            if isinstance(part, ir.Call) and ir.last_name(part.func) == "len" and part.args:
                found = found or _is_prepared(objects, part.args[0].value, where)
            elif isinstance(part, (ir.Name, ir.Attribute)) and depth and id(part) not in seen:
                seen.add(id(part))
                waiting += [
                    (origin.node, origin.point, depth - 1)
                    for origin in objects.origins(part, where)
                    if isinstance(origin.node, ir.Expr) and origin.node is not part
                ]
    return found


def _is_prepared(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it surely what Accelerate has made of a loader, before this point?"""
    origins = objects.origins(node, point)
    return bool(origins) and all(
        not _comes_later(origin.point, point)
        and isinstance(origin.node, ir.Call)
        and not origin.attributes
        and objects.called(CallSite(origin.node, origin.point)) == _PREPARE
        for origin in origins
    )


def _comes_later(made: Point, point: Point) -> bool:
    """Is an attribute bound further down in the same function, in no loop?"""
    return (
        made.scope is point.scope
        and made.statement.site > point.statement.site
        and not any(isinstance(here.owner, (ir.For, ir.While)) for here in point.around)
    )
