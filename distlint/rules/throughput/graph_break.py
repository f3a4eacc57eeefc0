"""DST701: what torch.compile cannot put into its graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects import CallSite, Objects, objects_of
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import tests_around
from distlint.rules.throughput._compiled import compiled
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_CLOCKS = ("time.time", "time.perf_counter", "time.monotonic", "time.process_time", "time.sleep")
_LEVELS = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log"})
_SCALARS = frozenset({"item", "tolist"})
_CAPTURE = "capture_scalar_outputs"
_LOGGERS = re.compile(r"^_?(log|logger|logging|LOG|LOGGER)$")


class GraphBreak(SourceRule):
    """A compiled function does something that breaks its graph.

    ## What it finds

    `print`, calls of a logger, clocks and `.tolist()` in a function under `@torch.compile`, handed
    to `torch.compile`, or the `forward` of a model that is (warning); `.item()` there (info).

    ## Why it matters

    The function is compiled in two pieces with Python in between, or, with `fullgraph=True`, not at
    all. Between the pieces nothing is fused, CUDA graphs end, and each call pays for it.

    `torch._dynamo.config.verbose` does not tell where: `TORCH_LOGS=graph_breaks` does. `.item()`
    breaks the graph by default only; branches on the values of tensors are the larger evil.

    ## What to do

    Move it out of the function, or behind `if not torch.compiler.is_compiling():`. Helpers that
    have to stay in Python take `@torch.compiler.disable`.

    ## Fix

    None: what is printed or measured has to go somewhere else.

    ## When it is silent

    - A test of `torch.compiler.is_compiling()` stands around it.
    - It stands in another function that the compiled one calls.
    - The file sets `torch._dynamo.config.capture_scalar_outputs`: numbers stay in the graph then.
    - Loggers that `reorderable_logging_functions` or `ignore_logger_methods` names in the file.
    """

    code = "DST701"
    name = "graph-break"
    words = ("torch.compile(",)

    good = (
        Example(
            title="Outside, and not while compiling",
            effect="static",
            why_static="it runs in an interpreter of its own: tests/executed/test_plain_python.py",
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
            why_static="it runs in an interpreter of its own: tests/executed/test_plain_python.py",
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
            title="A clock in the forward of a model",
            effect="static",
            why_static="it runs in an interpreter of its own: tests/executed/test_plain_python.py",
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
        objects = objects_of(module, catalogue)
        locator = locators.of(module.key)
        seen: set[ir.Function] = set()
        for each in compiled(objects):
            scope = objects.scope_of(each.function)
            if scope is None or each.function in seen:
                continue
            seen.add(each.function)
            for point in objects.points_in(scope):
                if _is_not_compiled(point):
                    continue
                for call in calls_of(point.statement):
                    what = _breaks(objects, CallSite(call, point))
                    scalar = what in ("`.item()`", "`.tolist()`")
                    if what:
                        yield self.finding(
                            message=f"{what} breaks the graph of a compiled function",
                            severity=Severity.INFO if what == "`.item()`" else Severity.WARNING,
                            place=locator.place(call.site),
                            related=(Related("compiled here", locator.place(each.site)),),
                            effect="the function is compiled in pieces"
                            + ("" if scalar else "; with fullgraph=True it fails"),
                            advice="Move it out, or behind torch.compiler.is_compiling().",
                        )


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
