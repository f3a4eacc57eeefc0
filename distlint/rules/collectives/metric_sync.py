"""DST116: a metric that synchronises, computed or logged on some ranks only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import Names, calls_of, placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule, WitnessRule
from distlint.rules.collectives._repair import hoisted
from distlint.rules.collectives._wording import condition, guarded, headline, kinds, only_on
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.symbolic.witness import EventFact, Witness
    from distlint.catalogue.catalogue import Catalogue
    from distlint.fixers.draft import Draft
    from distlint.source.document import Document
    from distlint.source.finding import Fix


class MetricSyncOnOneRank(WitnessRule, SourceRule):
    """A metric that synchronizes is computed or logged on some ranks only.

    ```python
    metric.update(preds, target)
    if rank == 0:
        print(metric.compute())  # gathers the state of all ranks
    ```

    ## Use instead

    ```python
    metric.update(preds, target)
    value = metric.compute()
    if rank == 0:
        print(value)
    ```

    Create a metric that is meant for one rank with `sync_on_compute=False`. In Lightning, log on
    all ranks with `sync_dist=True`, or on rank 0 with `rank_zero_only=True` (but never a value that
    a callback monitors).

    ## Why is this bad?

    `compute()` gathers the state of the metric from all ranks, although neither its name nor its
    arguments suggest it. Rank 0 waits in it, while the other ranks go on to the next collective.

    ## What is reported

    - `metric.compute()` of torchmetrics or Ignite under a rank check.
    - `self.log(..., sync_dist=True)` in a LightningModule or callback, under
      `trainer.is_global_zero` or in a hook that is decorated with `@rank_zero_only`.
    - A metric object logged with `on_epoch=True` under such a check: Lightning calls `compute()`.
    - A value that a callback monitors (`monitor="val_loss"`), logged with `rank_zero_only=True`.

    ## What is not reported

    - The metric was created with `sync_on_compute=False`.
    - The value is logged without synchronization, or with `rank_zero_only=True`, and no callback
      monitors it.
    - `update()` and `forward()`, which are local unless `dist_sync_on_step=True`.

    ## Fix safety

    Unsafe: the metric is computed or logged on all ranks before the rank check, and only the use of
    its value stays under the check.

    ## References

    - [TorchMetrics: Metric](https://lightning.ai/docs/torchmetrics/stable/references/metric.html)
    - [Lightning: logging](https://lightning.ai/docs/pytorch/stable/extensions/logging.html)
    """

    code = "DST116"
    name = "metric-sync-on-one-rank"
    rank = 50

    good = (
        Example(
            title="Computed on all ranks, printed on one",
            needs=("torchmetrics",),
            code="""\
import torch
import torch.distributed as dist
from torchmetrics.classification import BinaryAccuracy

dist.init_process_group("gloo")
rank = dist.get_rank()
metric = BinaryAccuracy()
metric.update(torch.tensor([0.9, 0.2]), torch.tensor([1, rank]))
value = metric.compute()
if rank == 0:
    print(f"accuracy {value.item():.2f}")
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A metric with sync_on_compute=False",
            needs=("torchmetrics",),
            code="""\
import torch
import torch.distributed as dist
from torchmetrics.classification import BinaryAccuracy

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    metric = BinaryAccuracy(sync_on_compute=False)
    metric.update(torch.tensor([0.9, 0.2]), torch.tensor([1, 1]))
    print(f"accuracy on the probe set {metric.compute().item():.2f}")
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Lightning logs on all ranks, prints on one",
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
        self.log("loss", loss, sync_dist=True)
        if self.trainer.is_global_zero:
            print(f"step {index} of the main process")
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_steps=2, **quiet)
trainer.fit(Model(), DataLoader(torch.randn(8, 4), batch_size=2))
""",
        ),
        Example(
            title="A log call with rank_zero_only=True",
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
        if self.trainer.is_global_zero:
            self.log("main_loss", loss, rank_zero_only=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_steps=2, **quiet)
trainer.fit(Model(), DataLoader(torch.randn(8, 4), batch_size=2))
""",
        ),
    )

    bad = (
        Example(
            title="A metric that is computed on rank 0",
            effect="hang",
            needs=("torchmetrics",),
            code="""\
import torch
import torch.distributed as dist
from torchmetrics.classification import BinaryAccuracy

dist.init_process_group("gloo")
rank = dist.get_rank()
metric = BinaryAccuracy()
for epoch in range(2):
    metric.update(torch.tensor([0.9, 0.2]), torch.tensor([1, rank]))
    if rank == 0:  # expect: DST116
        print(f"epoch {epoch}: accuracy {metric.compute().item():.2f}")
    metric.reset()
    dist.barrier()
""",
        ),
        Example(
            title="A metric after an early return",
            effect="hang",
            needs=("torchmetrics",),
            code="""\
import torch
import torch.distributed as dist
from torchmetrics import MeanMetric


class Evaluator:
    def __init__(self):
        self.loss = MeanMetric()

    def add(self, value):
        self.loss.update(value)

    def report(self):
        if dist.get_rank() != 0:
            return  # expect: DST116
        print(f"mean loss {self.loss.compute().item():.3f}")


dist.init_process_group("gloo")
evaluator = Evaluator()
evaluator.add(torch.tensor(1.0 + dist.get_rank()))
evaluator.report()
dist.barrier()
""",
        ),
        Example(
            title="A log call with sync_dist=True under is_global_zero",
            effect="hang",
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
        if self.trainer.is_global_zero:  # expect: DST116
            self.log("loss", loss, sync_dist=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_steps=2, **quiet)
trainer.fit(Model(), DataLoader(torch.randn(8, 4), batch_size=2))
""",
        ),
        Example(
            title="A hook decorated with rank_zero_only",
            effect="hang",
            needs=("lightning", "torchmetrics"),
            code="""\
import lightning as L
import torch
from lightning.pytorch.utilities import rank_zero_only
from torch.utils.data import DataLoader
from torchmetrics import MeanMetric


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.mean = MeanMetric()

    def training_step(self, batch, index):
        loss = self.layer(batch).pow(2).mean()
        self.mean.update(loss.detach())
        return loss

    @rank_zero_only  # expect: DST116
    def on_train_epoch_end(self):
        print(f"mean loss {self.mean.compute().item():.3f}")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=2, **quiet)
trainer.fit(Model(), DataLoader(torch.randn(8, 4), batch_size=2))
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        logged = _logs(witness.first) or _logs(witness.second)
        return witness.cause.kind == "rank" and ("metric_sync" in kinds(witness) or logged)

    def message(self, witness: Witness) -> str:
        found = only_on(witness, "metric_sync", "log_sync")
        if found is None:
            return headline(witness, f"ranks diverge on {condition(witness)}")
        event, ranks = found
        return guarded(witness, f"`{event.op}` needs all ranks but runs on {ranks} only")

    def help(self, witness: Witness) -> str:
        return "Compute or log the metric on all ranks, and only print it under the rank check"

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return hoisted(witness, draft)

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        """Values that Lightning monitors and that are logged on rank 0 only."""
        if not {"monitor", "rank_zero_only"} <= module.tokens or "lightning" not in " ".join(
            module.imported_roots
        ):
            return
        calls = list(_calls(objects_across(module, catalogue).names))
        monitored = {_constant(call, "monitor") for call in calls} - {None}
        for call in calls:
            func = call.func
            if not (isinstance(func, ir.Attribute) and func.attr == "log" and call.args):
                continue
            first = call.args[0].value
            key = first.value if isinstance(first, ir.Literal) else None
            if key in monitored and _constant(call, "rank_zero_only") is True:
                yield self.finding(
                    message=f"`{key}` is monitored on all ranks but logged on rank 0 only",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(call.site),
                    effect="the other ranks do not have the value, and save or stop differently",
                    help="Log it on all ranks with `sync_dist=True`",
                )


def _calls(names: Names) -> Iterator[ir.Call]:
    for scope in names.scopes:
        for statement, _ in placed(scope.body):
            yield from calls_of(statement)


def _constant(call: ir.Call, keyword: str) -> object:
    """The literal given for a keyword."""
    for argument in call.args:
        if argument.keyword == keyword and isinstance(argument.value, ir.Literal):
            return argument.value.value
    return None


def _logs(event: EventFact | None) -> bool:
    return event is not None and event.entry.rpartition(".")[2] in ("log", "log_dict")
