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
    """A launch file says which network hardware NCCL is to use, or not to use.

    ## What it finds

    Written-out values of `NCCL_SOCKET_IFNAME`, `GLOO_SOCKET_IFNAME`, `NCCL_IB_HCA`, `NCCL_IB_SL`,
    `NCCL_IB_TC` and `NCCL_IB_GID_INDEX`, and `NCCL_IB_DISABLE=1`, `NCCL_P2P_DISABLE=1` and
    `NCCL_SHM_DISABLE=1`.

    ## Why it matters

    They are right for one cluster. Elsewhere NCCL finds no interface of that name, or leaves the
    fast path unused: `NCCL_IB_DISABLE=1` sends everything over TCP. NCCL falls back by itself where
    there is no InfiniBand.

    ## What to do

    Keep such values with the cluster, in its profile or a module, or take them from a variable.

    ## Fix

    None: only the cluster's own people know.

    ## When it is silent

    - The value comes from another variable.
    """

    code = "DST826"
    name = "hardcoded-fabric"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="From the cluster's profile",
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
            title="For one cluster",
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
                    f"`{setting.name}={setting.value}` is right for one cluster",
                    Severity.INFO,
                    (setting.start, setting.end),
                    effect="elsewhere NCCL finds no such interface, or leaves the fast path unused",
                    advice="keep it with the cluster, or take it from a variable",
                )
