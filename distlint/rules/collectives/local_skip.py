"""DST117: one rank skips a step that the others take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import under_rank_test
from distlint.analyzer.static.names import calls_of, nodes_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.rules.base import Example, SourceRule, WitnessRule
from distlint.rules.collectives._repair import agreed_skip
from distlint.rules.collectives._wording import condition, proviso
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.catalogue.catalogue import Catalogue
    from distlint.fixers.draft import Draft
    from distlint.source.document import Document
    from distlint.source.finding import Fix

_HEALTH = frozenset({"isnan", "isinf", "isfinite"})
_COMBINES = frozenset({"all_reduce", "reduce", "gather", "all_gather", "all_gather_object"})


class RankLocalSkip(WitnessRule, SourceRule):
    """A rank skips a synchronized step because of its local data, while the other ranks run it.

    ```python
    for batch in loader:
        loss = model(batch).mean()
        if torch.isnan(loss):  # NaN on this rank only
            continue
        loss.backward()
    ```

    ## Use instead

    ```python
    for batch in loader:
        loss = model(batch).mean()
        bad = torch.isnan(loss).float()
        dist.all_reduce(bad, op=dist.ReduceOp.MAX)
        if bad.item():
            continue
        loss.backward()
    ```

    Run the step on all ranks or on none. Instead of skipping it on all ranks, you can also run it
    and make it harmless: `loss = torch.nan_to_num(loss) * 0`.

    ## Why is this bad?

    The rank that skips goes on to the next step. Its next all-reduce is matched with the one that
    it skipped, so that from then on all gradients mix two batches. The job stops only when the
    number of calls no longer matches, often at the end of the epoch. If rank 0 decides for all
    ranks, a NaN on another rank goes into the gradients of all ranks.

    ## What is reported

    - A `continue` or `return` on a rank-local value (the loss of this rank is NaN, its batch is
      empty, its sequence is too long), with a collective, a wrapped forward or a backward after it.
    - In Lightning, `return None` from `training_step`, which raises an error in version 2.6.
    - A test for NaN on the data of one rank, the result of which that rank broadcasts to all ranks.

    ## What is not reported

    - The ranks agree on the skip first.
    - Nothing after the skip synchronizes.
    - The condition is the same on all ranks, such as a step counter.
    - The function combines the values of all ranks before it tests them on one rank.

    ## Fix safety

    Unsafe: with `any_rank(...)` around the condition, all ranks skip if one of them has to, which
    loses the good batches of the other ranks in that step.

    ## References

    - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "DST117"
    name = "rank-local-skip"
    rank = 90

    good = (
        Example(
            title="Rank 0 tests the reduced loss",
            code="""\
import torch
import torch.distributed as dist


def is_broken(loss):
    total = loss.clone()
    dist.all_reduce(total)
    found = torch.zeros(1)
    if dist.get_rank() == 0:
        found += float(torch.isnan(total))
    dist.broadcast(found, src=0)
    return bool(found.item())


dist.init_process_group("gloo")
print("broken =", is_broken(torch.ones(())))
dist.destroy_process_group()
""",
        ),
        Example(
            title="All ranks skip if one of them has to",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
for step in range(3):
    batch = torch.ones(4, 2)
    if step == 1 and dist.get_rank() == 1:
        batch[0, 0] = float("nan")
    loss = model(batch).mean()
    bad = torch.isnan(loss).float()
    dist.all_reduce(bad, op=dist.ReduceOp.MAX)
    if bad.item():
        continue
    loss.backward()
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The step runs with weight zero",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
for step in range(3):
    batch = torch.ones(4, 2)
    valid = not (step == 1 and dist.get_rank() == 1)
    loss = model(batch).mean() * float(valid)
    loss.backward()
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Samples are dropped before the batch is built",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
for step in range(2):
    kept = []
    for sample in torch.randn(6):
        if sample.item() < 0:
            continue
        kept.append(sample)
    total = torch.tensor(float(len(kept)))
    dist.all_reduce(total)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Rank 0 tests for NaN and broadcasts the result",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist


def is_broken(loss):
    found = torch.zeros(1)
    if dist.get_rank() == 0:
        found += float(torch.isnan(loss))
    dist.broadcast(found, src=0)  # expect: DST117
    return bool(found.item())


dist.init_process_group("gloo")
loss = torch.tensor(float("nan") if dist.get_rank() == 1 else 1.0)
print("broken =", is_broken(loss))
assert is_broken(loss) or not torch.isnan(loss)
dist.destroy_process_group()
""",
        ),
        Example(
            title="A rank skips its batch with NaN",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
for step in range(3):
    batch = torch.ones(4, 2)
    if step == 1 and dist.get_rank() == 1:
        batch[0, 0] = float("nan")
    loss = model(batch).mean()
    if torch.isnan(loss):
        continue  # expect: DST117
    loss.backward()
dist.barrier()
""",
        ),
        Example(
            title="A rank without anything to score",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist


def score(batch):
    mask = batch > 0.5
    if not mask.any():
        return None  # expect: DST117
    total = batch[mask].sum()
    dist.all_reduce(total)
    return total.item()


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
for step in range(8):
    score(torch.rand(2))
dist.barrier()
""",
        ),
        Example(
            title="training_step returns None",
            effect="fail",
            needs=("lightning",),
            code="""\
import lightning as L
import torch
from torch.utils.data import DataLoader


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        loss = self.layer(batch).pow(2).mean()
        if torch.isnan(loss):
            return None  # expect: DST117
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


data = torch.ones(16, 4)
data[5] = float("nan")
quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_steps=4, **quiet)
trainer.fit(Model(), DataLoader(data, batch_size=2))
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return witness.cause.kind == "local" and witness.cause.exit is not None

    def message(self, witness: Witness) -> str:
        return (
            f"`{witness.cause.exit}` on {condition(witness)} may skip the step on one rank only"
            f"{proviso(witness)}"
        )

    def help(self, witness: Witness) -> str:
        return "`all_reduce` a skip flag with `MAX`, and skip on its result on all ranks"

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return agreed_skip(witness, draft)

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        """Flags that one rank makes of its own data and broadcasts."""
        if "broadcast" not in module.tokens or _HEALTH.isdisjoint(module.tokens):
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for site in objects.calls({"broadcast"}):
            flag = path_of(objects.argument(site, "tensor", 0).value)
            if flag is None or not objects.is_call_to(site, "torch.distributed.broadcast"):
                continue
            tested = _tested_on_one(objects, site, flag)
            if tested is not None:
                yield self.finding(
                    message=f"`{'.'.join(flag)}` covers one rank's data but is broadcast to all "
                    "ranks",
                    severity=Severity.WARNING,
                    place=locator.place(site.call.site),
                    related=(Related("tested on one rank", locator.place(tested.statement.site)),),
                    effect="NaN or Inf on the other ranks goes unnoticed",
                    help="Test on all ranks and `all_reduce` the flag with `MAX`",
                )


def _tested_on_one(objects: Objects, site: CallSite, flag: tuple[str, ...]) -> Point | None:
    """Where a flag gets its value from a test for NaN inside a test of the rank."""
    found: Point | None = None
    for point in objects.points_in(site.point.scope):
        if point.statement.site >= site.point.statement.site:
            continue
        for call in calls_of(point.statement):
            if ir.last_name(call.func) in _COMBINES:
                return None
        if under_rank_test(point.around):
            if _binds(point.statement, flag) and any(
                isinstance(node, ir.Call) and ir.last_name(node.func) in _HEALTH
                for node in nodes_of(point.statement)
            ):
                found = point
    return found


def _binds(statement: ir.Stmt, flag: tuple[str, ...]) -> bool:
    targets: tuple[ir.Expr, ...] = ()
    if isinstance(statement, ir.Assign):
        targets = statement.targets
    elif isinstance(statement, ir.AugAssign):
        targets = (statement.target,)
    return any(path_of(target) == flag for target in targets)
