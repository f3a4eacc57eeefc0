"""What one rank says of itself to the others: plain data, to and from JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from distlint.runtime.collective_watch.calls import Call, call_from_json
from distlint.runtime.collective_watch.sites import Site

State = Literal["in", "waits", "out"]


@dataclass(frozen=True)
class Now:
    """What a rank is doing: in a collective, waiting for an asynchronous one, or in neither."""

    state: State
    seconds: float
    group: str
    seq: int
    stack: tuple[Site, ...]
    site: Site | None


@dataclass(frozen=True)
class GroupCalls:
    """The calls on a group that a rank still remembers, oldest first."""

    name: str
    ranks: tuple[int, ...]
    count: int
    calls: tuple[Call, ...]

    @property
    def first(self) -> int:
        """The number of the oldest of them."""
        return self.count - len(self.calls) + 1

    def get(self, seq: int) -> Call | None:
        """The call of this number, if it was made and is still known."""
        index = seq - self.first
        return self.calls[index] if 0 <= index < len(self.calls) else None


@dataclass(frozen=True)
class RankReport:
    """All that is known of one rank.

    ``left`` says how it went, and is empty while it runs; ``stuck`` names the group in which it
    waits for too long, or in which a collective has failed. ``partial``: it did not answer, and may
    have made more calls than it had published.
    """

    rank: int
    left: str = ""
    stuck: str = ""
    now: Now | None = None
    groups: dict[str, GroupCalls] = field(default_factory=dict)
    partial: bool = False


def pack_groups(groups: list[GroupCalls]) -> dict[str, Any]:
    """Calls repeat: each distinct one is written once, and then named by its number."""
    table: dict[Call, int] = {}
    packed = {
        group.name: {
            "ranks": list(group.ranks),
            "count": group.count,
            "calls": [table.setdefault(call, len(table)) for call in group.calls],
        }
        for group in groups
    }
    return {"table": list(table), "groups": packed}


def unpack_groups(data: dict[str, Any]) -> dict[str, GroupCalls]:
    """The inverse of :func:`pack_groups`."""
    table = [call_from_json(row) for row in data["table"]]
    return {
        name: GroupCalls(
            name,
            tuple(group["ranks"]),
            group["count"],
            tuple(table[number] for number in group["calls"]),
        )
        for name, group in data["groups"].items()
    }


def to_json(report: RankReport) -> str:
    """A report as it goes onto the board."""
    now = report.now
    return json.dumps(
        {
            "rank": report.rank,
            "left": report.left,
            "stuck": report.stuck,
            "now": None
            if now is None
            else [now.state, now.seconds, now.group, now.seq, list(now.stack), now.site],
            **pack_groups(list(report.groups.values())),
        }
    )


def from_json(text: str) -> RankReport:
    """The inverse of :func:`to_json`."""
    data = json.loads(text)
    now = data["now"]
    if now is not None:
        stack = tuple(Site(*each) for each in now[4])
        site = None if now[5] is None else Site(*now[5])
        now = Now(now[0], now[1], now[2], now[3], stack, site)
    return RankReport(data["rank"], data["left"], data["stuck"], now, unpack_groups(data))
