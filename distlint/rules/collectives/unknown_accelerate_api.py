"""DST107: a method or argument that Accelerate does not have."""

from __future__ import annotations

from distlint.rules.base import Example, Rule


class UnknownAccelerateApi(Rule):
    """A call uses an `Accelerator` method or argument that never existed or was removed.

    ## What it finds

    - `accelerator.set_breakpoint()` and `accelerator.check_breakpoint()`. They never existed; the
      docstring of `set_trigger` mentions one of them, and so do guides that copied it. The names
      are `set_trigger` and `check_trigger`.
    - Members removed in Accelerate 1.0, such as `accelerator.use_fp16`.
    - Arguments removed from `Accelerator(...)` in 1.0: `dispatch_batches`, `even_batches`,
      `use_seedable_sampler` and `logging_dir`.

    ## Why it matters

    The call raises only when it is reached. For early stopping that is hours into a run, on the
    one process that wants to stop, while the others wait in their next collective.

    ## What to do

    Use the name that exists. `set_trigger` raises a flag on this process, and `check_trigger` tells
    all processes whether any of them did; the second is a collective, so call it everywhere.
    Removed arguments live in `DataLoaderConfiguration` and `ProjectConfiguration`.

    ## When it is silent

    - The object is not an `Accelerator`: debuggers have breakpoints of their own.
    - The project's own subclass of `Accelerator` defines the method.
    """

    code = "DST107"
    name = "unknown-accelerate-api"

    good = (
        Example(
            title="The trigger",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
for step in range(5):
    loss = torch.tensor(1.0 / (1 + step + accelerator.process_index))
    if loss.item() < 0.3:
        accelerator.set_trigger()
    if accelerator.check_trigger():
        break
accelerator.wait_for_everyone()
print("step =", step)
""",
        ),
        Example(
            title="Breakpoints of another object",
            needs=("accelerate",),
            code="""\
from accelerate import Accelerator


class Budget:
    def __init__(self, steps):
        self.steps = steps

    def check_breakpoint(self, step):
        return step >= self.steps


accelerator = Accelerator(cpu=True)
budget = Budget(2)
for step in range(5):
    accelerator.wait_for_everyone()
    if budget.check_breakpoint(step):
        break
""",
        ),
        Example(
            title="A subclass that brings the method",
            needs=("accelerate",),
            code="""\
from accelerate import Accelerator


class StoppableAccelerator(Accelerator):
    def set_breakpoint(self):
        self.set_trigger()

    def check_breakpoint(self):
        return self.check_trigger()


accelerator = StoppableAccelerator(cpu=True)
if accelerator.process_index == 1:
    accelerator.set_breakpoint()
print("stop =", accelerator.check_breakpoint())
""",
        ),
        Example(
            title="Options in the configuration object",
            needs=("accelerate",),
            code="""\
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration

config = DataLoaderConfiguration(even_batches=True, use_seedable_sampler=True)
accelerator = Accelerator(cpu=True, dataloader_config=config)
accelerator.wait_for_everyone()
""",
        ),
    )

    bad = (
        Example(
            title="A name from a docstring",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
for step in range(3):
    loss = torch.tensor(1.0 / (1 + step))
    if loss.item() < 0.4:
        accelerator.set_trigger()
    if accelerator.check_breakpoint():  # expect: DST107
        break
accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="Raised on the process that wants to stop",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator


def should_stop(accelerator, loss):
    if loss.item() > 0.5:
        accelerator.set_breakpoint()  # expect: DST107
    return accelerator.check_trigger()


accelerator = Accelerator(cpu=True)
for step in range(3):
    loss = torch.tensor(float(accelerator.process_index))
    if should_stop(accelerator, loss):
        break
""",
        ),
        Example(
            title="An argument that moved to DataLoaderConfiguration",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True, even_batches=False)  # expect: DST107
loader = DataLoader(TensorDataset(torch.arange(6.0)), batch_size=2)
loader = accelerator.prepare(loader)
for (batch,) in loader:
    print(f"process {accelerator.process_index}: {batch.tolist()}")
""",
        ),
        Example(
            title="A property that is gone since 1.0",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
dtype = torch.float16 if accelerator.use_fp16 else torch.float32  # expect: DST107
batch = torch.ones(2, dtype=dtype)
print(accelerator.gather(batch))
""",
        ),
    )
