"""DST501: the error of a worker does not get into the summary of torchrun."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import imports, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import inits
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_LAUNCHED = frozenset({"LOCAL_RANK", "RANK"})
_OTHERS = frozenset({"accelerate", "deepspeed", "lightning", "pytorch_lightning", "hydra", "click"})


class MissingRecord(SourceRule):
    """The `main` function of a script for torchrun is not decorated with `@record`.

    ```python
    def main():  # bad: its traceback is missing from the summary of torchrun
        dist.init_process_group("nccl")
        train(int(os.environ["LOCAL_RANK"]))

    if __name__ == "__main__":
        main()
    ```

    ## Use instead

    ```python
    from torch.distributed.elastic.multiprocessing.errors import record

    @record
    def main():
        dist.init_process_group("nccl")
        train(int(os.environ["LOCAL_RANK"]))
    ```

    ## Why is this bad?

    When a worker fails, torchrun prints which one, and `error_file: <N/A>`. The traceback is in the
    output of that worker, somewhere among the output of the others. With `@record`, it is in the
    summary. torchrun does not capture what the workers print; use `--redirects` and `--tee` for
    that.

    ## What is reported

    `main()` (also `train()` or `run()`) under `if __name__ == "__main__"`, in a script that
    initializes a process group from the environment of torchrun and does not use
    `torch.distributed.elastic.multiprocessing.errors.record`.

    ## What is not reported

    - `record` is used anywhere in the file.
    - `main` has other decorators, or the script uses Accelerate, DeepSpeed, Lightning, Hydra or
      Click.
    - The script spawns its processes itself, or initializes the process group from a file or with
      an address in the script.

    The rule is in preview: all 47 findings in 58 repositories are correct, but most authors do
    without the decorator.

    ## Fix safety

    Safe: adds the import and the decorator.

    ## References

    - [Error propagation in torchelastic](https://docs.pytorch.org/docs/stable/elastic/errors.html)
    - [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
    """

    code = "DST501"
    name = "missing-record"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="`main` with `@record`",
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
            title="`main` without `@record`",
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
        objects = objects_across(module, catalogue)
        if not any(_is_of_torchrun(objects, init) for init in inits(objects)):
            return
        for function in _mains(objects):
            yield self.finding(
                message=f"`{function.name}` is not decorated with `@record`",
                severity=Severity.INFO,
                place=locators.of(module.key).place(function.site),
                effect="the summary of torchrun does not show the traceback of a failed worker",
                help="Decorate it with `torch.distributed.elastic.multiprocessing.errors.record`",
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
        raise CannotFix("it has decorators")
    record = imports.imported(
        draft, "torch.distributed.elastic.multiprocessing.errors", "record", node
    )
    statements.insert_before(draft, node, f"@{record}")
    return draft.fix("safe", "Decorate it with `@record`")
