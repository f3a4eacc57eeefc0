"""DST826: the network of one cluster, written down."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._variables import STATIC, settings
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity

_ANY = frozenset(
    {
        "NCCL_SOCKET_IFNAME",
        "GLOO_SOCKET_IFNAME",
        "TP_SOCKET_IFNAME",
        "NCCL_IB_HCA",
        "NCCL_IB_SL",
        "NCCL_IB_TC",
        "NCCL_IB_GID_INDEX",
    }
)
_OFF = frozenset({"NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"})


class HardcodedFabric(SettingsRule):
    """A launch file hard-codes which network hardware NCCL uses.

    ```bash
    export NCCL_SOCKET_IFNAME=eth0  # bad: the name of the interface on one cluster
    export NCCL_IB_DISABLE=1  # bad: uses TCP even where there is InfiniBand
    torchrun --nproc-per-node=8 train.py
    ```

    ## Use instead

    ```bash
    export NCCL_SOCKET_IFNAME=${CLUSTER_IFNAME}
    torchrun --nproc-per-node=8 train.py
    ```

    Or keep such values with the cluster, in its profile or a module.

    ## Why is this bad?

    The values are right for one cluster. On another one, NCCL finds no interface of that name, or
    does not use the fast path: `NCCL_IB_DISABLE=1` sends everything over TCP. NCCL falls back to
    TCP by itself where there is no InfiniBand.

    ## What is reported

    Constant values of `NCCL_SOCKET_IFNAME`, `GLOO_SOCKET_IFNAME`, `TP_SOCKET_IFNAME`,
    `NCCL_IB_HCA`, `NCCL_IB_SL`, `NCCL_IB_TC` and `NCCL_IB_GID_INDEX`, and `NCCL_IB_DISABLE=1`,
    `NCCL_P2P_DISABLE=1` and `NCCL_SHM_DISABLE=1`.

    ## What is not reported

    - The value comes from another variable.

    ## Fix safety

    None: only the administrators of the cluster know the right values.

    ## References

    - [NCCL environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
    """

    code = "DST826"
    name = "hardcoded-fabric"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="A value from the profile of the cluster",
            file="launch.sh",
            code="""\
export NCCL_SOCKET_IFNAME=${CLUSTER_IFNAME}
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Values for one cluster",
            file="launch.sh",
            code="""\
export NCCL_SOCKET_IFNAME=eth0  # expect: DST826
export NCCL_IB_DISABLE=1  # expect: DST826
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for setting in settings(page):
            off = setting.name in _OFF and setting.value == "1"
            if (setting.name in _ANY and setting.value) or off:
                yield self.finding(
                    page,
                    f"`{setting.name}={setting.value}` is specific to one cluster",
                    Severity.INFO,
                    (setting.start, setting.end),
                    effect="on another cluster, NCCL finds no interface or skips the fast path",
                    help="Keep it in the profile of the cluster, or read it from a variable",
                )
