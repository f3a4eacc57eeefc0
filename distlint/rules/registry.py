"""The rules, found by looking: every ``Rule`` with a code in a module of a folder beside this one.

Loading fails when a rule and the table of codes disagree or a rule lacks documentation, so that
neither can be forgotten. Rules of the user's own come from files, and from packages that offer them
as entry points of the group ``distlint.rules``; both are loaded only when a configuration says so.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import traceback
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from distlint.rules.base import Rule, SourceRule, WitnessRule
from distlint.rules.table import RESERVED
from distlint.source.paths import display

if TYPE_CHECKING:
    from collections.abc import Mapping


ENTRY_POINTS = "distlint.rules"
"""The group of entry points under which a package offers rules."""

_CODE = re.compile(r"[A-Z]{2,12}[0-9]{3,4}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class RegistryError(Exception):
    """A rule that does not keep to what every rule has to have."""


@lru_cache(maxsize=1)
def rules() -> Mapping[str, type[Rule]]:
    """The rules of this version by code, in the order of their codes."""
    found: dict[str, type[Rule]] = {}
    for rule in _discover():
        _validate(rule)
        if RESERVED.get(rule.code) != rule.name:
            raise RegistryError(f"{rule.code} {rule.name} is not in the table of codes")
        _add(rule, found)
    return MappingProxyType(dict(sorted(found.items())))


@lru_cache(maxsize=1)
def preview_codes() -> frozenset[str]:
    """The codes of the rules of this version that are preview."""
    return frozenset(code for code, rule in rules().items() if rule.preview)


def own_rules(files: tuple[Path, ...], packages: tuple[str, ...] = ()) -> Mapping[str, type[Rule]]:
    """The rules of the user's own, by code. Running this code is what naming it asks for.

    Args:
        files: Python files; one that has changed since the last call is run anew.
        packages: names of entry points of the group ``distlint.rules``.

    Raises:
        RegistryError: if one cannot be run, or a rule in it is not as it has to be.
    """
    return _own_rules(tuple((file, _stamp(file)) for file in files), packages)


@lru_cache(maxsize=8)
def _own_rules(
    files: tuple[tuple[Path, object], ...], packages: tuple[str, ...]
) -> Mapping[str, type[Rule]]:
    found: dict[str, type[Rule]] = {}
    for file, _ in files:
        _add_own(display(file), _in_module(_run(file)), found)
    for package in packages:
        _add_own(f"entry point `{package}`", _offered(package), found)
    return MappingProxyType(found)


def find_rule(code_or_name: str) -> type[Rule] | None:
    """The rule of a code or a name, if this version has it."""
    for code, rule in rules().items():
        if code_or_name in (code, rule.name):
            return rule
    return None


def is_own_code(code: str) -> bool:
    """May a rule of the user's own have this code?"""
    return bool(_CODE.fullmatch(code)) and not code.startswith("DST")


def _add(rule: type[Rule], found: dict[str, type[Rule]]) -> None:
    if rule.code in found:
        raise RegistryError(f"two rules have the code {rule.code}")
    found[rule.code] = rule


def _add_own(where: str, rules: Iterable[type[Rule]], found: dict[str, type[Rule]]) -> None:
    rules = list(rules)
    if not rules:
        raise RegistryError(f"{where}: contains no rule: no subclass of ScriptRule has a code")
    for rule in rules:
        try:
            _validate_own(rule)
            _validate(rule)
            _add(rule, found)
            if [each.name for each in found.values()].count(rule.name) > 1:
                raise RegistryError(f"two rules have the name {rule.name}")
        except RegistryError as error:
            raise RegistryError(f"{where}: {error}") from None


def _validate_own(rule: type[Rule]) -> None:
    """A code and a name that work everywhere and cannot be taken for one of ours."""
    code, name = rule.code, getattr(rule, "name", "")
    if not isinstance(code, str) or not _CODE.fullmatch(code):
        form = "a code has capital letters and three or four digits, such as LAB001"
        raise RegistryError(f"{rule.__name__}: {code!r}: {form}")
    if code.startswith("DST"):
        raise RegistryError(f"{code}: codes that begin with DST are reserved for distlint")
    if name in RESERVED.values():
        raise RegistryError(f"{code}: distlint has a rule with the name {name}")
    if name and not (isinstance(name, str) and _NAME.fullmatch(name)):
        form = "a name has lower-case words separated by hyphens"
        raise RegistryError(f"{code}: {name!r}: {form}")
    if not issubclass(rule, (SourceRule, WitnessRule)):
        raise RegistryError(f"{code}: must be derived from ScriptRule, or it never runs")
    try:
        rule()
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise RegistryError(f"{code}: {rule.__name__}() raises {what}") from error


def _stamp(file: Path) -> object:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _discover() -> Iterator[type[Rule]]:
    folder = Path(__file__).parent
    for family in pkgutil.iter_modules([str(folder)]):
        if family.ispkg:
            for module in pkgutil.iter_modules([str(folder / family.name)]):
                path = f"{__package__}.{family.name}.{module.name}"
                yield from _in_module(importlib.import_module(path))


def _in_module(module: ModuleType) -> Iterable[type[Rule]]:
    for value in list(vars(module).values()):
        if isinstance(value, type) and issubclass(value, Rule):
            if "code" in vars(value) and value.__module__ == module.__name__:
                yield value


def _offered(package: str) -> Iterable[type[Rule]]:
    """The rules behind an entry point, which is a module or a single rule."""
    from importlib.metadata import entry_points  # 20 ms

    every = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if package not in every:
        there = f"available: {', '.join(sorted(every))}" if every else "no package offers any"
        raise RegistryError(f"no installed package offers rules as `{package}`; {there}")
    try:
        value = every[package].load()
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}"
        raise RegistryError(f"entry point `{package}`: {what}") from error
    if isinstance(value, type) and issubclass(value, Rule):
        return [value] if hasattr(value, "code") else []
    return _in_module(value) if isinstance(value, ModuleType) else []


def _run(file: Path) -> ModuleType:
    name = f"distlint_own_rules_{file.stem}_{zlib.crc32(os.fsencode(file)):x}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise RegistryError(f"{display(file)}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look up what their annotations mean
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        what = f"{type(error).__name__}: {error}"
        raise RegistryError(f"{display(file)}:{_line(error, file)} {what}") from error
    return module


def _line(error: BaseException, file: Path) -> str:
    """The line of the file at which running it ended, where that can be told."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{error.lineno}:"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f"{lines[-1]}:" if lines else ""


def _validate(rule: type[Rule]) -> None:
    lacking = [
        what
        for what, present in (
            ("a name", getattr(rule, "name", "")),
            ("a docstring", rule.__dict__.get("__doc__")),
            ("a good example", rule.good),
            ("a bad example", rule.bad),
        )
        if not present
    ]
    if lacking:
        raise RegistryError(f"{rule.code} ({rule.__name__}) lacks {', '.join(lacking)}")
    for example in rule.bad:
        if f"# expect: {rule.code}" not in example.code:
            raise RegistryError(f"{rule.code}: {example.title!r} marks no line with # expect")
