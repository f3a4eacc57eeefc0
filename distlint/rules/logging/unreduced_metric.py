"""DST906: the loss of one rank is logged as that of the job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.process_groups import is_distributed
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_LOGS = frozenset({"log", "add_scalar", "add_scalars", "log_metric", "log_metrics"})
_METRIC = re.compile(r"loss|acc(uracy)?(\d|@|$|_)|error|correct|f1|bleu|perplexity", re.IGNORECASE)
_SHARES = re.compile(
    r"reduce|gather|mean_across|sync|broadcast|world|global_|total_loss_all", re.IGNORECASE
)
_MAY_SHARE = re.compile(r"avg|average|meter", re.IGNORECASE)
"""What a class is called that may reduce, or may keep a running average of one rank."""
_TRACKERS = re.compile(r"wandb|writer|tracker|mlflow|board|tb|accelerator|run|swanlab|logger")


class UnreducedMetric(SourceRule):
    """The local loss of a rank is logged without averaging it over all ranks.

    ```python
    loss = model(batch).mean()
    loss.backward()
    if dist.get_rank() == 0:
        wandb.log({"loss": loss.item()})  # bad: the loss of rank 0 only
    ```

    ## Use instead

    ```python
    loss = model(batch).mean()
    loss.backward()
    mean_loss = loss.detach().clone()
    dist.all_reduce(mean_loss, op=dist.ReduceOp.AVG)
    if dist.get_rank() == 0:
        wandb.log({"loss": mean_loss.item()})
    ```

    All ranks have to call `all_reduce`, so it comes before the rank check. With backends that do
    not support `ReduceOp.AVG`, sum and divide by the world size.

    ## Why is this bad?

    On eight ranks, the curve shows an eighth of the data. It is noisier than the loss of the global
    batch, and runs on different numbers of GPUs cannot be compared.

    ## What is reported

    `wandb.log({"loss": loss.item()})`, `writer.add_scalar(...)` and similar calls inside a rank
    check, in a function that runs a backward pass and contains no reduction. This rule is in
    preview: most projects log through a meter that reduces, so it has seen little real code.

    ## What is not reported

    - Functions that reduce or gather something, judging by the names in them, or average it, unless
      by a class of the project that reduces nothing, such as a plain `AverageMeter`.
    - Values that are no loss or metric, judging by their names.

    ## Fix safety

    None: the reduction has to be placed where all ranks reach it.

    ## References

    - [PyTorch: torch.distributed.all_reduce](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce)
    """

    code = "DST906"
    name = "unreduced-metric"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Averaged over all ranks first",
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
            title="The loss of rank 0 only",
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
        objects = objects_across(module, catalogue)
        for site in objects.calls(_LOGS):
            if _is_own(objects, site):
                yield self.finding(
                    message="the logged metric covers the data of one rank only",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="the curve is noisier than training and depends on the number of ranks",
                    help="Average it over all ranks before the rank check",
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
        and (not any(_MAY_SHARE.search(token) for token in tokens) or _keeps_own(objects.module))
    )


def _keeps_own(module: Module) -> bool:
    """Do the averages of a module come from classes of the project, none of which reduces?"""
    names = {name for name in module.words if _MAY_SHARE.search(name) and name[:1].isupper()}
    found = [module.classes.get(name) or module.imported_class(name) for name in names]
    return bool(found) and all(
        each is not None
        and not any(
            _SHARES.search(token) for method in each.methods.values() for token in method.tokens
        )
        for each in found
    )
