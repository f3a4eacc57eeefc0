"""DST801: a key that DeepSpeed never looks up."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.catalogue.settings import nearest
from distlint.fixers.settings import renamed, without
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.settings.sheet import Config
from distlint.source.settings.values import Entry

_INSTEAD = {
    "communication_backend": "the backend and its timeout are arguments of "
    "`deepspeed.init_distributed(dist_backend=, timeout=)`, or DEEPSPEED_TIMEOUT in minutes",
    "communication": "what exists is `communication_data_type`, and ZeRO++'s "
    "`zero_quantized_gradients` and `zero_quantized_weights` at stage 3",
    "timeout": "the time limit is that of the process group: `init_distributed(timeout=)` or "
    "DEEPSPEED_TIMEOUT in minutes",
    "checkpointing": "the section is `checkpoint`; how many checkpoints are kept is for the "
    "trainer to decide (`save_total_limit`, `ProjectConfiguration(total_limit=)`)",
    "logging": "what exists is `log_level`, since DeepSpeed 0.19.8",
}
_NEAR = 3


class UnknownDeepSpeedKey(SettingsRule):
    """DeepSpeed's configuration has a key at its top that DeepSpeed never looks up.

    ## What it finds

    Keys at the top of a DeepSpeed configuration (a JSON file, or a dict in a script) that no
    version of DeepSpeed reads which the project may run with. For a misspelt key the nearest one is
    named; for keys that guides invent (`communication_backend`, `timeout`, `checkpointing`,
    `logging`) what exists instead.

    ## Why it matters

    DeepSpeed passes over keys that it does not know, without a word. The job runs with the default.

    ## What to do

    Write the key that was meant, or delete it.

    ## Fix

    Unsafe: a key that is at most three letters off is renamed, any other is removed, unless a
    comment stands with it. The run then does something that it did not do before, or a tool of your
    own misses the key.

    ## When it is silent

    - A script beside the file, or in one of the two folders above it, names the key: the project
      reads it itself.
    - The key is one that an earlier DeepSpeed knew; that is DST804.
    - Keys that begin with `_` or `#`, and `$schema`, which people use for comments.
    """

    code = "DST801"
    name = "ds-unknown-key"
    severity = Severity.WARNING

    good = (
        Example(
            title="Keys that exist, one of them read by old and new versions alike",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "gradient_accumulation_steps": 2,
  "steps_per_print": 100,
  "zero_optimization": {"stage": 2}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="A misspelt key, and a section that does not exist",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "gradient_acumulation_steps": 2,  # expect: DST801
  "zero_optimization": {"stage": 2},
  "timeout": {"grad_sync_timeout": 300}  # expect: DST801
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("deepspeed"):
            for entry in config.root.entries:
                if not entry.merged and not page.deepspeed.knows((entry.key,)):
                    if not entry.key.startswith(("_", "#", "$", "//")):
                        if not _is_read(page, entry.key):
                            yield self._finding(page, config, entry)

    def _finding(self, page: Page, config: Config, entry: Entry) -> Finding:
        key = entry.key
        meant = nearest(key, page.deepspeed.keys(()), min(_NEAR, len(key) // 4))
        if meant in config.root.keys:
            meant = None
        instead = _INSTEAD.get(key)
        hint = f"; did you mean `{meant}`?" if meant else f": {instead}" if instead else ""
        fix: Fix | None
        if meant is not None:
            fix = renamed(page.sheet, "unsafe", entry, meant)
        else:
            fix = without(page.sheet, "unsafe", config.root, entry)
        return self.finding(
            page,
            f"DeepSpeed has no key `{key}`{hint}",
            Severity.WARNING,
            (entry.start, entry.end),
            effect="DeepSpeed passes over it without a word",
            advice=f"write `{meant}`" if meant else "delete it",
            fix=fix,
        )


def _is_read(page: Page, key: str) -> bool:
    """Does a script nearby name the key?"""
    wanted = (f'"{key}"'.encode(), f"'{key}'".encode(), f".{key}".encode())
    if page.sheet.kind == "python":
        text = page.text.encode("utf-8", "replace")
        return sum(text.count(each) for each in wanted) > 1
    return any(each in data for data in page.near("*.py", above=3, most=50) for each in wanted)
