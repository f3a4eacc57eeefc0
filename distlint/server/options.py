"""What the editor sets: on top of the configuration, like options of the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from distlint.engine.errors import ConfigError, did_you_mean
from distlint.engine.selection import Layer
from distlint.engine.settings import Overrides, explicit_config

SECTION = "distlint"
LISTS = ("select", "extendSelect", "ignore", "extendIgnore")
FLAGS = ("preview", "unsafeFixes", "inlayHints")
TEXTS = ("configuration",)
NUMBERS = ("patience",)
PATIENCE = 0.2
KEYS = (*LISTS, *FLAGS, *TEXTS, *NUMBERS)


@dataclass(frozen=True, slots=True)
class Options:
    """The editor's settings for a folder."""

    overrides: Overrides = field(default_factory=lambda: Overrides(runs_rules=True))
    unsafe_fixes: bool = True
    """Are unsafe fixes offered, each said to be so?"""
    inlay_hints: bool = False
    patience: float = PATIENCE
    """Seconds that an analysis may take before what can be said at once is said first."""


class FolderOptions:
    """The editor's settings for each folder, and for what is in none."""

    def __init__(self) -> None:
        self.known = asyncio.Event()
        """Set once the editor has sent its settings, or had the time to."""
        self._by_folder: dict[Path | None, Options] = {None: Options()}

    def of(self, path: Path) -> Options:
        inside = [folder for folder in self._by_folder if folder and folder in path.parents]
        return self._by_folder[max(inside, key=lambda each: len(each.parts), default=None)]

    def replace(self, found: dict[Path | None, Options]) -> None:
        self._by_folder = found
        self.known.set()


def read(given: object, folder: Path | None) -> Options:
    """The settings that an editor sent; None and an empty table leave all as it is.

    Some editors send those of all servers, each below its name.

    Raises:
        ConfigError: naming the setting that is unknown or of the wrong kind.
    """
    if given is None:
        return Options()
    if not isinstance(given, Mapping):
        raise ConfigError(f"editor settings must be an object, not {given!r}")
    if isinstance(given.get(SECTION), Mapping):
        return read(given[SECTION], folder)
    # no setting of ours is a table: one is a section of another server's
    none = (type(None), Mapping)
    table = {key: value for key, value in given.items() if not isinstance(value, none)}
    for key in table:
        if key not in KEYS:
            hint = did_you_mean(str(key), KEYS)
            raise ConfigError(f"unknown editor setting `{key}`{hint}")
    return Options(
        Overrides(
            layer=Layer(
                select=_list(table, "select") if "select" in table else None,
                extend_select=_list(table, "extendSelect"),
                ignore=_list(table, "ignore"),
                extend_ignore=_list(table, "extendIgnore"),
            ),
            preview=_flag(table, "preview"),
            config=_configuration(table, folder),
            runs_rules=True,
        ),
        unsafe_fixes=_flag(table, "unsafeFixes") is not False,
        inlay_hints=_flag(table, "inlayHints") is True,
        patience=_number(table, "patience", PATIENCE),
    )


def _list(table: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = table.get(key, ())
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"editor setting `{key}` must be a list of rules, not {value!r}")
    return tuple(value)


def _flag(table: Mapping[str, object], key: str) -> bool | None:
    value = table.get(key)
    if value is not None and not isinstance(value, bool):
        raise ConfigError(f"editor setting `{key}` must be true or false, not {value!r}")
    return value


def _number(table: Mapping[str, object], key: str, default: float) -> float:
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigError(f"editor setting `{key}` must be a number, not {value!r}")
    return float(value)


def _configuration(table: Mapping[str, object], folder: Path | None) -> Path | None:
    value = table.get("configuration", "")
    if not isinstance(value, str):
        raise ConfigError(f"editor setting `configuration` must be a path, not {value!r}")
    return explicit_config((folder or Path.cwd()) / Path(value).expanduser()) if value else None
