"""What rules about configurations, variables and launch lines are given, and who asks them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path

from distlint.catalogue.settings import Accelerate, DeepSpeed
from distlint.rules.base import SettingsRule
from distlint.rules.found import Found
from distlint.rules.registry import rules
from distlint.source.document import Document, DocumentError
from distlint.source.numbers import version_numbers
from distlint.source.requirements import asks_for_older, bounds, content, contents
from distlint.source.settings import values
from distlint.source.settings.kinds import MAX_SIZE
from distlint.source.settings.sheet import Config, Sheet, read

_ABOVE = 3
"""In how many folders above its own a path of a launch line is looked up."""

_FOREIGN = 8
"""So many keys that a library does not know are no slips, where they are most of a file."""


@dataclass
class Page:
    """A document as rules see it: what it says, and what its project says beside it."""

    sheet: Sheet
    versions: Mapping[str, str] = field(default_factory=dict)
    allow_env: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return self.sheet.document.path

    @property
    def text(self) -> str:
        return self.sheet.document.text

    def bounds(self, library: str) -> tuple[str, ...]:
        """The versions of a library that the configuration or the project asks for."""
        named = self.versions.get(library)
        if named is not None:
            return (f"=={named}",)
        return tuple(b for b in bounds(self.path, library) if re.search(r"\d", b))

    def asks_for_older(self, library: str, version: str) -> bool:
        """Does the project hold itself to versions of a library before this one?"""
        named = self.versions.get(library)
        if named is not None:
            return version_numbers(named) < version_numbers(version)
        return asks_for_older(self.path, library, version)

    @cached_property
    def deepspeed(self) -> DeepSpeed:
        return DeepSpeed(self.bounds("deepspeed"))

    @cached_property
    def accelerate(self) -> Accelerate:
        return Accelerate(self.bounds("accelerate"))

    def of(self, library: str) -> list[Config]:
        """The configurations of a library in the document."""
        found = [config for config in self.sheet.configs if config.library == library]
        if library == "deepspeed":
            return [config for config in found if not self._is_another_programs(config)]
        return found

    def _is_another_programs(self, config: Config) -> bool:
        """Has a program its settings there, with DeepSpeed's keys among its own, such as NeoX?"""
        if config.reader != "unknown":
            return False
        keys = config.root.keys
        foreign = sum(not self.deepspeed.knows((key,)) for key in keys)
        return foreign >= _FOREIGN and 2 * foreign > len(keys)

    def beside(self, name: str) -> tuple[Path, Config] | None:
        """The configuration in a file that the document names, seen from folders above it."""
        if not name or "://" in name:
            return None
        for folder in list(self.path.parents)[:_ABOVE]:
            path = folder / name
            data = content(path, MAX_SIZE)
            config = None if data is None else _config_in(path, data)
            if config is not None:
                return path, config
        return None

    def text_of(self, name: str) -> str | None:
        """What a file holds that the document names, seen from folders above it."""
        for folder in list(self.path.parents)[:_ABOVE]:
            data = content(folder / name, MAX_SIZE)
            if data is not None:
                return data.decode("utf-8", "replace")
        return None

    def near(self, *patterns: str, above: int, most: int) -> Iterator[bytes]:
        """The bytes of files in the document's folder and those above it, by their names.

        Args:
            patterns: names as ``Path.glob`` takes them.
            above: how many folders are looked in.
            most: how many files of a pattern are read in each.
        """
        for folder in list(self.path.parents)[:above]:
            for pattern in patterns:
                yield from contents(folder, pattern, most)


@lru_cache(maxsize=64)
def _config_in(path: Path, data: bytes) -> Config | None:
    try:
        sheet = read(Document.from_bytes(data, path))
    except (ValueError, DocumentError):
        return None
    return sheet.configs[0] if sheet is not None and sheet.configs else None


@lru_cache(maxsize=1)
def settings_rules() -> tuple[SettingsRule, ...]:
    return tuple(rule() for rule in rules().values() if issubclass(rule, SettingsRule))


def find_in(
    sheet: Sheet,
    versions: Mapping[str, str],
    allow_env: tuple[str, ...],
    *,
    off: Collection[str] = (),
) -> Found:
    """The findings in a document that configures or starts a training.

    Args:
        sheet: what the document says.
        versions: those of libraries that the configuration names.
        allow_env: variables that are not reported as unknown.
        off: codes of rules that are not run.
    """
    page = Page(sheet, versions, allow_env)
    found = Found()
    for rule in settings_rules():
        if rule.code not in off:
            found.findings += found.asked(rule, partial(rule.check, page))
    found.findings.sort(key=lambda finding: finding.sort_key)
    return found


def written(page: Page, node: values.Node) -> str:
    """A value as it stands in the document."""
    return page.text[node.start : node.end]


def shown(found: Iterable[str]) -> str:
    """Words as a list in a sentence, in code style."""
    return ", ".join(f"`{each}`" for each in found)
