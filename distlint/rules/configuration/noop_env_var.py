"""DST827: variables that say what is so anyway."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.catalogue.settings import variables
from distlint.fixers.settings import unset
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._variables import STATIC, settings
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity

_SWITCHES = frozenset(
    {
        "NCCL_IB_DISABLE",
        "NCCL_P2P_DISABLE",
        "NCCL_SHM_DISABLE",
        "NCCL_NET_DISABLE_INTRA",
        "TORCH_DISTRIBUTED_DEBUG",
        "CUDA_LAUNCH_BLOCKING",
    }
)


class NoopEnvironmentVariable(SettingsRule):
    """An environment variable is set to its default.

    ```bash
    export NCCL_IB_DISABLE=0  # bad: this is the default
    torchrun --nproc-per-node=8 train.py
    ```

    ## Use instead

    ```bash
    torchrun --nproc-per-node=8 train.py
    ```

    Keep the line if it overrides a value in the profile of the cluster.

    ## Why is this bad?

    The line reads as if it enabled InfiniBand, but has no effect.

    ## What is reported

    Switches that are set to their documented default, such as `NCCL_IB_DISABLE=0`.

    ## What is not reported

    - The variable is set more than once in the file, or under a condition.

    ## Fix safety

    Unsafe: removes the statement. A value that is inherited from outside takes effect again.

    ## References

    - [NCCL environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
    """

    code = "DST827"
    name = "noop-env-var"
    severity = Severity.INFO

    good = (
        Example(
            title="Changed for one command",
            file="launch.sh",
            code="""\
export NCCL_IB_DISABLE=1
torchrun --nproc_per_node=8 train.py
export NCCL_IB_DISABLE=0
torchrun --nproc_per_node=8 evaluate.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Set to the default",
            file="launch.sh",
            code="""\
export NCCL_IB_DISABLE=0  # expect: DST827
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        found = list(settings(page))
        for setting in found:
            if setting.name not in _SWITCHES or not setting.always:
                continue
            default = variables().get(setting.name, {}).get("default", "0")
            once = sum(other.name == setting.name for other in found) == 1
            if setting.value is not None and setting.value.strip().upper() == default and once:
                if f"${setting.name}" in page.text or f"${{{setting.name}" in page.text:
                    continue
                yield self.finding(
                    page,
                    f"`{setting.name}={setting.value}` is the default",
                    Severity.INFO,
                    (setting.start, setting.end),
                    effect="it has no effect, unless it overrides an inherited value",
                    help="Delete it",
                    fix=unset(page.sheet, "unsafe", setting),
                )
