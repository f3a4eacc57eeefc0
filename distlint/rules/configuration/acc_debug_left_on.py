"""DST813: Accelerate's debug mode in a committed file."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.fixers.settings import set_value
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration.acc_unknown_key import STATIC
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity


class AccelerateDebugLeftOn(SettingsRule):
    """The debug mode of Accelerate is left on in a configuration file.

    ```yaml
    compute_environment: LOCAL_MACHINE
    distributed_type: MULTI_GPU
    num_processes: 8
    debug: true  # bad: slows down every run
    ```

    ## Use instead

    ```yaml
    compute_environment: LOCAL_MACHINE
    distributed_type: MULTI_GPU
    num_processes: 8
    debug: false
    ```

    Pass `--debug` to `accelerate launch` in the runs that need it.

    ## Why is this bad?

    In debug mode, each collective of Accelerate is preceded by another one that compares the shapes
    on all ranks. That helps to find a hang, but slows down every other run.

    ## What is reported

    `debug: true` in a file for `accelerate launch --config_file`.

    ## What is not reported

    - The name of the file contains `debug` or `test`.

    ## Fix safety

    Safe: sets the value to `false`. Results do not change.

    ## References

    - [Accelerate: command line](https://huggingface.co/docs/accelerate/package_reference/cli)
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
            title="Debug mode left on",
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
                    "the debug mode of Accelerate is on for every run",
                    Severity.INFO,
                    (entry.start, entry.value.end),
                    effect="each collective is preceded by another one, which checks the shapes",
                    help="Set `debug: false`, and pass `--debug` when you need it",
                    fix=set_value(page.sheet, "safe", entry, "false"),
                )
