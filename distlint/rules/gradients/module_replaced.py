"""DST618: a model that gets other layers on one rank, before all of them wrap it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import Around
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_RESIZES = frozenset({"resize_token_embeddings", "add_module", "register_module"})
_MOVES = frozenset({"cuda", "to", "train", "float", "half", "bfloat16"})
_WRAPS = frozenset(
    {
        "prepare", "prepare_model", "DistributedDataParallel", "DDP", "initialize", "setup",
        "FullyShardedDataParallel", "FSDP", "fully_shard",
    }
)  # fmt: skip


class ModuleReplacedOnOneRank(SourceRule):
    """A layer is replaced inside a rank check before all ranks wrap the model.

    ```python
    if dist.get_rank() == 0:
        net.head = nn.Linear(512, 10)  # bad: other ranks keep the old layer
    model = DDP(net)
    ```

    ## Use instead

    ```python
    net.head = nn.Linear(512, 10)
    model = DDP(net)
    ```

    DDP broadcasts the weights of rank 0 at construction, so that even random weights are the same
    on all ranks afterwards.

    ## Why is this bad?

    The ranks train different models. If shapes differ, DDP raises an error at construction or waits
    for parameters that the other ranks do not have. If they agree, a layer with new random weights
    may be overwritten, or reduced with a different layer.

    ## What is reported

    `model.layer = nn.Linear(...)` (or another class of `torch.nn`),
    `model.resize_token_embeddings(...)` or `model.add_module(...)` in a block that only some ranks
    run, also by a function of the project that is called there, if the same model is later passed
    to `prepare`, `DistributedDataParallel`, FSDP or `deepspeed.initialize` in the same function.

    ## What is not reported

    - The other ranks replace the same layer in the `else` branch.
    - Only values of parameters change: DDP broadcasts them.
    - The model is wrapped in the same block, or never.

    ## Fix safety

    None: other code in the block may be meant for one rank only.

    ## References

    - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "DST618"
    name = "module-replaced-on-one-rank"
    severity = Severity.WARNING

    good = (
        Example(
            title="On all ranks",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(4, 2))
net.head = torch.nn.Linear(2, 8)
model = DDP(net)
dist.destroy_process_group()
""",
        ),
        Example(
            title="Only weights change, which DDP broadcasts",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.nn.Linear(4, 2)
if dist.get_rank() == 0:
    with torch.no_grad():
        net.weight.zero_()
model = DDP(net)
assert not model.module.weight.any()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A wider head on rank 0",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(4, 2))
net.head = torch.nn.Linear(2, 4)
if dist.get_rank() == 0:
    net.head = torch.nn.Linear(2, 8)  # expect: DST618
model = DDP(net)
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _WRAPS.isdisjoint(module.tokens):
            return
        objects = objects_across(module, catalogue)
        replacements = list(_replacements(objects))
        arms = {(id(guard), model, _arm(guard, point)) for point, guard, model, _ in replacements}
        for point, guard, model, what in replacements:
            if _is_done_by_others(guard, what):
                continue
            if (id(guard), model, not _arm(guard, point)) in arms:
                continue
            wrap = _wrapped_after(objects, model, point, guard)
            if wrap is None:
                continue
            locator = locators.of(module.key)
            yield self.finding(
                message=f"`{'.'.join(model)}` gets a different layer on some ranks",
                severity=Severity.WARNING,
                place=locator.place(point.statement.site),
                related=(
                    Related("only some ranks run this block", locator.place(guard.site)),
                    Related("all ranks wrap the model here", locator.place(wrap.site)),
                ),
                effect="the ranks have different parameters, and wrapping the model fails or hangs",
                help="Change the model on all ranks",
            )


def _replacements(objects: Objects) -> Iterator[tuple[Point, ir.If, Path, str]]:
    """Where a model gets another layer under a test of the rank.

    The test, the model, and what is written or called.
    """
    for point in objects.points:
        statement = point.statement
        guard = _rank_branch(point.around) if isinstance(statement, ir.Assign) else None
        if guard is None or not isinstance(statement, ir.Assign):
            continue
        if _makes_layer(objects, statement.value, point):
            for target in statement.targets:
                owner = path_of(target.value) if isinstance(target, ir.Attribute) else None
                if owner is not None and isinstance(target, ir.Attribute):
                    yield point, guard, owner, target.attr
    for call, point in objects.nodes(ir.Call):
        guard = _rank_branch(point.around) if call.args else None
        for owner, name in _by_function(objects, CallSite(call, point)) if guard else ():
            if guard is not None:
                yield point, guard, owner, name
    for site in objects.calls(_RESIZES):
        guard = _rank_branch(site.point.around)
        if guard is not None and isinstance(site.call.func, ir.Attribute):
            owner = path_of(site.call.func.value)
            if owner is not None:
                yield site.point, guard, owner, site.name


def _by_function(objects: Objects, site: CallSite) -> Iterator[tuple[Path, str]]:
    """The models to which a function of the project gives a layer, and the name of the function."""
    found = function_called(objects, site)
    if found is None:
        return
    there, function = found
    scope = there.scope_of(function)
    params = [each.name for each in function.params if not each.star][bool(function.owner) :]
    for point in there.points_in(scope) if scope is not None else ():
        statement = point.statement
        if isinstance(statement, ir.Assign) and _makes_layer(there, statement.value, point):
            for target in statement.targets:
                path = path_of(target) if isinstance(target, ir.Attribute) else None
                if path is not None and path[0] in params:
                    given = objects.argument(site, path[0], params.index(path[0])).value
                    owner = path_of(given)
                    if owner is not None:
                        yield owner, function.name


def _makes_layer(objects: Objects, value: ir.Expr, point: Point) -> bool:
    for origin in objects.origins(value, point):
        called = objects.called(origin.site) if origin.site is not None else ""
        if called.startswith("torch.nn.") and called.rpartition(".")[2][:1].isupper():
            return True
    return False


def _rank_branch(around: tuple[Around, ...]) -> ir.If | None:
    """The innermost test of the rank that a statement stands under."""
    owners = (here.owner for here in reversed(around))
    return next((o for o in owners if isinstance(o, ir.If) and asks_rank(o.test)), None)


def _arm(guard: ir.If, point: Point) -> bool:
    """Does a statement stand in the body of a test, and not in its ``else``?"""
    return any(here.owner is guard and here.block is guard.body for here in point.around)


def _is_done_by_others(guard: ir.If, what: str) -> bool:
    """Do both branches write or call this?"""
    return all(what in ir.block_tokens(block) for block in (guard.body, guard.orelse))


def _wrapped_after(objects: Objects, model: Path, point: Point, guard: ir.If) -> ir.Call | None:
    """The call further down in the same function that wraps the model for all ranks."""
    for site in objects.calls(_WRAPS):
        if site.point.scope is not point.scope or site.call.site < point.statement.site:
            continue
        if any(here.owner is guard for here in site.point.around):
            return None
        for argument in site.call.args:
            path = path_of(_unmoved(argument.value))
            if path is not None and model[: len(path)] == path:
                return site.call
    return None


def _unmoved(node: ir.Expr) -> ir.Expr:
    """The model in ``model.cuda()`` and ``model.to(device)``."""
    while isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
        if node.func.attr not in _MOVES:
            break
        node = node.func.value
    return node
