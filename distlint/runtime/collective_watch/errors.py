"""What the watch raises, and only under ``strict``."""

from __future__ import annotations

from distlint.runtime.errors import DistributedError


class WatchError(DistributedError):
    """The collectives of the ranks do not match; ``table`` shows where each rank is."""

    def __init__(self, message: str, *, rank: int = 0, site: str = "", table: str = "") -> None:
        super().__init__(message, rank=rank, site=site)
        self.table = table


class CollectiveMismatch(WatchError):
    """Ranks of a group called different collectives, or one with different arguments."""


class RankMissing(WatchError):
    """A rank of the group exited, or did not arrive within the timeout."""
