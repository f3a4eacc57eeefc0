"""DST414: every rank makes the same folder, and only the first succeeds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.paths import is_own
from distlint.analyzer.static.guards.rank_arithmetic import passed_values
from distlint.analyzer.static.guards.rank_tests import WAITS, is_left_to_some
from distlint.analyzer.static.reaching_definitions import Point, holds, path_of
from distlint.fixers import calls
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._all_ranks import (
    LOOKS,
    is_before_others,
    is_done_by_parent,
    is_done_first,
    is_looked_for,
    on_all_ranks,
)
from distlint.rules.checkpoints._deleted import is_forgiven
from distlint.rules.checkpoints._paths import same
from distlint.rules.setup._order import surely_before
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_MAKERS = frozenset({"os.makedirs", "os.mkdir"})
_OF_PATHS = frozenset({"mode", "parents", "exist_ok"})
"""What the method of a path takes; that of a file on another machine is given a name."""


class MkdirOnAllRanks(SourceRule):
    """All ranks create the same directory without `exist_ok=True`.

    ```python
    if not os.path.exists("checkpoints"):
        os.makedirs("checkpoints")
    ```

    ## Use instead

    ```python
    os.makedirs("checkpoints", exist_ok=True)
    ```

    This is safe on any number of ranks.

    ## Why is this bad?

    All ranks start together. Each sees that the directory is missing and creates it; one succeeds,
    and the others fail with `FileExistsError`. This happens now and then, at the start of the run,
    and more often on a file system that many nodes share.

    Lightning starts the other processes of a node when the first one calls `fit`, so they find the
    directory. Processes on other nodes, or started by a launcher such as `srun`, do not wait for
    it.

    ## What is reported

    `os.makedirs` or the `mkdir` of a path without `exist_ok=True`, or `os.mkdir`, that all ranks
    call, also after a check that the directory does not exist. In preview, with severity info:
    after such a check in a script whose other processes are started only by Lightning's `Trainer`.

    ## What is not reported

    - `exist_ok=True`, or a handler for the error.
    - A rank check around the call, before it, or in the callers, in this file and in others.
    - There is a check, and each rank has created the directory, or one inside it, before: with
      `makedirs` or a `SummaryWriter`. Also if each caller of the function has created what it
      passes, or one rank has and a barrier follows.
    - The process that starts the others calls the function with the same arguments before.
    - The path contains the rank, or is temporary.
    - Nothing shows that several processes run this code, neither in the file nor in files of the
      project that call it.

    ## Fix safety

    Safe: `exist_ok=True` is added after a check that the directory does not exist.

    Unsafe: the same without such a check: an existing directory is then no longer an error.

    ## References

    - [os.makedirs](https://docs.python.org/3/library/os.html#os.makedirs)
    """

    code = "DST414"
    name = "mkdir-on-all-ranks"
    severity = Severity.WARNING
    exceptions = (Severity.INFO,)
    shared = (r"\bmkdir\b", r"\bmakedirs\b")

    good = (
        Example(
            title="exist_ok on all ranks",
            code="""\
import os
import torch.distributed as dist

dist.init_process_group("gloo")
os.makedirs("output", exist_ok=True)
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Only rank 0 creates it",
            code="""\
import os
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0 and not os.path.exists("output"):
    os.makedirs("output")
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The error is handled",
            code="""\
import os
import torch.distributed as dist

dist.init_process_group("gloo")
try:
    os.mkdir("output")
except FileExistsError:
    pass
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Before Lightning starts the other processes",
            effect="static",
            why_static="it takes a launcher that starts all processes at once",
            code="""\
import os

from lightning.pytorch import Trainer


def train(module, loader, folder):
    if not os.path.exists(folder):
        os.makedirs(folder)  # expect: DST414
    trainer = Trainer(devices=4, strategy="ddp", default_root_dir=folder)
    trainer.fit(module, loader)
""",
        ),
        Example(
            title="In a Lightning hook, which all ranks run",
            effect="static",
            why_static="it needs Lightning",
            code="""\
import os

from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def on_fit_start(self):
        if self.global_rank == 0:
            print("begins")
        if not os.path.exists("samples"):
            os.makedirs("samples")  # expect: DST414


def train(loader):
    Trainer(devices=4, strategy="ddp").fit(Model(), loader)
""",
        ),
        Example(
            title="After a check on all ranks",
            effect="fail",
            code="""\
import os
import torch.distributed as dist


def exists(path):
    found = os.path.exists(path)
    dist.barrier()
    return found


dist.init_process_group("gloo")
if not exists("output"):
    os.makedirs("output")  # expect: DST414
dist.barrier()
""",
        ),
        Example(
            title="A check that all ranks make at the same time",
            effect="fail",
            code="""\
import os
import torch.distributed as dist

dist.init_process_group("gloo")
missing = not os.path.exists("output")
dist.barrier()
if missing:
    os.makedirs("output")  # expect: DST414
dist.barrier()
""",
        ),
        Example(
            title="Next to the command-line options",
            effect="fail",
            code="""\
import argparse
import os
import torch


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default="checkpoints")
    parser.add_argument("--local_rank", type=int, default=0)
    args = parser.parse_args()
    os.makedirs(args.folder)  # expect: DST414
    return args


args = parse()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        for site, guards in on_all_ranks(module, catalogue, frozenset({"makedirs", "mkdir"})):
            path = _made_by(guards.objects, site)
            if path is None or is_forgiven(site):
                continue
            may_exist = guards.objects.argument(site, "exist_ok", 2)
            if (
                not may_exist.known
                or guards.objects.constant(may_exist, site.point, False) is not False
            ):
                continue
            if is_own(guards, path, site.point) or is_done_by_parent(guards, site):
                continue
            if is_looked_for(site):
                is_there = _is_there_already(guards, site, path) or _is_made_by_callers(
                    guards, site, path
                )
                if is_there or is_done_first(guards, site):
                    continue
            of_path = guards.objects.called(site) not in _MAKERS
            finding = self.finding(
                message="all ranks create this directory without `exist_ok=True`",
                severity=Severity.WARNING,
                place=locators.of(module.key).place(site.call.site),
                effect="all but the first rank may fail with `FileExistsError`",
                help="Pass `exist_ok=True`" if of_path else "Use `os.makedirs(..., exist_ok=True)`",
                fix=partial(_fix, site, of_path, Draft(locators.of(module.key), module, catalogue)),
            )
            if is_looked_for(site) and is_before_others(guards, site):
                finding = replace(
                    finding,
                    preview=True,
                    severity=Severity.INFO,
                    message="each launched process creates this directory",
                )
            yield finding


def _made_by(objects: Objects, site: CallSite) -> ir.Expr | None:
    """The directory that a function makes, or that a method is called on: ``path.mkdir()``."""
    called, func = objects.called(site), site.call.func
    if called in _MAKERS:
        path = objects.argument(site, "name", 0).value
        return path or objects.argument(site, "path", 0).value
    if not isinstance(func, ir.Attribute) or site.name != "mkdir":
        return None
    is_path = called.startswith("pathlib.") or (
        not called
        and objects.callee(site) is None
        and all(each.keyword in _OF_PATHS for each in site.call.args)
    )
    return func.value if is_path else None


def _is_there_already(guards: Guards, site: CallSite, path: ir.Expr) -> bool:
    """Has each rank made it, or a folder in it, in any case before: by a ``SummaryWriter``?"""
    objects, name = guards.objects, path_of(path)
    return name is not None and any(
        maker.call is not site.call
        and surely_before(_where_it_is_there(objects, maker), site.point)
        and any(
            holds(each, name)
            for made in _given_to(objects, maker)
            for each in _meanings(objects, made, maker.point)
        )
        for maker in objects.calls({"SummaryWriter", "makedirs", "mkdir"})
    )


def _given_to(objects: Objects, maker: CallSite) -> list[ir.Expr]:
    made = _made_by(objects, maker) if maker.name == "mkdir" else None
    return [made] if made is not None else [each.value for each in maker.call.args]


def _is_made_by_callers(guards: Guards, site: CallSite, path: ir.Expr) -> bool:
    """Has each caller of the function made the folder that it passes, or one rank before a wait?"""
    if not isinstance(path, ir.Name):
        return False
    callers = list(guards.all_callers(site.point.scope))
    passed = list(passed_values(guards, path.id, site.point))
    return len(passed) == len(callers) > 0 and all(
        any(
            maker.call.args
            and same(maker.call.args[0].value, value)
            and _is_made_before(where, maker, caller)
            for maker in where.objects.calls_in(caller.point.scope, {"makedirs", "mkdir"})
        )
        for where, caller, value in passed
    )


def _is_made_before(guards: Guards, maker: CallSite, caller: CallSite) -> bool:
    """Is a folder there at a call: made on each rank, or on one before a wait of all?"""
    if surely_before(_where_it_is_there(guards.objects, maker), caller.point):
        return True
    return is_left_to_some(maker.point) and any(
        maker.call.site < wait.call.site and surely_before(wait.point, caller.point)
        for wait in guards.objects.calls_in(caller.point.scope, WAITS)
    )


def _where_it_is_there(objects: Objects, maker: CallSite) -> Point:
    """The statement behind which a folder is there: a call that makes it, or the test before."""
    point = maker.point
    owner = point.around[-1].owner
    if (
        maker.name == "makedirs"
        and isinstance(owner, ir.If)
        and not owner.orelse
        and isinstance(owner.test, ir.Not)
        and isinstance(owner.test.value, ir.Call)
        and ir.last_name(owner.test.value.func) in LOOKS
        and maker.call.args
        and ir.tokens_of(maker.call.args[0].value) <= ir.tokens_of(owner.test)
    ):
        return Point(point.scope, point.around[:-1])
    return point


def _meanings(objects: Objects, node: ir.Expr, point: Point) -> Iterator[ir.Expr]:
    """A path, and what it was put together from before."""
    yield node
    for origin in objects.origins(node, point):
        if isinstance(origin.node, ir.Expr) and not origin.attributes:
            yield origin.node


def _fix(site: CallSite, of_path: bool, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    func = call.func
    last = func.attr if isinstance(func, cst.Attribute) else func
    if not isinstance(last, cst.Name) or last.value not in ("makedirs", "mkdir"):
        raise CannotFix("called by another name")
    if last.value == "mkdir" and not of_path:
        if not isinstance(func, cst.Attribute):
            raise CannotFix("makedirs would have to be imported")
        draft.replace(last, "makedirs")
    calls.set_keyword(draft, call, "exist_ok", "True", 2)
    return draft.fix("safe" if is_looked_for(site) else "unsafe", "Pass `exist_ok=True`")
