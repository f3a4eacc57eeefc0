"""Which files are analysed: those that may be distributed, or hold what a rule declares."""

from __future__ import annotations

from functools import lru_cache

from distlint.analyzer.project.prefilter import Prefilter, may_diverge, mentions_framework
from distlint.rules.words import SHARED, WORDS


def worth_analysing(data: bytes) -> bool:
    """Could ranks diverge in a file, or a rule about one file have something to say?"""
    return mentions_framework(data) and (may_diverge(data) or _declared().passes(data))


@lru_cache(maxsize=1)
def _declared() -> Prefilter:
    return Prefilter(word for words in WORDS.values() for word in words)


def sharing(data: bytes) -> frozenset[str]:
    """The codes of rules about what processes share that may speak about a file which others run
    on several ranks."""
    return frozenset(code for code, each in _shared().items() if each.passes(data))


@lru_cache(maxsize=1)
def _shared() -> dict[str, Prefilter]:
    return {code: Prefilter(words) for code, words in SHARED.items()}
