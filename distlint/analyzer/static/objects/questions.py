"""The questions about where values come from that are being answered."""

from __future__ import annotations

from distlint.analyzer import ir


class Questions:
    """The questions that are being answered, so that none waits for itself."""

    def __init__(self) -> None:
        self.open: set[tuple[object, ...]] = set()
        self.params: set[ir.Param] = set()
        self.cuts = 0
        """How often a question was cut short; what depends on one that was is not kept."""
        self.filling = False
        """Is it being looked up which statements fill which containers?"""
