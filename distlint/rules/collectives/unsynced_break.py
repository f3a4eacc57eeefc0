"""DST102: a loop that one rank leaves while the others go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import agreed_exit
from distlint.rules.collectives._wording import condition, proviso

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class UnsyncedBreak(WitnessRule):
    """A rank leaves a loop of collectives on a value that may differ between ranks.

    ```python
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        if loss.item() < target:  # the loss of this rank's batch
            break
    ```

    ## Use instead

    ```python
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        stop = (loss < target).int()
        dist.all_reduce(stop, op=dist.ReduceOp.MAX)
        if stop.item():
            break
    ```

    The `MAX` reduction stops all ranks as soon as one of them wants to stop. With Accelerate, call
    `accelerator.set_trigger()` on the rank that wants to stop, and leave the loop on
    `if accelerator.check_trigger():` on all ranks.

    ## Why is this bad?

    The rank that stops first is missing in the next iteration. The other ranks wait for it until
    the timeout, usually at the end of a long run, when the checkpoint has not been written yet.

    ## What is reported

    A `break`, a `return` or an exit with status 0, inside a loop that synchronizes (a collective, a
    wrapped forward, a backward through DDP), that depends on a rank-local value: early stopping on
    the loss of this rank, a wall-clock limit, a flag set by a signal handler, also as an item of a
    dict or a list.

    ## What is not reported

    - The value was reduced, gathered or broadcast before it is tested.
    - The condition uses only a step or epoch counter.
    - Neither the loop nor the code after it calls a collective.
    - The rank raises or exits with an error: the launcher then ends the whole job.

    ## Fix safety

    Unsafe: all ranks leave as soon as one of them wants to, which costs a small all-reduce in each
    iteration. With Accelerate the fix uses `set_trigger()` and `check_trigger()`. Otherwise it puts
    `any_rank(...)` around the condition (`all_ranks(...)` for an exit in the `else`), or sets a
    flag that is tested after the branch if an inner condition is also involved.

    ## References

    - [PyTorch: all_reduce](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce)
    - [Accelerate: set_trigger and check_trigger](https://huggingface.co/docs/accelerate/package_reference/accelerator)
    """

    code = "DST102"
    name = "unsynced-break"
    rank = 80

    good = (
        Example(
            title="Stop when any rank wants to",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
for step in range(10):
    loss = torch.tensor(5.0 - step - rank)
    stop = torch.tensor(int(loss.item() < 2.0))
    dist.all_reduce(stop, op=dist.ReduceOp.MAX)
    if stop.item():
        break
print("stopped =", step)
dist.destroy_process_group()
""",
        ),
        Example(
            title="Rank 0 decides and broadcasts the decision",
            code="""\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
deadline = time.monotonic() + 0.05
for step in range(1000):
    total = torch.ones(1)
    dist.all_reduce(total)
    late = [time.monotonic() > deadline]
    dist.broadcast_object_list(late, src=0)
    if late[0]:
        break
dist.destroy_process_group()
""",
        ),
        Example(
            title="Patience on a reduced loss",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
best, bad = float("inf"), 0
for epoch in range(20):
    loss = torch.rand(1)
    dist.all_reduce(loss)
    if loss.item() < best:
        best, bad = loss.item(), 0
    else:
        bad += 1
    if bad > 2:
        break
dist.barrier()
print("epoch =", epoch)
dist.destroy_process_group()
""",
        ),
        Example(
            title="Accelerate's trigger",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
for step in range(10):
    loss = torch.tensor(5.0 - step - accelerator.process_index)
    if loss.item() < 2.0:
        accelerator.set_trigger()
    if accelerator.check_trigger():
        break
accelerator.wait_for_everyone()
print("step =", step)
""",
        ),
        Example(
            title="A loop without collectives",
            code="""\
import random
import torch.distributed as dist

dist.init_process_group("gloo")
random.seed(dist.get_rank())
attempts = 0
while True:
    attempts += 1
    if random.random() < 0.2:
        break
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Early stopping on the loss of this rank",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DDP(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    inputs = torch.randn(8, 4) * (1 + 9 * dist.get_rank())
    loss = model(inputs).pow(2).mean() + 10 * dist.get_rank()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if loss.item() < 8.0:
        break  # expect: DST102
dist.barrier()
""",
        ),
        Example(
            title="A time limit on each rank's clock",
            effect="hang",
            code="""\
import time
import torch
import torch.distributed as dist


def train(limit):
    started = time.time()
    total = torch.zeros(1)
    for step in range(50):
        time.sleep(0.002)
        total += 1
        dist.all_reduce(total)
        if time.time() - started > limit:
            return step  # expect: DST102
    return 50


dist.init_process_group("gloo")
if dist.get_rank() == 0:
    time.sleep(0.2)
print(f"finished after {train(limit=0.1)} steps")
dist.barrier()
""",
        ),
        Example(
            title="Patience that is counted on each process",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
torch.manual_seed(accelerator.process_index)
model = accelerator.prepare(torch.nn.Linear(2, 1))
best, bad = float("inf"), 0
for epoch in range(20):
    loss = model(torch.randn(4, 2)).pow(2).mean()
    accelerator.backward(loss)
    if loss.item() < best:
        best, bad = loss.item(), 0
    else:
        bad += 1
        if bad > 1:
            break  # expect: DST102
accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="A signal handler that stops one process",
            effect="hang",
            code="""\
import os
import signal
import torch
import torch.distributed as dist

stop_requested = False


def on_signal(number, frame):
    global stop_requested
    stop_requested = True


signal.signal(signal.SIGUSR1, on_signal)
dist.init_process_group("gloo")
for step in range(4):
    if step == 1 and dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGUSR1)
    total = torch.ones(1)
    dist.all_reduce(total)
    if stop_requested:
        break  # expect: DST102
dist.barrier()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        cause = witness.cause
        return (
            cause.kind == "local"
            and (cause.in_loop or cause.exit == "should_stop")
            and cause.exit in ("break", "return", "sys.exit", "should_stop")
        )

    def message(self, witness: Witness) -> str:
        return (
            f"rank-dependent `{witness.cause.exit}` on {condition(witness)} may stop one rank only"
            f"{proviso(witness)}"
        )

    def help(self, witness: Witness) -> str:
        return "`all_reduce` a stop flag with `MAX`, and leave the loop on its result on all ranks"

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return agreed_exit(witness, draft)
