"""DST110: a variable that one rank writes and all ranks test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import value_from_main
from distlint.rules.collectives._wording import condition, proviso

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix, Place


class StateWrittenOnOneRank(WitnessRule):
    """A variable is written on some ranks only, then tested on all ranks to decide on a collective.

    ```python
    for loss in epochs:
        dist.all_reduce(loss)
        if loss.item() < best:  # differs between ranks after the first epoch
            dist.all_gather(parts, weights)
        if rank == 0:
            best = min(best, loss.item())
    ```

    ## Use instead

    ```python
    for loss in epochs:
        dist.all_reduce(loss)
        if loss.item() < best:
            dist.all_gather(parts, weights)
        best = min(best, loss.item())
    ```

    Write the variable on all ranks, from a value that all ranks have. If only one rank can know the
    value, broadcast it before the test.

    ## Why is this bad?

    As soon as the variable matters, its copies differ: rank 0 knows the new best loss, the other
    ranks still compare with infinity. Typical cases are "save the best model" with a sharded model,
    and a stop flag that rank 0 sets.

    ## What is reported

    A variable or attribute that is assigned under a rank check (`best = loss` inside
    `if rank == 0:`) and later read by all ranks, where the result decides which ranks call a
    collective. It may be assigned by a short method of the same file that is called under the rank
    check, or be a list that the method appends to. The finding is at the test; the assignment is a
    related location.

    ## What is not reported

    - The variable is broadcast, or written again on all ranks, before the test.
    - Only the rank that writes it reads it.
    - No collective depends on the test.

    ## Fix safety

    Unsafe: `from_main(...)` broadcasts the value of rank 0 to all ranks before the test. Offered if
    rank 0 is among the ranks that write the variable.

    ## References

    - [PyTorch: broadcast_object_list](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast_object_list)
    """

    code = "DST110"
    name = "state-written-on-one-rank"
    rank = 60

    good = (
        Example(
            title="All ranks keep the best loss",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
best = float("inf")
for epoch in range(4):
    loss = torch.tensor([3.0, 1.0, 2.0, 4.0][epoch] + rank)
    dist.all_reduce(loss)
    if loss.item() < best:
        best = loss.item()
        dist.barrier()
        if rank == 0:
            print(f"epoch {epoch}: saved at {best}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Rank 0 writes, then broadcasts",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
stop = False
for epoch in range(5):
    dist.all_reduce(torch.ones(1))
    if dist.get_rank() == 0:
        stop = epoch == 2
    flag = [stop]
    dist.broadcast_object_list(flag, src=0)
    stop = flag[0]
    if stop:
        break
print("epoch =", epoch)
dist.destroy_process_group()
""",
        ),
        Example(
            title="State that only rank 0 reads",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
history = []
for epoch in range(4):
    loss = torch.tensor(4.0 - epoch)
    dist.all_reduce(loss)
    if rank == 0:
        history.append(loss.item())
        if loss.item() <= min(history):
            print(f"epoch {epoch} is the best so far")
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Only rank 0 keeps the best loss",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
best = float("inf")
for epoch in range(4):
    loss = torch.tensor([3.0, 1.0, 2.0, 4.0][epoch])
    dist.all_reduce(loss)
    if loss.item() < best:  # expect: DST110
        state = [torch.empty(1) for _ in range(dist.get_world_size())]
        dist.all_gather(state, torch.ones(1))
        if rank == 0:
            print(f"epoch {epoch}: saving")
    if rank == 0:
        best = min(best, loss.item())
dist.barrier()
""",
        ),
        Example(
            title="A stop flag that the main process sets",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist


class Trainer:
    def __init__(self):
        self.stop = False
        self.history = []

    def fit(self, epochs):
        for epoch in range(epochs):
            loss = torch.tensor(float(epoch))
            dist.all_reduce(loss)
            if dist.get_rank() == 0:
                self.history.append(loss.item())
                self.stop = loss.item() > 2 * min(self.history)
            if self.stop:  # expect: DST110
                break
        dist.barrier()


dist.init_process_group("gloo")
Trainer().fit(epochs=4)
""",
        ),
        Example(
            title="Save the best sharded model",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("gloo")
rank = dist.get_rank()
model = FSDP(torch.nn.Linear(4, 4), device_id=torch.device("cpu"))
best = float("inf")
for loss in (2.0, 1.0, 3.0):
    value = torch.tensor(loss)
    dist.all_reduce(value)
    if value.item() < best:  # expect: DST110
        state = model.state_dict()
    if rank == 0 and value.item() < best:
        best = value.item()
        print(f"new best {best}, {len(state)} tensors")
dist.barrier()
""",
        ),
        Example(
            title="A failure counter on the main process",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
failures = 0
for step in range(4):
    if accelerator.is_main_process and step > 1:
        failures += 1
    if failures < 2:  # expect: DST110
        total = accelerator.reduce(torch.ones(1))
accelerator.wait_for_everyone()
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        cause = witness.cause
        return cause.kind == "state" or (cause.kind == "rank" and cause.exit == "should_stop")

    def place(self, witness: Witness) -> Place:
        return witness.cause.place

    def message(self, witness: Witness) -> str:
        return f"{condition(witness)} tests a variable that only some ranks write{proviso(witness)}"

    def help(self, witness: Witness) -> str:
        return "Write the variable on all ranks, or broadcast it before the test"

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return value_from_main(witness, draft)
