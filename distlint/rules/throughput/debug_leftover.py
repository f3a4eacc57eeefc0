"""DST704: what was put in to find a bug is still there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.environment import environment_writes
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import tests_around
from distlint.rules.training import loops_around
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_DEBUG = re.compile(
    r"debug|test|mem|leak|profil|dump|inspect|diagnos|usage|report|determin|reproduc",
    re.IGNORECASE,
)

_DETERMINISM = frozenset({"use_deterministic_algorithms", "CUBLAS_WORKSPACE_CONFIG"})


class DebugLeftover(SourceRule):
    """Debugging code that slows down training is left enabled.

    ```python
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # bad: left over from debugging
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        print(torch.cuda.memory_summary())  # bad: in every step
    ```

    ## Use instead

    ```python
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        if args.debug_memory and rank == 0:
            print(torch.cuda.memory_summary())
    ```

    Set `CUDA_LAUNCH_BLOCKING=1` on the command line of the one run that needs it.

    ## Why is this bad?

    With `CUDA_LAUNCH_BLOCKING=1`, the CPU waits for the GPU after each kernel: training takes
    several times as long. Walking over all Python objects with `gc.get_objects()` takes seconds.

    ## What is reported

    - `torch.cuda.memory_summary()` and `gc.get_objects()` in a loop.
    - `os.environ["CUDA_LAUNCH_BLOCKING"] = "1"`.
    - `torch._dynamo.config.verbose = True`.

    ## What is not reported

    - Code inside a condition, or in a function whose name suggests debugging, profiling or memory.
    - `CUDA_LAUNCH_BLOCKING` in a function that also enables deterministic algorithms.
    - The file is a test.

    ## Fix safety

    None: the author may be using it right now.

    ## References

    - [PyTorch: Asynchronous execution](https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution)
    """

    code = "DST704"
    name = "debug-leftover"
    severity = Severity.INFO

    good = (
        Example(
            title="Only on request",
            ranks=1,
            code="""\
import os

import torch

if os.environ.get("DEBUG"):
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"


def debug_memory():
    for _ in range(2):
        print(torch.cuda.memory_summary() if torch.cuda.is_available() else "no GPU")


def enable_determinism():
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"
    torch.use_deterministic_algorithms(True)


debug_memory()
loss = torch.ones(1, requires_grad=True).sum()
loss.backward()
""",
        ),
    )

    bad = (
        Example(
            title="The CPU waits for every kernel",
            effect="static",
            why_static="it shows on a GPU",
            code="""\
import os

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # expect: DST704

import torch

model = torch.nn.Linear(2, 1).cuda()
for step in range(10):
    model(torch.ones(1, 2, device="cuda")).sum().backward()
    print(torch.cuda.memory_summary())  # expect: DST704
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        tokens = module.tokens
        words = {"memory_summary", "get_objects", "CUDA_LAUNCH_BLOCKING"}
        if words.isdisjoint(tokens) and not {"verbose", "_dynamo"} <= module.words:
            return
        objects = objects_across(module, catalogue)
        for site, what in _leftovers(objects):
            point = site[1]
            function = point.scope.function
            if document.is_test or any(True for _ in tests_around(point)):
                continue
            if function is not None and _DEBUG.search(function.name):
                continue
            yield self.finding(
                message=f"{what} is left over from debugging",
                severity=Severity.INFO,
                place=locators.of(module.key).place(site[0]),
                effect="each step takes longer",
                help="Remove it, or make it opt-in",
            )


def _is_for_equal_runs(objects: Objects, point: Point) -> bool:
    """Does the same function switch determinism on, of which the variable is a part?"""
    return any(
        each.scope is point.scope and not _DETERMINISM.isdisjoint(ir.tokens_of(each.statement))
        for each in objects.points
    )


def _leftovers(objects: Objects) -> Iterator[tuple[tuple[int, Point], str]]:
    for written in environment_writes(objects):
        if written.name == "CUDA_LAUNCH_BLOCKING" and not written.default:
            if _is_for_equal_runs(objects, written.point):
                continue
            if isinstance(written.value, ir.Literal) and written.value.value == "1":
                yield (written.point.statement.site, written.point), f"`{written.name}`"
    for name, dotted in (
        ("memory_summary", "torch.cuda.memory_summary"),
        ("get_objects", "gc.get_objects"),
    ):
        for site in objects.calls({name}):
            called = objects.names.dotted(site.call.func, site.point.scope)
            if called == dotted and any(True for _ in loops_around(site.point)):
                yield (site.call.site, site.point), f"`{dotted}`"
    for point in objects.points if "_dynamo" in objects.module.words else ():
        statement = point.statement
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Literal):
            if statement.value.value is True and any(
                objects.names.dotted(target, point.scope) == "torch._dynamo.config.verbose"
                for target in statement.targets
            ):
                yield (statement.site, point), "`torch._dynamo.config.verbose`"
