"""The questions about where values come from that are being answered."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from distlint.analyzer import ir

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.sites import Origin

MANY_CUTS = 200
"""Cuts in one question after which an answer that was cut short is taken again within it."""


class Questions:
    """The questions that are being answered, so that none waits for itself."""

    def __init__(self) -> None:
        self.open: set[tuple[object, ...]] = set()
        self.params: set[ir.Param] = set()
        self.cuts = 0
        """How often a question was cut short; what depends on one that was is not kept."""
        self._cuts_before = 0
        self._partial: dict[Hashable, tuple[Origin, ...]] = {}
        """The answers that were cut short since the outermost question was asked."""

    @property
    def is_outermost(self) -> bool:
        """Is no question being answered?"""
        return not self.open and not self.params

    def begin(self) -> None:
        """Note that a question is asked; if it is the outermost one, nothing is left of others."""
        if self.is_outermost:
            self._cuts_before = self.cuts
            self._partial.clear()

    def partial(self, key: Hashable) -> tuple[Origin, ...] | None:
        """An answer that was cut short, where finding it out again and again takes too much."""
        return self._partial.get(key) if self.cuts - self._cuts_before > MANY_CUTS else None

    def keep(self, key: Hashable, found: tuple[Origin, ...]) -> None:
        """Note an answer that was cut short."""
        self._partial[key] = found
