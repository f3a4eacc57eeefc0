"""DST413: every rank deletes the same files."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.paths import is_own
from distlint.analyzer.static.guards.process_groups import is_distributed
from distlint.analyzer.static.guards.rank_tests import in_turn
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._after_deletion import (
    TELLS_PATH,
    is_made_again,
    is_used_behind,
    read_last,
)
from distlint.rules.checkpoints._all_ranks import (
    LOOKS,
    is_before_others,
    is_looked_for,
    on_all_ranks,
    on_rank_0_only,
)
from distlint.rules.checkpoints._commands import RUN_NAMES
from distlint.rules.checkpoints._deleted import NAMES, deleted_by, deletion_at, is_forgiven
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_LOCAL = re.compile(r"local_?rank|local_(main|master|primary)|local_process", re.IGNORECASE)
_TEMPORARY = frozenset(
    {"tempfile.NamedTemporaryFile", "tempfile.TemporaryDirectory", "tempfile.TemporaryFile"}
)


class DeleteOnAllRanks(SourceRule):
    """All ranks delete the same files.

    ```python
    directories = sorted(os.listdir("checkpoints"))
    for directory in directories[:-3]:
        shutil.rmtree(os.path.join("checkpoints", directory))
    ```

    ## Use instead

    ```python
    if dist.get_rank() == 0:
        directories = sorted(os.listdir("checkpoints"))
        for directory in directories[:-3]:
            shutil.rmtree(os.path.join("checkpoints", directory))
    dist.barrier()  # before any rank writes there again
    ```

    ## Why is this bad?

    Each rank lists the files and deletes them. The first rank succeeds; the others fail now and
    then with `FileNotFoundError` or `Directory not empty`. A late rank deletes what rank 0 has
    already written again, also if the ranks go through the block one at a time. All ranks also
    enter a block for "the main process, or DeepSpeed" if they run DeepSpeed: everything in it but
    the save needs its own rank check.

    ## What is reported

    - `shutil.rmtree`, `os.remove`, `path.unlink()` and similar calls that all ranks make on a path
      that is the same on all ranks, such as the rotation of old checkpoints or an `--overwrite`
      option.
    - The same by a command: `os.system("rm ...")`, `subprocess.run(["rm", ...])`.
    - The same where a missing file is no error, as with `rm -rf` and `ignore_errors=True`, if a
      rank writes to the path again before the ranks meet.
    - The same in a region that the ranks go through one at a time, such as
      `with accelerator.main_process_first():`, if the code checks only that the file exists.
    - A temporary file whose name is sent to the other ranks, if its `with` block ends right after
      they read it.
    - In preview, with severity info: what the first process of each node deletes, and, in a script
      whose other processes are started only by Lightning's `Trainer`, paths that are checked for
      existence first.

    ## What is not reported

    - A rank check around the call, before it, or in the callers, in this file and in others.
    - The path contains the rank, or is temporary.
    - A missing file is no error: `ignore_errors=True`, `missing_ok=True`, an exception handler,
      `suppress`, or a command whose result is not checked; and nothing is written there again.
    - Nothing shows that several processes run this code, neither in the file nor in files of the
      project that call it.

    ## Fix safety

    Unsafe: the statement moves into a rank check. It may need a barrier afterwards, and a script
    without a process group has no rank to check. Not offered if all ranks use the path afterwards,
    for example to create it again, without a collective in between.

    ## References

    - [shutil.rmtree](https://docs.python.org/3/library/shutil.html#shutil.rmtree)
    - [torch.distributed.barrier](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.barrier)
    """

    code = "DST413"
    name = "delete-on-all-ranks"
    severity = Severity.WARNING
    exceptions = (Severity.INFO,)
    shared = (
        r"\brmtree\b",
        r"\bremove\(",
        r"\bunlink\b",
        r"\brmdir\b",
        r"\bremovedirs\b",
        r"\brm -",
    )

    good = (
        Example(
            title="A barrier before the temporary file is deleted",
            code="""\
import tempfile
import torch
import torch.distributed as dist


def hand_out(weights):
    name = [None]
    with tempfile.TemporaryDirectory() as folder:
        if dist.get_rank() == 0:
            name[0] = f"{folder}/weights.pt"
            torch.save(weights, name[0])
        dist.broadcast_object_list(name, src=0)
        found = torch.load(name[0])
        dist.barrier()
    return found


dist.init_process_group("gloo")
print(hand_out(torch.ones(2)))
dist.destroy_process_group()
""",
        ),
        Example(
            title="Rank 0 deletes, then a barrier",
            code="""\
import os
import shutil
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    os.makedirs("old", exist_ok=True)
    shutil.rmtree("old")
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="One file per rank",
            code="""\
import os
import torch.distributed as dist

dist.init_process_group("gloo")
path = f"scratch-{dist.get_rank()}.txt"
open(path, "w").close()
os.remove(path)
dist.destroy_process_group()
""",
        ),
        Example(
            title="An outdated cache, one rank at a time",
            effect="static",
            why_static="accelerate's region, without a launcher",
            code="""\
import os

from accelerate import Accelerator


def prepared(accelerator, source, cache):
    with accelerator.main_process_first():
        if os.path.exists(cache) and os.path.getmtime(cache) < os.path.getmtime(source):
            os.remove(cache)
""",
        ),
        Example(
            title="A missing directory is no error",
            code="""\
import shutil
import torch.distributed as dist

dist.init_process_group("gloo")
shutil.rmtree("left-over", ignore_errors=True)
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A temporary file deleted before all ranks have read it",
            effect="fail",
            code="""\
import tempfile
import time
import torch
import torch.distributed as dist


def hand_out(weights):
    name = [None]
    with tempfile.TemporaryDirectory() as folder:  # expect: DST413
        if dist.get_rank() == 0:
            name[0] = f"{folder}/weights.pt"
            torch.save(weights, name[0])
        dist.broadcast_object_list(name, src=0)
        time.sleep(0.3 * dist.get_rank())
        found = torch.load(name[0])
    return found


dist.init_process_group("gloo")
print(hand_out(torch.ones(2)))
dist.destroy_process_group()
""",
        ),
        Example(
            title="The first process of each node",
            effect="static",
            why_static="it needs two nodes and a file system that they share",
            code="""import os
import shutil

import torch
import torch.distributed as dist


def tidy(checkpoints, best):
    dist.init_process_group("nccl")
    if int(os.environ["LOCAL_RANK"]) == 0:
        for checkpoint in checkpoints:
            if checkpoint != best:
                shutil.rmtree(checkpoint)  # expect: DST413
    return torch.load(best, map_location="cpu")
""",
        ),
        Example(
            title="One rank at a time",
            effect="fail",
            code="""\
import contextlib
import os
import time
import torch.distributed as dist


@contextlib.contextmanager
def zero_first():
    if dist.get_rank() > 0:
        dist.barrier()
    yield
    if dist.get_rank() == 0:
        dist.barrier()


def without(path):
    with zero_first():
        time.sleep(0.5 * dist.get_rank())
        if os.path.exists(path):
            os.remove(path)  # expect: DST413


dist.init_process_group("gloo")
without("notes.txt")
if dist.get_rank() == 0:
    open("notes.txt", "w").close()
dist.barrier()
assert os.path.exists("notes.txt"), "it is gone again"
""",
        ),
        Example(
            title="All ranks rotate checkpoints",
            effect="fail",
            code="""\
import os
import shutil
import time
import torch.distributed as dist


def rotate(folder, limit):
    kept = sorted(os.listdir(folder))
    dist.barrier()
    time.sleep(0.2 * dist.get_rank())
    for name in kept[:-limit]:
        shutil.rmtree(os.path.join(folder, name))  # expect: DST413


dist.init_process_group("gloo")
if dist.get_rank() == 0:
    for epoch in range(3):
        os.makedirs(f"run/epoch-{epoch}", exist_ok=True)
dist.barrier()
rotate("run", 1)
""",
        ),
        Example(
            title="All ranks empty the output directory",
            effect="fail",
            code="""\
import os
import shutil
import time
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    os.makedirs("output/run", exist_ok=True)
dist.barrier()
found = os.path.exists("output/run")
dist.barrier()
if found:
    time.sleep(0.2 * dist.get_rank())
    shutil.rmtree("output/run")  # expect: DST413
dist.barrier()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        yield from self._gone_too_early(module, catalogue, locators)
        words = module.tokens | set(module.aliases.values())
        if (NAMES | RUN_NAMES).isdisjoint(words):
            return
        yield from self._on_each_node(module, catalogue, locators)
        for site, guards in on_all_ranks(module, catalogue, NAMES | RUN_NAMES, _or_under_deepspeed):
            deletion = deletion_at(guards, site)
            if deletion is None or is_own(guards, deletion.path, site.point):
                continue
            if not deletion.fails and not is_made_again(guards, site, deletion.path):
                continue
            when = "" if _or_under_deepspeed(site.point) is None else " with DeepSpeed"
            finding = self.finding(
                message=f"all ranks call `{deletion.by}` on the same path{when}",
                severity=Severity.WARNING,
                place=locators.of(module.key).place(site.call.site),
                effect="the first rank deletes, and the others fail or delete new files"
                if deletion.fails
                else "a late rank deletes what others have written again",
                help="Delete on rank 0 only, and call a barrier afterwards",
                fix=partial(
                    _fix,
                    guards,
                    site,
                    deletion.path,
                    Draft(locators.of(module.key), module, catalogue),
                ),
            )
            if is_looked_for(site) and is_before_others(guards, site):
                finding = replace(
                    finding,
                    preview=True,
                    severity=Severity.INFO,
                    message=f"each launched process calls `{deletion.by}` on the same path",
                )
            yield finding
        for site in _one_after_another(module, catalogue):
            yield self.finding(
                message=f"ranks call `{site.name}` on the same path one at a time",
                severity=Severity.WARNING,
                place=locators.of(module.key).place(site.call.site),
                effect="a later rank deletes what the first rank has written again",
                help="Delete on the first rank only, inside the region",
            )

    def _on_each_node(
        self, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        """What one process of each node deletes, perhaps on a file system that they share."""
        for site, guards in on_all_ranks(module, catalogue, NAMES, _first_of_node):
            path = deleted_by(guards, site)
            if _first_of_node(site.point) is None or path is None or is_forgiven(site):
                continue
            if not is_own(guards, path, site.point):
                finding = self.finding(
                    message=f"each node calls `{site.name}` on a possibly shared path",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="on a shared file system, one node deletes and the others fail or "
                    "delete new files",
                    help="Delete on global rank 0, or use a node-local path",
                )
                yield replace(finding, preview=True)

    def _gone_too_early(
        self, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        """Temporary files that one rank's ``with`` deletes while others may still read them."""
        if "tempfile" not in module.tokens or TELLS_PATH.isdisjoint(module.tokens):
            return
        objects = guards_of(module, catalogue).objects
        locator = locators.of(module.key)
        for point in objects.points:
            statement = point.statement
            if not (isinstance(statement, ir.With) and isinstance(statement.context, ir.Call)):
                continue
            if objects.names.dotted(statement.context.func, point.scope) in _TEMPORARY:
                read = read_last(statement)
                if read is not None:
                    yield self.finding(
                        message="temporary file may be deleted before other ranks read it",
                        severity=Severity.WARNING,
                        place=locator.place(statement.site),
                        related=(Related("other ranks read it here", locator.place(read)),),
                        effect="a late rank does not find the file",
                        help="Call a barrier before the end of the `with` block",
                    )


def _fix(guards: Guards, site: CallSite, path: ir.Expr, draft: Draft) -> Fix:
    if is_used_behind(guards, site, path):
        raise CannotFix("other ranks would use it while it is deleted")
    return on_rank_0_only(site, draft)


def _one_after_another(module: Module, catalogue: Catalogue) -> Iterator[CallSite]:
    """The deletions in a region that all ranks enter, the first one before the others."""
    if not is_distributed(module) and "run_local_rank_zero_first" not in module.tokens:
        return
    guards = guards_of(module, catalogue)
    for site in guards.objects.calls(NAMES):
        region = in_turn(site.point)
        path = deleted_by(guards, site)
        if region is None or path is None:
            continue
        if guards.may_be_some_ranks(site.point, region, site.call) or is_own(
            guards, path, site.point
        ):
            continue
        if not is_forgiven(site) and _asks_only_for_it(site, region):
            yield site


def _asks_only_for_it(site: CallSite, region: ir.With) -> bool:
    """Is nothing but the existence of the path asked in the region around a call?"""
    owners = [here.owner for here in site.point.around]
    return all(
        isinstance(owner, ir.If)
        and isinstance(owner.test, ir.Call)
        and ir.last_name(owner.test.func) in {*LOOKS, "lexists"}
        for owner in owners[owners.index(region) + 1 :]
    )


def _first_of_node(point: Point) -> ir.Stmt | None:
    """The test around a statement that lets in one process of each node."""
    for here in reversed(point.around):
        if isinstance(here.owner, ir.If) and here.block is here.owner.body:
            tokens = ir.tokens_of(here.owner.test)
            if any(_LOCAL.search(token) for token in tokens) and not any(
                "rank" in token.lower() and not _LOCAL.search(token) for token in tokens
            ):
                return here.owner
    return None


def _or_under_deepspeed(point: Point) -> ir.Stmt | None:
    """The test around a statement that lets in the main process, or all under DeepSpeed."""
    for here in reversed(point.around):
        if isinstance(here.owner, ir.If) and here.block is here.owner.body:
            test = here.owner.test
            if isinstance(test, ir.BoolOp) and test.op == "or":
                if "DEEPSPEED" in ir.tokens_of(test):
                    return here.owner
    return None
