"""DST101: a collective that only the ranks of one branch reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import hoisted
from distlint.rules.collectives._wording import condition, headline

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class CollectiveInRankBranch(WitnessRule):
    """A collective is called on some ranks only, because a rank check guards it.

    ```python
    if rank == 0:
        dist.all_reduce(loss)  # the other ranks never call it
        print(loss.item())
    ```

    ## Use instead

    ```python
    dist.all_reduce(loss)
    if rank == 0:
        print(loss.item())
    ```

    Call the collective on all ranks, and keep only the use of its result under the rank check.

    ## Why is this bad?

    A collective completes when all ranks of its group have called it. The ranks inside the branch
    wait for ranks that never arrive, and the job hangs until the timeout (by default 10 minutes
    with NCCL, 30 minutes with other backends). If the other ranks call another collective later,
    the two calls are matched with each other and the data is mixed up.

    ## What is reported

    A collective that some ranks call and others do not, where a rank check makes the difference.
    The check may be an `if`, a conditional expression, `and`/`or`, a `match`, or a decorator such
    as `@accelerator.on_main_process`. The collective may be any number of function calls away.
    Calls that do not look like collectives count as well: `accelerator.gather_for_metrics`,
    `logger.info(..., in_order=True)`, or iterating over a shuffled loader that Accelerate prepared.

    ## What is not reported

    - The other ranks call the same collectives in the same order, on whatever lines: the same call
      in both branches, or a barrier before the work on some ranks and after it on the others.
    - The collective runs on a group whose members are exactly the ranks that pass the check.
    - The condition is the same on all ranks: world size, configuration, step counters.
    - Point-to-point calls, whose roles differ by design.
    - The other ranks raise or exit with an error, which ends the job.

    ## Fix safety

    Unsafe: the call is moved out of the branch, together with the assignments that only compute its
    operands. A call inside a condition is moved to the front of the `and`. All ranks then wait for
    each other there and hold the result. No fix is offered if an operand exists on some ranks only,
    or if code before the call could affect it.

    ## References

    - [PyTorch: collective functions](https://docs.pytorch.org/docs/stable/distributed.html#collective-functions)
    - [Accelerate: execution process](https://huggingface.co/docs/accelerate/basic_tutorials/execution)
    """

    code = "DST101"
    name = "collective-in-rank-branch"
    rank = 160

    good = (
        Example(
            title="One barrier per rank, on different lines",
            code="""\
import pathlib
import tempfile
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
folder = [tempfile.mkdtemp()]
dist.broadcast_object_list(folder, src=0)
cache = pathlib.Path(folder[0]) / "vocab.txt"
if rank != 0:
    dist.barrier()
if not cache.exists():
    cache.write_text("a b c")
words = cache.read_text().split()
if rank == 0:
    dist.barrier()
print("words =", len(words))
dist.destroy_process_group()
""",
        ),
        Example(
            title="The same collective in both branches",
            code="""\
import torch
import torch.distributed as dist


def share(weights):
    if dist.get_rank() == 0:
        dist.broadcast(weights, src=0)
    else:
        weights = torch.empty(4)
        dist.broadcast(weights, src=0)
    return weights


dist.init_process_group("gloo")
weights = share(torch.arange(4.0) + dist.get_rank())
print("sum =", weights.sum().item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A group, used by its members only",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
members = [0, 1]
pair = dist.new_group(members)
x = torch.ones(2) * rank
if rank in members:
    dist.all_reduce(x, group=pair)
dist.barrier()
print(f"rank {rank} holds {x.tolist()}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Point-to-point calls",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
token = torch.zeros(1)
if rank > 0:
    dist.recv(token, src=rank - 1)
token += 1
if rank < world - 1:
    dist.send(token, dst=rank + 1)
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Conditions that are the same on all ranks",
            code="""\
import os
import torch
import torch.distributed as dist

LOG_EVERY = 2

dist.init_process_group("gloo")
distributed = int(os.environ.get("RANK", -1)) != -1
total = torch.zeros(1)
for step in range(4):
    total += dist.get_rank()
    if distributed and dist.get_world_size() > 1 and step % LOG_EVERY == 0:
        dist.all_reduce(total)
        if dist.get_rank() == 0:
            print(f"step {step}: {total.item()}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Gather on all processes, print on one",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
guess = torch.tensor([accelerator.process_index, 1])
label = torch.tensor([0, 1])
guess, label = accelerator.gather_for_metrics((guess, label))
if accelerator.is_main_process:
    print(f"accuracy {(guess == label).float().mean().item():.2f}")
accelerator.wait_for_everyone()
accelerator.end_training()
""",
        ),
        Example(
            title="A rank check that ends the job",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0 and dist.get_world_size() > 64:
    raise SystemExit("this recipe is meant for up to 64 processes")
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A loss that is reduced on rank 0 for logging",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
for step in range(2):
    loss = torch.tensor(1.0 + rank)
    if rank == 0:  # expect: DST101
        dist.all_reduce(loss)
        print(f"step {step}: {loss.item() / dist.get_world_size():.3f}")
dist.barrier()
""",
        ),
        Example(
            title="The collective is two calls away, the rank check in a function",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist


def is_main():
    return not dist.is_initialized() or dist.get_rank() == 0


def mean(value):
    tensor = torch.tensor(float(value))
    dist.all_reduce(tensor)
    return tensor.item() / dist.get_world_size()


def report(hits, seen):
    print(f"accuracy {mean(hits) / mean(seen):.3f}")


dist.init_process_group("gloo")
if is_main():  # expect: DST101
    report(hits=3 + dist.get_rank(), seen=4)
dist.destroy_process_group()
""",
        ),
        Example(
            title="A collective inside a boolean expression",
            effect="hang",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist


def any_failed(flag):
    tensor = torch.tensor(int(flag))
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
    return bool(tensor.item())


dist.init_process_group("gloo")
last = dist.get_rank() == dist.get_world_size() - 1
if last and any_failed(False):  # expect: DST101
    print("a worker failed")
dist.barrier()
""",
        ),
        Example(
            title="Metrics gathered on the main process",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
guess = torch.tensor([accelerator.process_index, 1])
label = torch.tensor([0, 1])
if accelerator.is_main_process:  # expect: DST101
    guess, label = accelerator.gather_for_metrics((guess, label))
    print(f"accuracy {(guess == label).float().mean().item():.2f}")
accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="A function decorated with on_main_process",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)


@accelerator.on_main_process
def log_loss(loss):
    mean = accelerator.reduce(loss, reduction="mean")
    print(f"loss {mean.item():.3f}")


log_loss(torch.tensor(1.0 + accelerator.process_index))  # expect: DST101
accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="A prepared loader, iterated on the main process",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
data = TensorDataset(torch.arange(8.0))
loader = accelerator.prepare(DataLoader(data, batch_size=2, shuffle=True))
if accelerator.is_main_process:  # expect: DST101
    for (batch,) in loader:
        print(f"preview {batch.tolist()}")
        break
accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="A log call with in_order=True on one rank",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from accelerate.logging import get_logger

accelerator = Accelerator(cpu=True)
logger = get_logger(__name__, log_level="INFO")
if accelerator.is_main_process:  # expect: DST101
    logger.info("training starts", main_process_only=False, in_order=True)
total = accelerator.reduce(torch.ones(1), reduction="sum")
print("total =", total.item())
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return True

    def message(self, witness: Witness) -> str:
        return headline(witness, f"ranks diverge on {condition(witness)}")

    def help(self, witness: Witness) -> str:
        return "Call the collective on all ranks and keep only the use of its result in the branch"

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return hoisted(witness, draft)
