"""The prefilter: which files are read at all, judged by words of the catalogue in their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from distlint.catalogue.shipped import words


def worth_following(data: bytes) -> bool:
    """Could an imported file tell ranks apart, or let them communicate?"""
    return _prefilter(words().imports).passes(data)


def mentions_framework(data: bytes) -> bool:
    """Could the file use a framework of the catalogue?"""
    return _prefilter(words().mentions).passes(data)


def may_diverge(data: bytes) -> bool:
    """Could ranks diverge in the file, if it uses a framework?"""
    return _prefilter(words().collectives).passes(data)


class Prefilter:
    """Does a file hold one of these words: regular expressions, most of them plain text?"""

    def __init__(self, patterns: Iterable[str]) -> None:
        plain: dict[bytes, None] = {}
        others: dict[str, None] = {}
        for each in patterns:
            text = _plain(each)
            if text is None:
                others[each] = None
            else:
                plain[text.encode()] = None
        self._plain = [each for each in plain if not any(o in each for o in plain if o != each)]
        self._pattern = re.compile("|".join(others).encode()) if others else None

    def passes(self, data: bytes) -> bool:
        for word in self._plain:  # many times as fast as the search for a pattern
            if word in data:
                return True
        return self._pattern is not None and self._pattern.search(data) is not None


def _plain(pattern: str) -> str | None:
    """The one text that a pattern matches; None if there are more."""
    text = re.sub(r"\\(\W)", r"\1", pattern)
    return text if re.escape(text).replace("\\ ", " ") == pattern.replace("\\ ", " ") else None


@lru_cache
def _prefilter(patterns: tuple[str, ...]) -> Prefilter:
    return Prefilter(patterns)
