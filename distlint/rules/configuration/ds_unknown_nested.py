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
    """A section of DeepSpeed's configuration has a key that DeepSpeed does not know there.

    ## What it finds

    Unknown keys in the sections of a DeepSpeed configuration. It is an error where DeepSpeed (the
    newest that the project may run with) raises
    for them (`zero_optimization`, `fp16`, `bf16`, `tensorboard` and other sections that are
    checked), and a warning where it passes over them (`activation_checkpointing`, `checkpoint`,
    `optimizer`, `scheduler`, `aio` and others that are only looked up).

    ## Why it matters

    The job ends at the start with "Extra inputs are not permitted", or runs with the default.

    ## What to do

    Write the key that was meant, or delete it.

    ## Fix

    Unsafe: a key that is at most two letters off is renamed. The run then does something that it
    did not do before.

    ## When it is silent

    - Sections that take any key, such as `params` of an optimizer.
    - A version of DeepSpeed that the project may run with knows the key.
    """

    code = "DST802"
    name = "ds-unknown-nested"

    good = (
        Example(
            title="The parameters of an optimizer are its own",
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
            title="One raises, the other is passed over",
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
                hint = f"; did you mean `{meant}`?" if meant else ""
                where = ".".join(path)
                effect = 'DeepSpeed raises "Extra inputs are not permitted"'
                if not raises:
                    effect = "DeepSpeed passes over it without a word"
                yield self.finding(
                    page,
                    f"`{where}` has no key `{entry.key}`{hint}",
                    Severity.ERROR if raises else Severity.WARNING,
                    (entry.start, entry.end),
                    effect=effect,
                    advice=f"write `{meant}`" if meant else "delete it",
                    fix=renamed(page.sheet, "unsafe", entry, meant) if meant else None,
                )
