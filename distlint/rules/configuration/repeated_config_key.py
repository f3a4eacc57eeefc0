"""DST815: a key that stands twice."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Related, Severity
from distlint.source.settings.values import mappings


class RepeatedConfigKey(SettingsRule):
    """A section of a configuration has the same key twice.

    ```jsonc
    {
      "train_batch_size": 32,
      "zero_optimization": {"stage": 2},
      "train_batch_size": 64  // bad: already set above
    }
    ```

    ## Use instead

    ```json
    {
      "train_batch_size": 64,
      "zero_optimization": {"stage": 2}
    }
    ```

    ## Why is this bad?

    For a file, DeepSpeed raises "Duplicate keys in DeepSpeed config" (error). In YAML, in a dict in
    a script and for other readers of JSON, the last value is used, and the first one is silently
    ignored (warning).

    ## What is reported

    A key that occurs twice in one section of a DeepSpeed or Accelerate configuration.

    ## What is not reported

    - The other key comes from a YAML merge key (`<<`), which is meant to be overridden.

    ## Fix safety

    None: only you know which of the values is wrong.

    ## References

    - [DeepSpeed: initialization](https://deepspeed.readthedocs.io/en/latest/initialize.html)
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
                        f"duplicate key `{second.key}`",
                        Severity.ERROR if raises else Severity.WARNING,
                        (second.start, second.end),
                        effect='DeepSpeed raises "Duplicate keys in DeepSpeed config"'
                        if raises
                        else "the last one is used",
                        help="Keep only one of them",
                        related=(
                            Related("first set here", page.sheet.place(first.start, first.end)),
                        ),
                    )
