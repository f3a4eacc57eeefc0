"""DST104: some ranks leave before a collective that the others reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import hoisted
from distlint.rules.collectives._wording import condition, contrast, proviso

if TYPE_CHECKING:
    from distlint.analyzer.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class RankDependentExit(WitnessRule):
    """Some ranks return, continue, break or exit before a collective that the others reach.

    ## What it finds

    A `return`, `continue`, `break` or successful `sys.exit()` that a test of the rank decides, with
    a collective behind it: later in the function, in its caller, or in the next iteration.

    ## Why it matters

    The exit is easy to overlook: the collective that hangs may stand a hundred lines below it, or
    in another function, and looks as if every rank called it.

    ## What to do

    Turn the exit into a block around the work that only some ranks do, and leave the collective
    outside. Where a rank has found an error, raise instead: a non-zero exit ends the job with a
    message, in place of a silent wait.

    ## Fix

    Unsafe: in place of the exit, the work before and behind the collective goes under the opposite
    of the test, so that every rank comes to the collective. None is offered where that work makes
    an operand.

    ## When it is silent

    - No collective follows on the path of the ranks that stay.
    - The ranks that leave issue the same collectives before they do.
    - The exit is an error (`raise`, `sys.exit(1)`, a failing `assert`).
    """

    code = "DST104"
    name = "rank-dependent-exit"
    rank = 70

    good = (
        Example(
            title="Nothing to wait for after the return",
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
            title="Those who leave have met the others first",
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
            title="Only the work is skipped",
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
            title="A helper returns early, its barrier is never reached",
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
            title="Workers skip the rest of the iteration",
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
            title="A process that has nothing to do ends with success",
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
            f"`{witness.cause.exit}` on {condition(witness)} skips what the other ranks go on to: "
            f"{contrast(witness)}{proviso(witness)}"
        )

    def advice(self, witness: Witness) -> str:
        return "Put the work of the staying ranks in a block and leave the collective outside it."

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return hoisted(witness, draft)
