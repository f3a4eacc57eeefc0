"""DST805: batch sizes that cannot all be true."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, whole
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity
from distlint.source.settings.sheet import Config
from distlint.source.settings.values import Mapping

TOTAL = "train_batch_size"
MICRO = "train_micro_batch_size_per_gpu"
STEPS = "gradient_accumulation_steps"


class BatchMath(SettingsRule):
    """The batch sizes in a DeepSpeed configuration contradict each other.

    ```jsonc
    {
      "train_batch_size": 30,  // bad: not a multiple of 4 x 2
      "train_micro_batch_size_per_gpu": 4,
      "gradient_accumulation_steps": 2
    }
    ```

    ## Use instead

    ```json
    {
      "train_micro_batch_size_per_gpu": 4,
      "gradient_accumulation_steps": 2
    }
    ```

    Without `train_batch_size`, DeepSpeed computes it from the other two.

    ## Why is this bad?

    DeepSpeed asserts that the batch sizes agree, and fails at startup.

    ## What is reported

    `train_batch_size` must equal `train_micro_batch_size_per_gpu` times
    `gradient_accumulation_steps` times the number of processes. The rule reports

    - values that satisfy this with no number of processes;
    - a dict passed to `deepspeed.initialize` that sets neither `train_batch_size` nor
      `train_micro_batch_size_per_gpu`.

    The number of processes on a launch line is compared with the batch sizes by
    [launch-config-mismatch](launch-config-mismatch.md).

    ## What is not reported

    - A value is `"auto"`, comes from a template or is not written out.
    - Only one of the numbers is given: the other two follow from it.

    ## Fix safety

    None: only you know which of the numbers is wrong.

    ## References

    - [DeepSpeed: initialization](https://deepspeed.readthedocs.io/en/latest/initialize.html)
    """

    code = "DST805"
    name = "ds-batch-math"
    severity = Severity.ERROR

    good = (
        Example(
            title="Batch sizes that agree on four processes",
            file="ds_config.json",
            code="""\
{
  "train_batch_size": 64,
  "train_micro_batch_size_per_gpu": 4,
  "gradient_accumulation_steps": 4,
  "zero_optimization": {"stage": 2}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Batch sizes that agree on no number of processes",
            file="ds_config.json",
            code="""\
{
  "train_batch_size": 100,  # expect: DST805
  "train_micro_batch_size_per_gpu": 8,
  "gradient_accumulation_steps": 4,
  "zero_optimization": {"stage": 2}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("deepspeed"):
            root = config.root
            entry = root.entry(TOTAL)
            problem = contradiction(root)
            if entry is not None and problem is not None:
                yield self._finding(page, (entry.start, entry.value.end), problem)
            elif _lacks_both(config):
                problem = "neither a total nor a micro-batch size is given"
                yield self._finding(page, (root.start, root.start + 1), problem)

    def _finding(self, page: Page, bounds: tuple[int, int], problem: str) -> Finding:
        return self.finding(
            page,
            problem,
            Severity.ERROR,
            bounds,
            effect="DeepSpeed fails at startup with an AssertionError",
            help=f"Leave `{TOTAL}` out, and set `{MICRO}` and `{STEPS}`",
        )


def contradiction(root: Mapping, processes: int | None = None) -> str | None:
    """Why the batch sizes cannot be true, on a number of processes or on any."""
    given = {key: whole(root.value(key)) for key in (TOTAL, MICRO, STEPS)}
    total, micro, steps = given[TOTAL], given[MICRO], given[STEPS]
    unknown = [key for key in given if root.node(key) is not None and given[key] is None]
    if unknown or total is None or min(v for v in given.values() if v is not None) < 1:
        return None
    if micro is None and steps is None:
        if processes is not None and total % processes:
            return f"`{TOTAL}` {total} is not divisible by {processes} processes"
        return None
    product = (micro or 1) * (steps or 1)
    said = " x ".join(str(v) for v in (micro, steps) if v is not None)
    if total % product:
        return f"`{TOTAL}` {total} is not a multiple of {said}"
    if processes is None:
        return None
    if micro is not None and steps is not None:
        if total != product * processes:
            return f"`{TOTAL}` {total} is not {said} x {processes} processes"
    elif total % (product * processes):
        return f"`{TOTAL}` {total} is not a multiple of {said} x {processes} processes"
    return None


def _lacks_both(config: Config) -> bool:
    root = config.root
    return config.reader == "deepspeed" and root.complete and not {TOTAL, MICRO} & root.keys
