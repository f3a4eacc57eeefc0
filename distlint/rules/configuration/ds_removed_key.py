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
    """A DeepSpeed configuration uses a key or an optimizer that newer versions have removed.

    ```jsonc
    {
      "train_micro_batch_size_per_gpu": 4,
      "amp": {"enabled": false}  // bad: removed in DeepSpeed 0.19.8
    }
    ```

    ## Use instead

    ```json
    {
      "train_micro_batch_size_per_gpu": 4,
      "bf16": {"enabled": true}
    }
    ```

    Delete the key and use its replacement, or restrict DeepSpeed to versions before 0.19.8 in the
    requirements.

    ## Why is this bad?

    DeepSpeed raises at startup, even if the section says `"enabled": false`.

    ## What is reported

    - Keys that DeepSpeed 0.19.8 rejects (`amp`, `elasticity`, `nebula`, `compression_training`,
      `sparse_gradients`, `quantize_training` and others), and removed keys of `zero_optimization`
      (`mics_shard_size`, `zeropp_loco_param`).
    - The 1-bit optimizers, which were removed in 0.19.8.

    It is an error if all versions that the project may run with reject it, otherwise a warning.

    ## What is not reported

    - The requirements of the project restrict DeepSpeed to versions that know the key.

    ## Fix safety

    None: what the job is to do without it is a decision for its author.

    ## References

    - [DeepSpeed: initialization](https://deepspeed.readthedocs.io/en/latest/initialize.html)
    - [DeepSpeed: optimizers](https://deepspeed.readthedocs.io/en/latest/optimizers.html)
    """

    code = "DST804"
    name = "ds-removed-key"

    good = (
        Example(
            title="Mixed precision of DeepSpeed itself",
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
            title="A removed section that is disabled",
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
                        f"DeepSpeed {newest} rejects `{entry.key}`",
                        (entry.start, entry.end),
                        "Delete it",
                        reason,
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
                f"DeepSpeed {schema.versions[-1]} has removed the optimizer `{node.value}`",
                (node.start, node.end),
                "Use `AdamW` or `Lamb`",
                certain=node.value.lower() not in schema.optimizers,
            )

    def _finding(
        self,
        page: Page,
        message: str,
        bounds: tuple[int, int],
        help: str,
        reason: str = "",
        *,
        certain: bool,
    ) -> Finding:
        return self.finding(
            page,
            message,
            Severity.ERROR if certain else Severity.WARNING,
            bounds,
            effect=f'DeepSpeed fails at startup: "{reason}"'
            if reason
            else "DeepSpeed fails at startup",
            help=f"{help}, or restrict DeepSpeed to older versions in the requirements",
        )
