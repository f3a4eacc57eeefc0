"""DST501: the error of a worker does not get into the summary of torchrun."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects import objects_of
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import imports, statements
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import inits
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.objects import CallSite, Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_LAUNCHED = frozenset({"LOCAL_RANK", "RANK"})
_OTHERS = frozenset({"accelerate", "deepspeed", "lightning", "pytorch_lightning", "hydra", "click"})


class MissingRecord(SourceRule):
    """The `main` of a script for torchrun is not decorated with `@record`.

    ## What it finds

    `main()` under `if __name__ == "__main__"` of a script that makes a process group from the
    environment of torchrun, without `torch.distributed.elastic.multiprocessing.errors.record`.

    ## Why it matters

    When a worker fails, torchrun prints which one, and `error_file: <N/A>`. The traceback is in the
    output of that worker, somewhere among those of the others. With `@record` it is in the summary.
    torchrun does not capture what the workers print; that is a matter of `--redirects` and `--tee`.

    ## What to do

    ```python
    @record
    def main():
        train()
    ```

    ## Fix

    Safe: the import and the decorator.

    ## When it is silent

    - `record` is used anywhere in the file.
    - `main` has other decorators, or the script is for accelerate, deepspeed or Lightning.
    - The script spawns its processes itself, or meets by a file or an address of its own.

    In preview: the 47 findings in 58 repositories are right about the script, and most authors
    do without it.
    """

    code = "DST501"
    name = "missing-record"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Recorded",
            code="""\
import os

import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record


@record
def main():
    print(os.environ["LOCAL_RANK"])
    dist.init_process_group("gloo")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
""",
        ),
    )

    bad = (
        Example(
            title="Which worker failed, and why?",
            effect="static",
            why_static="it shows in the summary that torchrun prints",
            code="""\
import os

import torch.distributed as dist


def main():  # expect: DST501
    print(os.environ["LOCAL_RANK"])
    dist.init_process_group("gloo")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if "init_process_group" not in words or _LAUNCHED.isdisjoint(module.tokens):
            return
        if "record" in words or {"spawn", "start_processes"} & words:
            return
        if not _OTHERS.isdisjoint(module.imported_roots):
            return
        objects = objects_of(module, catalogue)
        if not any(_is_of_torchrun(objects, init) for init in inits(objects)):
            return
        for function in _mains(objects):
            yield self.finding(
                message=f"an error in `{function.name}` does not get into the summary of torchrun",
                severity=Severity.INFO,
                place=locators.of(module.key).place(function.site),
                effect="the summary says that a worker failed, and not why",
                advice="Decorate it with torch.distributed.elastic.multiprocessing.errors.record.",
                fix=partial(_fix, function, Draft(locators.of(module.key), module, catalogue)),
            )


def _is_of_torchrun(objects: Objects, init: CallSite) -> bool:
    """Do the processes meet where torchrun says, and not at a place of the script's own?"""
    method = objects.argument(init, "init_method", 1).value
    if isinstance(method, ir.Format) and method.parts and isinstance(method.parts[0], ir.Literal):
        return str(method.parts[0].value).startswith("env:")
    written = objects.constant(objects.argument(init, "init_method", 1), init.point)
    return not isinstance(written, str) or written.startswith("env:")


def _mains(objects: Objects) -> Iterator[ir.Function]:
    """The function that ``if __name__ == "__main__"`` calls, and nothing else does."""
    for statement in objects.module.body:
        if isinstance(statement, ir.If) and "__name__" in ir.tokens_of(statement.test):
            for inner in statement.body:
                value = getattr(inner, "value", None)
                path = path_of(value.func) if isinstance(value, ir.Call) else None
                if path in (("main",), ("train",), ("run",)):
                    for function in objects.module.functions:
                        if (function.name,) == path and not function.decorators:
                            if not function.owner and not function.nested:
                                yield function


def _fix(function: ir.Function, draft: Draft) -> Fix:
    node = draft.node(function.site, cst.FunctionDef)
    if node.decorators:
        raise Doubt("it has decorators")
    record = imports.imported(
        draft, "torch.distributed.elastic.multiprocessing.errors", "record", node
    )
    statements.insert_before(draft, node, f"@{record}")
    return draft.fix("safe", "Record its errors")
