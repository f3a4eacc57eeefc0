"""The rules, found by looking: every ``Rule`` with a code in a module of a folder beside this one.

Loading fails when a rule and the table of codes disagree or a rule lacks documentation, so that
neither can be forgotten.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from distlint.rules.base import Rule
from distlint.rules.table import RESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping


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


@lru_cache(maxsize=8)
def own_rules(files: tuple[Path, ...]) -> Mapping[str, type[Rule]]:
    """The rules in files of the user's own; running this code is what naming the files asks for.

    Raises:
        RegistryError: if a file cannot be run or a rule in it is incomplete.
    """
    found: dict[str, type[Rule]] = {}
    for file in files:
        for rule in _in_module(_run(file)):
            _validate(rule)
            if rule.code.startswith("DST"):
                raise RegistryError(f"{file}: {rule.code}: codes with DST are distlint's own")
            _add(rule, found)
    return MappingProxyType(found)


def find_rule(code_or_name: str) -> type[Rule] | None:
    """The rule of a code or a name, if this version has it."""
    for code, rule in rules().items():
        if code_or_name in (code, rule.name):
            return rule
    return None


def _add(rule: type[Rule], found: dict[str, type[Rule]]) -> None:
    if rule.code in found:
        raise RegistryError(f"two rules have the code {rule.code}")
    found[rule.code] = rule


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


def _run(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"distlint_own_rules_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise RegistryError(f"{file}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise RegistryError(f"{file}: {type(error).__name__}: {error}") from error
    return module


def _validate(rule: type[Rule]) -> None:
    lacking = [
        what
        for what, present in (
            ("a name", getattr(rule, "name", "")),
            ("a docstring of its own", rule.__dict__.get("__doc__")),
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
