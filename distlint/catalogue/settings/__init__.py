"""What configurations, launchers and environments may say, by the version of the library.

The files beside this one are written by ``scripts/generate_settings.py`` from installed libraries
(``environment.json`` from the sources of NCCL and torch, with the versions that it names).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from distlint.source.numbers import version_numbers

_BOUND = re.compile(r"(===?|~=|<=?|>=?|\^|!=)\s*v?(\d+(?:\.\d+)*)")

Path_ = tuple[str, ...]


@lru_cache(maxsize=8)
def _data(name: str) -> Any:
    file = Path(__file__).parent / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def admitted(scanned: Sequence[str], bounds: Iterable[str]) -> list[str]:
    """The versions of those scanned that requirements admit, oldest first.

    Where they admit versions between two scanned ones, both neighbours count.
    """
    low: tuple[int, ...] = (0,)
    high: tuple[int, ...] | None = None
    for text in bounds:
        for operator, number in _BOUND.findall(text):
            bound = _numbers(number)
            if operator in ("==", "==="):
                low, high = max(low, bound), bound
            elif operator in (">=", ">"):
                low = max(low, bound)
            elif operator in ("~=", "^"):
                low = max(low, bound)
                above = (*bound[:-2], bound[-2] + 1) if len(bound) > 1 else (bound[0] + 1,)
                high = above if high is None else min(high, above)
            elif operator in ("<", "<="):
                high = bound if high is None else min(high, bound)
    first = max((i for i, v in enumerate(scanned) if _numbers(v) <= low), default=0)
    last = len(scanned) - 1
    if high is not None:
        last = min((i for i, v in enumerate(scanned) if _numbers(v) >= high), default=last)
    return list(scanned[first : max(first, last) + 1])


def _numbers(version: str) -> tuple[int, ...]:
    return version_numbers(version)[:4]


class DeepSpeed:
    """The keys of DeepSpeed's configuration in the versions that a project may run with."""

    def __init__(self, bounds: Iterable[str] = ()) -> None:
        every: Mapping[str, Any] = _data("deepspeed")["versions"]
        self.versions = admitted(list(every), bounds)
        self._chosen = [every[version] for version in self.versions]
        self.newest = self._chosen[-1]
        self._ever = every.values()

    def entries(self, path: Path_) -> list[Mapping[str, Any]]:
        """What the versions say about a key, newest first; only those that know it."""
        found = []
        for version in reversed(self._chosen):
            entry = _at(version["keys"], path)
            if entry is not None:
                found.append(entry)
        return found

    def knows(self, path: Path_) -> bool:
        return bool(self.entries(path)) or self.is_former(path)

    def is_former(self, path: Path_) -> bool:
        """Did DeepSpeed know the key once, as far as it was scanned or says itself?"""
        return ".".join(path) in self._removals or any(
            _at(version["keys"], path) is not None for version in self._ever
        )

    @property
    def _removals(self) -> Mapping[str, str]:
        return {key: text for version in self._ever for key, text in version["removed"].items()}

    def removal(self, path: Path_) -> str | None:
        """What the newest version says when it refuses a key that it knew once."""
        text: str | None = self.newest["removed"].get(".".join(path))
        return text

    def always_removed(self, path: Path_) -> bool:
        return all(".".join(path) in version["removed"] for version in self._chosen)

    def keys(self, path: Path_) -> list[str]:
        """The keys of a section in any of the versions; none where any key will do."""
        if not path:
            return sorted({key for version in self._chosen for key in version["keys"]})
        sections = [entry.get("keys") for entry in self.entries(path)]
        if not sections or any(section is None for section in sections):
            return []
        return sorted({key for section in sections for key in section or ()})

    def refuses_unknown(self, path: Path_) -> bool:
        """Does the newest version raise for an unknown key in a section, rather than ignore it?"""
        entries = self.entries(path)
        return bool(entries) and entries[0].get("unknown") == "forbidden"

    @property
    def optimizers(self) -> frozenset[str]:
        return frozenset(name for version in self._chosen for name in version["optimizers"])

    @property
    def former_optimizers(self) -> frozenset[str]:
        """Those that the newest version has no more."""
        ever = {name for version in self._ever for name in version["optimizers"]}
        return frozenset(ever - set(self.newest["optimizers"]))

    @property
    def schedules(self) -> frozenset[str]:
        return frozenset(name for version in self._chosen for name in version["schedules"])


def _at(keys: Mapping[str, Any], path: Path_) -> Mapping[str, Any] | None:
    entry: Mapping[str, Any] = {"keys": keys}
    for key in path:
        section = entry.get("keys") or {}
        if key not in section:
            return None
        entry = section[key]
    return entry


class Accelerate:
    """The keys of Accelerate's YAML files in the versions that a project may run with."""

    def __init__(self, bounds: Iterable[str] = ()) -> None:
        every: Mapping[str, Any] = _data("accelerate")["versions"]
        self.versions = admitted(list(every), bounds)
        self._chosen = [every[version] for version in self.versions]

    def values(self, what: str) -> list[str]:
        """Keys or values of a kind (``keys``, ``sagemaker``, ``distributed_type`` ...)."""
        return sorted({value for version in self._chosen for value in version[what]})

    def section(self, name: str) -> list[str]:
        found = {key for v in self._chosen for key in v["sections"].get(name, ())}
        return sorted(found)


def launcher_options(launcher: str) -> Mapping[str, str]:
    """The options of a launcher, and how many words follow each (``0``, ``1``, ``?``, ``*``)."""
    newest = list(_data("launchers")["versions"].values())[-1]
    if launcher == "launch":  # torch.distributed.launch has one of its own
        return {**newest["torchrun"], "--use_env": "0", "--use-env": "0"}
    options: Mapping[str, str] = newest[launcher]
    return options


def variables() -> Mapping[str, Mapping[str, Any]]:
    """The environment variables that NCCL, torch, gloo, Accelerate and DeepSpeed read, by name."""
    found: Mapping[str, Mapping[str, Any]] = _data("environment")["variables"]
    return found


def invented_variables() -> Mapping[str, str]:
    """Names that guides pass on and nothing reads, with what to use instead."""
    found: Mapping[str, str] = _data("environment")["invented"]
    return found


def nearest(word: str, options: Iterable[str], distance: int) -> str | None:
    """The option that is at most so many edits away; None when two are equally near."""
    best: list[str] = []
    least = distance + 1
    for option in options:
        if abs(len(option) - len(word)) > least:
            continue
        count = _edits(word, option, least)
        if count < least:
            best, least = [option], count
        elif count == least and count <= distance:
            best.append(option)
    return best[0] if len(best) == 1 else None


def _edits(one: str, other: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two words."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        before, last, row = row, before, [i]
        for j, b in enumerate(other, start=1):
            count = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                count = min(count, last[j - 2] + 1)
            row.append(count)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def tables() -> Iterator[str]:
    """The names of the data files."""
    yield from ("deepspeed", "accelerate", "launchers", "environment")
