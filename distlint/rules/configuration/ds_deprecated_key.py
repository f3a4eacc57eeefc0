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
    """DeepSpeed's configuration uses a key that has a newer one.

    ## What it finds

    - `cpu_offload` and its kin in `zero_optimization`, which are sections today:
      `"offload_optimizer": {"device": "cpu"}`.
    - `stage3_gather_fp16_weights_on_model_save`, which is called `..._16bit_...` now.
    - A section `bfloat16` in place of `bf16`.
    - `zero_optimization` as true or false in place of a section.

    It is an error where old and new stand side by side.

    ## Why it matters

    DeepSpeed warns, and will drop the key one day. Beside its successor an old key of
    `zero_optimization` ends the job with an AssertionError, even when it says false; `bfloat16`
    beside `bf16` is passed over.

    ## What to do

    Write the new key, and delete an old one that says false.

    ## Fix

    Safe: the new key is written in place of the old, or an old one that says false is removed.
    DeepSpeed makes the same of both. None where both are there, for one of them has to go.

    ## When it is silent

    - The value is not known, as in a template.
    """

    code = "DST803"
    name = "ds-deprecated-key"

    good = (
        Example(
            title="As DeepSpeed has it now",
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
            title="Two old keys",
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
        instead = f"; its name is `{new}` now" if new and " " not in new else ""
        if " " in new:
            instead = f"; it belongs into {shown(new.split(' or '))}"
        fix = None if both else self._repair(page, section, entry)
        yield self.finding(
            page,
            f"`{entry.key}` is deprecated{instead}",
            Severity.ERROR if both else Severity.WARNING,
            (entry.start, entry.end),
            effect=f"DeepSpeed ends with an AssertionError: `{new}` is given as well"
            if both
            else "DeepSpeed warns, and will no longer know the key one day",
            advice=f"keep `{new}` alone" if both else f"write {shown(new.split(' or '))}",
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
                f"Write `{new}`",
                (entry.start, entry.value.end, f"{quote}{new}{quote}: {text}"),
            )
        return None

    def _bfloat16(self, page: Page, root: Mapping, entry: Entry) -> Finding:
        both = "bf16" in root.keys
        return self.finding(
            page,
            "`bfloat16` is passed over beside `bf16`"
            if both
            else "`bfloat16` is called `bf16` now",
            Severity.ERROR if both else Severity.WARNING,
            (entry.start, entry.end),
            effect="only `bf16` counts" if both else "Accelerate and the Trainer do not see it",
            advice="keep `bf16` alone" if both else "write `bf16`",
            fix=None if both else renamed(page.sheet, "safe", entry, "bf16"),
        )

    def _flag(self, page: Page, entry: Entry, on: bool) -> Finding:
        text = f'{{"stage": {int(on)}}}'
        return self.finding(
            page,
            f"`zero_optimization` is a section today; this means stage {int(on)}",
            Severity.WARNING,
            (entry.start, entry.end),
            effect="DeepSpeed warns, and will no longer take it one day",
            advice=f"write {text}",
            fix=set_value(page.sheet, "safe", entry, text),
        )
