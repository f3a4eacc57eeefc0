"""What holds for a file: the nearest configuration, whole, and what the command line adds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from distlint.catalogue import RUNTIME
from distlint.engine import config_file, trust
from distlint.engine.config_file import ConfigFile, resolved
from distlint.engine.errors import ConfigError
from distlint.engine.patterns import Pattern
from distlint.engine.selection import Layer, Selection, expand, resolve
from distlint.engine.trust import Announce
from distlint.rules.table import RESERVED
from distlint.source.finding import Severity
from distlint.source.paths import display

if TYPE_CHECKING:
    from distlint.rules.base import Rule

DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".distlint_cache",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)
DEFAULT_MAX_FILE_SIZE = 2_000_000

_PROJECT_MARKERS = (".git", "pyproject.toml", "setup.py", "setup.cfg", ".hg")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line sets for every file; None leaves it to the configuration."""

    layer: Layer = field(default_factory=Layer)
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    preview: bool | None = None
    fail_on: Severity | None = None
    cache_dir: Path | None = None
    baseline: Path | None = None
    config: Path | None = None
    isolated: bool = False
    runs_rules: bool = False
    """May Python files that a configuration names be run? Only commands that have to ask for it."""

    @property
    def selectors(self) -> tuple[str, ...]:
        layer = self.layer
        return (*(layer.select or ()), *layer.extend_select, *layer.ignore, *layer.extend_ignore)


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for the files of one configuration."""

    root: Path
    config: Path | None
    selection: Selection
    preview: bool
    per_file_ignores: tuple[tuple[Pattern, frozenset[str]], ...]
    severities: Mapping[str, Severity]
    fail_on: Severity
    exclude: tuple[Pattern, ...]
    src: tuple[Path, ...]
    world: tuple[int, int]
    catalogue: tuple[Path | Mapping[str, object], ...]
    rules: tuple[Path, ...]
    rule_packages: tuple[str, ...]
    known: Mapping[str, str]
    runtime: str
    versions: Mapping[str, str]
    unsafe_fixes: bool
    baseline: Path | None
    cache_dir: Path | None
    max_file_size: int
    allow_env: tuple[str, ...]
    own_packages: frozenset[str] = frozenset()
    """Import roots that entries of the user's own in the catalogue speak about."""
    sources: tuple[Path, ...] = ()
    """The configuration files that were read: the one in force, and what it extends."""
    runs_rules: bool = False
    """Are the rules of the user's own run, or are only their codes known?"""

    def ignored_in(self, path: Path) -> frozenset[str]:
        """The codes that ``per-file-ignores`` switches off for a file."""
        found: frozenset[str] = frozenset()
        for pattern, codes in self.per_file_ignores:
            if pattern.names(path) != pattern.negated:
                found |= codes
        return found

    def own_rules(self) -> Mapping[str, type[Rule]]:
        """The rules of the user's own that hold for these files, by code."""
        if not self.runs_rules:
            return {}
        from distlint.rules.registry import own_rules

        return own_rules(self.rules, self.rule_packages)

    def described_rules(self) -> Mapping[str, type[Rule]]:
        """The same to read about them: where they are not run, what their files declare."""
        if self.runs_rules or not self.rules:
            return self.own_rules()
        from distlint.rules.declared import declared_rules

        return declared_rules(self.rules)


