"""DST104: some ranks leave before a collective that the others reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.process_groups import starts_many
from distlint.analyzer.static.guards.rank_tests import asks_one_process, asks_rank
from distlint.analyzer.static.names import calls_of, placed
from distlint.rules.base import Example, SourceRule, WitnessRule
from distlint.rules.collectives._repair import hoisted
from distlint.rules.collectives._wording import condition, proviso, skipped
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.catalogue.catalogue import Catalogue
    from distlint.fixers.draft import Draft
    from distlint.source.document import Document
    from distlint.source.finding import Fix

_AGREEING = frozenset(
    {
        "broadcast", "broadcast_object_list", "all_reduce", "all_gather", "all_gather_object",
        "reduce", "set_trigger", "check_trigger", "any_rank", "all_ranks",
    }
)  # fmt: skip


class RankDependentExit(WitnessRule, SourceRule):
    """Some ranks return, continue, break or exit before a collective that the other ranks call.

    ```python
    def log_mean(loss):
        if dist.get_rank() != 0:
            return
        dist.all_reduce(loss)  # called on rank 0 only
        print(loss.item())
    ```

    ## Use instead

    ```python
    def log_mean(loss):
        dist.all_reduce(loss)
        if dist.get_rank() == 0:
            print(loss.item())
    ```

    Turn the early exit into a block around the work of the remaining ranks, and leave the
    collective outside of it. If a rank has found an error, raise instead: a non-zero exit status
    ends the job with a message instead of a hang.

    ## Why is this bad?

    The exit is easy to overlook. The collective that hangs may be a hundred lines below it or in
    another function, and looks as if all ranks called it.

    ## What is reported

    A `return`, `continue`, `break` or successful `sys.exit()` under a rank check, with a collective
    after it: later in the function, in its caller, or in the next iteration. If symbolic execution
    does not get that far, a `return` or `break` under a rank check in a loop with a backward is
    reported as well.

    ## What is not reported

    - The remaining ranks call no collective after the exit.
    - The ranks that leave call the same collectives before they leave.
    - The exit is an error (`raise`, `sys.exit(1)`, a failing `assert`).
    - The loop may share the decision with the other ranks: there is a collective in the branch, or
      a collective is passed a value that the branch tests or writes.

    ## Fix safety

    Unsafe: the exit is removed, and the work before and after the collective is put under the
    opposite condition, so that all ranks reach the collective. No fix is offered if that work
    computes an operand of the collective.

    ## References

    - [PyTorch: collective functions](https://docs.pytorch.org/docs/stable/distributed.html#collective-functions)
    """

    code = "DST104"
    name = "rank-dependent-exit"
    rank = 70

    good = (
        Example(
            title="No collective after the return",
            code="""\
import json
import torch
import torch.distributed as dist


def write_report(metrics):
    if dist.get_rank() != 0:
        return
    print(json.dumps(metrics))


dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
write_report({"total": total.item()})
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The ranks that return call the barrier first",
            code="""\
import torch.distributed as dist


def prepare():
    if dist.get_rank() != 0:
        dist.barrier()
        return "read"
    print("building the index")
    dist.barrier()
    return "built"


dist.init_process_group("gloo")
print(f"index was {prepare()} here")
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The main process broadcasts its decision",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, batches, rank, report):
    stop = [False]
    for batch in batches:
        model(batch).mean().backward()
        if rank == 0:
            stop[0] = report(batch)
        dist.broadcast_object_list(stop, src=0)
        if stop[0]:
            return


dist.init_process_group("gloo")
batches = [torch.ones(1, 2)] * 3
train(DDP(torch.nn.Linear(2, 1)), batches, dist.get_rank(), lambda batch: True)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The skipped code has no collective",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
for step in range(3):
    total = torch.tensor(float(rank))
    dist.all_reduce(total)
    if rank != 0:
        continue
    print(f"step {step}: {total.item()}")
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A callback on the main process ends the training",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, batches, rank, report):
    for batch in batches:
        model(batch).mean().backward()
        if rank in (-1, 0):
            report(batch)
            if report.wants_to_stop:
                return  # expect: DST104


class Report:
    wants_to_stop = False

    def __call__(self, batch):
        self.wants_to_stop = True


dist.init_process_group("gloo")
train(DDP(torch.nn.Linear(2, 1)), [torch.ones(1, 2)] * 3, dist.get_rank(), Report())
dist.barrier()
""",
        ),
        Example(
            title="Only the main process tests the reduced loss",
            effect="hang",
            code="""\
import math
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, batches):
    for batch in batches:
        loss = model(batch).mean()
        loss.backward()
        shown = loss.detach().clone()
        dist.all_reduce(shown)
        if dist.get_rank() == 0:
            text = f"loss {shown.item()}"
            print(text)
            if math.isnan(shown.item()):
                return  # expect: DST104


dist.init_process_group("gloo")
train(DDP(torch.nn.Linear(2, 1)), [torch.full((1, 2), math.nan)] * 3)
dist.barrier()
""",
        ),
        Example(
            title="A helper that returns before its barrier",
            effect="hang",
            code="""\
import tempfile
import torch
import torch.distributed as dist


def save(model, folder):
    if dist.get_rank() != 0:
        return  # expect: DST104
    torch.save(model.state_dict(), f"{folder}/model.pt")
    dist.barrier()


dist.init_process_group("gloo")
save(torch.nn.Linear(2, 2), tempfile.mkdtemp())
total = torch.ones(1)
dist.all_reduce(total)
print("total =", total.item())
dist.barrier()
""",
        ),
        Example(
            title="The other ranks skip the rest of the iteration",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
for epoch in range(2):
    loss = torch.tensor(1.0 + rank)
    if rank > 0:
        continue  # expect: DST104
    print(f"epoch {epoch}")
    dist.all_reduce(loss)
dist.destroy_process_group()
""",
        ),
        Example(
            title="A process without work exits with status 0",
            effect="hang",
            ranks=4,
            code="""\
import sys
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    shards = ["a", "b", "c"]
    if rank >= len(shards):
        sys.exit(0)  # expect: DST104
    lines = torch.tensor(len(shards[rank]))
    dist.all_reduce(lines)
    print("lines =", lines.item())


if __name__ == "__main__":
    main()
""",
        ),
        Example(
            title="The main process stops after a dry run",
            effect="hang",
            code="""\
import argparse
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=3)
args = parser.parse_args()
dist.init_process_group("gloo")
master_process = dist.get_rank() == 0
for step in range(args.steps):
    if master_process and step == 1:
        break  # expect: DST104
    grads = torch.ones(4)
    dist.all_reduce(grads)
