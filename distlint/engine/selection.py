"""Selectors (codes, names, prefixes, ALL) and which codes a chain of them leaves on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from distlint.engine.errors import ConfigError, did_you_mean
from distlint.rules.table import RESERVED, SYNTAX_ERROR

ALL = "ALL"
_NUMBERED = re.compile(r"[A-Za-z]+[0-9]+")


@dataclass(frozen=True, slots=True)
class Layer:
    """The selectors of one source: a configuration file, or the command line."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """The codes that are on; preview rules only when they were asked for one by one."""

    codes: frozenset[str]
    explicit: frozenset[str]
    ignored: frozenset[str] = frozenset()
    """The codes that are off because they are to be ignored, not because others are selected."""

    def enables(self, code: str, *, preview_rule: bool, preview: bool) -> bool:
        return code in self.codes and (preview or not preview_rule or code in self.explicit)


def expand(selector: str, known: Mapping[str, str] = RESERVED) -> frozenset[str]:
    """The codes that a selector stands for.

    Raises:
        ConfigError: if it stands for none.
    """
    if selector == ALL:
        return frozenset(known)
    codes = frozenset(
        code for code, name in known.items() if selector == name or _is_prefix(selector, code)
    )
    if not codes:
        raise ConfigError(unknown_rule(selector, known))
    return codes


def _is_prefix(selector: str, code: str) -> bool:
    return code.startswith(selector) and selector.startswith(code.rstrip("0123456789"))


def unknown_rule(selector: str, known: Mapping[str, str] = RESERVED) -> str:
    """What to say about a code or name that does not exist."""
    if _NUMBERED.fullmatch(selector) and selector.upper() not in known:
        # one number looks like many others: a guess says nothing
        return f"unknown rule `{selector}`; list all rules with `distlint rule ALL`"
    options = [ALL, *known, *known.values()]
    return f"unknown rule `{selector}`{did_you_mean(selector, options)}"


def exact(selector: str, known: Mapping[str, str] = RESERVED) -> str | None:
    """The code when the selector is the code or the name of one rule."""
    if selector in known:
        return selector
    return next((code for code, name in known.items() if name == selector), None)


def resolve(layers: Sequence[Layer], known: Mapping[str, str] = RESERVED) -> Selection:
    """Apply the layers in order; inside a layer the more specific selector wins, as in ruff."""
    codes = frozenset(known)
    explicit: set[str] = set()
    ignored: set[str] = set()
    for layer in layers:
        if layer.select is not None:
            codes = frozenset({SYNTAX_ERROR})
            explicit.clear()
        chosen = [*(layer.select or ()), *layer.extend_select]
        dropped = [*layer.ignore, *layer.extend_ignore]
        ignored.update(*(expand(selector, known) for selector in dropped))
        explicit.update(code for code in (exact(s, known) for s in chosen) if code)
        codes = _apply(codes, chosen, dropped, known)
    return Selection(codes, frozenset(explicit) & codes, frozenset(ignored) - codes)


def _apply(
    codes: frozenset[str], chosen: Iterable[str], dropped: Iterable[str], known: Mapping[str, str]
) -> frozenset[str]:
    steps = [(_specificity(s, known), False, s) for s in chosen]
    steps += [(_specificity(s, known), True, s) for s in dropped]
    for _, drop, selector in sorted(steps):
        named = expand(selector, known)
        codes = codes - named if drop else codes | named
    return codes


def _specificity(selector: str, known: Mapping[str, str]) -> int:
    if selector == ALL:
        return 0
    return 100 if exact(selector, known) else len(selector)