class Resolver:
    """Finds the settings of files and folders; one per run, safe to send to another process.

    ``named`` holds the folders that the user named: the project's, if nothing else says so.
    ``announce`` is told, before it happens, that rules of a project are run for the first time.
    """

    def __init__(
        self,
        overrides: Overrides | None = None,
        cwd: Path | None = None,
        announce: Announce | None = None,
    ) -> None:
        self.overrides = overrides or Overrides()
        self.cwd = cwd or Path.cwd()
        self.announce = announce
        self.named: list[Path] = []
        self._by_config: dict[tuple[Path | None, Path], Settings] = {}
        self._by_folder: dict[Path, Settings] = {}
        self._known: dict[Path, tuple[Path | None, Path | None]] = {}

    def of_file(self, path: Path) -> Settings:
        return self.of_folder(path.parent)

    def of_folder(self, folder: Path) -> Settings:
        """The settings for what lies directly in a folder.

        Raises:
            ConfigError: if the configuration in force cannot be used.
        """
        settings = self._by_folder.get(folder)
        if settings is None:
            config, project = self._surroundings(folder)
            root = config.parent if config else project or self._bare_root(folder)
            key = (config, root)
            if key not in self._by_config:
                self._by_config[key] = build(config, root, self.overrides, self.cwd, self.announce)
            settings = self._by_folder[folder] = self._by_config[key]
        return settings

    def knows(self, folder: Path) -> bool:
        """Have the settings of a folder been asked for before?"""
        return folder in self._by_folder

    def explicit_codes(self) -> dict[str, str]:
        """Our codes that were selected one by one in any configuration used so far."""
        every = self._by_config.values()
        codes = frozenset[str]().union(*(settings.selection.explicit for settings in every))
        return {code: RESERVED[code] for code in codes if code in RESERVED}

    def has_baseline(self) -> bool:
        """Does any configuration used so far name one, or the command line?"""
        every = self._by_config.values()
        return self.overrides.baseline is not None or any(each.baseline for each in every)

    def own_rule(self, code: str) -> type[Rule] | None:
        """The rule of the user's own with a code, in any configuration used so far."""
        found = (settings.described_rules().get(code) for settings in self._by_config.values())
        return next((rule for rule in found if rule is not None), None)

    def _surroundings(self, folder: Path) -> tuple[Path | None, Path | None]:
        """The configuration in force in a folder, and the project's folder that it lies in."""
        chain = []
        for candidate in (folder, *folder.parents):
            if candidate in self._known:
                break
            chain.append(candidate)
        config, project = self._known.get(candidate, (self.overrides.config, None))
        for candidate in reversed(chain):
            if self.overrides.config is None and not self.overrides.isolated:
                config = config_file.config_in(candidate) or config
            if any(os.path.exists(candidate / marker) for marker in _PROJECT_MARKERS):
                project = candidate
            self._known[candidate] = (config, project)
        return config, project

    def _bare_root(self, folder: Path) -> Path:
        """The project's folder where nothing marks it."""
        for candidate in (self.cwd, *self.named):
            if candidate == folder or candidate in folder.parents:
                return candidate
        return folder


def build(
    config_path: Path | None,
    root: Path,
    overrides: Overrides,
    cwd: Path,
    announce: Announce | None = None,
) -> Settings:
    """The settings that a configuration and the command line make together.

    Raises:
        ConfigError: if either cannot be used.
    """
    config = config_file.load(config_path) if config_path else _empty(root)
    if config_path and overrides.config:
        root = cwd  # paths and imports of an explicit file are those of where the user stands
    runs_rules = _may_run_rules(config, overrides, announce)
    known = (
        config_file.known_codes(config)
        if runs_rules
        else config_file.declared_codes(config, overrides.selectors)
    )
    config_file.check_selectors(config, known)
    catalogue = _catalogue(config)
    return Settings(
        root=root,
        config=config_path,
        selection=_selection(config, overrides, known),
        preview=_first(overrides.preview, _get(config, "preview", False)),
        per_file_ignores=_per_file_ignores(config, known),
        severities=_severities(config, known),
        fail_on=_first(overrides.fail_on, _get(config, "fail-on", Severity.WARNING)),
        exclude=_exclude(config, overrides, cwd),
        src=_paths(config, "src") or (root, root / "src"),
        world=_get(config, "world", (2, 2)),
        catalogue=catalogue,
        rules=config_file.own_rule_files(config),
        rule_packages=config_file.own_rule_packages(config),
        known=known,
        runtime=_get(config, "runtime", RUNTIME),
        versions=_get(config, "versions", {}),
        unsafe_fixes=_get(config, "unsafe-fixes", False),
        baseline=_first(overrides.baseline, _path(config, "baseline")),
        cache_dir=_first(overrides.cache_dir, _path(config, "cache-dir")),
        max_file_size=_get(config, "max-file-size", DEFAULT_MAX_FILE_SIZE),
        allow_env=_get(config, "allow-env", ()),
        own_packages=_own_packages(catalogue, config_path),
        sources=config.sources,
        runs_rules=runs_rules,
    )


def _may_run_rules(config: ConfigFile, overrides: Overrides, announce: Announce | None) -> bool:
    """May the rules that a configuration names be run? Says so before they are."""
    files, packages = config_file.own_rule_files(config), config_file.own_rule_packages(config)
    if not overrides.runs_rules or not (files or packages):
        return False
    why = trust.refusal(config_file.read)
    if why is not None:
        if announce is not None:
            announce(trust.omission(files, packages, why))
        return False
    if announce is not None and trust.is_news(config.root, files, packages):
        announce(trust.announcement(files, packages))
    return True


