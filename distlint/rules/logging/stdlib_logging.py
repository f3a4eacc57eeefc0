"""DST901: the logging of Python in a script for Accelerate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer.static.objects import objects_of
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class StdlibLogging(SourceRule):
    """A script for Accelerate takes its logger from Python's `logging`.

    ## What it finds

    `logging.getLogger(...)` in a file that makes an `Accelerator` and does not use
    `accelerate.logging`.

    ## Why it matters

    Each process prints each line. The logger of Accelerate prints on the main process, unless it is
    told otherwise by `main_process_only=False`. With `in_order=True` it waits for all ranks, so
    that it must not stand under a test of the rank.

    ## What to do

    `from accelerate.logging import get_logger`, and call it after the `Accelerator` is made
    ([logger-before-state](logger-before-state.md)).

    ## Fix

    None: what was set up for the logger of Python has to be moved as well.

    ## When it is silent

    - The file uses `accelerate.logging`, or sets levels by rank.

    In preview: of 5 findings in 58 repositories 4 were tests, which are passed over since, and
    1 is a script for one process.
    """

    code = "DST901"
    name = "stdlib-logging"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Accelerate's",
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
            title="Every process prints it",
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
        objects = objects_of(module, catalogue)
        if not any(True for _ in objects.calls_to("accelerate.Accelerator")):
            return
        for site in objects.calls_to("logging.getLogger"):
            if site.call.args:
                yield self.finding(
                    message="every process prints what this logger is told",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="each line as often as there are ranks",
                    advice="Use accelerate.logging.get_logger.",
                )
