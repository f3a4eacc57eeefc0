"""DST821: environment variables with a newer name."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.catalogue.settings import variables
from distlint.fixers.settings import setting_named, unset
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._variables import STATIC, settings
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.settings.shell import Setting

_SINCE_TORCH = {"TORCH_NCCL_": "2.2", "TORCH_FR_": "2.9"}
_OTHER_UNIT = frozenset({"NCCL_MIN_CTAS", "NCCL_MAX_CTAS", "NCCL_PROTO", "NCCL_ALGO"})


class DeprecatedEnvironmentVariable(SettingsRule):
    """An environment variable is set that has been renamed or removed.

    ```bash
    export NCCL_ASYNC_ERROR_HANDLING=1  # bad: renamed in torch 2.2
    torchrun --nproc-per-node=8 train.py
    ```

    ## Use instead

    ```bash
    export TORCH_NCCL_ASYNC_ERROR_HANDLING=1
    torchrun --nproc-per-node=8 train.py
    ```

    Check first whether the variable is still needed: asynchronous error handling is on by default
    now, and `1` selects a different mode from the default.

    ## Why is this bad?

    torch warns about the old name in every process. A variable that has been removed has no effect.

    ## What is reported

    - Names that torch 2.2 replaced (`NCCL_ASYNC_ERROR_HANDLING`, `NCCL_BLOCKING_WAIT` and others
      are now `TORCH_NCCL_*`), and those of the flight recorder (now `TORCH_FR_*`).
    - Names that NCCL replaced (`NCCL_MIN_NRINGS`) or removed (`NCCL_TREE_THRESHOLD`).

    ## What is not reported

    - The requirements of the project restrict torch to versions that know only the old name.
    - The old and the new name are both set.

    ## Fix safety

    Safe: renames a variable that torch replaced; the new one accepts the same values.

    Unsafe: renames a variable that NCCL replaced, as the new one may use another unit; removes the
    statement for one that was removed.

    ## References

    - [ProcessGroupNCCL environment variables](https://docs.pytorch.org/docs/stable/torch_nccl_environment_variables.html)
    - [NCCL environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
    """

    code = "DST821"
    name = "deprecated-env-var"
    severity = Severity.WARNING

    good = (
        Example(
            title="The current names",
            file="launch.sh",
            code="""\
export TORCH_NCCL_ASYNC_ERROR_HANDLING=1
export NCCL_MIN_CTAS=4
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
        Example(
            title="The old and the new name, for all versions of torch",
            file="launch.sh",
            code="""\
export NCCL_BLOCKING_WAIT=1
export TORCH_NCCL_BLOCKING_WAIT=1
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Old names of torch and NCCL, and a removed variable",
            file="launch.sh",
            code="""\
export NCCL_ASYNC_ERROR_HANDLING=1  # expect: DST821
export NCCL_MIN_NRINGS=4  # expect: DST821
export NCCL_TREE_THRESHOLD=0  # expect: DST821
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        known = variables()
        named = {setting.name for setting in settings(page)}
        for setting in settings(page):
            entry = known.get(setting.name, {})
            new = entry.get("deprecated_by")
            gone = "removed_after" in entry
            if (new is None and not gone) or new in named:
                continue
            since = next((v for p, v in _SINCE_TORCH.items() if new and new.startswith(p)), None)
            if since is not None and page.asks_for_older("torch", since):
                continue
            said = (
                f"`{setting.name}` has been renamed"
                if new and not gone
                else f"`{setting.name}` is no longer read"
            )
            if new == "":
                said = f"`{setting.name}` no longer has any effect"
            yield self.finding(
                page,
                said,
                Severity.WARNING,
                (setting.name_start, setting.name_end),
                effect="it has no effect" if gone or new == "" else "the old name will be removed",
                help=f"Rename it to `{new}`"
                if new and not gone
                else "Delete it" + (f"; see `{new}`" if new else ""),
                fix=self._repair(page, setting, new or "", gone=gone),
            )

    @staticmethod
    def _repair(page: Page, setting: Setting, new: str, *, gone: bool) -> Fix | None:
        if gone or not new:
            return unset(page.sheet, "unsafe", setting)
        safe = new.startswith("TORCH_") and new not in _OTHER_UNIT
        return setting_named(page.sheet, "safe" if safe else "unsafe", setting, new)