def explicit_config(path: Path) -> Path:
    """The file given with ``--config``.

    Raises:
        ConfigError: if there is none.
    """
    if not path.is_file():
        raise ConfigError(f"--config: no such file: {display(path)}")
    return Path(os.path.abspath(path))


def _empty(root: Path) -> ConfigFile:
    return ConfigFile(root / config_file.FILE_NAME, {}, {}, ())


def _get(config: ConfigFile, key: str, default: T) -> T:
    entry = config.values.get(key)
    return default if entry is None else entry.value  # type: ignore[return-value]


def _first(chosen: T | None, otherwise: T) -> T:
    return otherwise if chosen is None else chosen


def _path(config: ConfigFile, key: str) -> Path | None:
    entry = config.values.get(key)
    return None if entry is None else resolved(str(entry.value), entry.base)


def _paths(config: ConfigFile, key: str) -> tuple[Path, ...]:
    entry = config.values.get(key)
    if entry is None or not isinstance(entry.value, tuple):
        return ()
    return tuple(Path(os.path.abspath(resolved(name, entry.base))) for name in entry.value)


def _selection(config: ConfigFile, overrides: Overrides, known: Mapping[str, str]) -> Selection:
    of_file = Layer(
        select=_get(config, "select", None),
        extend_select=_get(config, "extend-select", ()),
        ignore=_get(config, "ignore", ()),
        extend_ignore=_get(config, "extend-ignore", ()),
    )
    return resolve((of_file, overrides.layer), known)


def _per_file_ignores(
    config: ConfigFile, known: Mapping[str, str]
) -> tuple[tuple[Pattern, frozenset[str]], ...]:
    entry = config.values.get("per-file-ignores")
    table: Mapping[str, Sequence[str]] = _get(config, "per-file-ignores", {})
    return tuple(
        (
            Pattern.parse(pattern, entry.base if entry else config.root),
            frozenset[str]().union(*(expand(selector, known) for selector in selectors)),
        )
        for pattern, selectors in table.items()
    )


def _severities(config: ConfigFile, known: Mapping[str, str]) -> Mapping[str, Severity]:
    table: Mapping[str, Severity] = _get(config, "severity", {})
    chosen: dict[str, Severity] = {}
    for selector in sorted(table, key=lambda selector: -len(expand(selector, known))):
        chosen.update(dict.fromkeys(expand(selector, known), table[selector]))
    return chosen


def _exclude(config: ConfigFile, overrides: Overrides, cwd: Path) -> tuple[Pattern, ...]:
    found: list[Pattern] = []
    if overrides.exclude is not None:
        found += [Pattern.parse(text, cwd) for text in overrides.exclude]
    elif "exclude" in config.values:
        found += _patterns(config, "exclude")
    else:
        found += [Pattern.parse(text, config.root) for text in DEFAULT_EXCLUDE]
    found += _patterns(config, "extend-exclude")
    found += [Pattern.parse(text, cwd) for text in overrides.extend_exclude]
    return tuple(found)


def _patterns(config: ConfigFile, key: str) -> list[Pattern]:
    entry = config.values.get(key)
    if entry is None or not isinstance(entry.value, tuple):
        return []
    try:
        return [_only_positive(Pattern.parse(text, entry.base)) for text in entry.value]
    except ConfigError as error:
        raise ConfigError(f"{display(entry.file)}: `{key}`: {error}") from None


def _only_positive(pattern: Pattern) -> Pattern:
    if pattern.negated:
        raise ConfigError(f"`!{pattern.text}` cannot re-include what another pattern excludes")
    return pattern


def _catalogue(config: ConfigFile) -> tuple[Path | Mapping[str, object], ...]:
    own: tuple[Mapping[str, object], ...] = (config.tables,) if config.tables else ()
    return (*_paths(config, "catalogue"), *own)


def _own_packages(
    entries: tuple[Path | Mapping[str, object], ...], config: Path | None
) -> frozenset[str]:
    """Load the user's own entries once here, so that a mistake ends the run and not each file."""
    if not entries:
        return frozenset()
    from distlint.catalogue.catalogue import Catalogue, CatalogueError

    try:
        return Catalogue.load((), entries).own_packages
    except CatalogueError as error:
        where = f"{display(config)}: " if config else ""
        raise ConfigError(f"{where}{error}") from None
