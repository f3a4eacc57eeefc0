"""DST802: a key inside a section that DeepSpeed does not know there."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.catalogue.settings import nearest
from distlint.fixers.settings import renamed
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, entries, is_auto
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity


class UnknownNestedDeepSpeedKey(SettingsRule):
    """A section of a DeepSpeed configuration has a key that DeepSpeed does not know there.

    ```jsonc
    {
      "zero_optimization": {"stagee": 2},  // bad: DeepSpeed raises
      "activation_checkpointing": {"partition_activation": true}  // bad: silently ignored
    }
    ```

    ## Use instead

    ```json
    {
      "zero_optimization": {"stage": 2},
      "activation_checkpointing": {"partition_activations": true}
    }
    ```

    ## Why is this bad?

    The job fails at startup with "Extra inputs are not permitted", or runs with the default.

    ## What is reported

    Unknown keys in the sections of a DeepSpeed configuration. It is an error where DeepSpeed (the
    newest version that the project may run with) raises for them: in `zero_optimization`, `fp16`,
    `bf16`, `tensorboard` and other sections that it validates. It is a warning where DeepSpeed
    ignores them: in `activation_checkpointing`, `checkpoint`, `optimizer`, `scheduler`, `aio` and
    other sections that it does not validate.

    ## What is not reported

    - Sections that take any key, such as `params` of an optimizer.
    - A version of DeepSpeed that the project may run with knows the key.

    ## Fix safety

    Unsafe: renames a key that is at most two letters off. The key then takes effect, which it did
    not before.

    ## References

    - [DeepSpeed: ZeRO](https://deepspeed.readthedocs.io/en/latest/zero3.html)
    - [DeepSpeed: activation checkpointing](https://deepspeed.readthedocs.io/en/latest/activation-checkpointing.html)
    """

    code = "DST802"
    name = "ds-unknown-nested"

    good = (
        Example(
            title="Parameters of an optimizer",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {"stage": 3, "stage3_prefetch_bucket_size": 1e7},
  "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": true}}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="A key that raises, and one that is ignored",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {
    "stage": 2,
    "overlap_com": true  # expect: DST802
  },
  "activation_checkpointing": {
    "partitioned_activations": true  # expect: DST802
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
                known = schema.keys(path) if path else []
                if not known or schema.knows((*path, entry.key)):
                    continue
                # "auto" is dropped before anything is checked
                raises = schema.refuses_unknown(path) and not is_auto(entry.value)
                meant = nearest(entry.key, known, 2)
                if meant in section.keys:
                    meant = None
                where = ".".join(path)
                effect = 'DeepSpeed raises "Extra inputs are not permitted"'
                if not raises:
                    effect = "DeepSpeed silently ignores it"
                yield self.finding(
                    page,
                    f"unknown key `{entry.key}` in `{where}`",
                    Severity.ERROR if raises else Severity.WARNING,
                    (entry.start, entry.end),
                    effect=effect,
                    help=f"Rename it to `{meant}`" if meant else "Delete it",
                    fix=renamed(page.sheet, "unsafe", entry, meant) if meant else None,
                )
