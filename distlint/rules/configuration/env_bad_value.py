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
    """An environment variable is set to a value that its reader does not take.

    ## What it finds

    - Numbers out of range: `NCCL_IB_TIMEOUT=1000` (0 to 31; anything above means "for ever").
    - Words for a switch of NCCL, which reads numbers: `NCCL_IB_DISABLE=true` means 0.
    - Words that are none of those a variable takes: `TORCH_DISTRIBUTED_DEBUG=verbose`,
      `DS_ACCELERATOR=gpu`, an unknown part of `NCCL_DEBUG_SUBSYS`.
    - Numbers in place of words that are discouraged: `NCCL_NET_GDR_LEVEL=4` (information).

    ## Why it matters

    NCCL takes what it cannot read for 0, without a word. torch and DeepSpeed raise at the start,
    which is an error.

    ## What to do

    Write a value that is taken. `NCCL_IB_TIMEOUT` is InfiniBand's own; the time limit of
    collectives is `init_process_group(timeout=)`.

    ## Fix

    Safe: a word for a switch becomes 0 where it meant "off", and a level becomes its word.
    Unsafe: a word that meant "on" becomes 1, which then takes effect, and a value out of range is
    removed.

    ## When it is silent

    - The value comes from another variable or a command.
    """

    code = "DST822"
    name = "env-bad-value"

    good = (
        Example(
            title="Values that are taken",
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
            title="Out of range, and words for numbers",
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
                    f"`{value}` is an old form of `{word}`",
                    Severity.INFO,
                    (setting.start, setting.end),
                    effect="NCCL reads it, and discourages it",
                    advice=f"write `{word}`",
                    fix=setting_valued(page.sheet, "safe", setting, word),
                )
                continue
            problem = _problem(entry, value, setting.name)
            if problem is not None:
                yield self.finding(
                    page,
                    f"`{setting.name}={value}`: {problem}",
                    Severity.ERROR if setting.name in _RAISES else Severity.WARNING,
                    (setting.start, setting.end),
                    effect=_effect(setting.name, entry),
                    advice="write a value that is taken",
                    fix=_repair(page, setting, entry, value),
                )


def _effect(name: str, entry: Mapping[str, Any]) -> str:
    if name in _RAISES:
        return "the job ends at the start with an error"
    if entry["family"] == "nccl":
        return "NCCL makes something else of it, without a word"
    return "the default counts instead"


def _problem(entry: Mapping[str, Any], value: str, name: str) -> str | None:
    if "list_of" in entry:
        parts = [part.strip() for part in value.removeprefix("^").split(",")]
        unknown = [part for part in parts if part.upper() not in entry["list_of"]]
        return f"NCCL knows no subsystem {shown(unknown)}" if unknown else None
    if "min" in entry:
        number = _whole(value)
        if number is None:
            return "it takes a number"
        if not entry["min"] <= number <= entry["max"]:
            beyond = "; this means: wait for ever" if name == "NCCL_IB_TIMEOUT" else ""
            return f"it takes {entry['min']} to {entry['max']}{beyond}"
        return None
    values = entry.get("values")
    if values == ["0", "1"] or (entry.get("integer") and not values):
        if entry["family"] == "nccl" and _INTEGER.match(value) is None:
            if value.lower() in _ON | _OFF:
                return "NCCL reads numbers, and takes a word for 0"
        return None
    if values and entry["family"] in ("torch_distributed", "deepspeed", "nccl", "accelerate"):
        same = value in values or (
            entry.get("any_case") and value.lower() in [str(each).lower() for each in values]
        )
        if not same and not (entry["family"] == "nccl" and value.isdecimal()):
            if name == "ACCELERATE_LOG_LEVEL" and value.upper() in values:
                return None
            return f"it takes {shown(values)}"
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
