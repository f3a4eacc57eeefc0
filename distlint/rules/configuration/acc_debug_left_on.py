"""DST813: Accelerate's debug mode in a committed file."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.fixers.settings import set_value
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration.acc_unknown_key import STATIC
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity


class AccelerateDebugLeftOn(SettingsRule):
    """Accelerate's configuration leaves the debug mode on.

    ## What it finds

    `debug: true` in a file for `accelerate launch --config_file`.

    ## Why it matters

    Each collective of Accelerate is then preceded by another one that compares the shapes on all
    processes. That is what one wants when looking for a hang, and costs time in every other run.

    ## What to do

    `debug: false`, and `accelerate launch --debug` when it is needed.

    ## Fix

    Safe: `false` is written. It changes no result.

    ## When it is silent

    - The file is called after debugging or a test.
    """

    code = "DST813"
    name = "acc-debug-left-on"
    severity = Severity.INFO

    good = (
        Example(
            title="As `accelerate config` writes it",
            file="accelerate.yaml",
            code="""\
compute_environment: LOCAL_MACHINE
debug: false
distributed_type: MULTI_GPU
mixed_precision: bf16
num_processes: 8
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Left on",
            file="accelerate.yaml",
            code="""\
compute_environment: LOCAL_MACHINE
debug: true  # expect: DST813
distributed_type: MULTI_GPU
mixed_precision: bf16
num_processes: 8
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        name = page.path.name.lower()
        if "debug" in name or "test" in name:
            return
        for config in page.of("accelerate"):
            entry = config.root.entry("debug")
            if entry is not None and not entry.merged and config.root.value("debug") is True:
                yield self.finding(
                    page,
                    "the debug mode is on for every run",
                    Severity.INFO,
                    (entry.start, entry.value.end),
                    effect="every collective is preceded by another one",
                    advice="write `debug: false`, and pass `--debug` when it is needed",
                    fix=set_value(page.sheet, "safe", entry, "false"),
                )
