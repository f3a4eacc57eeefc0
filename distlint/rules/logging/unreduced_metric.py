"""DST906: the loss of one rank is logged as that of the job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards import asks_rank, is_distributed
from distlint.analyzer.static.objects import CallSite, objects_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_LOGS = frozenset({"log", "add_scalar", "add_scalars", "log_metric", "log_metrics"})
_METRIC = re.compile(r"loss|acc(uracy)?(\d|@|$|_)|error|correct|f1|bleu|perplexity", re.IGNORECASE)
_SHARES = re.compile(
    r"reduce|gather|avg|average|mean_across|sync|broadcast|meter|world|global_|total_loss_all",
    re.IGNORECASE,
)
_TRACKERS = re.compile(r"wandb|writer|tracker|mlflow|board|tb|accelerator|run|swanlab|logger")


class UnreducedMetric(SourceRule):
    """Rank 0 logs its own loss, and nothing averages it over the ranks.

    ## What it finds

    `wandb.log({"loss": loss.item()})`, `writer.add_scalar(...)` under a test of the rank, in a
    function that has no reduction.

    ## Why it matters

    The curve shows an eighth of the data with eight ranks: it is noisier than training is, and two
    runs on different numbers of GPUs cannot be compared by it.

    ## What to do

    `dist.all_reduce(loss, op=dist.ReduceOp.AVG)` of a detached copy, on all ranks, before the test.

    ## Fix

    None: the reduction has to stand where all ranks come.

    ## When it is silent

    - Anything in the function reduces, gathers or averages, by its name.
    - What is logged is no loss or accuracy.

    In preview: no finding in 58 repositories, where logs mostly go through a meter that
    reduces.
    """

    code = "DST906"
    name = "unreduced-metric"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Averaged first",
            effect="static",
            why_static="it needs an account",
            code="""\
import torch
import torch.distributed as dist
import wandb


def step(model, batch, rank):
    loss = model(batch).mean()
    loss.backward()
    shown = loss.detach().clone()
    dist.all_reduce(shown, op=dist.ReduceOp.AVG)
    if rank == 0:
        wandb.log({"loss": shown.item()})
""",
        ),
    )

    bad = (
        Example(
            title="An eighth of the data",
            effect="static",
            why_static="it needs an account",
            code="""\
import torch
import torch.distributed as dist
import wandb


def step(model, batch):
    loss = model(batch).mean()
    loss.backward()
    if dist.get_rank() == 0:
        wandb.log({"loss": loss.item()})  # expect: DST906
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "backward" not in module.tokens or _LOGS.isdisjoint(module.tokens):
            return
        if not is_distributed(module):
            return
        objects = objects_of(module, catalogue)
        for site in objects.calls(_LOGS):
            if _is_own(objects, site):
                yield self.finding(
                    message="this is the loss of one rank, not that of the job",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="the curve shows the data of one rank",
                    advice="Average it over the ranks first, where all of them come.",
                )


def _is_own(objects: Objects, site: CallSite) -> bool:
    func, function = site.call.func, site.point.scope.function
    if not isinstance(func, ir.Attribute) or not _TRACKERS.search(ir.last_name(func.value)):
        return False
    if not any(asks_rank(test) for test in tests_around(site.point)):
        return False
    said = ir.tokens_of(site.call)
    tokens = function.tokens if function is not None else objects.module.tokens
    return (
        "item" in said
        and any(_METRIC.search(token) for token in said)
        and "backward" in tokens
        and not any(_SHARES.search(token) for token in tokens)
    )
