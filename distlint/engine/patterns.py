"""Patterns for paths, in the language of .gitignore; plain names need no library."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.engine.errors import ConfigError

if TYPE_CHECKING:
    import pathspec

_SPECIAL = frozenset("*?[]\\/!#")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern relative to a folder; it also covers all that lies below what it matches."""

    text: str
    base: Path
    negated: bool = False

    @classmethod
    def parse(cls, text: str, base: Path) -> Pattern:
        """A leading ``!`` negates, as ruff has it in ``per-file-ignores``.

        Raises:
            ConfigError: if it is no pattern.
        """
        negated = text.startswith("!")
        bare = text[1:] if negated else text
        bare = bare.removeprefix("./")
        if base in Path(bare).parents:  # an absolute path; other leading slashes mean the base
            bare = f"/{Path(bare).relative_to(base).as_posix()}"
        pattern = cls(bare, base, negated)
        if not bare:
            raise ConfigError(f"`{text}` is not a pattern")
        if not pattern.plain:
            pattern._compiled()
        return pattern

    @property
    def plain(self) -> bool:
        """Is it the name of a file or folder, wherever that stands?"""
        return _SPECIAL.isdisjoint(self.text)

    def names(self, path: Path) -> bool:
        """Does it match the path, or a folder above it?"""
        try:
            relative = path.relative_to(self.base)
        except ValueError:
            return False
        if self.plain:
            return self.text in relative.parts
        return self._compiled().match_file(os.fspath(relative))

    def names_entry(self, path: Path, folder: bool) -> bool:
        """The same for an entry of a folder that is being walked, which itself is not matched."""
        if self.plain:
            return path.name == self.text and self.base in path.parents
        try:
            relative = os.fspath(path.relative_to(self.base))
        except ValueError:
            return False
        return self._compiled().match_file(f"{relative}/" if folder else relative)

    def _compiled(self) -> pathspec.GitIgnoreSpec:
        return _compile(self.text)


@lru_cache(maxsize=1024)
def _compile(text: str) -> pathspec.GitIgnoreSpec:
    import pathspec

    try:
        return pathspec.GitIgnoreSpec.from_lines([text])
    except ValueError as error:
        raise ConfigError(f"`{text}` is not a valid pattern: {error}") from None
