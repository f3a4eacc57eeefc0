"""DST822: values that an environment variable does not take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from distlint.catalogue.settings import variables
from distlint.fixers.settings import setting_valued, unset
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._variables import STATIC, settings
from distlint.rules.settings import Page, shown
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.settings.shell import Setting

_INTEGER = re.compile(r"\s*[-+]?(?:0[xX][0-9a-fA-F]+|\d+)")
_ON = frozenset({"true", "yes", "on", "enable", "enabled"})
_OFF = frozenset({"false", "no", "off", "disable", "disabled"})
_RAISES = frozenset(
    {"TORCH_DISTRIBUTED_DEBUG", "ACCELERATE_LOG_LEVEL", "ACCELERATE_DEBUG_MODE", "DS_ACCELERATOR"}
)


class BadEnvironmentValue(SettingsRule):
    """An environment variable is set to a value that its library does not accept.

    ```bash
    export NCCL_IB_TIMEOUT=1000  # bad: the range is 0 to 31
    export NCCL_CUMEM_ENABLE=false  # bad: NCCL reads numbers here
    torchrun --nproc-per-node=8 train.py
    ```

    ## Use instead

    ```bash
    export NCCL_IB_TIMEOUT=22
    export NCCL_CUMEM_ENABLE=0
    torchrun --nproc-per-node=8 train.py
    ```

    `NCCL_IB_TIMEOUT` is the timeout of InfiniBand; the timeout of collectives is
    `init_process_group(timeout=)`.

    ## Why is this bad?

    NCCL silently reads a value that it cannot parse as 0, which is a warning. torch and DeepSpeed
    raise at startup, which is an error.

    ## What is reported

    - Numbers out of range: `NCCL_IB_TIMEOUT=1000` (0 to 31; anything above means "wait
      indefinitely").
    - Words for a switch of NCCL, which reads numbers: `NCCL_IB_DISABLE=true` means 0.
    - Words that the variable does not accept: `TORCH_DISTRIBUTED_DEBUG=verbose`,
      `DS_ACCELERATOR=gpu`, an unknown part of `NCCL_DEBUG_SUBSYS`.
    - Numbers instead of words where they are discouraged: `NCCL_NET_GDR_LEVEL=4` (info).

    ## What is not reported

    - The value comes from another variable or a command.

    ## Fix safety

    Safe: replaces a word for "off" with 0, and the number of a level with its word.

    Unsafe: replaces a word for "on" with 1, which then takes effect, and removes a value that is
    out of range.

    ## References

    - [NCCL environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
    - [torch.distributed: debugging](https://docs.pytorch.org/docs/stable/distributed.html#debugging-torch-distributed-applications)
    """

    code = "DST822"
    name = "env-bad-value"

    good = (
        Example(
            title="Accepted values",
            file="launch.sh",
            code="""\
export NCCL_IB_TIMEOUT=22
export NCCL_DEBUG_SUBSYS=INIT,COLL
export TORCH_DISTRIBUTED_DEBUG=info
export NCCL_IB_DISABLE=$NO_IB
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="A number out of range, and words instead of numbers",
            file="launch.sh",
            code="""\
export NCCL_IB_TIMEOUT=1000  # expect: DST822
export NCCL_P2P_DISABLE=true  # expect: DST822
export NCCL_SHM_DISABLE=false  # expect: DST822
export TORCH_DISTRIBUTED_DEBUG=verbose  # expect: DST822
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        known = variables()
        for setting in settings(page):
            entry = known.get(setting.name)
            if entry is None or not setting.value or not setting.value.strip():
                continue
            value = setting.value.strip()
            legacy = entry.get("legacy", {})
            if value in legacy:
                word = legacy[value]
                yield self.finding(
                    page,
                    f"`{setting.name}={value}` is an old form of `{word}`",
                    Severity.INFO,
                    (setting.start, setting.end),
                    effect="NCCL accepts it, but discourages it",
                    help=f"Use `{word}`",
                    fix=setting_valued(page.sheet, "safe", setting, word),
                )
                continue
            problem = _problem(entry, value, setting.name)
            if problem is not None:
                yield self.finding(
                    page,
                    f"`{setting.name}={value}` {problem}",
                    Severity.ERROR if setting.name in _RAISES else Severity.WARNING,
                    (setting.start, setting.end),
                    effect=_effect(setting.name, entry),
                    help=_accepted(entry),
                    fix=_repair(page, setting, entry, value),
                )


def _effect(name: str, entry: Mapping[str, Any]) -> str:
    if name in _RAISES:
        return "the job fails at startup"
    if entry["family"] == "nccl":
        return "NCCL silently reads another value"
    return "the default is used instead"


def _accepted(entry: Mapping[str, Any]) -> str:
    """What is to be written instead, where that is known."""
    if "min" in entry:
        return f"Use a number from {entry['min']} to {entry['max']}"
    values = entry.get("values") or entry.get("list_of")
    return f"Use one of {shown(values)}" if values else "Use a number"


def _problem(entry: Mapping[str, Any], value: str, name: str) -> str | None:
    if "list_of" in entry:
        parts = [part.strip() for part in value.removeprefix("^").split(",")]
        unknown = [part for part in parts if part.upper() not in entry["list_of"]]
        return f"has an unknown subsystem {shown(unknown)}" if unknown else None
    if "min" in entry:
        number = _whole(value)
        if number is None:
            return "is not a number"
        if not entry["min"] <= number <= entry["max"]:
            beyond = " and waits indefinitely" if name == "NCCL_IB_TIMEOUT" else ""
            return f"is out of range{beyond}"
        return None
    values = entry.get("values")
    if values == ["0", "1"] or (entry.get("integer") and not values):
        if entry["family"] == "nccl" and _INTEGER.match(value) is None:
            if value.lower() in _ON | _OFF:
                return "is not a number: NCCL reads it as 0"
        return None
    if values and entry["family"] in ("torch_distributed", "deepspeed", "nccl", "accelerate"):
        same = value in values or (
            entry.get("any_case") and value.lower() in [str(each).lower() for each in values]
        )
        if not same and not (entry["family"] == "nccl" and value.isdecimal()):
            if name == "ACCELERATE_LOG_LEVEL" and value.upper() in values:
                return None
            return "is not an accepted value"
    return None


def _whole(value: str) -> int | None:
    try:
        return int(value, 0)
    except ValueError:
        return None


def _repair(page: Page, setting: Setting, entry: Mapping[str, Any], value: str) -> Fix | None:
    if value.lower() in _OFF and entry["family"] == "nccl" and "min" not in entry:
        return setting_valued(page.sheet, "safe", setting, "0")
    if value.lower() in _ON and entry["family"] == "nccl" and "min" not in entry:
        return setting_valued(page.sheet, "unsafe", setting, "1")
    return unset(page.sheet, "unsafe", setting) if "min" in entry else None
