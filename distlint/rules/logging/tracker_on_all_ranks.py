"""DST905: every rank starts a run of the tracker."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.paths import is_own
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._all_ranks import on_all_ranks, on_rank_0_only
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.sites import CallSite
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
_RECORDED = frozenset({"online", "offline"})
"""Modes of a run of wandb in which it is recorded."""


class TrackerOnAllRanks(SourceRule):
    """Every rank starts a tracker run, or writes TensorBoard events to the same directory.

    ```python
    dist.init_process_group("nccl")
    wandb.init(project="gpt", config=config)  # bad: one run per rank
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        wandb.init(project="gpt", config=config)
    ```

    Guard the calls that log to the run in the same way. With wandb, one run per rank is fine if it
    is intended: `wandb.init(group=job_id)`.

    ## Why is this bad?

    A job with eight ranks shows up as eight runs, seven of which are empty or wrong. With a fixed
    run id they overwrite each other. TensorBoard reads all event files in a directory as a single
    curve, which then zigzags.

    ## What is reported

    `wandb.init`, `mlflow.start_run`, `SummaryWriter` and the equivalent calls of SwanLab, Comet,
    ClearML, Neptune and Aim in code that all ranks run, as this file shows or one that calls it.

    ## What is not reported

    - Calls that other ranks do not reach because of a rank check, an early return or a decorator.
    - Calls with `group=`, `mode=`, `settings=`, `reinit=` or `nested=`.
    - Calls with an argument that depends on the rank, such as a separate directory for each rank.
    - `init_trackers` of Accelerate and the loggers of Lightning, which have a rank check inside.
    - Calls that are part of a larger expression.
    - The file is a test.

    ## Fix safety

    Unsafe: a call that is a statement is moved under a rank check. Code that logs to the run later
    has to be guarded as well.

    ## References

    - [PyTorch: torch.utils.tensorboard](https://docs.pytorch.org/docs/stable/tensorboard.html)
    - [Accelerate: Experiment trackers](https://huggingface.co/docs/accelerate/usage_guides/tracking)
    """

    code = "DST905"
    name = "tracker-on-all-ranks"
    severity = Severity.WARNING
    shared = (
        "wandb",
        "mlflow",
        "SummaryWriter",
        "swanlab",
        "comet_ml",
        "clearml",
        "neptune",
        r"\baim\b",
    )

    good = (
        Example(
            title="On rank 0, and one run per rank on purpose",
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
            title="Guarded in one place, unguarded in another",
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
            title="Event files of all ranks in one directory",
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
        reached = list(_reached(module, catalogue))
        kept = {name for site, _ in reached for name in _kept_as(site) if not _asks(site, name)}
        for site, guards in reached:
            if any(_asks(site, name) and name in kept for name in _kept_as(site)):
                continue  # there is one already
            called = guards.objects.called(site)
            run = called in _RUNS
            if not run and not guards.objects.is_call_to(site, *_WRITERS):
                continue
            if _is_meant(guards, site) or document.is_test:
                continue
            yield self.finding(
                message=f"every rank calls `{called}`"
                if run
                else "every rank writes event files to this directory",
                severity=Severity.WARNING,
                place=locators.of(module.key).place(site.call.site),
                effect="the tracker shows one run per rank"
                if run
                else "TensorBoard shows the values of all ranks as one curve; ranks that write "
                "nothing leave empty files",
                help="Call it on rank 0 only",
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
        if site.call in known or guards.may_be_some_ranks(site.point, call=site.call):
            continue
        callers = list(guards.callers(site.point.scope))
        if callers and not any(guards.leads_some(each, site) for each in callers):
            yield site, guards


def _kept_as(site: CallSite) -> list[str]:
    """The last names of what a statement gives what it calls."""
    statement = site.point.statement
    return [*map(ir.last_name, statement.targets)] if isinstance(statement, ir.Assign) else []


def _asks(site: CallSite, name: str) -> bool:
    """Does a test around a call ask for what it would give: ``not hasattr``, ``is None``?"""
    return any(name in ir.tokens_of(test) for test in tests_around(site.point))


def _is_meant(guards: Guards, site: CallSite) -> bool:
    """Is there one for each rank on purpose?"""
    for argument in site.call.args:
        if argument.star or (argument.keyword in _ON_PURPOSE and not _is_usual(guards, site)):
            return True
        if argument.keyword != "config" and is_own(guards, argument.value, site.point):
            return True
    return not _is_statement(site)


def _is_usual(guards: Guards, site: CallSite) -> bool:
    """Is the mode of a run, which says nothing else of it, one in which it is recorded?"""
    mode = guards.objects.argument(site, "mode")
    given = {each.keyword for each in site.call.args} & _ON_PURPOSE
    return given == {"mode"} and guards.objects.constant(mode, site.point) in _RECORDED


def _is_statement(site: CallSite) -> bool:
    """Is it a statement of its own, or the value of one: not one arm of an expression?"""
    statement = site.point.statement
    value = getattr(statement, "value", None)
    if isinstance(statement, ir.With):
        value = statement.context
    return value is site.call
