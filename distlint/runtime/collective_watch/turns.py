"""Which rank prints what all ranks have found."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from distlint.runtime.collective_watch.board import Board
from distlint.runtime.collective_watch.report import RankReport

TURN = 1.0  # seconds in which a rank has to print, before the next one does


class Turns:
    """The lowest rank that has answered prints; the next one does if it cannot."""

    def __init__(self, board: Board, rank: int) -> None:
        self._board, self._rank = board, rank

    def is_mine(self, key: str, reports: Sequence[RankReport]) -> bool:
        """Is it this rank that prints? Waits for those before it; ranks that leave come last."""
        answered = sorted((bool(r.left), r.rank) for r in reports if r.now is not None)
        place = [rank for _, rank in answered].index(self._rank)
        deadline = time.monotonic() + TURN * min(place, 3)
        try:
            while self._board.get(f"printed/{key}") is None:
                if time.monotonic() >= deadline:
                    return not place or self._board.add(f"printed/{key}/late", 1) == 1
                time.sleep(0.02)
        except RuntimeError:  # the store is gone, and ranks cannot take turns
            return True
        return False

    def done(self, key: str) -> None:
        """It has been printed."""
        with contextlib.suppress(RuntimeError):
            self._board.set(f"printed/{key}", "1")


def waited(reports: Sequence[RankReport]) -> float:
    """For how many seconds a rank has been in its call at most."""
    times = (r.now.seconds for r in reports if r.now is not None and r.now.state != "out")
    return max(times, default=0.0)
