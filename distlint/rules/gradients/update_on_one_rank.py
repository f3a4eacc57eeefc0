"""DST625: an optimizer, a schedule or the parameters, changed on some ranks only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.guards.gates import Gate
from distlint.analyzer.static.guards.guards import Guards, guards_of
from distlint.analyzer.static.guards.rank_tests import may_name_rank
from distlint.analyzer.static.guards.selected_ranks import selecting_gate
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite, is_none
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._training_after import TrainingAfter
from distlint.rules.gradients._updates import Update, updates
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.names import Scope
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_UPDATES = frozenset(
    {
        "step", "step_update", "zero_grad", "param_groups", "load_state_dict", "parameters",
        "clip_grad_norm_", "clip_grad_value_",
    }
)  # fmt: skip
_DEPTH = 2
"""How many calls are followed from a rank check to an update."""


class UpdateOnOneRank(SourceRule):
    """An optimizer, a learning rate or the parameters are changed on some ranks only.

    ```python
    train(model, optimizer)
    if dist.get_rank() == 0:
        scheduler.step()  # bad: the other ranks keep the old learning rate
    ```

    ## Use instead

    ```python
    train(model, optimizer)
    scheduler.step()
    if dist.get_rank() == 0:
        print("learning rate", scheduler.get_last_lr())
    ```

    ## Why is this bad?

    DDP broadcasts the parameters once, at construction. After that it only averages gradients: the
    replicas stay the same because each rank makes the same updates. Where one rank has a different
    learning rate, a different state of the optimizer or different weights, the replicas drift apart
    without an error, and the checkpoint of rank 0 is that of a model that the other ranks do not
    have.

    ## What is reported

    Inside a rank check, or after an early exit of the other ranks:

    - `optimizer.step()`, `scaler.step(optimizer)`, `scheduler.step()` and `zero_grad()`;
    - `group["lr"] = ...` for a group of `optimizer.param_groups`, and the same for weight decay,
      momentum, betas and eps;
    - `clip_grad_norm_` of torch;
    - `load_state_dict` of an optimizer or a scheduler, and of a model that DDP or Accelerate has
      wrapped already;
    - changes in place of the parameters of such a model: `p.data.mul_(0.5)`;
    - a call of a function of the project that does one of these.

    Afterwards, or in the same loop, all ranks run a backward pass. One finding for each check.

    ## What is not reported

    - The other ranks do the same in the other branch.
    - The optimizer or the model is made on these ranks only, such as an average of the weights.
    - Something is broadcast or sent afterwards.
    - No rank trains afterwards, or only those: the best checkpoint is loaded for a final test.
    - A model that DDP wraps later: it broadcasts the weights of rank 0.
    - Checks for a single process, such as `local_rank == -1`.
    - A state that is loaded for a while: what was kept before is loaded again.

    ## Fix safety

    None: other code in the block may be meant for one rank only.

    ## References

    - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    - [PyTorch: DDP internal design](https://docs.pytorch.org/docs/stable/notes/ddp.html#internal-design)
    """

    code = "DST625"
    name = "update-on-one-rank"
    severity = Severity.WARNING

    good = (
        Example(
            title="Only the message is for rank 0",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
for epoch in range(3):
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    scheduler.step()
    if dist.get_rank() == 0:
        print("learning rate", scheduler.get_last_lr())
weights = [torch.empty(1, 2) for _ in range(dist.get_world_size())]
dist.all_gather(weights, model.module.weight.data)
assert torch.equal(weights[0], weights[1])
dist.destroy_process_group()
""",
        ),
        Example(
            title="An average of the weights that only rank 0 has",
            code="""\
import copy

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank = dist.get_rank()
model = DDP(torch.nn.Linear(2, 1))
average = copy.deepcopy(model.module) if rank == 0 else None
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    if rank == 0:
        for mean, current in zip(average.parameters(), model.module.parameters()):
            mean.data.lerp_(current.data, 0.1)
dist.destroy_process_group()
""",
        ),
        Example(
            title="Rank 0 takes the step and broadcasts the weights",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    model(torch.randn(4, 2)).sum().backward()
    for parameter in model.parameters():
        dist.reduce(parameter.grad, dst=0)
    if rank == 0:
        optimizer.step()
    optimizer.zero_grad()
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A schedule that advances on rank 0",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
for epoch in range(3):
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    if dist.get_rank() == 0:
        scheduler.step()  # expect: DST625
        print("learning rate", scheduler.get_last_lr())
weights = [torch.empty(1, 2) for _ in range(dist.get_world_size())]
dist.all_gather(weights, model.module.weight.data)
assert torch.equal(weights[0], weights[1]), "the replicas differ"
""",
        ),
        Example(
            title="A learning rate that rank 0 lowers",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def set_rate(optimizer, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        if dist.get_rank() == 0:
            print("epoch", epoch)
            set_rate(optimizer, 0.1 / (1 + epoch))  # expect: DST625
        model(torch.randn(4, 2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    weights = [torch.empty(1, 2) for _ in range(dist.get_world_size())]
    dist.all_gather(weights, model.module.weight.data)
    assert torch.equal(weights[0], weights[1]), "the replicas differ"


main()
""",
        ),
        Example(
            title="A state of the optimizer that only rank 0 loads",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
net(torch.ones(4, 2)).sum().backward()
optimizer.step()
checkpoint = {"net": net.state_dict(), "optimizer": optimizer.state_dict()}

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
if dist.get_rank() == 0:
    model.module.load_state_dict(checkpoint["net"])  # expect: DST625
    optimizer.load_state_dict(checkpoint["optimizer"])
for step in range(2):
    optimizer.zero_grad()
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
weights = [torch.empty(1, 2) for _ in range(dist.get_world_size())]
dist.all_gather(weights, model.module.weight.data)
assert torch.equal(weights[0], weights[1]), "the replicas differ"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if not may_name_rank(module.tokens):
            return
        guards = guards_of(module, catalogue)
        training = TrainingAfter()
        by_test: dict[int, list[_Some]] = {}
        for each in _some_ranks(guards, training):
            by_test.setdefault(each.gate.place.statement.site, []).append(each)
        for together in by_test.values():
            together.sort(key=lambda each: each.point.statement.site)
            first, *others = together
            if not guards.on_many_ranks(first.point.scope):
                continue
            in_training = any(each.in_training for each in together)
            if not training.follows(guards, first.point, in_training=in_training):
                continue
            locator = locators.of(module.key)
            test = first.gate.place.statement.site
            yield self.finding(
                message=f"only some ranks {first.what}",
                severity=Severity.WARNING,
                place=locator.place(first.point.statement.site),
                related=(
                    Related("some ranks do not pass this test", locator.place(test)),
                    *(
                        Related("neither is this for all ranks", locator.place(site))
                        for site in sorted({each.point.statement.site for each in others})
                    ),
                ),
                effect="the replicas silently drift apart: DDP only averages gradients",
                help="Do it on all ranks, or broadcast the result",
            )


def _objects(guards: Guards) -> Objects:
    return objects_across(guards.objects.module, guards.objects.catalogue)


class _Some(NamedTuple):
    """An update after a test of the rank."""

    point: Point
    gate: Gate
    what: str
    in_training: bool


def _some_ranks(guards: Guards, training: TrainingAfter) -> Iterator[_Some]:
    """The updates of a module, by itself or by a function that it calls, for some ranks only."""
    objects = _objects(guards)
    for update in updates(objects) if not _UPDATES.isdisjoint(objects.module.tokens) else ():
        gate = selecting_gate(objects, update.point)
        if gate is not None and not _is_own(guards, update):
            if not _is_done_by_others(update.point, update.word):
                yield _Some(update.point, gate, update.what, update.in_training)
    for point in objects.points:
        if not isinstance(point.statement, (ir.Evaluate, ir.Assign)):
            continue
        for call in calls_of(point.statement):
            called = guards.called(CallSite(call, point))
            gate = selecting_gate(objects, point) if called is not None else None
            if called is None or gate is None:
                continue
            name = ir.last_name(call.func)
            inner = _update_in(*called, training, _DEPTH)
            if inner is not None and not _is_done_by_others(point, name):
                yield _Some(point, gate, f"{inner.what}, by `{name}()`", inner.in_training)


def _update_in(guards: Guards, scope: Scope, training: TrainingAfter, depth: int) -> Update | None:
    """What a function updates on each rank that calls it, where it does not train itself."""
    if training.reaches_backward(guards, scope):
        return None
    for update in updates(_objects(guards), scope):
        if not selecting_gate(guards.objects, update.point) and not _is_own(guards, update):
            return update
    for point in guards.objects.points_in(scope) if depth > 1 else ():
        if isinstance(point.statement, (ir.Evaluate, ir.Assign)):
            for call in calls_of(point.statement):
                called = guards.called(CallSite(call, point))
                inner = _update_in(*called, training, depth - 1) if called is not None else None
                if inner is not None and not selecting_gate(guards.objects, point):
                    return inner
    return None


def _is_own(guards: Guards, update: Update) -> bool:
    """Is what is updated made on some ranks only, or nothing on others?"""
    objects = _objects(guards)
    return any(
        is_none(each.node) or selecting_gate(objects, each.point) is not None
        for each in objects.origins(update.owner, update.point)
    )


def _is_done_by_others(point: Point, word: str) -> bool:
    """Does the other branch of a test around a statement update something like it?"""
    return any(
        isinstance(here.owner, ir.If)
        and all(word in ir.block_tokens(block) for block in (here.owner.body, here.owner.orelse))
        for here in point.around
    )
