"""Environment variables: names that nothing reads, old names, values that mean something else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import distlint.catalogue
from distlint.doctor.machine import Check, Verdict
from distlint.source.numbers import whole_number

TABLE = Path(distlint.catalogue.__file__).parent / "settings" / "environment.json"

# Names that begin like this belong to somebody whose list is complete. NCCL's plugins and other
# libraries read names of their own that begin with the same letters.
_FAMILIES = ("NCCL_", "TORCH_NCCL_", "TORCH_FR_", "ACCELERATE_", "GLOO_", "DS_", "DEEPSPEED_")
_PLUGINS = ("NCCL_OFI_", "NCCL_NET_", "NCCL_TUNER_", "NCCL_PROFILER_", "NCCL_GDR", "NCCL_TOPO_")
# What is of use for a while and costs afterwards, and what only some machines need.
_DEBUGGING = {
    "NCCL_DEBUG": ("INFO", "TRACE"),
    "NCCL_DEBUG_SUBSYS": ("ALL",),
    "TORCH_DISTRIBUTED_DEBUG": ("DETAIL",),
    "CUDA_LAUNCH_BLOCKING": ("1",),
    "ACCELERATE_DEBUG_MODE": ("1", "TRUE", "YES", "ON"),
    "TORCH_NCCL_BLOCKING_WAIT": ("1",),
}
_SWITCHED_OFF = ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE")

_WORDS = ("true", "false", "yes", "no", "on", "off", "enable", "enabled", "disable", "disabled")


@lru_cache(maxsize=1)
def table() -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return content


@dataclass(frozen=True)
class Judged:
    """What is wrong with one variable."""

    name: str
    level: Verdict
    text: str
    fix: str
    rule: str


def judge(environment: Mapping[str, str]) -> Iterator[Judged]:
    """Everything that is wrong with the variables of libraries for distributed training."""
    variables, invented = table()["variables"], table()["invented"]
    for name, value in sorted(environment.items()):
        if name in invented:
            fix = f"unset {name}; use {invented[name]}"
            yield Judged(name, "error", "no software reads this variable", fix, "DST820")
        elif name in variables:
            yield from _known(name, value, variables[name], environment)
        elif name.startswith(_FAMILIES) and not name.startswith(_PLUGINS):
            yield _unknown(name, variables)
        yield from _remarks(name, value.strip(), variables.get(name, {}))
    yield from _allocators(environment)


def _remarks(name: str, value: str, about: Mapping[str, Any]) -> Iterator[Judged]:
    """What is right, and may not be meant."""
    fix = f"unset {name}"
    if value.upper() in _DEBUGGING.get(name, ()):
        text = f"`{value}` is a debugging setting that slows down training"
        if name == "TORCH_DISTRIBUTED_DEBUG":
            text += "; in torch 2.13.0 for CPU it crashes DistributedDataParallel"
        yield Judged(name, "info", text, fix, "DST825")
    elif name in _SWITCHED_OFF and value == "1":
        text = (
            "disables a fast transport between GPUs; NCCL falls back automatically where it is "
            "unavailable"
        )
        yield Judged(name, "info", text, fix, "DST826")
    elif value and value == about.get("default") and "deprecated_by" not in about:
        yield Judged(name, "info", f"{value} is already the default", fix, "DST827")


def _unknown(name: str, variables: Mapping[str, Any]) -> Judged:
    import difflib

    close = difflib.get_close_matches(name, variables, n=1, cutoff=0.85)
    if close:
        text = f"no known software reads this variable; did you mean {close[0]}?"
        return Judged(name, "warning", text, f"unset {name}; export {close[0]}=...", "DST820")
    text = "not a variable of NCCL, torch, gloo, Accelerate or DeepSpeed"
    return Judged(name, "info", text, f"unset {name}, unless your own code reads it", "DST820")


def _known(
    name: str, value: str, about: Mapping[str, Any], environment: Mapping[str, str]
) -> Iterator[Judged]:
    if "deprecated_by" in about:
        new = about["deprecated_by"]
        text = f"deprecated, renamed to {new}" if new else "has no effect any more"
        fix = f"unset {name}" + (f"; export {new}={value}" if new else "")
        if name == "NCCL_ASYNC_ERROR_HANDLING":
            text += "; the default is 3, and 1 is a different mode"
            fix = f"unset {name}"
        yield Judged(name, "warning", text, fix, "DST821")
    elif "removed_after" in about:
        text = f"no longer read by NCCL since {about['removed_after']}"
        yield Judged(name, "warning", text, f"unset {name}", "DST821")
    if (problem := _value(name, value.strip(), about)) is not None:
        yield problem


def _value(name: str, value: str, about: Mapping[str, Any]) -> Judged | None:
    fix = f"unset {name}"
    if about.get("integer"):
        if value.lower() in _WORDS:
            text = f"NCCL expects a number and reads `{value}` as 0"
            return Judged(name, "error", text, f"export {name}=1 (or 0)", "DST822")
        number = _integer(value)
        low, high = about.get("min", number), about.get("max", number)
        if number is not None and not low <= number <= high:
            text = f"{number} is not between {low} and {high}"
            if name == "NCCL_IB_TIMEOUT":
                text += ": InfiniBand will wait indefinitely for an acknowledgement. It is "
                text += "not the timeout of collectives"
            return Judged(name, "error", text, fix, "DST822")
    allowed = about.get("values")
    if allowed and not _allowed(value, allowed, about):
        text = f"`{value}` is not one of {', '.join(map(str, allowed[:16]))}"
        return Judged(name, "error", text, fix, "DST822")
    return None


def _allowed(value: str, allowed: list[str], about: Mapping[str, Any]) -> bool:
    known = {each.lower() for each in allowed} if about.get("any_case") else set(allowed)
    parts = (
        [part.strip().lstrip("^") for part in value.split(",")] if about.get("list_of") else [value]
    )
    legacy = str(about.get("legacy", ""))
    return all(
        (part.lower() if about.get("any_case") else part) in known or (legacy and part.isdecimal())
        for part in parts
    )


def _integer(text: str) -> int | None:
    return whole_number(text, 0)


def _allocators(environment: Mapping[str, str]) -> Iterator[Judged]:
    names = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
    given = {name: environment[name] for name in names if environment.get(name)}
    if len(set(given.values())) > 1:
        text = "set to different values; PYTORCH_CUDA_ALLOC_CONF takes precedence"
        yield Judged(" and ".join(names), "warning", text, "unset one of them", "DST823")
    for name, value in given.items():
        options = set(table()["variables"][name]["options"])
        for part in value.split(","):
            key, _, setting = part.partition(":")
            key = key.strip()
            if "[" in value or not key:
                continue  # a list of its own, which has commas
            if key not in options:
                text = f"torch 2.13.0 has no option `{key}`"
                yield Judged(name, "error", text, f"unset {name}", "DST823")
            elif setting.strip() in ("true", "false"):
                text = f"value of {key} must be capitalized: `{setting.strip().capitalize()}`"
                fix = f"export {name}={key}:{setting.strip().capitalize()}"
                yield Judged(name, "error", text, fix, "DST823")
            elif key == "max_split_size_mb" and (_integer(setting.strip()) or 0) < 20:
                text = f"max_split_size_mb is {setting.strip()}, but must be at least 20"
                yield Judged(name, "error", text, f"unset {name}", "DST823")


def check(
    environment: Mapping[str, str], files: Mapping[str, str] = MappingProxyType({})
) -> list[Check]:
    """One row for each variable that is wrong, or one that says that none is.

    ``files`` are NCCL's own, by name: they set variables for every process on the machine.
    """
    looked = "variables of NCCL, torch, gloo, Accelerate and DeepSpeed"
    rows = [_row(judged) for judged in judge(environment)]
    for file, text in files.items():
        rows += [_in_file(file, judged) for judged in judge(_settings(text))]
    if rows:
        return rows
    known = sorted(name for name in environment if name in table()["variables"])
    found = f"no problems in {', '.join(known)}" if known else "none of them is set"
    return [Check("env", "ok", looked, found)]


def _settings(text: str) -> dict[str, str]:
    """The lines ``NAME=value`` of a configuration file of NCCL."""
    lines = (line.partition("#")[0].partition("=") for line in text.splitlines())
    return {name.strip(): value.strip() for name, equals, value in lines if equals}


def _in_file(file: str, judged: Judged) -> Check:
    text = f"{judged.name} in {file}: {judged.text}"
    return Check("env", judged.level, file, text, f"edit {file}", (judged.rule,))


def _row(judged: Judged) -> Check:
    looked = f"${judged.name}"
    text = f"{judged.name}: {judged.text}"
    return Check("env", judged.level, looked, text, judged.fix, (judged.rule,))
