"""DST810: keys that say what is so anyway."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.fixers.settings import without
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, entries
from distlint.rules.settings import Page, written
from distlint.source.finding import Finding, Severity
from distlint.source.settings.values import UNKNOWN, Scalar


class NoopDeepSpeedKey(SettingsRule):
    """A key in a DeepSpeed configuration is set to its default.

    ```jsonc
    {
      "zero_optimization": {
        "stage": 2,
        "contiguous_gradients": true  // bad: this is the default
      }
    }
    ```

    ## Use instead

    ```json
    {
      "zero_optimization": {
        "stage": 2
      }
    }
    ```

    Keep the key if it is there to document that the default is intended.

    ## Why is this bad?

    Such keys are copied from file to file and read as if they had an effect, such as
    `override_module_apply: true` for embeddings.

    ## What is reported

    Keys in sections that DeepSpeed validates, whose value is the default in all versions that the
    project may run with.

    ## What is not reported

    - The default differs between the versions that the project may run with.
    - Sections that DeepSpeed does not validate, and the keys `enabled` and `stage`.

    ## Fix safety

    Safe: removes the key, unless there is a comment with it.

    ## References

    - [DeepSpeed: ZeRO](https://deepspeed.readthedocs.io/en/latest/zero3.html)
    """

    code = "DST810"
    name = "ds-noop-key"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Values that differ from the defaults",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {"stage": 3, "sub_group_size": 1e8}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Two default values",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {
    "stage": 3,
    "override_module_apply": true,  # expect: DST810
    "sub_group_size": 1e9  # expect: DST810
  }
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("deepspeed"):
            schema = page.deepspeed
            for path, section, entry in entries(config.root):
                value = entry.value.value if isinstance(entry.value, Scalar) else None
                if not path or value is None or value is UNKNOWN or value == "":
                    continue
                if entry.key in ("enabled", "stage") or not schema.refuses_unknown(path):
                    continue
                found = schema.entries((*path, entry.key))
                defaults = [each.get("default") for each in found]
                same = [type(d) is not bool or d is value for d in defaults]
                if found and all(d == value for d in defaults) and all(same):
                    yield self.finding(
                        page,
                        f"`{entry.key}` is set to its default, {written(page, entry.value)}",
                        Severity.INFO,
                        (entry.start, entry.end),
                        effect="it has no effect",
                        help="Delete it",
                        fix=without(page.sheet, "safe", section, entry),
                    )
