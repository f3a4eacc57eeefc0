"""DST214: an output folder that has another name in each process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import imports, names, ranks, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._all_ranks import is_looked_for
from distlint.rules.data._differences import difference, difference_of
from distlint.rules.setup._order import surely_ran, tests_around
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
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
_WRITES = {"torch.save": ("f", 1)}
_READS = {"torch.load": ("f", 0)}
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
    name comes from a clock, from `uuid`, or from unseeded random numbers. Also, on all ranks,
    `torch.save` into a directory with such a name that only one rank creates, and `torch.load` of
    a file with such a name that only one rank writes: the other ranks have another name and raise
    `FileNotFoundError`.

    ## What is not reported

    - The name is broadcast.
    - The process that starts the others creates the directory, before `mp.spawn`; or the directory
      is created in a function of a file in which nothing shows that several ranks call it.
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
        tables = (*_FOLDERS, *_MAKES, *_READS)
        wanted = {name.rpartition(".")[2] for name in tables}
        if wanted.isdisjoint(module.words):
            return
        objects, guards = objects_across(module, catalogue), guards_of(module, catalogue)
        for site, folder in _folders(objects):
            why = difference(objects, folder, site.point)
            if why is None or why in _ON_PURPOSE or _on_one_rank(guards, site):
                continue
            if site.name not in _MAKERS or _is_after_start(guards, site):
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
        if "init_process_group" in module.words:
            yield from self._paths_of_one_rank(objects, guards, locators)

    def _paths_of_one_rank(
        self, objects: Objects, guards: Guards, locators: Locators
    ) -> Iterator[Finding]:
        """Files that all ranks write into the folder of one rank, or read that one rank wrote."""
        folders = list(_named(objects, _MAKES))
        written = list(_named(objects, _WRITES))
        read = list(_named(objects, _READS))
        for users, makers in ((written, folders), (read, [*folders, *written])):
            for site, why, named in users:
                made = [maker for maker, _, other in makers if other is named]
                if not made or _on_one_rank(guards, site) or not _is_on_many(guards, site):
                    continue
                if is_looked_for(site):
                    continue
                if all(_on_one_rank(guards, maker) for maker in made):
                    locator = locators.of(objects.module.key)
                    yield self.finding(
                        message=f"path from {why} exists for one rank only",
                        severity=Severity.WARNING,
                        place=locator.place(site.call.site),
                        related=(Related("made here, by one rank", locator.place(_at(made[0]))),),
                        effect="the other ranks have another name for it, and raise an error",
                        help="Broadcast the name from one rank, for example with "
                        "`distlint.runtime.agreed_path`",
                    )


def _at(site: CallSite) -> int:
    return site.call.site


def _named(
    objects: Objects, table: dict[str, tuple[str, int]]
) -> Iterator[tuple[CallSite, str, ir.Call]]:
    """The calls whose path has a name from a clock or the like, and the call that it is from."""
    for site in objects.calls({dotted.rpartition(".")[2] for dotted in table}):
        if objects.called(site) not in table:
            continue
        path = objects.argument(site, *table[objects.called(site)]).value
        found = difference_of(objects, path, site.point) if path is not None else None
        if found is not None and found[0] not in _ON_PURPOSE:
            yield site, *found


def _is_on_many(guards: Guards, site: CallSite) -> bool:
    return guards.on_many_ranks(site.point.scope, site) and not guards.only_some_lead_to(site)


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


def _is_after_start(guards: Guards, site: CallSite) -> bool:
    """Does each of several processes reach a call, rather than the one that starts them?"""
    objects = guards.objects
    starts = (
        each
        for each in objects.calls(objects.called_names)
        if (entry := objects.names.entry(each.call.func, each.point.scope)) is not None
        and entry.rank is not None
        and entry.rank.form == "callback"
    )
    return guards.on_many_ranks(site.point.scope, site) and not any(
        surely_ran(objects, site.point, each.point) for each in starts
    )


def _own_name(objects: Objects, site: CallSite) -> str:
    return (objects.called(site) or site.name).rpartition(".")[2]


def _on_one_rank(guards: Guards, site: CallSite) -> bool:
    """Does a test of the rank, around a call or around those of its function, choose one rank?"""
    if any(map(asks_rank, tests_around(site.point))):
        return True
    if site.name not in _MAKERS:
        return False  # what all ranks make says much about ranks beside the folder
    callers = list(guards.callers(site.point.scope))
    return guards.may_be_some_ranks(site.point, call=site.call) or (
        bool(callers) and all(guards.leads_some(caller, site) for caller in callers)
    )
