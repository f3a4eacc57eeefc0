"""DST102: a loop that one rank leaves while the others go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import agreed_exit
from distlint.rules.collectives._wording import condition, contrast, proviso

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.explanation import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class UnsyncedBreak(WitnessRule):
    """A rank leaves a loop of collectives on a value that the other ranks do not share.

    ## What it finds

    A `break`, a `return` or an exit with status 0 inside a loop that synchronises (a collective, a
    wrapped forward, a backward through DDP), taken on a local value: early stopping on the loss of
    this rank, a wall-clock limit, a flag that a signal handler set.

    ## Why it matters

    The rank that stops first is missing in the next iteration. The others wait for it until the
    timeout, usually at the end of a long run, when the checkpoint has not been written yet.

    ## What to do

    Decide together. With Accelerate:

    ```python
    if loss < target:
        accelerator.set_trigger()
    if accelerator.check_trigger():
        break
    ```

    With torch.distributed, reduce a flag with `MAX` (stop when any rank wants to) and test that.

    ## Fix

    Unsafe: all ranks leave as soon as one wants to, which costs a small all-reduce in each
    iteration. With Accelerate it is `set_trigger()` and `check_trigger()`, otherwise
    `any_rank(...)` around the condition (`all_ranks(...)` for an exit in the `else`), or a flag
    behind the branch when another condition inside decides as well.

    ## When it is silent

    - The value was reduced, gathered or broadcast before the test.
    - Only a step or epoch counter decides.
    - Neither the loop nor what follows it holds a collective.
    - The rank raises or exits with an error: the launcher then ends the whole job.
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
            title="Rank 0 decides and tells the others",
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
            title="Patience over a loss that all ranks share",
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
            title="The trigger of Accelerate",
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
            title="A local search that nobody waits for",
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
            title="A time limit read from each rank's own clock",
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
            title="Patience counted on each process",
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
            title="A signal asks one process to stop",
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
            f"`{witness.cause.exit}` on {condition(witness)}, which may differ from rank to rank: "
            f"{contrast(witness)}{proviso(witness)}"
        )

    def advice(self, witness: Witness) -> str:
        return "Agree on the exit before taking it: all_reduce a flag (MAX) and test the result."

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return agreed_exit(witness, draft)
