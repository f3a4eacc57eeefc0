"""DST117: one rank skips a step that the others take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import agreed_skip
from distlint.rules.collectives._wording import condition, contrast, proviso

if TYPE_CHECKING:
    from distlint.analyzer.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class RankLocalSkip(WitnessRule):
    """One rank skips a synchronised step because of its own data, and the others take it.

    ## What it finds

    A `continue` or `return` on a local value (the loss of this rank is NaN, its batch is empty, its
    sequence too long) with a collective, a wrapped forward or a backward behind it. In Lightning,
    `return None` from `training_step`, which version 2.6 answers with an error.

    ## Why it matters

    The rank that skips goes on to the next step. Its next all-reduce is paired with the one that it
    left out, so that from then on every gradient mixes two batches; the job stops only when the
    counts no longer fit, often at the end of the epoch.

    ## What to do

    Take the step on all ranks or on none. Reduce a flag and skip together, or keep the step and
    make it harmless: `loss = torch.nan_to_num(loss) * 0`.

    ## Fix

    Unsafe: `any_rank(...)` around the condition makes all ranks skip when one has to, which loses
    the good batches of the others for that step.

    ## When it is silent

    - The ranks agree on the skip first.
    - Nothing behind the skip synchronises.
    - The test is the same on all ranks, such as a step counter.
    """

    code = "DST117"
    name = "rank-local-skip"
    rank = 90

    good = (
        Example(
            title="All ranks skip if one has to",
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
            title="The step is taken, its weight is zero",
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
            title="Samples are dropped before the batch is made",
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
            title="A batch with NaN is skipped by the rank that has it",
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
            title="Nothing to score on this rank",
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
            title="training_step answers None",
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
            f"`{witness.cause.exit}` on {condition(witness)} may skip the step on one rank only: "
            f"{contrast(witness)}{proviso(witness)}"
        )

    def advice(self, witness: Witness) -> str:
        return "Skip on all ranks or on none: all_reduce a flag (MAX) and test the result."

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return agreed_skip(witness, draft)
