"""Which codes are reported in a file, and which rules are asked about it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.engine.settings import Settings
from distlint.rules.prefilter import worth_analysing
from distlint.rules.table import INCOMPLETE_ANALYSIS, RESERVED, SYNTAX_ERROR, UNUSED_SUPPRESSION
from distlint.source.document import Document

if TYPE_CHECKING:
    from distlint.rules.base import Rule


def enabled(code: str, path: Path, settings: Settings) -> bool:
    """Is a code to be reported in a file?"""
    preview_rule = not settings.preview and _is_preview(code, settings)
    on = settings.selection.enables(code, preview_rule=preview_rule, preview=settings.preview)
    return on and code not in settings.ignored_in(path)


def codes_off(settings: Settings) -> frozenset[str]:
    """The codes of the rules that are not enabled: what they would find is not reported."""
    selection = settings.selection
    unasked = {INCOMPLETE_ANALYSIS} - selection.explicit  # by itself no reason to compare ranks
    return resting_codes(settings) | unasked | (frozenset(RESERVED) - selection.codes)


def resting_codes(settings: Settings) -> frozenset[str]:
    """Those in preview that are not enabled. A fix has to pass all the others."""
    if settings.preview:
        return frozenset()
    from distlint.rules.registry import preview_codes

    return preview_codes() - settings.selection.explicit


def _is_preview(code: str, settings: Settings) -> bool:
    if code in (SYNTAX_ERROR, UNUSED_SUPPRESSION, INCOMPLETE_ANALYSIS):
        return False
    from distlint.rules.registry import rules

    rule = rules().get(code) or settings.own_rules().get(code)
    return rule is not None and rule.preview


def implemented(settings: Settings) -> Iterable[str]:
    from distlint.rules.registry import rules

    return (*rules(), *settings.own_rules())


def own_rules(document: Document, settings: Settings) -> list[Rule]:
    """New instances of the user's own rules that are enabled for a document."""
    found = []
    for code, rule in settings.own_rules().items():
        words: Iterable[str] = getattr(rule, "words", ())
        if words and not any(word.encode() in document.code for word in words):
            continue
        if enabled(code, document.path, settings):
            found.append(rule())
    return found


def passes_prefilter(document: Document, settings: Settings) -> bool:
    """Could a rule of distlint have something to say about a script, to judge by its bytes?"""
    own = settings.own_packages
    return worth_analysing(document.code) or any(each.encode() in document.code for each in own)