dist.barrier()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return witness.cause.kind == "rank" and witness.cause.exit is not None

    def message(self, witness: Witness) -> str:
        return (
            f"`{witness.cause.exit}` on {condition(witness)} skips {skipped(witness)} on some ranks"
            f"{proviso(witness)}"
        )

    def help(self, witness: Witness) -> str:
        return (
            "Put the work of the remaining ranks in a block, and call the collective outside of it"
        )

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return hoisted(witness, draft)

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        """Loops with a backward that the main process leaves by itself."""
        if "backward" not in module.tokens:
            return
        guards = guards_of(module, catalogue)
        locator = locators.of(module.key)
        for point in guards.objects.points if starts_many(module) else ():
            branch = _left_alone(point)
            if branch is not None:
                kind = "return" if isinstance(point.statement, ir.Return) else "break"
                yield self.finding(
                    message=f"`{kind}` under a rank check leaves the training loop on some ranks",
                    severity=Severity.WARNING,
                    place=locator.place(point.statement.site),
                    related=(Related("rank check", locator.place(branch.site)),),
                    effect="the other ranks wait for these ranks in the next backward",
                    help="Broadcast the decision and leave the loop on all ranks",
                )


def _left_alone(point: Point) -> ir.If | None:
    """The test of the rank inside a loop that trains, from where a statement leaves the loop."""
    if not isinstance(point.statement, (ir.Return, ir.Break)):
        return None
    branch: ir.If | None = None
    for level in range(len(point.around) - 1, -1, -1):
        here = point.around[level]
        owner = here.owner
        if isinstance(owner, ir.If) and here.block is owner.body and asks_rank(owner.test):
            if asks_one_process(owner.test):
                return None
            branch = owner
        if isinstance(owner, (ir.For, ir.While)):
            if branch is None or not _trains(owner, branch) or _is_told(owner, branch, point):
                return None
            outside = [each.owner for each in point.around[:level]]
            if any(isinstance(each, ir.If) and asks_rank(each.test) for each in outside):
                return None
            return branch
    return None


def _trains(loop: ir.For | ir.While, branch: ir.If) -> bool:
    """Is there a backward outside of the branch?"""
    return any(
        ir.last_name(call.func) == "backward"
        for statement, around in placed(loop.body)
        if all(here.owner is not branch for here in around)
        for call in calls_of(statement)
    )


def _is_told(loop: ir.For | ir.While, branch: ir.If, point: Point) -> bool:
    """May the others come to know that a statement in the branch leaves the loop?

    By a collective in the branch itself, or by one that is handed what decides or what is written
    there; or they leave by the same test.
    """
    inner = [
        here.owner.test
        for here in point.around
        if isinstance(here.owner, ir.If) and here.owner.site > branch.site
    ]
    decided = _written(branch).union(*map(ir.names_in, (branch.test, *inner)))
    for statement, around in placed(loop.body):
        is_inside = any(here.owner is branch for here in around)
        for call in calls_of(statement):
            if ir.last_name(call.func) in _AGREEING:
                given = (ir.names_in(argument.value) for argument in call.args)
                if is_inside or not decided.isdisjoint(frozenset().union(*given)):
                    return True
        if not is_inside and isinstance(statement, (ir.Return, ir.Break)):
            tests = [here.owner.test for here in around if isinstance(here.owner, ir.If)]
            if any(ir.tokens_of(one) == ir.tokens_of(other) for one in tests for other in inner):
                return True
    return False


def _written(branch: ir.If) -> frozenset[str]:
    """The variables that a branch assigns to, or whose items or contents it changes."""
    found: set[str] = set()
    for statement, _ in placed(branch.body):
        if isinstance(statement, (ir.Assign, ir.AugAssign)):
            targets = statement.targets if isinstance(statement, ir.Assign) else (statement.target,)
            found.update(*map(ir.names_in, targets))
        for call in calls_of(statement):
            if isinstance(call.func, ir.Attribute) and call.func.attr.endswith("_"):
                found |= ir.names_in(call.func.value)
    return frozenset(found)
