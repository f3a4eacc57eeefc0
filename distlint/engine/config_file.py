"""Configuration files: where they are, what may stand in them, and what they say."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from distlint.engine.errors import ConfigError, did_you_mean
from distlint.engine.selection import expand
from distlint.rules.table import RESERVED
from distlint.source.finding import Severity
from distlint.source.paths import display

FILE_NAME = "distlint.toml"
PYPROJECT = "pyproject.toml"
TABLE = "tool.distlint"

MAX_RANKS = 64

_AT_THE_END = " (at end of document)"
"""Where the parser of TOML places the mistake if a statement does not end."""
_SHORT = 50_000
_NEAR = 200


class _InvalidError(Exception):
    """What is wrong with a value; the reader adds the key and the file."""


@dataclass(frozen=True, slots=True)
class Value:
    """A checked value and the file it stands in; relative paths start from that file's folder."""

    value: object
    file: Path

    @property
    def base(self) -> Path:
        return self.file.parent


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file with everything that it extends folded in; ``tables`` are catalogue entries."""

    path: Path
    values: Mapping[str, Value]
    tables: Mapping[str, object]
    sources: tuple[Path, ...]

    @property
    def root(self) -> Path:
        return self.path.parent


Parse = Callable[[object], object]


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _InvalidError(f"must be a list of strings, not {_shown(value)}")
    return tuple(value)


def _string(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _InvalidError(f"must be a string, not {_shown(value)}")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _InvalidError(f"must be true or false, not {_shown(value)}")
    return value


def _size(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _InvalidError(
            f"must be a number of bytes (0 disables the limit), not {_shown(value)}"
        )
    return value


def _severity(value: object) -> Severity:
    names = [severity.value for severity in Severity]
    if value not in names:
        hint = did_you_mean(value, names) if isinstance(value, str) else ""
        raise _InvalidError(f"must be one of {', '.join(names)}, not {_shown(value)}{hint}")
    return Severity(value)


def _world(value: object) -> tuple[int, int]:
    counts = value if isinstance(value, list) else []
    whole = all(isinstance(count, int) and not isinstance(count, bool) for count in counts)
    if len(counts) != 2 or not whole or min(counts) < 1:
        raise _InvalidError(f"must be [nodes, processes per node], not {_shown(value)}")
    nodes, processes = counts
    if not 2 <= nodes * processes <= MAX_RANKS:
        raise _InvalidError(
            f"must be between 2 and {MAX_RANKS} ranks in total, not {nodes * processes}"
        )
    return nodes, processes


def _module(value: object) -> str:
    name = _string(value)
    if not all(part.isidentifier() for part in name.split(".")):
        raise _InvalidError(f"must be the dotted name of a module, not {_shown(value)}")
    return name


def _versions(value: object) -> Mapping[str, str]:
    table = _table(value, 'such as {torch = "2.4"}')
    for name, version in table.items():
        if not isinstance(version, str) or not re.fullmatch(r"\d+(\.\d+)*\S*", version):
            raise _InvalidError(f'.{name} must be a version such as "2.4", not {_shown(version)}')
    return {name: str(version) for name, version in table.items()}


def _per_file(value: object) -> Mapping[str, tuple[str, ...]]:
    table = _table(value, 'such as {"tests/*" = ["DST101"]}')
    return {pattern: _strings(selectors) for pattern, selectors in table.items()}


def _severities(value: object) -> Mapping[str, Severity]:
    table = _table(value, 'such as {DST101 = "warning"}')
    return {selector: _severity(severity) for selector, severity in table.items()}


def _table(value: object, example: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _InvalidError(f"must be a table {example}, not {_shown(value)}")
    return value


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 40 else f"{text[:37]}..."


KEYS: Mapping[str, Parse] = {
    "allow-env": _strings,
    "baseline": _string,
    "cache-dir": _string,
    "catalogue": _strings,
    "exclude": _strings,
    "extend": _string,
    "extend-exclude": _strings,
    "extend-ignore": _strings,
    "extend-select": _strings,
    "fail-on": _severity,
    "ignore": _strings,
    "max-file-size": _size,
    "per-file-ignores": _per_file,
    "preview": _flag,
    "rules": _strings,
    "runtime": _module,
    "select": _strings,
    "severity": _severities,
    "src": _strings,
    "unsafe-fixes": _flag,
    "versions": _versions,
    "world": _world,
}

_SELECTORS = ("select", "extend-select", "ignore", "extend-ignore")
_ADDED_UP = ("extend-exclude", "extend-ignore", "extend-select")
_MUST_EXIST = ("catalogue", "rules")


def config_in(folder: Path) -> Path | None:
    """The configuration file of a folder itself: ``distlint.toml``, or a pyproject with our table.

    Raises:
        ConfigError: if a pyproject that may hold the table is no TOML.
    """
    own = folder / FILE_NAME
    if os.path.isfile(own):  # unlike Path.is_file, False in a folder that may not be entered
        return own
    shared = folder / PYPROJECT
    return shared if os.path.isfile(shared) and _has_table(shared) else None


def load(path: Path) -> ConfigFile:
    """Read, check and fold in what the file extends; no rules are run.

    Raises:
        ConfigError: naming file, key and, for a misspelt key, the nearest valid one.
    """
    config = _load(path, ())
    _check_files(config)
    _check_rules_are_inside(config)
    return config


def _load(path: Path, extending: tuple[Path, ...]) -> ConfigFile:
    if path in extending:
        chain = " -> ".join(display(each) for each in (*extending, path))
        raise ConfigError(f"{display(extending[0])}: `extend` is circular: {chain}")
    raw = _section(path)
    tables = {key: raw.pop(key) for key in list(raw) if key in _catalogue_keys(raw)}
    values = {key: Value(_checked(key, raw[key], path), path) for key in raw}
    own = ConfigFile(path, values, tables, (path,))
    base = values.pop("extend", None)
    if base is None:
        return own
    target = resolved(str(base.value), path.parent)
    if not target.is_file():
        raise ConfigError(f"{display(path)}: `extend`: no such file: {display(target)}")
    return _folded(own, _load(target, (*extending, path)))


def _folded(own: ConfigFile, base: ConfigFile) -> ConfigFile:
    values = {**base.values, **own.values}
    for key in _ADDED_UP:
        if key in own.values and key in base.values:
            mine, theirs = own.values[key].value, base.values[key].value
            assert isinstance(mine, tuple)
            assert isinstance(theirs, tuple)
            values[key] = Value((*theirs, *mine), own.path)
    tables = {**base.tables, **own.tables}
    return ConfigFile(own.path, values, tables, (*own.sources, *base.sources))


def _checked(key: str, value: object, path: Path) -> object:
    parse = KEYS.get(key)
    if parse is None:
        options = (*KEYS, *_catalogue_tables())
        raise ConfigError(f"{display(path)}: unknown key `{key}`{did_you_mean(key, options)}")
    try:
        return parse(value)
    except _InvalidError as problem:
        gap = "" if str(problem).startswith(".") else " "
        raise ConfigError(f"{display(path)}: `{key}`{gap}{problem}") from None


def _check_files(config: ConfigFile) -> None:
    for key in _MUST_EXIST:
        for entry in _entries(config, key):
            for name in entry.value if isinstance(entry.value, tuple) else ():
                if key == "rules" and not _is_file(name):
                    continue
                if not resolved(name, entry.base).is_file():
                    raise ConfigError(f"{display(entry.file)}: `{key}`: no such file: {name}")


def check_selectors(config: ConfigFile, known: Mapping[str, str]) -> None:
    """Is each selector that of a known rule?

    Raises:
        ConfigError: if one is not.
    """
    for key, entry, selector in _all_selectors(config):
        try:
            expand(selector, known)
        except ConfigError as error:
            raise ConfigError(f"{display(entry.file)}: `{key}`: {error}") from None


def _all_selectors(config: ConfigFile) -> Iterator[tuple[str, Value, str]]:
    for key in (*_SELECTORS, "severity", "per-file-ignores"):
        for entry in _entries(config, key):
            for selector in _selectors(entry.value):
                yield key, entry, selector


def _entries(config: ConfigFile, key: str) -> list[Value]:
    return [config.values[key]] if key in config.values else []


def _selectors(value: object) -> list[str]:
    """Those in a list, in the keys of `severity`, or in the values of `per-file-ignores`."""
    if not isinstance(value, Mapping):
        return list(value) if isinstance(value, tuple) else []
    found: list[str] = []
    for name, item in value.items():
        found.extend(item if isinstance(item, tuple) else (name,))
    return found


def known_codes(config: ConfigFile) -> Mapping[str, str]:
    """All codes and names that selectors may use: ours, and those of the user's own rules.

    Running these is what naming them asks for.

    Raises:
        ConfigError: if the user's own rules cannot be loaded.
    """
    files, packages = own_rule_files(config), own_rule_packages(config)
    if not files and not packages:
        return RESERVED
    from distlint.rules.registry import RegistryError, own_rules

    try:
        own = own_rules(files, packages)
    except RegistryError as error:
        raise ConfigError(f"{display(config.path)}: `rules`: {error}") from None
    return {**RESERVED, **{code: rule.name for code, rule in own.items()}}


def declared_codes(config: ConfigFile, given: Iterable[str] = ()) -> Mapping[str, str]:
    """The same without running any: what their files declare.

    What these do not say, packages above all, may be the rules that selectors speak about: the
    configuration's, and those ``given`` on the command line.
    """
    files, packages = own_rule_files(config), own_rule_packages(config)
    if not files and not packages:
        return RESERVED
    from distlint.rules.declared import declared_rules

    declared = declared_rules(files)
    known = {**RESERVED, **{code: rule.name for code, rule in declared.items()}}
    for selector in (*(each for _, _, each in _all_selectors(config)), *given):
        try:
            expand(selector, known)
        except ConfigError:
            if not selector.startswith("DST"):
                known[selector] = selector
    return known


def own_rule_files(config: ConfigFile) -> tuple[Path, ...]:
    """The files with rules of the user's own."""
    entry = config.values.get("rules")
    if entry is None:
        return ()
    files = (resolved(name, entry.base) for name in _named_rules(config) if _is_file(name))
    return tuple(Path(os.path.abspath(file)) for file in files)


