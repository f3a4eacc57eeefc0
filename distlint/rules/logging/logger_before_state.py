"""DST904: a logger of Accelerate is used before there is a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import surely_before, tests_around
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_GET = ("accelerate.logging.get_logger", "accelerate.get_logger")
_LEVELS = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log"})
_STATES = (
    "accelerate.Accelerator",
    "accelerate.PartialState",
    "accelerate.state.PartialState",
    "accelerate.state.AcceleratorState",
)


_MAKERS = frozenset(
    {"Accelerator", "PartialState", "AcceleratorState", "parse_args_into_dataclasses"}
)


class LoggerBeforeState(SourceRule):
    """An Accelerate logger is used before `Accelerator()` or `PartialState()` is created.

    ```python
    logger = get_logger(__name__)
    logger.info("starting")  # bad: raises RuntimeError
    accelerator = Accelerator()
    ```

    ## Use instead

    ```python
    logger = get_logger(__name__)
    accelerator = Accelerator()
    logger.info("starting")
    ```

    If the accelerator cannot be created yet, create a `PartialState()` before the first message.

    ## Why is this bad?

    The logger asks the Accelerate state which process it runs in. Without a state it raises a
    `RuntimeError`: "You must initialize the accelerate state by calling either `PartialState()` or
    `Accelerator()` before using the logging utility."

    ## What is reported

    A call such as `logger.info(...)`, with `logger = accelerate.logging.get_logger(...)`, that
    always runs before the `Accelerator` or `PartialState` of the same function is created.

    ## What is not reported

    - Calls after something that may create the state: another function of the project, or
      `TrainingArguments`.
    - Calls inside a condition.

    ## Fix safety

    None: only the author knows whether the call or the creation of the state can be moved.

    ## References

    - [Accelerate: Logging](https://huggingface.co/docs/accelerate/package_reference/logging)
    """

    code = "DST904"
    name = "logger-before-state"
    severity = Severity.WARNING

    good = (
        Example(
            title="The state is created first",
            needs=("accelerate",),
            ranks=1,
            code="""\
from accelerate import PartialState
from accelerate.logging import get_logger

logger = get_logger(__name__)
PartialState()
logger.info("ready")
""",
        ),
    )

    bad = (
        Example(
            title="A message in the first line of main",
            effect="fail",
            needs=("accelerate",),
            ranks=1,
            code="""\
from accelerate import Accelerator
from accelerate.logging import get_logger

logger = get_logger(__name__)


def main():
    logger.info("starting")  # expect: DST904
    accelerator = Accelerator(cpu=True)
    accelerator.print("ready")


main()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "get_logger" not in module.words or "accelerate" not in module.imported_roots:
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for made in objects.calls_to(*_STATES):
            for site in objects.calls(_LEVELS):
                if (
                    surely_before(site.point, made.point)
                    and _is_ours(objects, site)
                    and not _may_be_made(objects, site)
                ):
                    yield self.finding(
                        message="logger is used before the Accelerate state is created",
                        severity=Severity.WARNING,
                        place=locator.place(site.call.site),
                        related=(Related("created here", locator.place(made.call.site)),),
                        effect="it raises a `RuntimeError`: there is no Accelerate state",
                        help="Create the `Accelerator` before the first log message",
                    )


def _is_ours(objects: Objects, site: CallSite) -> bool:
    func = site.call.func
    if not isinstance(func, ir.Attribute):
        return False
    found = objects.origins(func.value, site.point)
    return bool(found) and all(
        origin.site is not None and objects.called(origin.site) in _GET for origin in found
    )


def _may_be_made(objects: Objects, site: CallSite) -> bool:
    """May the state be there: by a call before, here or where the function is called?"""
    if any(True for _ in tests_around(site.point)):
        return True
    before = [
        point
        for point in objects.points_in(site.point.scope)
        if point.statement.site < site.point.statement.site
    ]
    function = site.point.scope.function
    if function is not None:
        callers = objects.callers(function)
        if len(callers) != 1:
            return True
        before += [
            point
            for point in objects.points_in(callers[0].point.scope)
            if point.statement is not callers[0].point.statement
        ]
    return any(_makes(objects, point) for point in before)


def _makes(objects: Objects, point: Point) -> bool:
    """May a statement make the state, itself or by a function of the file?"""
    for call in calls_of(point.statement):
        name = ir.last_name(call.func)
        if name in _MAKERS or "TrainingArguments" in name:
            return True
        function = objects.callee(CallSite(call, point))
        if isinstance(function, ir.Function) and function is not point.scope.function:
            if not (_MAKERS | {"TrainingArguments"}).isdisjoint(function.tokens):
                return True
    return False
