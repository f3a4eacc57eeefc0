"""DST818: what DeepSpeed's reader takes and Accelerate's and the Trainer's does not."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, uses_auto
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity

_STANDARD = ("`NaN`", "`Infinity`", "`-Infinity`")


class CommentsInHfConfig(SettingsRule):
    """A file for the Trainer or Accelerate holds what only DeepSpeed's own reader takes.

    ## What it finds

    Comments, trailing commas, keys without quotes and the like in a DeepSpeed configuration that
    uses `"auto"`, so that the Trainer or Accelerate has to read it. One finding for each file.

    ## Why it matters

    DeepSpeed reads its files with hjson, which allows all that. The Trainer and Accelerate read the
    same file with Python's `json`, which raises a JSONDecodeError.

    ## What to do

    Write plain JSON.

    ## Fix

    None: what a comment says has to go elsewhere first.

    ## When it is silent

    - Nothing in the file is `"auto"`: DeepSpeed alone may be what reads it.
    - The file is called `.hjson`.
    """

    code = "DST818"
    name = "comments-in-hf-config"
    severity = Severity.ERROR

    good = (
        Example(
            title="For DeepSpeed alone",
            file="ds_config.json",
            code="""\
{
  // eight GPUs
  "train_batch_size": 64,
  "zero_optimization": {"stage": 2},
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="For the Trainer",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": "auto",
  "zero_optimization": {"stage": 2},  # expect: DST818
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        if page.sheet.kind != "json" or page.path.suffix.lower() == ".hjson":
            return
        for config in page.of("deepspeed"):
            odd = [each for each in config.extensions if each[0] not in _STANDARD]
            if odd and uses_auto(config.root):
                what, start, end = min(odd, key=lambda each: each[1])
                yield self.finding(
                    page,
                    f'{what} in a file with "auto", which the Trainer or Accelerate reads',
                    Severity.ERROR,
                    (start, max(end, start + 1)),
                    effect="Python's json raises a JSONDecodeError",
                    advice="write plain JSON",
                )
