"""DST214: an output folder that has another name in each process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards import asks_rank, guards_of
from distlint.analyzer.static.objects import CallSite, Objects, objects_of
from distlint.fixers import imports, names, ranks, statements
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._differences import difference
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.guards import Guards
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_FOLDERS: dict[str, tuple[str, int | None]] = {
    "transformers.TrainingArguments": ("output_dir", 0),
    "transformers.Seq2SeqTrainingArguments": ("output_dir", 0),
    "lightning.pytorch.Trainer": ("default_root_dir", None),
    "accelerate.Accelerator": ("project_dir", None),
    "accelerate.utils.ProjectConfiguration": ("project_dir", 0),
}
"""What takes the folder of a run on all ranks, and by which parameter."""

_MAKES = {"os.makedirs": ("name", 0), "os.mkdir": ("path", 0)}
_MAKERS = frozenset(name.rpartition(".")[2] for name in _MAKES)
_ON_PURPOSE = frozenset(
    {
        "the rank", "`getpid`", "`gethostname`", "`uname`", "`node`", "`mkdtemp`",
        "`TemporaryDirectory`", "`mktemp`",
    }
)  # fmt: skip


class RunPathDiffers(SourceRule):
    """The folder of a run is named after a clock or at random, by each process for itself.

    ## What it finds

    `TrainingArguments(output_dir=...)`, Lightning's `Trainer(default_root_dir=...)`, Accelerate's
    `project_dir`, and `os.makedirs(...)` on all ranks of a script with `init_process_group`, with a
    name made from a clock, from `uuid`, or from unseeded random numbers.

    ## Why it matters

    Each process comes to another name. There are as many folders as ranks, some of them empty; a
    rank that looks for the last checkpoint finds none, while the others resume; shards of one
    checkpoint end up in different places. With a clock it depends on whether a second passes.

    ## What to do

    Let one rank choose and tell the others: `distlint.runtime.agreed_path(path)`, or
    `broadcast_object_list`. Or name the run on the command line.

    ## Fix

    Unsafe: `from_main(...)` around the name gives all ranks that of rank 0. Offered where the name
    is made behind `init_process_group`; what is named before the processes know each other, as for
    an argument of `Accelerator(...)`, cannot be agreed on there.

    ## When it is silent

    - The name went through a broadcast.
    - The folder is made on one rank only: a test of the rank around the call or before it, in the
      callers of its function, or a decorator for one rank.
    - It holds the rank, the process id or the host, or is temporary: then a folder for each process
      is meant.
    - The time is written without its seconds.
    """

    code = "DST214"
    name = "run-path-differs"
    severity = Severity.WARNING
    preview = True

    good = (
        Example(
            title="Rank 0 chooses",
            code="""\
import os
import time
import torch.distributed as dist

dist.init_process_group("gloo")
names = [f"run-{time.time_ns()}"]
dist.broadcast_object_list(names, src=0)
folder = names[0]
os.makedirs(folder, exist_ok=True)
print("folder =", folder)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The master makes it",
            code="""\
import os
import time
import torch
import torch.distributed as dist


def keep(state):
    os.makedirs(f"kept/{started}", exist_ok=True)
    torch.save(state, f"kept/{started}/last.pt")


dist.init_process_group("gloo")
started = time.time_ns()
master_process = dist.get_rank() == 0
if master_process:
    os.makedirs(f"logs/{started}", exist_ok=True)
    keep({"step": 3})
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="One folder for each process, on purpose",
            code="""\
import os
import torch.distributed as dist

dist.init_process_group("gloo")
os.makedirs(f"logs-{dist.get_rank()}-{os.getpid()}", exist_ok=True)
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="As many folders as ranks",
            effect="wrong data",
            code="""\
import os
import time
import torch.distributed as dist

dist.init_process_group("gloo")
folder = f"run-{time.time_ns()}"
os.makedirs(folder, exist_ok=True)  # expect: DST214
print("folder =", folder)
dist.barrier()
""",
        ),
        Example(
            title="At random",
            effect="wrong data",
            needs=("accelerate",),
            code="""\
import uuid
from accelerate import Accelerator

name = uuid.uuid4().hex
accelerator = Accelerator(cpu=True, project_dir=f"runs/{name}")  # expect: DST214
print("folder =", accelerator.project_dir)
accelerator.wait_for_everyone()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        wanted = {name.rpartition(".")[2] for name in (*_FOLDERS, *_MAKES)}
        if wanted.isdisjoint(module.words):
            return
        objects, guards = objects_of(module, catalogue), guards_of(module, catalogue)
        for site, folder in _folders(objects):
            why = difference(objects, folder, site.point)
            if why is not None and why not in _ON_PURPOSE and not _on_one_rank(guards, site):
                yield self.finding(
                    message=f"each process names this folder by {why}, and comes to another name",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(site.call.site),
                    effect="the ranks write to different folders, and do not find each other's "
                    "files",
                    advice="Let one rank choose the name and broadcast it; "
                    "distlint.runtime.agreed_path does it.",
                    fix=partial(
                        _fix, site, folder, Draft(locators.of(module.key), module, catalogue)
                    ),
                )


def _fix(site: CallSite, folder: ir.Expr, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    given = call.args[0]
    if not isinstance(folder, ir.Name):
        raise Doubt("the name is made where it is used, and may be made again")
    made = _made(draft, folder.id, call)
    ranks.require_all(draft, made)
    if given.star or not ranks.joined_before(draft, made):
        raise Doubt("the processes do not know each other yet")
    function = imports.imported(draft, draft.catalogue.runtime, "from_main", made.value)
    draft.replace(made.value, f"{function}({draft.text(made.value, brackets=False)})")
    return draft.fix("unsafe", "Take the name from rank 0")


def _made(draft: Draft, name: str, at: cst.CSTNode) -> cst.Assign:
    """The one assignment that binds a name, in the scope of a place and in front of it."""
    scope = names.scope_of(draft, at)
    found = names.bound_in(draft, scope, name)
    statement = statements.statement_of(draft, found[0]) if len(found) == 1 else None
    if not isinstance(statement, cst.Assign) or draft.parent(found[0]) is not statement.targets[0]:
        raise Doubt("the name is bound in several ways")
    if len(statement.targets) != 1 or not names.available(draft, name, at):
        raise Doubt("the name may come from somewhere else")
    return statement


def _folders(objects: Objects) -> Iterator[tuple[CallSite, ir.Expr]]:
    makes = _MAKES if "init_process_group" in objects.module.words else {}
    for table in (_FOLDERS, makes):
        for site in objects.calls_to(*table):
            name, position = next(
                each for key, each in table.items() if key.endswith(f".{_own_name(objects, site)}")
            )
            value = objects.argument(site, name, position).value
            if value is not None:
                yield site, value


def _own_name(objects: Objects, site: CallSite) -> str:
    return (objects.called(site) or site.name).rpartition(".")[2]


def _on_one_rank(guards: Guards, site: CallSite) -> bool:
    """Does a test of the rank, around a call or around those of its function, choose one rank?"""
    if any(map(asks_rank, tests_around(site.point))):
        return True
    if site.name not in _MAKERS:
        return False  # what all ranks make says much about ranks beside the folder
    callers = list(guards.callers(site.point.scope))
    return guards.may_be_some_ranks(site.point) or (
        bool(callers) and all(guards.may_be_some_ranks(caller.point) for caller in callers)
    )
