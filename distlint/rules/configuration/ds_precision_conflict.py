"""DST806: two precisions at once."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, is_on
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Related, Severity


class PrecisionConflict(SettingsRule):
    """A DeepSpeed configuration enables both fp16 and bf16.

    ```jsonc
    {
      "train_micro_batch_size_per_gpu": 4,
      "fp16": {"enabled": true},
      "bf16": {"enabled": true}  // bad: only one of them may be enabled
    }
    ```

    ## Use instead

    ```json
    {
      "train_micro_batch_size_per_gpu": 4,
      "bf16": {"enabled": true}
    }
    ```

    Use bf16 on GPUs that support it, and fp16 on others.

    ## Why is this bad?

    DeepSpeed asserts that only one of them is enabled, and fails at startup.

    ## What is reported

    `fp16.enabled` and `bf16.enabled` (or `bfloat16.enabled`) that are both true.

    ## What is not reported

    - One of them is `"auto"`: the Trainer and Accelerate fill it in.

    ## Fix safety

    None: the right choice depends on the GPUs.

    ## References

    - [DeepSpeed: initialization](https://deepspeed.readthedocs.io/en/latest/initialize.html)
    """

    code = "DST806"
    name = "ds-precision-conflict"
    severity = Severity.ERROR

    good = (
        Example(
            title="Only one is enabled",
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
            title="Both are enabled",
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
                    f"`fp16` and `{other}` are both enabled",
                    Severity.ERROR,
                    (entry.start, entry.end),
                    effect='DeepSpeed fails at startup: "bfloat16 and fp16 modes cannot be '
                    'simultaneously enabled"',
                    help="Disable one of them",
                    related=(
                        Related("`fp16` is enabled here", page.sheet.place(fp16.start, fp16.end)),
                    ),
                )
