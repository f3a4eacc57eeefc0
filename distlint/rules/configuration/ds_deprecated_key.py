"""DST803: keys that DeepSpeed still reads under an older name."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.fixers.settings import renamed, replaced, set_value, without
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, entries, is_auto
from distlint.rules.settings import Page, shown
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.settings.values import Entry, Mapping, Scalar

_SECTIONS = {
    "cpu_offload": ("offload_optimizer", '{"device": "cpu"}'),
    "cpu_offload_param": ("offload_param", '{"device": "cpu"}'),
    "cpu_offload_params": ("offload_param", '{"device": "cpu"}'),
}
_RENAMED = {
    "stage3_gather_fp16_weights_on_model_save": "stage3_gather_16bit_weights_on_model_save",
}


class DeprecatedDeepSpeedKey(SettingsRule):
    """A DeepSpeed configuration uses a deprecated key.

    ```jsonc
    {
      "zero_optimization": {
        "stage": 2,
        "cpu_offload": true  // bad: replaced by `offload_optimizer`
      }
    }
    ```

    ## Use instead

    ```json
    {
      "zero_optimization": {
        "stage": 2,
        "offload_optimizer": {"device": "cpu"}
      }
    }
    ```

    Delete a deprecated key whose value is false.

    ## Why is this bad?

    DeepSpeed warns, and will remove the key in a future version. If the new key is set as well, an
    old key of `zero_optimization` ends the job with an AssertionError, even if it is false;
    `bfloat16` is ignored if `bf16` is set as well.

    ## What is reported

    - `cpu_offload` and the like in `zero_optimization`, which are sections now:
      `"offload_optimizer": {"device": "cpu"}`.
    - `stage3_gather_fp16_weights_on_model_save`, which is now called
      `stage3_gather_16bit_weights_on_model_save`.
    - A section `bfloat16` instead of `bf16`.
    - `zero_optimization` as true or false instead of a section.

    It is an error if the old and the new key are both set, otherwise a warning.

    ## What is not reported

    - The value is not known, as in a template.

    ## Fix safety

    Safe: replaces the old key with the new one, or removes an old key that is false. DeepSpeed
    treats both alike. There is no fix where both are set, as one of them has to be chosen.

    ## References

    - [DeepSpeed: ZeRO](https://deepspeed.readthedocs.io/en/latest/zero3.html)
    """

    code = "DST803"
    name = "ds-deprecated-key"

    good = (
        Example(
            title="The current keys",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "bf16": {"enabled": true},
  "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Two deprecated keys",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "bfloat16": {"enabled": true},  # expect: DST803
  "zero_optimization": {
    "stage": 2,
    "cpu_offload": true  # expect: DST803
  }
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("deepspeed"):
            root = config.root
            for path, section, entry in entries(root):
                if path == ("zero_optimization",):
                    yield from self._zero(page, section, entry)
                elif not path and entry.key == "bfloat16":
                    yield self._bfloat16(page, root, entry)
                elif not path and entry.key == "zero_optimization":
                    if isinstance(entry.value, Scalar) and isinstance(entry.value.value, bool):
                        yield self._flag(page, entry, entry.value.value)

    def _zero(self, page: Page, section: Mapping, entry: Entry) -> Iterable[Finding]:
        found = page.deepspeed.entries(("zero_optimization", entry.key))
        if not found or found[0].get("deprecated") is None:
            return
        new = _RENAMED.get(entry.key) or _SECTIONS.get(entry.key, ("", ""))[0]
        new = new or str(found[0]["deprecated"])
        both = new in section.keys and not is_auto(section.node(new))
        instead = shown(new.split(" or ")).replace(", ", " or ")
        fix = None if both else self._repair(page, section, entry)
        yield self.finding(
            page,
            f"`{entry.key}` is deprecated",
            Severity.ERROR if both else Severity.WARNING,
            (entry.start, entry.end),
            effect=f"DeepSpeed fails with an AssertionError: `{new}` is set as well"
            if both
            else "DeepSpeed warns, and will remove the key in a future version",
            help=f"Keep only `{new}`" if both else f"Use {instead}",
            fix=fix,
        )

    def _repair(self, page: Page, section: Mapping, entry: Entry) -> Fix | None:
        value = entry.value.value if isinstance(entry.value, Scalar) else None
        if entry.key in _RENAMED:
            return renamed(page.sheet, "safe", entry, _RENAMED[entry.key])
        if value is False:
            return without(page.sheet, "safe", section, entry)
        if value is True and entry.key in _SECTIONS:
            new, text = _SECTIONS[entry.key]
            quote = page.text[entry.start]
            if quote != '"':
                text = text.replace('"', "'")
            return replaced(
                page.sheet,
                "safe",
                f"Replace with `{new}`",
                (entry.start, entry.value.end, f"{quote}{new}{quote}: {text}"),
            )
        return None

    def _bfloat16(self, page: Page, root: Mapping, entry: Entry) -> Finding:
        both = "bf16" in root.keys
        return self.finding(
            page,
            "`bfloat16` is ignored because `bf16` is set" if both else "`bfloat16` is deprecated",
            Severity.ERROR if both else Severity.WARNING,
            (entry.start, entry.end),
            effect="only `bf16` is used" if both else "Accelerate and the Trainer do not see it",
            help="Keep only `bf16`" if both else "Rename it to `bf16`",
            fix=None if both else renamed(page.sheet, "safe", entry, "bf16"),
        )

    def _flag(self, page: Page, entry: Entry, on: bool) -> Finding:
        text = f'{{"stage": {int(on)}}}'
        return self.finding(
            page,
            f"`zero_optimization` must be a section (this means stage {int(on)})",
            Severity.WARNING,
            (entry.start, entry.end),
            effect="DeepSpeed warns, and will not accept it in a future version",
            help=f"Write `{text}`",
            fix=set_value(page.sheet, "safe", entry, text),
        )
