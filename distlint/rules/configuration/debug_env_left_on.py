"""DST825: variables for debugging in committed files."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.fixers.settings import unset
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._variables import STATIC, settings
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity

_SLOW = {
    "CUDA_LAUNCH_BLOCKING": (("1",), "every kernel launch waits for the kernel to finish"),
    "TORCH_DISTRIBUTED_DEBUG": (
        ("detail",),
        "every collective is checked by another collective first",
    ),
    "ACCELERATE_DEBUG_MODE": (
        ("1", "true", "yes", "on"),
        "every collective is checked by another collective first",
    ),
    "TORCH_NCCL_BLOCKING_WAIT": (("1", "true"), "the CPU blocks in every collective"),
    "NCCL_BLOCKING_WAIT": (("1", "true"), "the CPU blocks in every collective"),
}
_LOUD = {
    "NCCL_DEBUG": (("info", "trace"), "every rank floods the log"),
    "NCCL_DEBUG_SUBSYS": (("all",), "every rank floods the log"),
}
_MEANT = ("debug", "test", "smoke", "ci", "bench", "profile")


class DebugVariableLeftOn(SettingsRule):
    """A launch file sets an environment variable that is meant for debugging.

    ```bash
    export CUDA_LAUNCH_BLOCKING=1  # bad: slows down every run
    export TORCH_DISTRIBUTED_DEBUG=DETAIL  # bad: slows down every run
    torchrun --nproc-per-node=8 train.py
    ```

    ## Use instead

    ```bash
    torchrun --nproc-per-node=8 train.py
    ```

    Set the variables on the command line of the runs that need them.

    ## Why is this bad?

    Each of these variables slows down every run. In torch 2.13, DDP with
    `TORCH_DISTRIBUTED_DEBUG=DETAIL` crashes on the CPU.

    ## What is reported

    `CUDA_LAUNCH_BLOCKING=1`, `TORCH_DISTRIBUTED_DEBUG=DETAIL`, `ACCELERATE_DEBUG_MODE` and
    `TORCH_NCCL_BLOCKING_WAIT=1` in a script that starts a training. With `--preview` also
    `NCCL_DEBUG=INFO`, which costs little but floods the log.

    ## What is not reported

    - The name of the file, or of its directory, contains `debug`, `test`, `smoke`, `ci`, `bench` or
      `profile`.
    - The variable is set under a condition.

    ## Fix safety

    Unsafe: removes the statement.

    ## References

    - [torch.distributed: debugging](https://docs.pytorch.org/docs/stable/distributed.html#debugging-torch-distributed-applications)
    - [ProcessGroupNCCL environment variables](https://docs.pytorch.org/docs/stable/torch_nccl_environment_variables.html)
    - [NCCL environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
    """

    code = "DST825"
    name = "debug-env-left-on"
    severity = Severity.INFO

    good = (
        Example(
            title="Set under a condition",
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
            title="Debugging variables left on",
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
                        f"`{setting.name}={setting.value}` is on for every run",
                        Severity.INFO,
                        (setting.start, setting.end),
                        effect=effect,
                        help="Set it on the command line when you need it",
                        fix=unset(page.sheet, "unsafe", setting),
                        preview=preview,
                    )
