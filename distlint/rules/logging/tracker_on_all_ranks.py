"""DST905: every rank starts a run of the tracker."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards import guards_of
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._all_ranks import on_all_ranks, on_rank_0_only
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.guards import Guards
    from distlint.analyzer.static.objects import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_RUNS = frozenset(
    {
        "wandb.init", "mlflow.start_run", "swanlab.init", "comet_ml.Experiment",
        "clearml.Task.init", "neptune.init_run", "aim.Run",
    }
)  # fmt: skip
_WRITERS = frozenset(
    {
        "torch.utils.tensorboard.SummaryWriter",
        "tensorboardX.SummaryWriter",
        "torch.utils.tensorboard.writer.SummaryWriter",
    }
)
_NAMES = frozenset({"init", "start_run", "Experiment", "init_run", "Run", "SummaryWriter"})
_ON_PURPOSE = frozenset({"group", "mode", "settings", "reinit", "nested"})


class TrackerOnAllRanks(SourceRule):
    """Every rank starts a run of the tracker, or writes the same event files.

    ## What it finds

    `wandb.init`, `mlflow.start_run`, `SummaryWriter` and their kind where all ranks come.

    ## Why it matters

    A job of eight ranks shows up as eight runs, of which seven are empty or wrong; with a fixed id
    they write over each other. Event files of TensorBoard in one folder are read as one zigzag
    curve.

    ## What to do

    Start it on rank 0, and test for it where it is written to. With wandb a run for each rank is
    fine if it is meant: `wandb.init(group=job_id)`.

    ## Fix

    Unsafe: a call that stands alone goes under a test of the rank. What is written to it later has
    to be guarded as well.

    ## When it is silent

    - A test of the rank, an early return or a decorator keeps other ranks away.
    - `group=` or `mode=` is given, or the folder holds the rank.
    - Accelerate's `init_trackers` and the loggers of Lightning, which guard themselves.
    """

    code = "DST905"
    name = "tracker-on-all-ranks"
    severity = Severity.WARNING

    good = (
        Example(
            title="On rank 0, and one for each rank on purpose",
            effect="static",
            why_static="it needs an account",
            code="""\
import os

import torch.distributed as dist
import wandb

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank == 0:
    wandb.init(project="p")
wandb.init(project="p", group=os.environ["JOB"], name=f"rank{rank}")
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Eight runs of one job",
            effect="static",
            why_static="it needs an account",
            code="""\
import os

import torch.distributed as dist
import wandb


def main(args):
    dist.init_process_group("gloo")
    wandb.init(project="p", config=args)  # expect: DST905
    train(int(os.environ["LOCAL_RANK"]))
    dist.destroy_process_group()


def train(local_rank):
    print(local_rank)
""",
        ),
        Example(
            title="Guarded in one place, and called once more",
            effect="static",
            why_static="it needs tensorboard",
            code="""\
import torch.distributed as dist
from torch.utils.tensorboard import SummaryWriter


class Run:
    def __init__(self, folder):
        self.folder = folder
        self.is_main = dist.get_rank() == 0

    def open_writer(self):
        self.writer = SummaryWriter(self.folder)  # expect: DST905

    def start(self):
        if self.is_main:
            self.open_writer()
        self.fit()

    def fit(self):
        self.open_writer()
        self.writer.add_scalar("loss", 1.0, 0)


dist.init_process_group("gloo")
Run("runs/first").start()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Event files of all ranks in one folder",
            effect="static",
            why_static="it needs tensorboard",
            code="""\
import torch.distributed as dist
from torch.utils.tensorboard import SummaryWriter

dist.init_process_group("gloo")
writer = SummaryWriter("runs/first")  # expect: DST905
writer.add_scalar("loss", 1.0, 0)
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if (
            not {
                "wandb",
                "mlflow",
                "SummaryWriter",
                "swanlab",
                "comet_ml",
                "clearml",
                "neptune",
                "aim",
            }
            & module.words
        ):
            return
        for site, guards in _reached(module, catalogue):
            called = guards.objects.called(site)
            run = called in _RUNS
            if not run and not guards.objects.is_call_to(site, *_WRITERS):
                continue
            if _is_meant(guards, site) or document.is_test:
                continue
            yield self.finding(
                message=f"every rank starts its own `{called}`"
                if run
                else "every rank writes event files into this folder",
                severity=Severity.WARNING,
                place=locators.of(module.key).place(site.call.site),
                effect="as many runs as ranks"
                if run
                else "what the ranks write is read as one curve; those that write nothing leave "
                "empty files",
                advice="Do it on rank 0 alone.",
                fix=partial(
                    on_rank_0_only, site, Draft(locators.of(module.key), module, catalogue)
                ),
            )


def _reached(module: Module, catalogue: Catalogue) -> Iterator[tuple[CallSite, Guards]]:
    """The calls that all ranks come to; also in a class that a script with ranks makes."""
    found = list(on_all_ranks(module, catalogue, _NAMES))
    yield from found
    if not {"RANK", "LOCAL_RANK"} & module.tokens:
        return
    guards = guards_of(module, catalogue)
    known = {site.call for site, _ in found}
    for site in guards.objects.calls(_NAMES):
        if site.call in known or guards.may_be_some_ranks(site.point):
            continue
        callers = list(guards.callers(site.point.scope))
        if callers and not any(guards.may_be_some_ranks(each.point) for each in callers):
            yield site, guards


def _is_meant(guards: Guards, site: CallSite) -> bool:
    """Is there one for each rank on purpose?"""
    for argument in site.call.args:
        if argument.keyword in _ON_PURPOSE or argument.star:
            return True
        if guards.is_own(argument.value, site.point):
            return True
    return not _is_statement(site)


def _is_statement(site: CallSite) -> bool:
    """Is it a statement of its own, or the value of one: not one arm of an expression?"""
    statement = site.point.statement
    value = getattr(statement, "value", None)
    if isinstance(statement, ir.With):
        value = statement.context
    return value is site.call
