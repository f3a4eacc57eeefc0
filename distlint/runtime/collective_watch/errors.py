"""What the watch raises, and only under ``strict``."""

from __future__ import annotations


class WatchError(RuntimeError):
    """The collectives of the ranks do not fit together; ``table`` says where each rank is."""

    def __init__(self, message: str, table: str = "") -> None:
        super().__init__(message)
        self.table = table


class CollectiveMismatch(WatchError):
    """Ranks of a group came to different collectives, or to one with different arguments."""


class RankMissing(WatchError):
    """A rank of the group has left, or did not come within the time-out."""
