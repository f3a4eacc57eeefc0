"""DST804: keys and optimizers that DeepSpeed has dropped."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, entries
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity
from distlint.source.settings.sheet import Config
from distlint.source.settings.values import Scalar


class RemovedDeepSpeedKey(SettingsRule):
    """DeepSpeed's configuration uses what newer versions of DeepSpeed have removed.

    ## What it finds

    - Keys that DeepSpeed 0.19.8 refuses (`amp`, `elasticity`, `nebula`, `compression_training`,
      `sparse_gradients`, `quantize_training` and others), and keys of `zero_optimization` that are
      gone (`mics_shard_size`, `zeropp_loco_param`).
    - The 1-bit optimizers, which are gone since 0.19.8.

    It is an error when the project asks for versions that all refuse it, else a warning.

    ## Why it matters

    DeepSpeed raises at the start, also when the section says `"enabled": false`.

    ## What to do

    Delete the key and use what replaces it, or hold DeepSpeed below 0.19.8 in the requirements.

    ## Fix

    None: what the job is to do without it is a decision.

    ## When it is silent

    - The requirements of the project hold DeepSpeed at versions that know the key.
    """

    code = "DST804"
    name = "ds-removed-key"

    good = (
        Example(
            title="Mixed precision by DeepSpeed itself",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {"stage": 1},
  "fp16": {"enabled": true}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Apex, switched off",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {"stage": 1},
  "amp": {"enabled": false}  # expect: DST804
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("deepspeed"):
            schema = page.deepspeed
            newest = schema.versions[-1]
            for path, _, entry in entries(config.root):
                here = (*path, entry.key)
                removal = schema.removal(here)
                gone = removal is not None or (
                    schema.is_former(here)
                    and not schema.entries(here)
                    and schema.refuses_unknown(path)
                )
                if gone:
                    reason = removal.rstrip(".").split(". ")[-1] if removal else ""
                    yield self._finding(
                        page,
                        f"DeepSpeed {newest} refuses `{entry.key}`",
                        (entry.start, entry.end),
                        reason or "delete it",
                        certain=removal is None or schema.always_removed(here),
                    )
            yield from self._optimizer(page, config)

    def _optimizer(self, page: Page, config: Config) -> Iterable[Finding]:
        schema = page.deepspeed
        node = config.root.node("optimizer", "type")
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            return
        if node.value.lower() in schema.former_optimizers:
            yield self._finding(
                page,
                f"DeepSpeed {schema.versions[-1]} has no optimizer `{node.value}` any more",
                (node.start, node.end),
                "use `AdamW` or `Lamb`",
                certain=node.value.lower() not in schema.optimizers,
            )

    def _finding(
        self, page: Page, message: str, bounds: tuple[int, int], advice: str, *, certain: bool
    ) -> Finding:
        return self.finding(
            page,
            message,
            Severity.ERROR if certain else Severity.WARNING,
            bounds,
            effect="the job ends at the start with an error",
            advice=f"{advice}, or hold DeepSpeed back in the requirements",
        )
