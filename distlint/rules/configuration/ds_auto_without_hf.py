"""DST809: "auto" where nobody fills it in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, entries, is_auto
from distlint.rules.configuration._launch import launches, script_text
from distlint.rules.configuration.ds_batch_math import MICRO, STEPS, TOTAL
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity
from distlint.source.settings.values import Entry, Mapping

_BATCH = (TOTAL, MICRO, STEPS)
_FILLS = re.compile(r"\b(?:transformers|accelerate|lightning|trl|peft|HfDeepSpeedConfig)\b")
_AUTO_OF_ITS_OWN = {("data_types", "keep_in_fp32_modules"), ("pipeline", "stages")}


class AutoWithoutTrainer(SettingsRule):
    """A configuration with `"auto"` is passed to DeepSpeed without the Trainer or Accelerate.

    ```python
    config = {
        "train_batch_size": "auto",  # bad: DeepSpeed fails with a TypeError
        "fp16": {"enabled": "auto"},  # bad: DeepSpeed trains in full precision
    }
    engine, *_ = deepspeed.initialize(model=model, config=config)
    ```

    ## Use instead

    ```python
    config = {
        "train_batch_size": 64,
        "fp16": {"enabled": True},
    }
    engine, *_ = deepspeed.initialize(model=model, config=config)
    ```

    Or pass the file to the Trainer or to Accelerate.

    ## Why is this bad?

    Only the Trainer and Accelerate fill in `"auto"`. DeepSpeed itself fails with a TypeError for
    batch sizes (error), and silently uses the default for everything else: with
    `"fp16": {"enabled": "auto"}` it trains in full precision (warning).

    ## What is reported

    Values `"auto"` in a configuration that is passed to `deepspeed.initialize`: as a dict, as a
    file named in the call, or as `--deepspeed_config` on a launch line whose script is found and
    uses neither transformers nor Accelerate (nor Lightning, TRL or PEFT).

    ## What is not reported

    - It is not known what reads the file.
    - The dict is changed before it is passed.

    ## Fix safety

    None: the right values are not known.

    ## References

    - [DeepSpeed: initialization](https://deepspeed.readthedocs.io/en/latest/initialize.html)
    - [transformers: DeepSpeed](https://huggingface.co/docs/transformers/deepspeed)
    - [Accelerate: DeepSpeed](https://huggingface.co/docs/accelerate/usage_guides/deepspeed)
    """

    code = "DST809"
    name = "ds-auto-without-hf"

    good = (
        Example(
            title="The Trainer fills it in",
            code="""\
from transformers import TrainingArguments

config = {
    "train_micro_batch_size_per_gpu": "auto",
    "zero_optimization": {"stage": 2},
}
arguments = TrainingArguments("out", deepspeed=config)
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="DeepSpeed does not fill it in",
            code="""\
import deepspeed
import torch

config = {
    "train_micro_batch_size_per_gpu": "auto",  # expect: DST809
    "fp16": {"enabled": "auto"},  # expect: DST809
    "zero_optimization": {"stage": 2},
}
model = torch.nn.Linear(2, 2)
engine, *_ = deepspeed.initialize(model=model, config=config)
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("deepspeed"):
            if config.reader == "deepspeed":
                for path, entry in _autos(config.root):
                    yield self._finding(page, (entry.value.start, entry.value.end), path, entry)
        for name, reader in page.sheet.config_files:
            if reader == "deepspeed" and isinstance(name.value, str):
                yield from self._of_file(page, name.value, (name.start, name.end))
        for launch in launches(page):
            word = launch.argument("deepspeed_config")
            text = script_text(page, launch) if word is not None else None
            if word is not None and word.text and text and "deepspeed" in text:
                if not _FILLS.search(text):
                    yield from self._of_file(page, word.text, (word.start, word.end))

    def _of_file(self, page: Page, name: str, bounds: tuple[int, int]) -> Iterator[Finding]:
        found = page.beside(name)
        if found is None:
            return
        _, config = found
        autos = list(_autos(config.root))
        if autos:
            path, entry = min(autos, key=lambda auto: auto[1].key not in _BATCH)
            yield self._finding(page, bounds, path, entry, name)

    def _finding(
        self,
        page: Page,
        bounds: tuple[int, int],
        path: tuple[str, ...],
        entry: Entry,
        file: str = "",
    ) -> Finding:
        batch = not path and entry.key in _BATCH
        where = ".".join((*path, entry.key))
        return self.finding(
            page,
            f'`{where}` stays "auto"{f" in {file}" if file else ""}',
            Severity.ERROR if batch else Severity.WARNING,
            bounds,
            effect="DeepSpeed does not fill it in, and fails with a TypeError"
            if batch
            else "DeepSpeed does not fill it in, and silently uses the default",
            help="Write the value out, or pass the configuration to the Trainer or Accelerate",
        )


def _autos(root: Mapping) -> Iterator[tuple[tuple[str, ...], Entry]]:
    for path, _, entry in entries(root):
        if is_auto(entry.value) and (*path, entry.key) not in _AUTO_OF_ITS_OWN:
            yield path, entry
