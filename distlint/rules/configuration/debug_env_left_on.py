"""DST825: variables for debugging in committed files."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.fixers.settings import unset
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._variables import STATIC, settings
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity

_SLOW = {
    "CUDA_LAUNCH_BLOCKING": (("1",), "every kernel waits for the one before"),
    "TORCH_DISTRIBUTED_DEBUG": (("detail",), "every collective is checked by another one"),
    "ACCELERATE_DEBUG_MODE": (("1", "true", "yes", "on"), "every collective is checked first"),
    "TORCH_NCCL_BLOCKING_WAIT": (("1", "true"), "the CPU waits in every collective"),
    "NCCL_BLOCKING_WAIT": (("1", "true"), "the CPU waits in every collective"),
}
_LOUD = {
    "NCCL_DEBUG": (("info", "trace"), "every rank fills the log"),
    "NCCL_DEBUG_SUBSYS": (("all",), "every rank fills the log"),
}
_MEANT = ("debug", "test", "smoke", "ci", "bench", "profile")


class DebugVariableLeftOn(SettingsRule):
    """A launch file leaves on what is meant for the search for a bug.

    ## What it finds

    `CUDA_LAUNCH_BLOCKING=1`, `TORCH_DISTRIBUTED_DEBUG=DETAIL`, `ACCELERATE_DEBUG_MODE` and
    `TORCH_NCCL_BLOCKING_WAIT=1` in a script that starts a training. With `--preview` also
    `NCCL_DEBUG=INFO`, which costs little but fills the log.

    ## Why it matters

    Each of them slows every run down. With torch 2.13, DDP under `TORCH_DISTRIBUTED_DEBUG=DETAIL`
    crashes on CPU.

    ## What to do

    Set them on the command line when they are needed.

    ## Fix

    Unsafe: the statement is removed.

    ## When it is silent

    - The file, or the folder it lies in, is called after debugging, tests, CI or benchmarks.
    - The variable is set under a condition.
    """

    code = "DST825"
    name = "debug-env-left-on"
    severity = Severity.INFO

    good = (
        Example(
            title="A file for debugging, and a flag",
            file="launch.sh",
            code="""\
if [ -n "$DEBUG" ]; then
  export CUDA_LAUNCH_BLOCKING=1
fi
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Left on",
            file="launch.sh",
            code="""\
export CUDA_LAUNCH_BLOCKING=1  # expect: DST825
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        near = " ".join((page.path.parent.name, page.path.name)).lower()
        if any(word in near for word in _MEANT) or page.sheet.kind == "yaml":
            return
        for setting in settings(page):
            if setting.form == "python" or not setting.always or setting.value is None:
                continue
            for table, preview in ((_SLOW, False), (_LOUD, True)):
                values, effect = table.get(setting.name, ((), ""))
                if setting.value.strip().lower() in values:
                    yield self.finding(
                        page,
                        f"`{setting.name}={setting.value}` is left on for every run",
                        Severity.INFO,
                        (setting.start, setting.end),
                        effect=effect,
                        advice="set it on the command line when it is needed",
                        fix=unset(page.sheet, "unsafe", setting),
                        preview=preview,
                    )