def own_rule_packages(config: ConfigFile) -> tuple[str, ...]:
    """The entry points that installed packages offer rules under."""
    return tuple(name for name in _named_rules(config) if not _is_file(name))


def _named_rules(config: ConfigFile) -> tuple[str, ...]:
    entry = config.values.get("rules")
    return entry.value if entry is not None and isinstance(entry.value, tuple) else ()


def _is_file(name: str) -> bool:
    """Does an entry of ``rules`` name a file, or else what a package offers?"""
    return name.endswith(".py") or "/" in name or os.sep in name


def _check_rules_are_inside(config: ConfigFile) -> None:
    """A project runs code of its own, and no other's."""
    entry = config.values.get("rules")
    for file in own_rule_files(config):
        folder = Path(os.path.abspath(entry.base)) if entry else config.root
        if folder not in file.parents:
            where = f"{display(entry.file if entry else config.path)}: `rules`"
            raise ConfigError(
                f"{where}: {display(file)} is outside the directory of this configuration"
            )


def _section(path: Path) -> dict[str, object]:
    content: object = read(path)
    if path.name == PYPROJECT:
        for part in TABLE.split("."):
            content = content.get(part, {}) if isinstance(content, dict) else None
    if not isinstance(content, dict):
        raise ConfigError(f"{display(path)}: `{TABLE}` must be a table")
    return dict(content)


