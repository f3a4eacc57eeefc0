"""DST806: two precisions at once."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, is_on
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Related, Severity


class PrecisionConflict(SettingsRule):
    """DeepSpeed's configuration switches on fp16 and bf16 at once.

    ## What it finds

    `fp16.enabled` and `bf16.enabled` (or `bfloat16.enabled`) that are both true.

    ## Why it matters

    DeepSpeed asserts that they are not, and ends the job at the start.

    ## What to do

    Keep bf16 where the GPUs have it, fp16 elsewhere.

    ## Fix

    None: which of them is meant depends on the GPUs.

    ## When it is silent

    - One of them is `"auto"`: the Trainer and Accelerate fill it in.
    """

    code = "DST806"
    name = "ds-precision-conflict"
    severity = Severity.ERROR

    good = (
        Example(
            title="One is off",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "fp16": {"enabled": false},
  "bf16": {"enabled": true},
  "zero_optimization": {"stage": 2}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Both are on",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "fp16": {"enabled": true, "loss_scale": 128},
  "bf16": {"enabled": true},  # expect: DST806
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
            other = "bf16" if "bf16" in root.keys else "bfloat16"
            entry, fp16 = root.entry(other), root.entry("fp16")
            if entry is None or fp16 is None:
                continue
            if is_on(root, "fp16", "enabled") and is_on(root, other, "enabled"):
                yield self.finding(
                    page,
                    f"`fp16` and `{other}` are both switched on",
                    Severity.ERROR,
                    (entry.start, entry.end),
                    effect='DeepSpeed ends the job: "bfloat16 and fp16 modes cannot be '
                    'simultaneously enabled"',
                    advice="switch one of them off",
                    related=(Related("fp16", page.sheet.place(fp16.start, fp16.end)),),
                )
