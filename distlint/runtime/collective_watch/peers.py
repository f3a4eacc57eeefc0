"""What the other ranks have left on the board, also those that no longer answer."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from distlint.runtime._liveness import is_running
from distlint.runtime.collective_watch.board import Board
from distlint.runtime.collective_watch.report import (
    GroupCalls,
    RankReport,
    from_json,
    unpack_groups,
)


class Peers:
    """The other ranks, as the board shows them to this one."""

    def __init__(self, board: Board, rank: int, world: int, interval: float) -> None:
        self._board = board
        self._rank, self._world = rank, world
        self._longest = 2.0 + 2 * interval

    def heart(self, rank: int) -> dict[str, Any]:
        """What a rank publishes at each beat; empty before the first one."""
        text = self._board.get(f"heart/{rank}")
        return {} if text is None else as_dict(json.loads(text))

    def reports(self, own: RankReport, number: int) -> list[RankReport]:
        """The reports of all ranks; of those that do not answer, what is known of them."""
        found = {self._rank: own}
        began = time.monotonic()
        while len(found) < self._world and time.monotonic() - began < self._longest:
            waiting = False
            for rank in range(self._world):
                if rank in found:
                    continue
                text = self._board.get(f"report/{number}/{rank}")
                if text is not None:
                    found[rank] = from_json(text)
                elif (heart := self.heart(rank)) and _gone(heart):
                    found[rank] = self._remains(rank, heart)
                else:
                    waiting = True
            if waiting:
                time.sleep(0.02)
        for rank in range(self._world):
            if rank not in found:
                found[rank] = self._remains(rank, self.heart(rank))
        return [found[rank] for rank in sorted(found)]

    def _remains(self, rank: int, heart: dict[str, Any]) -> RankReport:
        """What a rank that does not answer had said before."""
        groups: dict[str, GroupCalls] = {}
        for key in ("calls", "newest"):
            text = self._board.get(f"{key}/{rank}")
            for name, group in ({} if text is None else unpack_groups(json.loads(text))).items():
                groups[name] = _joined(groups.get(name), group)
        left = heart.get("left", "")
        partial = not left  # otherwise it has published its last call
        if not left and heart and _gone(heart):
            left = f"was killed (process {heart['pid']} no longer exists)"
        elif not left:
            left = "does not respond (killed, or its node is unreachable)"
        return RankReport(rank, left, "", None, groups, partial)


def _gone(heart: dict[str, Any]) -> bool:
    if heart.get("host") != socket.gethostname():
        return False
    return not is_running(heart["pid"])


def _joined(before: GroupCalls | None, newest: GroupCalls) -> GroupCalls:
    """What was published at a beat, and a later call; the calls between are not known."""
    if before is None or newest.count > before.count + 1:
        return newest
    if newest.count <= before.count:
        return before
    calls = (*before.calls, *newest.calls)
    return GroupCalls(before.name, before.ranks, newest.count, calls)


def as_dict(value: object) -> dict[str, Any]:
    """What JSON had better be."""
    assert isinstance(value, dict)
    return value
