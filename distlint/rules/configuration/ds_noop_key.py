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
    """A key in DeepSpeed's configuration says what is the default anyway.

    ## What it finds

    Keys in the sections that DeepSpeed checks whose value is the default in all versions that the
    project may run with.

    ## Why it matters

    Such keys are copied from file to file and read as if they did something, like
    `override_module_apply: true` for embeddings.

    ## What to do

    Delete the key, unless it is there to say that the default is meant.

    ## Fix

    Safe: the key is removed, unless a comment stands with it.

    ## When it is silent

    - The default differs between the versions that the project may run with.
    - Sections that are only looked up, and the keys `enabled` and `stage`.
    """

    code = "DST810"
    name = "ds-noop-key"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Values of its own",
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
            title="Both are the default",
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
                        f"`{entry.key}`: {written(page, entry.value)} is the default",
                        Severity.INFO,
                        (entry.start, entry.end),
                        effect="it changes nothing",
                        advice="delete it",
                        fix=without(page.sheet, "safe", section, entry),
                    )
