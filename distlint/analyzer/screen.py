"""The prefilter: which files are read at all, judged by words of the catalogue in their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from distlint.catalogue.shipped import words


def worth_following(data: bytes) -> bool:
    """Could an imported file tell ranks apart, or let them communicate?"""
    return _any_of(words().imports).search(data) is not None


def mentions_framework(data: bytes) -> bool:
    """Could the file use a framework of the catalogue?"""
    return _any_of(words().mentions).search(data) is not None


def may_diverge(data: bytes) -> bool:
    """Could ranks diverge in the file, if it uses a framework?"""
    return _any_of(words().collectives).search(data) is not None


@lru_cache
def _any_of(patterns: Iterable[str]) -> re.Pattern[bytes]:
    return re.compile("|".join(patterns).encode())
