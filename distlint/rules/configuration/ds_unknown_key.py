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
    "communication_backend": "Pass the backend and the timeout to "
    "`deepspeed.init_distributed(dist_backend=, timeout=)`, or set DEEPSPEED_TIMEOUT (minutes)",
    "communication": "Use `communication_data_type`, or `zero_quantized_gradients` and "
    "`zero_quantized_weights` of ZeRO++ at stage 3",
    "timeout": "Set the timeout of the process group: `init_distributed(timeout=)` or "
    "DEEPSPEED_TIMEOUT (minutes)",
    "checkpointing": "Use the section `checkpoint`, and set the number of checkpoints in the "
    "trainer (`save_total_limit`, `ProjectConfiguration(total_limit=)`)",
    "logging": "Use `log_level`, which exists since DeepSpeed 0.19.8",
}
_NEAR = 3


class UnknownDeepSpeedKey(SettingsRule):
    """A DeepSpeed configuration has a top-level key that DeepSpeed never reads.

    ```jsonc
    {
      "train_micro_batch_size_per_gpu": 4,
      "gradient_accumulation_step": 8,  // bad: misspelled
      "timeout": 3600  // bad: no such key
    }
    ```

    ## Use instead

    ```json
    {
      "train_micro_batch_size_per_gpu": 4,
      "gradient_accumulation_steps": 8
    }
    ```

    ## Why is this bad?

    DeepSpeed silently ignores keys that it does not know. The job runs with the default.

    ## What is reported

    Top-level keys of a DeepSpeed configuration (a JSON file, or a dict in a script) that are read
    by none of the versions that the project may run with. For a misspelled key the help names the
    closest one; for keys that guides invent (`communication_backend`, `timeout`, `checkpointing`,
    `logging`) it names what exists instead.

    ## What is not reported

    - A script in the directory of the file, or in one of the two directories above it, contains the
      key: the project reads it itself.
    - Keys that an earlier DeepSpeed knew: see [ds-removed-key](ds-removed-key.md).
    - Keys that begin with `_` or `#`, and `$schema`, which are used for comments.

    ## Fix safety

    Unsafe: renames a key that is at most three letters off, and removes any other, unless there is
    a comment with it. The run then behaves differently, or a tool of yours misses the key.

    ## References

    - [DeepSpeed: initialization](https://deepspeed.readthedocs.io/en/latest/initialize.html)
    """

    code = "DST801"
    name = "ds-unknown-key"
    severity = Severity.WARNING

    good = (
        Example(
            title="Keys that DeepSpeed reads",
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
            title="A misspelled key, and a section that does not exist",
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
        fix: Fix | None
        if meant is not None:
            fix = renamed(page.sheet, "unsafe", entry, meant)
        else:
            fix = without(page.sheet, "unsafe", config.root, entry)
        return self.finding(
            page,
            f"unknown DeepSpeed key `{key}`",
            Severity.WARNING,
            (entry.start, entry.end),
            effect="DeepSpeed silently ignores it",
            help=f"Rename it to `{meant}`" if meant else instead or "Delete it",
            fix=fix,
        )


def _is_read(page: Page, key: str) -> bool:
    """Does a script nearby name the key?"""
    wanted = (f'"{key}"'.encode(), f"'{key}'".encode(), f".{key}".encode())
    if page.sheet.kind == "python":
        text = page.text.encode("utf-8", "replace")
        return sum(text.count(each) for each in wanted) > 1
    return any(each in data for data in page.near("*.py", above=3, most=50) for each in wanted)
