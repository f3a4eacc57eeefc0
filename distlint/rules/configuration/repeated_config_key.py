"""DST815: a key that stands twice."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Related, Severity
from distlint.source.settings.values import mappings


class RepeatedConfigKey(SettingsRule):
    """A configuration has the same key twice.

    ## What it finds

    A key that stands twice in one section of a DeepSpeed or Accelerate configuration.

    ## Why it matters

    DeepSpeed raises "Duplicate keys in DeepSpeed config" for a file (error). In YAML, in a dict in
    a script and for every other reader of JSON the last one counts, and the first is passed over
    without a word (warning).

    ## What to do

    Keep the one that is meant.

    ## Fix

    None: which of them is meant is for you to say.

    ## When it is silent

    - A merge key of YAML (`<<`) brings the other one: that is what it is for.
    """

    code = "DST815"
    name = "repeated-config-key"

    good = (
        Example(
            title="The same key in two sections",
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
            title="Two batch sizes",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {"stage": 2},
  "train_micro_batch_size_per_gpu": 8  # expect: DST815
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        raises = page.sheet.kind == "json"
        for config in page.sheet.configs:
            for mapping in mappings(config.root):
                for first, second in mapping.repeated():
                    yield self.finding(
                        page,
                        f"`{second.key}` stands here twice",
                        Severity.ERROR if raises else Severity.WARNING,
                        (second.start, second.end),
                        effect='DeepSpeed raises "Duplicate keys in DeepSpeed config"'
                        if raises
                        else "the last one counts",
                        advice="keep the one that is meant",
                        related=(
                            Related("the first one", page.sheet.place(first.start, first.end)),
                        ),
                    )
