"""DST901: the logging of Python in a script for Accelerate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class StdlibLogging(SourceRule):
    """A script that uses Accelerate logs through Python's `logging` on every process.

    ```python
    logger = logging.getLogger(__name__)  # bad: every process logs
    accelerator = Accelerator()
    logger.info("training starts")
    ```

    ## Use instead

    ```python
    from accelerate.logging import get_logger

    logger = get_logger(__name__)
    accelerator = Accelerator()
    logger.info("training starts")
    ```

    Use the logger only after the `Accelerator` is created
    ([logger-before-state](logger-before-state.md)).

    ## Why is this bad?

    Every process writes every line. Accelerate's logger writes on the main process only, unless it
    is called with `main_process_only=False`. With `in_order=True` it waits for all ranks, so such a
    call must not be guarded by a rank check.

    ## What is reported

    `logging.getLogger(name)` in a file that creates an `Accelerator` and does not use
    `accelerate.logging`. This rule is in preview: it also reports scripts that are always run with
    one process.

    ## What is not reported

    - Files that use `get_logger`, `setLevel`, `is_main_process` or `is_local_main_process`.
    - `logging.getLogger()` without a name.
    - The file is a test.

    ## Fix safety

    None: the configuration of the Python logger has to be moved as well.

    ## References

    - [Accelerate: Logging](https://huggingface.co/docs/accelerate/package_reference/logging)
    """

    code = "DST901"
    name = "stdlib-logging"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="The logger of Accelerate",
            needs=("accelerate",),
            ranks=1,
            code="""\
import logging

from accelerate import Accelerator
from accelerate.logging import get_logger

logging.basicConfig(level=logging.INFO)
logger = get_logger(__name__)
accelerator = Accelerator(cpu=True)
logger.info("ready")
""",
        ),
    )

    bad = (
        Example(
            title="Every process logs the line",
            effect="static",
            why_static="the lines of all processes are printed",
            code="""\
import logging

from accelerate import Accelerator

logger = logging.getLogger(__name__)  # expect: DST901
accelerator = Accelerator(cpu=True)
logger.warning("ready")
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "getLogger" not in module.words or "Accelerator" not in module.words:
            return
        if document.is_test:
            return
        if "get_logger" in module.words or "accelerate" not in module.imported_roots:
            return
        if {"setLevel", "is_main_process", "is_local_main_process"} & module.tokens:
            return
        objects = objects_across(module, catalogue)
        if not any(True for _ in objects.calls_to("accelerate.Accelerator")):
            return
        for site in objects.calls_to("logging.getLogger"):
            if site.call.args:
                yield self.finding(
                    message="`logging.getLogger` logs on every process",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="each line appears once per rank",
                    help="Use `accelerate.logging.get_logger`",
                )
