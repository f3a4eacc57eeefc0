"""DST814: names of fields that are not the documented keys."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.fixers.settings import renamed
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, entries
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity


class DeepSpeedKeySpelling(SettingsRule):
    """A key in DeepSpeed's configuration is spelt as only DeepSpeed itself understands it.

    ## What it finds

    Names of fields that DeepSpeed takes in place of the documented keys, such as
    `gather_16bit_weights_on_model_save` for `stage3_gather_16bit_weights_on_model_save`.

    ## Why it matters

    DeepSpeed takes both. Accelerate and the Trainer look for the documented key: they neither fill
    this one in nor see what it says.

    ## What to do

    Write the documented key.

    ## Fix

    Safe: the documented key is written; DeepSpeed reads both alike.

    ## When it is silent

    - The documented key is there as well.
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
            title="Without its prefix",
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
                            f"the key is documented as `{documented}`",
                            Severity.INFO,
                            (entry.start, entry.end),
                            effect="DeepSpeed takes both; Accelerate and the Trainer do not",
                            advice=f"write `{documented}`",
                            fix=renamed(page.sheet, "safe", entry, documented),
                        )
