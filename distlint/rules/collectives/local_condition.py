"""DST103: a collective behind a condition that each rank evaluates on its own data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import agreed_condition
from distlint.rules.collectives._wording import condition, headline

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class CollectiveBehindLocalCondition(WitnessRule):
    """A collective is guarded by a condition that may differ between ranks.

    ```python
    loss = model(batch).mean()
    if loss.item() > limit:  # the loss of this rank's batch
        dist.all_reduce(statistics)
    ```

    ## Use instead

    ```python
    loss = model(batch).mean()
    flag = (loss > limit).int()
    dist.all_reduce(flag, op=dist.ReduceOp.MAX)
    if flag.item():
        dist.all_reduce(statistics)
    ```

    Reduce the condition first and branch on the result: `MAX` means "any rank", `MIN` means "all
    ranks". In `stop and accelerator.check_trigger()`, swap the operands.

    ## Why is this bad?

    As soon as the value differs, some ranks wait in the collective and the others skip it. It may
    take days until this happens for the first time, since the condition has the same outcome on all
    ranks in most steps.

    ## What is reported

    A collective that is called only if a rank-local value says so: the loss or the data of this
    rank, a clock, memory usage, a file that another rank is still writing, a queue or a list that
    each rank fills separately. This includes `if stop and accelerator.check_trigger():`, where the
    trigger, itself a collective, is called only on the ranks whose `stop` is set.

    ## What is not reported

    - The value was reduced, gathered or broadcast before it is tested.
    - The condition is a configuration value, a step counter or the world size.
    - The origin of the value is unknown: distlint assumes that it is the same on all ranks.

    ## Fix safety

    Unsafe: with `any_rank(...)` around the condition, all ranks take the branch if one of them
    does. A trigger or another collective inside the condition is moved to the front of its `and`.
    Shown only: if the condition depends on a file that may exist on some nodes only, or on an
    exception that may occur on one rank only.

    ## References

    - [PyTorch: all_reduce](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce)
    - [Accelerate: set_trigger and check_trigger](https://huggingface.co/docs/accelerate/package_reference/accelerator)
    """

    code = "DST103"
    name = "collective-behind-local-condition"
    rank = 120

    good = (
        Example(
            title="The loss is reduced before it is tested",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
loss = torch.tensor(0.5 + rank)
dist.all_reduce(loss, op=dist.ReduceOp.MAX)
if loss.item() > 1.0:
    norm = torch.tensor(2.0)
    dist.all_reduce(norm)
    print("norm =", norm.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Rank 0 checks for the file and broadcasts the answer",
            code="""\
import os
import torch
import torch.distributed as dist


def load(path):
    found = [os.path.exists(path)]
    dist.broadcast_object_list(found, src=0)
    if not found[0]:
        return None
    state = [torch.load(path) if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(state, src=0)
    return state[0]


dist.init_process_group("gloo")
print("state =", load("no-such-checkpoint.pt"))
dist.destroy_process_group()
""",
        ),
        Example(
            title="The condition is a step counter",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
running = torch.zeros(1)
for step in range(6):
    running += torch.rand(1)
    if step > 0 and step % 3 == 0:
        dist.all_reduce(running)
        running /= dist.get_world_size()
dist.destroy_process_group()
""",
        ),
        Example(
            title="All processes call check_trigger before the local test",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
loss = torch.tensor(float(accelerator.process_index))
if loss.item() > 0.5:
    accelerator.set_trigger()
if accelerator.check_trigger() and loss.item() > 0.5:
    print("this process asked for the stop")
accelerator.wait_for_everyone()
""",
        ),
    )

    bad = (
        Example(
            title="Statistics are synchronized if the local loss is high",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = torch.nn.Linear(4, 1)
data = torch.randn(8, 4) * (0.1 + 100 * dist.get_rank())
loss = model(data).pow(2).mean()
if loss.item() > 5.0:  # expect: DST103
    spread = loss.detach().clone()
    dist.all_reduce(spread, op=dist.ReduceOp.MAX)
    print(f"largest loss {spread.item():.2f}")
dist.barrier()
""",
        ),
        Example(
            title="Only processes that want to stop call check_trigger",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
for step in range(3):
    loss = torch.randn(4).mean() + 10.0 * accelerator.process_index
    stop = loss.item() > 5.0
    if stop:
        accelerator.set_trigger()
    if stop and accelerator.check_trigger():  # expect: DST103
        break
accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="All ranks check for a file that rank 0 writes",
            effect="hang",
            code="""\
import os
import tempfile
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
folder = [tempfile.mkdtemp()]
dist.broadcast_object_list(folder, src=0)
path = os.path.join(folder[0], "scale.pt")
if dist.get_rank() == 0:
    time.sleep(0.3)
    torch.save(torch.tensor(3.0), path)
if os.path.exists(path):  # expect: DST103
    scale = torch.load(path)
    dist.all_reduce(scale)
dist.barrier()
""",
        ),
        Example(
            title="A clock decides when to synchronize",
            effect="hang",
            code="""\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
started = time.monotonic()
seen = torch.zeros(1)
for step in range(3):
    time.sleep(0.2 * dist.get_rank())
    seen += 1
    if time.monotonic() - started > 0.3:  # expect: DST103
        dist.all_reduce(seen)
        started = time.monotonic()
dist.barrier()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        return witness.cause.kind == "local" and witness.cause.exit is None

    def message(self, witness: Witness) -> str:
        return headline(witness, f"ranks may diverge on {condition(witness)}")

    def help(self, witness: Witness) -> str:
        return "`all_reduce` or broadcast the condition, and branch on the result on all ranks"

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return agreed_condition(witness, draft)
