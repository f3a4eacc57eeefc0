"""DST408: all ranks use what one rank has only begun to write."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.process_groups import is_distributed
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import Around, expressions_in
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers import agree, imports, ranks, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._file_calls import (
    MAKERS_OF_FOLDERS,
    READERS_OF_FILES,
    writers_of_files,
)
from distlint.rules.checkpoints._found import is_in_ordered_block, read_where_found
from distlint.rules.checkpoints._method_reads import ends_in_leave, meets_in, used_by_methods
from distlint.rules.checkpoints._paths import same
from distlint.rules.checkpoints._uses import (
    goes_backward,
    makes_below,
    use_in,
    used_in_other_arm,
    writes_in_arms,
)
from distlint.rules.checkpoints._written import (
    Writers,
    full,
    guarded_writes,
    imported_users,
    left_before,
    may_meet,
    picks,
)
from distlint.rules.collectives._following import following
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.checkpoints._written import Write
    from distlint.source.document import Document

_DEPTH = 4

_NAMES = MAKERS_OF_FOLDERS | READERS_OF_FILES


class LoadAfterRank0Save(SourceRule):
    """All ranks use a file or directory that one rank may not have written yet.

    ```python
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "best.pt")
    state = torch.load("best.pt", map_location="cpu")  # the other ranks do not wait for rank 0
    model.load_state_dict(state)
    ```

    ## Use instead

    ```python
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "best.pt")
    dist.barrier()
    state = torch.load("best.pt", map_location="cpu")
    model.load_state_dict(state)
    ```

    With Accelerate, call `accelerator.wait_for_everyone()`. A directory can be created on all ranks
    with `exist_ok=True`. A small value is better broadcast than written to a file.

    ## Why is this bad?

    The other ranks skip the branch and open the file while rank 0 is still writing it. They fail
    with `FileNotFoundError`, or read a half-written file or, on the second run, the file of the run
    before. On one machine this usually works.

    ## What is reported

    A file that is written inside a rank check and read after it by all ranks, or in its `else` by
    the others, or a directory that one rank creates and all ranks write to, with no
    synchronization in between. Functions of the project that write, or read, are followed: the rank
    check may be around their call. Also a file of the object that one method writes and another one
    reads. A path may be joined in different ways: `os.path.join(out, "a.pt")`, `f"{out}/a.pt"`,
    `out / "a.pt"`, or a variable that is given one of these once.

    Also a file that all ranks load if it exists, and that rank 0 writes otherwise: each rank looks
    at another time, and one that comes late finds what rank 0 is still writing.

    ## What is not reported

    - The ranks synchronize in between: a barrier, any other collective, wrapping a model.
    - Only the rank that wrote the file reads it.
    - Each rank creates the directory, or one inside it, with `os.makedirs` before it writes there.
    - A rank check around both, or around all calls of the function: only the writer gets there.
    - The ranks wait until the file exists, or catch the failure, sleep and try again.
    - Rank 0 looks for the file first while the others wait, or the ranks meet between the test
      whether it exists and the write.
    - The paths are made of different variables.
    - The file is used in a function that is only defined after the check: its calls are not
      followed.

    ## Fix safety

    Unsafe: a barrier is added after the branch that writes: `dist.barrier()` if the process group
    certainly exists by then, `accelerator.wait_for_everyone()` with Accelerate, otherwise
    `named_barrier("...")`, which does nothing in a run of one process. Not offered for a read in
    the `else`, or of a file that is looked for first.

    ## References

    - [DDP tutorial: save and load checkpoints](https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html)
    - [torch.distributed.barrier](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.barrier)
    """

    code = "DST408"
    name = "load-after-rank0-save"
    severity = Severity.WARNING
    shared = (
        r"\bsave\(",
        r"\bsavez\(",
        r"\bsave_file\(",
        r"\bmakedirs\(",
        r"\bmkdir\(",
        r"\bopen\(",
        r"\bwrite_(?:text|bytes)\(",
        r"\bsave_(?:pretrained|to_disk)\(",
        r"\bto_(?:csv|json|pickle|parquet)\(",
    )

    good = (
        Example(
            title="A barrier in between",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    torch.save({"step": 3}, "state.pt")
dist.barrier()
step = torch.load("state.pt", weights_only=True)["step"]
dist.destroy_process_group()
""",
        ),
        Example(
            title="A directory that all ranks create",
            code="""\
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
os.makedirs("run", exist_ok=True)
rank = dist.get_rank()
if rank == 0:
    torch.save({"step": 3}, "run/state.pt")
torch.save({"rank": rank}, f"run/rng_{rank}.pt")
dist.destroy_process_group()
""",
        ),
        Example(
            title="A function that appends to the file of rank 0",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
is_first = dist.get_rank() == 0
if is_first:
    with open("events.txt", "w") as events:
        events.write("begin\\n")


def note(text):
    if is_first:
        with open("events.txt", "a") as events:
            events.write(text)


note("end\\n")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Only rank 0 evaluates",
            code="""\
import os
import torch.distributed as dist


def evaluate(folder, rank):
    if not os.path.exists(folder) and rank in (-1, 0):
        os.makedirs(folder)
    with open(os.path.join(folder, "results.txt"), "w") as results:
        results.write("accuracy = 1\\n")


dist.init_process_group("gloo")
rank = dist.get_rank()
if rank in (-1, 0):
    evaluate("results", rank)
dist.destroy_process_group()
""",
        ),
        Example(
            title="Only rank 0 reads the file",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank == 0:
    torch.save({"step": 3}, "state.pt")
if rank == 0:
    print(torch.load("state.pt", weights_only=True))
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="All ranks read before rank 0 has written",
            effect="fail",
            code="""\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    time.sleep(0.3)
    torch.save({"step": 3}, "state.pt")
step = torch.load("state.pt", weights_only=True)["step"]  # expect: DST408
dist.barrier()
""",
        ),
        Example(
            title="All ranks read metadata that rank 0 writes",
            effect="fail",
            code="""\
import json
import time
import torch.distributed as dist


def reload(state, folder):
    if dist.get_rank() == 0:
        time.sleep(0.3)
        with open(f"{folder}/metadata.json", "w") as file:
            json.dump(state, file)
    with open(f"{folder}/metadata.json") as file:  # expect: DST408
        return json.load(file)["step"]


dist.init_process_group("gloo")
reload({"step": 3}, ".")
dist.barrier()
""",
        ),
        Example(
            title="A directory that does not exist yet",
            effect="fail",
            code="""\
import os
import time
import torch
import torch.distributed as dist


def save(folder, state, rank):
    if rank == 0:
        time.sleep(0.3)
        os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"optimizer_{rank}.pt")
    torch.save(state, path)  # expect: DST408


dist.init_process_group("gloo")
save("run", {"step": 3}, dist.get_rank())
dist.barrier()
""",
        ),
        Example(
            title="A rank that looks later finds half of the file",
            effect="fail",
            code="""\
import json
import os
import time
import torch.distributed as dist


def names(path):
    if os.path.exists(path):
        with open(path) as file:  # expect: DST408
            return json.load(file)
    found = ["cat", "dog"]
    if dist.get_rank() == 0:
        with open(path, "w") as file:
            file.write("[")
            file.flush()
            time.sleep(2)
            file.write('"cat", "dog"]')
    return found


dist.init_process_group("gloo")
time.sleep(dist.get_rank())
names("names.json")
dist.barrier()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if (_NAMES | writers_of_files(catalogue)).isdisjoint(module.tokens):
            if not any(imported_users(objects_across(module, catalogue))):
                return
        guards = guards_of(module, catalogue)
        by_words = is_distributed(module) or "rank" in module.tokens
        told: set[int] = set()
        writers = Writers(guards.objects)
        for write in guarded_writes(writers):
            write = full(writers.objects, write)
            point = write.site.point
            if _comes_alone(guards, Point(point.scope, write.around), _DEPTH):
                continue
            if is_in_ordered_block(guards, point):
                continue
            use = _used_behind(guards, writers, write) or used_by_methods(guards, write)
            found = read_where_found(guards, write) if use is None else None
            use = use or found
            if use is None or use.site in told or _is_tried_again(guards, use, point):
                continue
            if not by_words and not guards.on_many_ranks(point.scope, write.site):
                continue
            told.add(use.site)
            if found is not None:
                yield self._half_written(module, locators, write, found)
                continue
            draft = Draft(locators.of(module.key), module, catalogue)
            fix = partial(_fix, write.around, _kind(write), draft)
            yield self._found(module, locators, write, use, fix)
        for write, owner in writes_in_arms(writers):
            point = write.site.point
            use = used_in_other_arm(guards, write, owner)
            if use is None or use.site in told or _is_tried_again(guards, use, point):
                continue
            if guards.on_many_ranks(point.scope, write.site):
                told.add(use.site)
                yield self._found(module, locators, write, use)

    def _found(
        self,
        module: Module,
        locators: Locators,
        write: Write,
        use: ir.Call,
        fix: Callable[[], Fix] | None = None,
    ) -> Finding:
        locator, what = locators.of(module.key), _kind(write)
        return self.finding(
            message=f"other ranks may use this {what} before it is written",
            severity=Severity.WARNING,
            place=locator.place(use.site),
            related=(Related("written on one rank only", locator.place(write.site.call.site)),),
            effect=f"the {what} may be missing or incomplete when other ranks use it",
            help="Call a barrier after the write",
            fix=fix,
        )

    def _half_written(
        self, module: Module, locators: Locators, write: Write, read: ir.Call
    ) -> Finding:
        locator = locators.of(module.key)
        return self.finding(
            message="other ranks may find this file while it is written",
            severity=Severity.WARNING,
            place=locator.place(read.site),
            related=(Related("written on one rank only", locator.place(write.site.call.site)),),
            effect="a rank that looks for the file a little later loads an incomplete one",
            help="Let rank 0 look and write first, then a barrier, then all ranks load",
        )


def _kind(write: Write) -> str:
    return "directory" if write.used.makes else "file"


def _is_tried_again(guards: Guards, use: ir.Call, point: Point) -> bool:
    """Is it in a loop that waits a while where it fails, and tries once more?"""
    return any(
        site.call is use
        and any(
            isinstance(here.owner, ir.Try)
            and here.block is here.owner.body
            and any("sleep" in ir.block_tokens(each.body) for each in here.owner.handlers)
            and any(
                isinstance(each.owner, (ir.For, ir.While)) for each in site.point.around[:depth]
            )
            for depth, here in enumerate(site.point.around)
        )
        for site in guards.objects.calls({ir.last_name(use.func)})
        if site.point.scope is point.scope
    )


def _fix(around: tuple[Around, ...], what: str, draft: Draft) -> Fix:
    branch = draft.locator.node(around[-1].block[around[-1].index].site)
    if not isinstance(branch, cst.If):
        raise CannotFix("the other ranks have left before")
    ranks.require_all(draft, branch)
    helper = agree.accelerator_at(draft, branch)
    if helper is not None:
        meet = f"{helper}.wait_for_everyone()"
    elif ranks.joined_before(draft, branch):
        meet = f"{imports.imported(draft, 'torch.distributed', 'barrier', branch)}()"
    else:
        barrier = imports.imported(draft, draft.catalogue.runtime, "named_barrier", branch)
        meet = f'{barrier}("the {what} is written")'
    statements.insert_after(draft, branch, meet)
    return draft.fix("unsafe", "Add a barrier after the write")


def _comes_alone(guards: Guards, point: Point, depth: int) -> bool:
    """Does a test around a statement, or around all calls of its function, pick the rank?"""
    for here in point.around:
        if isinstance(here.owner, ir.If) and picks(here.owner.test, here.block is here.owner.body):
            return True
    callers = list(guards.all_callers(point.scope)) if depth else []
    return bool(callers) and all(
        _comes_alone(around, each.point, depth - 1) for around, each in callers
    )


def _used_behind(guards: Guards, writers: Writers, write: Write) -> ir.Call | None:
    """The first use of the same path behind the test, if nothing lets the ranks meet before."""
    objects, path, point = guards.objects, write.path, write.site.point
    if write.used.owner or meets_in(guards.objects, write) or left_before(write.site):
        return None
    for step in following(write.around):
        if step.role == "define" or (step.level and point.scope.function is None and step.guards):
            continue  # what is in the body of a function runs where it is called
        for item in expressions_in(step.node):
            if not isinstance(item, ir.Call):
                continue
            site = CallSite(item, point)
            if may_meet(objects, site) or goes_backward(objects, site):
                return None
            if write.used.makes and not step.guards and makes_below(writers, site, path):
                return None  # each rank makes what is missing for itself
            use = use_in(guards, site, write) if not step.guards else None
            if use is not None:
                return use
        if step.role == "store" and same(step.node, path):
            return None
        if step.role == "store" and write.full is not None:
            if not ir.names_in(step.node).isdisjoint(ir.names_in(write.full)):
                write = replace(write, full=None)
        if step.role == "test" and asks_rank(step.node) and ends_in_leave(step):
            return None
    return None
