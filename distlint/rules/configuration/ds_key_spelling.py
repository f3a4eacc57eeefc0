"""DST814: names of fields that are not the documented keys."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.fixers.settings import renamed
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, entries
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity


class DeepSpeedKeySpelling(SettingsRule):
    """A DeepSpeed configuration uses a spelling of a key that only DeepSpeed understands.

    ```jsonc
    {
      "zero_optimization": {
        "stage": 3,
        "gather_16bit_weights_on_model_save": true  // bad: without `stage3_`
      }
    }
    ```

    ## Use instead

    ```json
    {
      "zero_optimization": {
        "stage": 3,
        "stage3_gather_16bit_weights_on_model_save": true
      }
    }
    ```

    ## Why is this bad?

    DeepSpeed accepts both spellings. Accelerate and the Trainer look for the documented key: they
    neither fill in the other one nor see its value.

    ## What is reported

    Field names that DeepSpeed accepts instead of the documented keys, such as
    `gather_16bit_weights_on_model_save` for `stage3_gather_16bit_weights_on_model_save`.

    ## What is not reported

    - The documented key is set as well.

    ## Fix safety

    Safe: writes the documented key; DeepSpeed treats both alike.

    ## References

    - [DeepSpeed: ZeRO](https://deepspeed.readthedocs.io/en/latest/zero3.html)
    - [Accelerate: DeepSpeed](https://huggingface.co/docs/accelerate/usage_guides/deepspeed)
    """

    code = "DST814"
    name = "ds-key-spelling"
    severity = Severity.INFO

    good = (
        Example(
            title="The documented key",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {"stage": 3, "stage3_gather_16bit_weights_on_model_save": true}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="A key without its prefix",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {
    "stage": 3,
    "gather_16bit_weights_on_model_save": true  # expect: DST814
  }
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("deepspeed"):
            for path, section, entry in entries(config.root):
                found = page.deepspeed.entries((*path, entry.key)) if path else []
                documented = str(found[0].get("spelling_of", "")) if found else ""
                if path == ("zero_optimization",) and documented:
                    if documented not in section.keys:
                        yield self.finding(
                            page,
                            f"`{entry.key}` is not the documented key",
                            Severity.INFO,
                            (entry.start, entry.end),
                            effect="DeepSpeed reads it, but Accelerate and the Trainer do not",
                            help=f"Rename it to `{documented}`",
                            fix=renamed(page.sheet, "safe", entry, documented),
                        )
