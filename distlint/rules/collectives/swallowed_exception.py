"""DST108: an exception on one rank is swallowed, and the rank skips a collective."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._wording import headline

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.source.finding import Place


class SwallowedRankException(WitnessRule):
    """An exception on one rank is swallowed, so that this rank skips a collective.

    ```python
    for batch in loader:
        try:
            model(batch).mean().backward()
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            continue  # the other ranks wait in backward
    ```

    ## Use instead

    ```python
    for batch in loader:
        try:
            model(batch).mean().backward()
        except torch.OutOfMemoryError:
            print(f"rank {rank} is out of memory")
            raise
    ```

    A failure before anything synchronizes, such as a record that cannot be decoded, can be skipped
    on all ranks: set a flag in the handler, reduce it with `MAX`, and `continue` if it is set. An
    error inside the backward cannot be handled this way, because some of its reductions have
    already run. Restart from a checkpoint, or choose a batch size that avoids the error.

    ## Why is this bad?

    Exceptions occur on one rank: one long sequence, one corrupt file, one full GPU. That rank
    leaves the step in the middle, and the other ranks wait for it in the backward. Without the
    handler, the launcher would have ended the job with a traceback.

    ## What is reported

    A `try` around a step that synchronizes, or around code that decides whether it runs, whose
    handler continues: it passes, continues, returns or logs. `with suppress(...)` is such a `try`.
    The typical case is a handler for "out of memory" that empties the cache and takes the next
    batch. The finding is at the `except`, or at the `suppress`.

    ## What is not reported

    - The handler raises again or exits with an error.
    - The `try` covers work without collectives, and all paths after it call the same collectives.
    - The handler is for `KeyboardInterrupt`, `ImportError`, `StopIteration` or an empty queue.
    - The ranks agree on the failure before the next collective.

    ## Fix safety

    None: after an exception in the middle of a step, some ranks have run collectives that others
    have not. Whether to stop, skip or start over is for you to decide.

    ## References

    - [PyTorch: torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
    """

    code = "DST108"
    name = "swallowed-rank-exception"
    rank = 100

    good = (
        Example(
            title="The failure is reduced before the step",
            code="""\
import torch
import torch.distributed as dist


def decode(record):
    return torch.tensor([float(field) for field in record.split(",")])


dist.init_process_group("gloo")
records = ["1,2", "3,x" if dist.get_rank() == 1 else "3,4", "5,6"]
for record in records:
    try:
        batch = decode(record)
        failed = torch.tensor(0)
    except ValueError:
        failed = torch.tensor(1)
    dist.all_reduce(failed, op=dist.ReduceOp.MAX)
    if failed.item():
        continue
    dist.all_reduce(batch)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The handler logs and raises again",
            code="""\
import torch
import torch.distributed as dist


def step(batch):
    try:
        total = batch.sum()
        dist.all_reduce(total)
        return total
    except RuntimeError:
        print(f"rank {dist.get_rank()} failed on a batch of shape {tuple(batch.shape)}")
        raise


dist.init_process_group("gloo")
print("total =", step(torch.ones(3)).item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A default value for a bad record",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
fields = ["1.5", "n/a" if dist.get_rank() == 1 else "2.5"]
total = torch.zeros(1)
for field in fields:
    try:
        value = float(field)
    except ValueError:
        value = 0.0
    total += value
    dist.all_reduce(total)
dist.destroy_process_group()
""",
        ),
        Example(
            title="An optional import",
            code="""\
import torch
import torch.distributed as dist

try:
    import no_such_progress_bar as bar
except ImportError:
    bar = None

dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Out of memory on one rank",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def forward(model, inputs):
    if inputs.shape[0] > 64:
        raise torch.OutOfMemoryError("out of memory")
    return model(inputs)


dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for size in (8, 100 if dist.get_rank() == 1 else 8, 8):
    try:
        loss = forward(model, torch.randn(size, 4)).mean()
        loss.backward()
        optimizer.step()
    except torch.OutOfMemoryError:  # expect: DST108
        optimizer.zero_grad()
        continue
dist.barrier()
""",
        ),
        Example(
            title="A corrupt record is skipped on one rank",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
records = ["1", "two" if dist.get_rank() == 1 else "2", "3"]
total = torch.zeros(1)
for record in records:
    try:
        total += float(record)
        dist.all_reduce(total)
    except ValueError:  # expect: DST108
        print(f"rank {dist.get_rank()} skips {record!r}")
dist.barrier()
""",
        ),
        Example(
            title="A checkpoint that one rank cannot read",
            effect="hang",
            code="""\
import os
import tempfile
import torch
import torch.distributed as dist


def resume(path):
    try:
        state = torch.load(path)
    except OSError:  # expect: DST108
        print("no checkpoint, starting from scratch")
        return 0
    step = torch.tensor(state["step"])
    dist.broadcast(step, src=0)
    return int(step)


dist.init_process_group("gloo")
path = os.path.join(tempfile.mkdtemp(), "last.pt")
if dist.get_rank() == 0:
    torch.save({"step": 7}, path)
start = resume(path)
dist.barrier()
""",
        ),
        Example(
            title="A step function that returns None",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist


def train_step(batch):
    try:
        loss = batch.mean()
        loss.backward()
    except RuntimeError as error:  # expect: DST108
        print("skipping batch:", error)
        return None
    dist.all_reduce(batch.grad)
    return loss.item()


dist.init_process_group("gloo")
for step in range(3):
    tracked = not (step == 1 and dist.get_rank() == 1)
    train_step(torch.ones(4, requires_grad=tracked))
dist.barrier()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return witness.cause.kind == "exception"

    def place(self, witness: Witness) -> Place:
        return witness.cause.place

    def message(self, witness: Witness) -> str:
        return headline(witness, "ranks may diverge after an exception is swallowed on one rank")

    def help(self, witness: Witness) -> str:
        return "Raise again, or `all_reduce` a failure flag before the next collective"