def _has_table(path: Path) -> bool:
    try:
        if b"distlint" not in path.read_bytes():
            return False
    except OSError:
        return False
    tool = read(path).get("tool")
    return isinstance(tool, dict) and "distlint" in tool


def read(path: Path) -> dict[str, object]:
    """The content of a TOML file.

    Raises:
        ConfigError: if it cannot be read, or is none.
    """
    try:
        return parsed(path.read_text(encoding="utf-8"), path)
    except OSError as error:
        raise ConfigError(f"{display(path)}: cannot read file: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{display(path)}: invalid TOML: {error}") from None


def parsed(text: str, path: Path) -> dict[str, object]:
    """The content of a TOML file.

    Raises:
        ConfigError: if it is none.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what = str(error)
        row = _unfinished(text, tomllib.loads) if what.endswith(_AT_THE_END) else None
        if row is not None:
            what = f"{what.removesuffix(_AT_THE_END)} (the statement starts at line {row})"
        raise ConfigError(f"{display(path)}: invalid TOML: {what}") from None
    except RecursionError:
        raise ConfigError(f"{display(path)}: cannot read file: nested too deeply") from None
    except ValueError:  # of Python, for numbers of thousands of digits
        raise ConfigError(f"{display(path)}: cannot read file: a number is too large") from None


def _unfinished(text: str, loads: Callable[[str], object]) -> int | None:
    """The row of the statement that runs up to the end of a text which is not valid TOML.

    None if finding it would take long: the text is read anew for each row.
    """
    if len(text) > _SHORT:
        return None
    lines = text.splitlines(keepends=True)
    for row in range(len(lines), max(0, len(lines) - _NEAR), -1):
        try:
            loads("".join(lines[: row - 1]))
        except (ValueError, RecursionError):
            continue
        return row
    return None


def _catalogue_keys(raw: Mapping[str, object]) -> tuple[str, ...]:
    return _catalogue_tables() if any(key not in KEYS for key in raw) else ()


def _catalogue_tables() -> tuple[str, ...]:
    from distlint.catalogue.schema import TABLES

    return ("aliases", *TABLES)


def resolved(name: str, base: Path) -> Path:
    """A path from a configuration: relative ones start at ``base``."""
    path = Path(name).expanduser()
    return path if path.is_absolute() else base / path
