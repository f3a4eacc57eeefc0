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
    """An environment variable is set that has a newer name, or that nothing reads any more.

    ## What it finds

    - Names that torch 2.2 replaced (`NCCL_ASYNC_ERROR_HANDLING`, `NCCL_BLOCKING_WAIT` and others
      are `TORCH_NCCL_*` now), and those of the flight recorder (`TORCH_FR_*`).
    - Names that NCCL replaced (`NCCL_MIN_NRINGS`) or dropped (`NCCL_TREE_THRESHOLD`).

    ## Why it matters

    torch warns about the old name in every process; a name that was dropped does nothing.

    ## What to do

    Write the new name. Ask first whether the variable is still needed: asynchronous error handling
    is the default today, and `1` is another mode than that.

    ## Fix

    Safe: a name that torch replaced is written in its new form, which takes the same values.
    Unsafe: for a name that NCCL replaced, since the new variable may count in another unit, and
    for one that was dropped the statement is removed.

    ## When it is silent

    - The requirements of the project hold torch at versions that know only the old name.
    - Old and new name are both set.
    """

    code = "DST821"
    name = "deprecated-env-var"
    severity = Severity.WARNING

    good = (
        Example(
            title="The names of today",
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
            title="For old and new torch",
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
            title="An old name of torch's, one of NCCL's, and one that is gone",
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
                f"`{setting.name}` is called `{new}` now"
                if new and not gone
                else (
                    f"nothing reads `{setting.name}` any more" + (f"; see `{new}`" if new else "")
                )
            )
            if new == "":
                said = f"`{setting.name}` does nothing any more"
            yield self.finding(
                page,
                said,
                Severity.WARNING,
                (setting.name_start, setting.name_end),
                effect="it changes nothing" if gone or new == "" else "the old name will go",
                advice=f"write `{new}`" if new and not gone else "delete it",
                fix=self._repair(page, setting, new or "", gone=gone),
            )

    @staticmethod
    def _repair(page: Page, setting: Setting, new: str, *, gone: bool) -> Fix | None:
        if gone or not new:
            return unset(page.sheet, "unsafe", setting)
        safe = new.startswith("TORCH_") and new not in _OTHER_UNIT
        return setting_named(page.sheet, "safe" if safe else "unsafe", setting, new)
