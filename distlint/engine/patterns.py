"""Patterns for paths, in the language of .gitignore."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from distlint.engine.errors import ConfigError
from distlint.engine.wildmatch import Line, PatternError, below, decided, parsed

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
            _line(bare)
        return pattern

    @property
    def plain(self) -> bool:
        """Is it the name of a file or folder, wherever that stands?"""
        return _SPECIAL.isdisjoint(self.text)

    def names(self, path: Path) -> bool:
        """Does it match the path, or a folder above it?"""
        relative = below(path, self.base)
        if relative is None:
            return False
        if self.plain:
            return self.text in relative.split("/")
        ends = [at for at, character in enumerate(relative) if character == "/"]
        return any(self._matches(relative[:end], folder=True) for end in ends) or self._matches(
            relative, folder=False
        )

    def names_entry(self, path: Path, folder: bool) -> bool:
        """The same for an entry of a folder that is being walked, which itself is not matched."""
        if self.plain:
            return path.name == self.text and self.base in path.parents
        relative = below(path, self.base)
        return relative is not None and self._matches(relative, folder=folder)

    def _matches(self, relative: str, *, folder: bool) -> bool:
        return bool(decided(_line(self.text), relative, directory=folder))


@lru_cache(maxsize=1024)
def _line(text: str) -> tuple[Line, ...]:
    try:
        line = parsed(text)
    except PatternError as error:
        raise ConfigError(f"`{text}` is not a valid pattern: {error}") from None
    return () if line is None else (line,)
