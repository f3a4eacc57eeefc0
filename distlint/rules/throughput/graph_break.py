"""DST701: what torch.compile cannot put into its graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import Scope, calls_of
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import tests_around
from distlint.rules.throughput._compiled import compiled
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_CLOCKS = ("time.time", "time.perf_counter", "time.monotonic", "time.process_time", "time.sleep")
_LEVELS = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log"})
_SCALARS = frozenset({"item", "tolist"})
_CAPTURE = "capture_scalar_outputs"
_DEPTH = 3
"""Through how many calls a function is followed."""
_LOGGERS = re.compile(r"^_?(log|logger|logging|LOG|LOGGER)$")


class GraphBreak(SourceRule):
    """A compiled function contains a call that breaks its graph.

    ```python
    @torch.compile
    def step(x):
        y = x * 2
        print("step")  # bad: breaks the graph
        return y + 1
    ```

    ## Use instead

    ```python
    @torch.compile
    def step(x):
        y = x * 2
        if not torch.compiler.is_compiling():
            print("step")
        return y + 1
    ```

    Or move the call out of the function. Helpers that have to run in Python can be decorated with
    `@torch.compiler.disable`.

    ## Why is this bad?

    The function is compiled in two pieces with Python in between or, with `fullgraph=True`, not at
    all. Nothing is fused across the break, CUDA graphs end there, and each call pays for it.

    `TORCH_LOGS=graph_breaks` shows the breaks, `torch._dynamo.config.verbose` does not. `.item()`
    breaks the graph only by default; branches on the values of tensors are the bigger problem.

    ## What is reported

    `print`, calls of a logger, clocks and `.tolist()` in a function that is decorated with
    `@torch.compile` or passed to `torch.compile`, or in the `forward` of a model that is (warning);
    `.item()` there (info). Also in functions of the project that it calls: these are compiled too.

    ## What is not reported

    - Calls that are guarded by `torch.compiler.is_compiling()`.
    - Calls in other functions with a decorator, such as `@torch.compiler.disable`.
    - `.item()` and `.tolist()` in files that use `torch._dynamo.config.capture_scalar_outputs`:
      numbers then stay in the graph.
    - Files that use `reorderable_logging_functions` or `ignore_logger_methods`.

    ## Fix safety

    None: what is printed or measured has to go somewhere else.

    ## References

    - [PyTorch: torch.compile](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)
    """

    code = "DST701"
    name = "graph-break"
    words = ("torch.compile(",)

    good = (
        Example(
            title="Skipped while compiling",
            effect="static",
            why_static="it needs a fresh interpreter: tests/executed/test_plain_python.py",
            ranks=1,
            code="""\
import torch


@torch.compile(backend="eager", fullgraph=True)
def step(x):
    if not torch.compiler.is_compiling():
        print("eager")
    return x * 2


print(step(torch.ones(2)))
""",
        ),
    )

    bad = (
        Example(
            title="A print in the middle",
            effect="static",
            why_static="it needs a fresh interpreter: tests/executed/test_plain_python.py",
            ranks=1,
            code="""\
import torch


@torch.compile(backend="eager", fullgraph=True)
def step(x):
    y = x * 2
    print("step")  # expect: DST701
    return y + 1


step(torch.ones(2))
""",
        ),
        Example(
            title="A clock in the forward pass of a model",
            effect="static",
            why_static="it needs a fresh interpreter: tests/executed/test_plain_python.py",
            ranks=1,
            code="""\
import time

import torch


class Net(torch.nn.Module):
    def forward(self, x):
        started = time.time()  # expect: DST701
        return x * 2, started


model = torch.compile(Net(), backend="eager", fullgraph=True)
model(torch.ones(2))
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "compile" not in module.words or "torch" not in module.imported_roots:
            return
        if {"reorderable_logging_functions", "ignore_logger_methods"} & module.tokens:
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        seen: set[ir.Function] = set()
        for each in compiled(objects):
            scope = objects.scope_of(each.function)
            if scope is None or each.function in seen:
                continue
            seen.add(each.function)
            for call, what, cause in _breaks_in(objects, scope, _DEPTH, {each.function}):
                where = cause.point.scope.module
                inner = Related("called here", locators.of(where.key).place(cause.call.site))
                outer = Related("compiled here", locator.place(each.site))
                scalar = what in ("`.item()`", "`.tolist()`")
                yield self.finding(
                    message=f"{what} breaks the graph of a compiled function",
                    severity=Severity.INFO if what == "`.item()`" else Severity.WARNING,
                    place=locator.place(call.site),
                    related=(outer,) if cause.call is call else (outer, inner),
                    effect="the function is compiled in pieces"
                    + ("" if scalar else "; with `fullgraph=True` it fails"),
                    help="Move it out, or guard it with `torch.compiler.is_compiling()`",
                )


def _breaks_in(
    objects: Objects, scope: Scope, depth: int, seen: set[ir.Function]
) -> Iterator[tuple[ir.Call, str, CallSite]]:
    """The calls of a function that break the graph, what does so, and where that stands.

    Functions that are called are compiled as well, but those with a decorator, perhaps.
    """
    for point in objects.in_file(scope.module).points_in(scope):
        if _is_not_compiled(point):
            continue
        for call in calls_of(point.statement):
            site = CallSite(call, point)
            what = _breaks(objects.at(point), site)
            there, callee = objects.function_called(site) or (objects, None)
            if what:
                yield call, what, site
            elif callee is not None and callee not in seen and depth:
                seen.add(callee)
                inner = there.scope_of(callee) if not callee.decorators else None
                if inner is not None:
                    for _, what, cause in _breaks_in(objects, inner, depth - 1, seen):
                        yield call, what, cause


def _is_not_compiled(point: Point) -> bool:
    return any("is_compiling" in ir.tokens_of(test) for test in tests_around(point))


def _breaks(objects: Objects, site: CallSite) -> str:
    func, name = site.call.func, site.name
    if isinstance(func, ir.Name) and name == "print" and "print" not in objects.module.definitions:
        return "`print`"
    if objects.names.dotted(func, site.point.scope) in _CLOCKS:
        return f"`time.{name}`"
    if not isinstance(func, ir.Attribute):
        return ""
    if name in _LEVELS and _LOGGERS.search(ir.last_name(func.value)):
        return "a logger"
    if name in _SCALARS and not site.call.args and _CAPTURE not in objects.module.tokens:
        return f"`.{name}()`"
    return ""
