"""The event of a call that all ranks of a group have to make."""

from __future__ import annotations

from distlint.analyzer.symbolic.state import CollectiveReached, Event, GroupKey, ResultKey
from distlint.analyzer.symbolic.values import Value
from distlint.analyzer.symbolic.view import View

Membership = tuple[frozenset[int] | None, GroupKey, str, bool]
"""The ranks that take part (None: all), a key, a text, and whether the ranks are certain."""


WORLD: Membership = (None, "world", "", True)


def for_all(
    machine: View,
    name: str,
    match: tuple[str, ...],
    site: int,
    key: ResultKey,
    *,
    certain: bool = True,
    value: Value | None = None,
    tags: tuple[str, ...] = (),
    note: str = "",
    members: Membership = WORLD,
) -> CollectiveReached:
    """What is due when all members have to come; its kind is the first to match."""
    ranks, group, text, is_known = members
    return CollectiveReached(
        Event(
            name=name,
            kind=match[0],
            match=match,
            members=machine.cluster.everyone if ranks is None else ranks,
            group=group,
            group_text=text,
            certain=certain and is_known,
            site=site,
            module=machine.frame.module.key,
            result_key=key,
            frame=machine.frame,
            value=value,
            tags=tags,
            note=note,
        )
    )
