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
from distlint.fixers.draft import CannotFix, Draft
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
    """The directory of a run is named after a clock or at random, by each process separately.

    ```python
    dist.init_process_group("nccl")
    run = time.strftime("runs/%Y%m%d-%H%M%S")
    os.makedirs(run, exist_ok=True)
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl")
    run = [time.strftime("runs/%Y%m%d-%H%M%S")]
    dist.broadcast_object_list(run, src=0)
    os.makedirs(run[0], exist_ok=True)
    ```

    Or use `distlint.runtime.agreed_path(path)`, or pass the name on the command line.

    ## Why is this bad?

    Each process gets a different name. There are as many directories as ranks, some of them empty.
    A rank that looks for the last checkpoint finds none, while the others resume. The shards of one
    checkpoint end up in different places. With a clock, this depends on whether the second changes
    in between.

    ## What is reported

    `TrainingArguments(output_dir=...)`, Lightning's `Trainer(default_root_dir=...)`, Accelerate's
    `project_dir`, and `os.makedirs(...)` on all ranks of a script with `init_process_group`, if the
    name comes from a clock, from `uuid`, or from unseeded random numbers.

    ## What is not reported

    - The name is broadcast.
    - Only one rank creates the directory: a rank check around the call, before it, or in the
      callers of its function, or a decorator for one rank.
    - The name contains the rank, the process id or the host name, or is temporary: each process is
      then meant to have its own directory.
    - The time has no seconds.

    ## Fix safety

    Unsafe: `from_main(...)` around the name gives all ranks the name of rank 0. Offered if the name
    is chosen after `init_process_group`. Before the process group exists, as for an argument of
    `Accelerator(...)`, the ranks cannot agree on a name.

    ## References

    - [broadcast_object_list](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast_object_list)
    """

    code = "DST214"
    name = "run-path-differs"
    severity = Severity.WARNING
    preview = True

    good = (
        Example(
            title="Rank 0 chooses the name",
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
            title="Only rank 0 creates it",
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
            title="A separate directory for each process, on purpose",
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
            title="A directory per rank, named by a clock",
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
            title="A random name",
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
                    message=f"directory name from {why} differs between ranks",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(site.call.site),
                    effect="ranks write to different directories and do not find each other's "
                    "files",
                    help="Broadcast the name from one rank, for example with "
                    "`distlint.runtime.agreed_path`",
                    fix=partial(
                        _fix, site, folder, Draft(locators.of(module.key), module, catalogue)
                    ),
                )


def _fix(site: CallSite, folder: ir.Expr, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    given = call.args[0]
    if not isinstance(folder, ir.Name):
        raise CannotFix("the name is built where it is used, and may be built again")
    made = _made(draft, folder.id, call)
    ranks.require_all(draft, made)
    if given.star or not ranks.joined_before(draft, made):
        raise CannotFix("the process group does not exist yet")
    function = imports.imported(draft, draft.catalogue.runtime, "from_main", made.value)
    draft.replace(made.value, f"{function}({draft.text(made.value, brackets=False)})")
    return draft.fix("unsafe", "Use the name chosen by rank 0")


def _made(draft: Draft, name: str, at: cst.CSTNode) -> cst.Assign:
    """The one assignment that binds a name, in the scope of a place and in front of it."""
    scope = names.scope_of(draft, at)
    found = names.bound_in(draft, scope, name)
    statement = statements.statement_of(draft, found[0]) if len(found) == 1 else None
    if not isinstance(statement, cst.Assign) or draft.parent(found[0]) is not statement.targets[0]:
        raise CannotFix("the name is bound in several ways")
    if len(statement.targets) != 1 or not names.available(draft, name, at):
        raise CannotFix("the name may come from somewhere else")
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
