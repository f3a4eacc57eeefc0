"""DST623: an argument that has to be the same on all ranks, and is each rank's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import AgreementRule, Example
from distlint.source.finding import Explanation, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.symbolic.state import Disagreement


class RankLocalArgument(AgreementRule):
    """A scheduler that acts on a metric gets the metric of one rank instead of the job's.

    ```python
    scheduler = ReduceLROnPlateau(optimizer)
    for epoch in range(epochs):
        loss = validate(ddp_model, sharded_loader)
        scheduler.step(loss)
    ```

    ## Use instead

    ```python
    for epoch in range(epochs):
        loss = validate(ddp_model, sharded_loader)
        dist.all_reduce(loss, op=dist.ReduceOp.AVG)
        scheduler.step(loss)
    ```

    ## Why is this bad?

    `ReduceLROnPlateau` lowers the learning rate when the metric stops improving. With a metric of
    its own, each rank lowers it at another step. DDP averages the gradients, but every rank applies
    them with its own learning rate: the replicas drift apart silently, and the checkpoint holds the
    parameters of one of them.

    ## What is reported

    A call whose argument has to be the same on all ranks, although nothing communicates, and that
    the analysis of the entry points finds to be rank-local: the output of a wrapped model, a batch
    of a sharded loader, or what is computed from these.

    ## What is not reported

    - The value was reduced, gathered or broadcast before, or is computed from such values.
    - All ranks evaluate the same data.
    - Calls that distlint does not follow. `[[agreement]]` in a catalogue file adds functions of
      your project.

    ## Fix safety

    None: the reduction has to stand where all ranks get to.

    ## References

    - [ReduceLROnPlateau](https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.ReduceLROnPlateau.html)
    """

    code = "DST623"
    name = "rank-local-argument"
    severity = Severity.WARNING

    good = (
        Example(
            title="The mean over all ranks",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
for epoch in range(4):
    loss = model(torch.randn(4, 2)).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    scheduler.step(mean / dist.get_world_size())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Rank 0 evaluates and sends the score to the others",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def evaluate(model):
    return float(model(torch.ones(1, 2)).sum())


dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max")
for epoch in range(2):
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    score = [evaluate(model.module) if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(score, src=0)
    scheduler.step(score[0])
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The loss of this rank",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
for epoch in range(6):
    loss = model(torch.randn(4, 2)).pow(2).mean() + epoch * dist.get_rank()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    scheduler.step(loss.item())  # expect: DST623
rates = [None] * dist.get_world_size()
dist.all_gather_object(rates, optimizer.param_groups[0]["lr"])
assert len(set(rates)) == 1, rates
""",
        ),
        Example(
            title="A validation on the shard of this rank",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


@torch.no_grad()
def validate(model, loader):
    total = 0.0
    for inputs, labels in loader:
        total += (model(inputs) - labels).pow(2).sum().item()
    return total / len(loader)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
    plateau = ReduceLROnPlateau(optimizer, patience=0)
    ramp = torch.arange(8.0).unsqueeze(1)
    data = TensorDataset(ramp, ramp.flip(0) * torch.tensor([[1.0], [-1.0]] * 4))
    loader = DataLoader(data, sampler=DistributedSampler(data, shuffle=False), batch_size=2)
    for epoch in range(8):
        for inputs, labels in loader:
            (model(inputs) - labels).pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        plateau.step(validate(model, loader))  # expect: DST623
    rates = [None] * dist.get_world_size()
    dist.all_gather_object(rates, optimizer.param_groups[0]["lr"])
    assert len(set(rates)) == 1, rates


main()
""",
        ),
    )

    def check(self, found: Iterable[Disagreement], locators: Locators) -> Iterable[Finding]:
        for each in found:
            locator = locators.of(each.module)
            yield Finding(
                code=self.code,
                name=self.name,
                message=f"rank-local `{each.param}` sets {each.agreement.sets}",
                severity=Severity.WARNING,
                place=locator.place(each.site),
                explanation=Explanation(
                    common=None,
                    lanes=(),
                    decisions=(),
                    effect=f"{each.agreement.sets} differs between ranks, and the replicas drift "
                    "apart",
                    help=f"Reduce `{each.param}` over the ranks before the call",
                ),
            )
