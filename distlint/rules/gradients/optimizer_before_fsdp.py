"""DST616: an optimizer that holds the parameters from before the model was sharded."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.hooks import LIGHTNING
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import calls_of, expressions_in
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers import names, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._steps import exclude
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_MODULES = ("lightning.pytorch.LightningModule", "pytorch_lightning.LightningModule")
_FSDP1 = "torch.distributed.fsdp.FullyShardedDataParallel"
_FSDP2 = "torch.distributed.fsdp.fully_shard"
_PARAMETERS = frozenset({"parameters", "named_parameters", "configure_optimizers"})
_OPTIMIZER = re.compile(
    r"^(?:SGD|Adam\w*|NAdam|RAdam|RMSprop|Adagrad|Lion|LAMB|configure_optimizers)$|Optimizer$"
)


class OptimizerBeforeFsdp(SourceRule):
    """An optimizer is created from parameters that FSDP replaces afterwards.

    ```python
    optimizer = torch.optim.AdamW(model.parameters())  # bad: created before sharding
    fully_shard(model)
    loss = model(batch).mean()
    loss.backward()
    optimizer.step()
    ```

    ## Use instead

    ```python
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters())
    loss = model(batch).mean()
    loss.backward()
    optimizer.step()
    ```

    ## Why is this bad?

    Sharding replaces the parameters: FSDP flattens them, and `fully_shard` replaces them with
    `DTensor`s. The optimizer keeps the old parameters, which no longer get gradients. `step()` does
    not change the model, and the loss does not go down, without an error.

    ## What is reported

    - An optimizer that is created from `model.parameters()` before `model = FSDP(model)` or
      `fully_shard(model)` in the same function.
    - An optimizer that is created after `fully_shard(model)` and a forward pass, with no backward
      pass in between: `model.parameters()` are then the gathered parameters, not the shards.
    - As info: an optimizer that a `LightningModule` creates in `__init__` and returns from
      `configure_optimizers`.

    ## What is not reported

    - Optimizers that are created after the wrap, or re-created.
    - `FSDP(..., use_orig_params=True)`, which keeps the parameter objects.
    - Models that Accelerate or Lightning wrap: they handle an optimizer that is created at the
      right time.

    ## Fix safety

    Unsafe: the optimizer is created after the wrap, if both are in the same block. Its steps then
    change the model, which they did not before.

    ## References

    - [PyTorch: FullyShardedDataParallel](https://docs.pytorch.org/docs/stable/fsdp.html)
    - [PyTorch: fully_shard](https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html)
    """

    code = "DST616"
    name = "optimizer-before-fsdp"
    severity = Severity.ERROR
    exceptions = (Severity.INFO,)

    good = (
        Example(
            title="Created after the wrap",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("gloo")
model = FSDP(torch.nn.Linear(4, 4), device_id=torch.device("cpu"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
print("groups =", len(optimizer.param_groups))
dist.destroy_process_group()
""",
        ),
        Example(
            title="An optimizer of another model",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
critic = torch.nn.Linear(4, 1)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
model = torch.nn.Linear(4, 4)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
print("groups =", len(optimizer.param_groups))
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Created in __init__ of a LightningModule",
            effect="static",
            why_static="FSDP in Lightning needs a GPU",
            code="""\
import lightning as L
import torch


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(8, 2)
        self.optimizer = torch.optim.Adam(self.head.parameters())  # expect: DST616

    def configure_optimizers(self):
        return self.optimizer


trainer = L.Trainer(strategy="fsdp", devices=2)
""",
        ),
        Example(
            title="fully_shard replaces the parameters",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # expect: DST616
fully_shard(model, mesh=mesh)
before = model.weight.full_tensor().clone()
model(torch.ones(2, 4)).sum().backward()
optimizer.step()
assert not torch.equal(before, model.weight.full_tensor()), "step() changed nothing"
""",
        ),
        Example(
            title="FSDP flattens the parameters",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("gloo")
net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)  # expect: DST616
model = FSDP(net, device_id=torch.device("cpu"))
held = {id(p) for group in optimizer.param_groups for p in group["params"]}
assert all(id(p) in held for p in model.parameters()), "the optimizer holds other parameters"
""",
        ),
        Example(
            title="Gathered parameters after a forward pass",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
model = torch.nn.Linear(4, 4)
fully_shard(model, mesh=mesh)
print("at first", model(torch.ones(2, 4)).sum().item())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # expect: DST616
before = optimizer.param_groups[0]["params"][0].detach().clone()
model(torch.ones(2, 4)).sum().backward()
optimizer.step()
after = optimizer.param_groups[0]["params"][0].detach()
assert not torch.equal(before, after), "step() changed nothing"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if not LIGHTNING.isdisjoint(module.imported_roots):
            yield from self._made_too_early(objects_across(module, catalogue), module, locators)
        if module.words.isdisjoint({"FullyShardedDataParallel", "fully_shard"}):
            return
        objects = objects_across(module, catalogue)
        for made, wrap in _optimizers_before(objects, list(_wraps(objects))):
            locator = locators.of(module.key)
            yield self.finding(
                message="optimizer is created before the model is sharded (line "
                f"{locator.place(wrap.call.site).span.row})",
                severity=Severity.ERROR,
                place=locator.place(made.call.site),
                related=(Related("the model is sharded here", locator.place(wrap.call.site)),),
                effect="`optimizer.step()` does not change the model",
                help="Create the optimizer after sharding the model",
                fix=partial(_after, made, wrap, Draft(locator, module, catalogue)),
            )
        for made, forward in _made_after_forward(objects):
            locator = locators.of(module.key)
            yield self.finding(
                message="optimizer holds unsharded parameters (forward in line "
                f"{locator.place(forward.call.site).span.row})",
                severity=Severity.ERROR,
                place=locator.place(made.call.site),
                related=(
                    Related("forward pass that gathers them", locator.place(forward.call.site)),
                ),
                effect="`optimizer.step()` does not change the model",
                help="Create the optimizer before the first forward pass",
            )

    def _made_too_early(
        self, objects: Objects, module: Module, locators: Locators
    ) -> Iterator[Finding]:
        """Optimizers that a LightningModule makes with itself, before Lightning shards it."""
        for cls in objects.classes.subclasses_of(*_MODULES):
            method, constructor = (
                cls.methods.get("configure_optimizers"),
                cls.methods.get("__init__"),
            )
            for origin in objects.returns(method) if method is not None else ():
                site = origin.site
                if site is None or site.point.scope.function is not constructor:
                    continue
                if _OPTIMIZER.search(site.name):
                    yield self.finding(
                        message="optimizer is created before Lightning shards the module",
                        severity=Severity.INFO,
                        place=locators.of(module.key).place(site.call.site),
                        effect="under FSDP and DeepSpeed, its steps do not change the model, or it "
                        "is rejected",
                        help="Create the optimizer in `configure_optimizers`",
                    )


def _after(made: CallSite, wrap: CallSite, draft: Draft) -> Fix:
    """The statement that makes the optimizer goes behind the one that shards the model."""
    moved = statements.statement_of(draft, draft.node(made.call.site, cst.Call))
    target = statements.statement_of(draft, draft.node(wrap.call.site, cst.Call))
    block = statements.siblings(draft, moved)
    if target not in block:
        raise CannotFix("the two stand in different blocks")
    between = block[block.index(moved) + 1 : block.index(target) + 1]
    if not names.bound(draft, moved).isdisjoint(names.read(draft, *between)):
        raise CannotFix("the optimizer is used before the wrap")
    if not names.read(draft, moved).isdisjoint(names.bound(draft, *between[:-1])):
        raise CannotFix("what it is made of changes before the wrap")
    indent = statements.indent_of(draft, moved)
    statements.append(draft, target, statements.moved_text(draft, moved, indent, indent))
    statements.remove(draft, moved, comments=True)
    return draft.fix("unsafe", "Create the optimizer after sharding the model")


Made = tuple[CallSite, CallSite]
"""A call in the file, and the one that shards or makes the optimizer: itself, or in a function."""


def _in_place(objects: Objects) -> Iterator[Made]:
    yield from ((site, site) for site in objects.calls_to(_FSDP2))
    for site in (CallSite(*each) for each in objects.nodes(ir.Call)):
        there, function = function_called(objects, site) or (objects, None)
        scope = there.scope_of(function) if function is not None else None
        for wrap in there.calls_in(scope, {_FSDP2.rpartition(".")[2]}) if scope else ():
            if there.is_call_to(wrap, _FSDP2):
                yield site, wrap


def _wraps(objects: Objects) -> Iterator[Made]:
    for site, wrap in objects.made(_FSDP1):
        kept = objects.constant(objects.argument(wrap, "use_orig_params", 13), wrap.point, False)
        if kept is False:
            yield site, wrap
    yield from _in_place(objects)


def _made_after_forward(objects: Objects) -> Iterator[tuple[CallSite, CallSite]]:
    """Optimizers of what a forward pass of a sharded model has gathered, and that forward pass."""
    for wrap, inner in _in_place(objects):
        models = _models(objects, wrap, inner)
        for made in _optimizers(objects, wrap, models):
            if (
                not _before(wrap, made)
                or list(made.point.around)[:-1] != list(wrap.point.around)[:-1]
            ):
                continue
            for point in objects.points_in(wrap.point.scope):
                between = wrap.point.statement.site < point.statement.site
                if between and point.statement.site < made.point.statement.site:
                    forward = _forward(objects, point, models)
                    if forward is not None and not _reshards(objects, forward, made):
                        yield made, forward
                        break


def _forward(objects: Objects, point: Point, models: set[object]) -> CallSite | None:
    for node in calls_of(point.statement):
        called = objects.origins(node.func, point)
        if any(origin.node in models and not origin.attributes for origin in called):
            return CallSite(node, point)
    return None


def _reshards(objects: Objects, forward: CallSite, made: CallSite) -> bool:
    return any(
        forward.point.statement.site <= site.point.statement.site < made.point.statement.site
        for site in objects.calls({"backward", "reshard"})
        if site.point.scope is made.point.scope
    )


def _models(objects: Objects, site: CallSite, wrap: CallSite) -> set[object]:
    """What made the model that a call shards, or has a function shard."""
    wrapped = objects.argument(wrap, "module", 0).value
    found = objects.origins(wrapped, wrap.point) if wrapped is not None else ()
    return _passed_by(objects, site, wrap, {origin.node for origin in found})


def _passed_by(
    objects: Objects, site: CallSite, inner: CallSite, nodes: set[object]
) -> set[object]:
    """Those of the objects in a function that this call of it passes."""
    if site is inner:
        return nodes
    passed = (o for each in site.call.args for o in objects.origins(each.value, site.point))
    return nodes & {origin.node for origin in passed}


def _optimizers_before(objects: Objects, wraps: list[Made]) -> Iterator[Made]:
    """The optimizers of what a model had before it is sharded, where none is made afterwards."""
    for wrap, inner in wraps:
        models = _models(objects, wrap, inner)
        made = list(_optimizers(objects, wrap, models))
        wrapped = {origin.node for origin in objects.origins(wrap.call, wrap.point)}
        if any(_before(wrap, each) for each in _optimizers(objects, wrap, models | wrapped)):
            continue
        for each in made:
            sharded = any(
                other.point.scope is wrap.point.scope
                and _before(other, each)
                and _models(objects, other, there) & models
                for other, there in wraps
            )
            if not sharded:
                yield each, wrap


def _before(one: CallSite, two: CallSite) -> bool:
    return one.point.statement.site < two.point.statement.site


def _optimizers(objects: Objects, wrap: CallSite, models: set[object]) -> Iterator[CallSite]:
    names = {name for name in objects.called_names if _OPTIMIZER.search(name)}
    direct = ((site, site) for site in objects.calls(names))
    for site, made in (*direct, *objects.relayed):
        if site.point.scope is not wrap.point.scope or exclude(site.point, wrap.point):
            continue
        if _OPTIMIZER.search(made.name) and any(
            isinstance(node, ir.Call)
            and isinstance(node.func, ir.Attribute)
            and node.func.attr in _PARAMETERS
            and models
            & _passed_by(
                objects,
                site,
                made,
                {origin.node for origin in objects.origins(node.func.value, made.point)},
            )
            for node in expressions_in(made.call)
        ):
            yield site
