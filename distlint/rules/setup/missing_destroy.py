"""DST503: the process group is never destroyed."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import imports, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import inits
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_OTHERS = frozenset({"accelerate", "deepspeed", "lightning", "pytorch_lightning", "transformers"})


_MAKES = frozenset({"init_process_group", "init_device_mesh"})
_WORK = re.compile(
    r"^(run|train|fit|main|work|step|loop|epoch|evaluate|test|forward)|_(step|epoch)$"
)


class MissingDestroy(SourceRule):
    """A script creates a process group and never destroys it.

    ```python
    dist.init_process_group("nccl")  # bad: destroy_process_group() is never called
    train()
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl")
    train()
    dist.destroy_process_group()
    ```

    Call it at the end of a successful run, not in a `finally`: if one rank fails, it would wait
    there for the other ranks, and its error would not be shown
    ([cleanup-on-failure](cleanup-on-failure.md)).

    ## Why is this bad?

    NCCL warns at exit that resources were not released. Occasionally a rank hangs at exit, when the
    other ranks have exited before its last operations complete.

    ## What is reported

    `init_process_group` or `init_device_mesh` in a script, if neither the script nor a project file
    that it imports calls `destroy_process_group`.

    ## What is not reported

    - Accelerate, DeepSpeed, Lightning and transformers, which own the process group.
    - The file is a library: importing it runs nothing.
    - The file is a test, where a fixture or a base class owns the process group.
    - The process group has one process.

    The rule is in preview: all 71 findings in 58 repositories are scripts that do not destroy the
    process group, but none of them is known to have hung.

    ## Fix safety

    Unsafe: adds the call at the end of the module, or at the end of the function that creates the
    process group, if only the module calls it.

    ## References

    - [torch.distributed: shutdown](https://docs.pytorch.org/docs/stable/distributed.html#shutdown)
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
            title="A process group of size 1",
            effect="static",
            why_static="there is only one process in the group",
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
            title="Missing at the end of the script",
            effect="static",
            why_static="gloo exits cleanly",
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
            title="Missing at the end of `main`",
            effect="static",
            why_static="gloo exits cleanly",
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
        objects = objects_across(module, catalogue)
        made = [*inits(objects), *objects.calls_to("torch.distributed.init_device_mesh")]
        guards = guards_of(module, catalogue)
        found = [init for init in made if not guards.world_size.makes_group_of_one(init)]
        if not found or not _is_script(objects, found):
            return
        if any("destroy_process_group" in other.tokens for other in module.imports):
            return
        yield self.finding(
            message="the process group is never destroyed",
            severity=Severity.INFO,
            place=locators.of(module.key).place(found[0].call.site),
            effect="NCCL warns at exit, and a rank may hang there",
            help="Call `dist.destroy_process_group()` on success, not in a `finally`",
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
        raise CannotFix("it is created under a condition")
    if function is not None:
        if function.name != "main" or function.owner or function.nested:
            raise CannotFix("it may not be the whole run")
        if any(isinstance(each, ir.Return) for each in function.body):
            raise CannotFix("it returns")
    last = statements.siblings(draft, statements.statement_of(draft, call))[-1]
    destroy = imports.imported(draft, "torch.distributed", "destroy_process_group", call)
    statements.insert_after(draft, last, f"{destroy}()")
    return draft.fix("unsafe", "Destroy the process group at the end")
