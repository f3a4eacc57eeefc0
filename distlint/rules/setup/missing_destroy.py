"""DST503: the process group is never destroyed."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards import guards_of
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects import CallSite, Objects, objects_of
from distlint.fixers import imports, statements
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import inits
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_OTHERS = frozenset({"accelerate", "deepspeed", "lightning", "pytorch_lightning", "transformers"})


_MAKES = frozenset({"init_process_group", "init_device_mesh"})
_WORK = re.compile(
    r"^(run|train|fit|main|work|step|loop|epoch|evaluate|test|forward)|_(step|epoch)$"
)


class MissingDestroy(SourceRule):
    """A script makes a process group and never destroys it.

    ## What it finds

    `init_process_group` or `init_device_mesh` in a script, and `destroy_process_group` neither
    there nor in a file of the project that it imports.

    ## Why it matters

    NCCL warns at exit that resources were not released, and now and then a rank hangs there, when
    the others are gone before its last messages are through.

    ## What to do

    Call `dist.destroy_process_group()` as the last thing of a run that has succeeded. Not in a
    `finally`: when one rank fails, it would wait there for the others, and its error would not be
    seen ([cleanup-on-failure](cleanup-on-failure.md)).

    ## Fix

    Unsafe: it goes to the end of the module, or of the function that makes the group and is called
    by the module alone.

    ## When it is silent

    - Accelerate, DeepSpeed, Lightning and transformers, which own the group.
    - The file is a library: nothing runs when it is imported.
    - The file is a test, whose group a fixture or a base class owns; a group of one process.

    In preview: in the 71 findings in 58 repositories nothing destroys the group, and none is
    known to have hung.
    """

    code = "DST503"
    name = "missing-destroy"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Destroyed at the end",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A group of one process",
            effect="static",
            why_static="no process meets another one",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
dist.barrier()
""",
        ),
        Example(
            title="A library",
            code="""\
import torch.distributed as dist


def join():
    dist.init_process_group("gloo")
""",
        ),
    )

    bad = (
        Example(
            title="At the end of the script",
            effect="static",
            why_static="gloo does not mind",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")  # expect: DST503
total = torch.ones(1)
dist.all_reduce(total)
print("training done", total.item())
""",
        ),
        Example(
            title="At the end of main",
            effect="static",
            why_static="gloo does not mind",
            code="""\
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")  # expect: DST503
    dist.barrier()


if __name__ == "__main__":
    main()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if (
            not {"init_process_group", "init_device_mesh"} & words
            or "destroy_process_group" in words
            or document.is_test
        ):
            return
        if not _OTHERS.isdisjoint(module.imported_roots):
            return
        objects = objects_of(module, catalogue)
        made = [*inits(objects), *objects.calls_to("torch.distributed.init_device_mesh")]
        guards = guards_of(module, catalogue)
        found = [init for init in made if not guards.is_told_one(init)]
        if not found or not _is_script(objects, found):
            return
        if any("destroy_process_group" in other.tokens for other in module.imports):
            return
        yield self.finding(
            message="nothing destroys this process group",
            severity=Severity.INFO,
            place=locators.of(module.key).place(found[0].call.site),
            effect="NCCL warns at exit, and a rank may hang there",
            advice="Call dist.destroy_process_group() when all has succeeded, not in a finally.",
            fix=partial(_fix, found[0], Draft(locators.of(module.key), module, catalogue)),
        )


def _is_run(objects: Objects, init: CallSite) -> bool:
    """Does the function that makes the group go on to work with it?"""
    return any(
        point.statement.site > init.point.statement.site
        and any(_WORK.search(ir.last_name(call.func)) for call in calls_of(point.statement))
        for point in objects.points_in(init.point.scope)
    )


def _is_script(objects: Objects, found: list[CallSite]) -> bool:
    return "__main__" in objects.module.tokens or any(
        init.point.scope.function is None or _is_run(objects, init) for init in found
    )


def _fix(init: CallSite, draft: Draft) -> Fix:
    function = init.point.scope.function
    call = draft.node(init.call.site, cst.Call)
    if len(init.point.around) > 1:
        raise Doubt("it is made under a condition")
    if function is not None:
        if function.name != "main" or function.owner or function.nested:
            raise Doubt("it may not be the whole run")
        if any(isinstance(each, ir.Return) for each in function.body):
            raise Doubt("it returns")
    last = statements.siblings(draft, statements.statement_of(draft, call))[-1]
    destroy = imports.imported(draft, "torch.distributed", "destroy_process_group", call)
    statements.insert_after(draft, last, f"{destroy}()")
    return draft.fix("unsafe", "Destroy the group at the end")
