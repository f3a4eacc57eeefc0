"""Events by name, rank and order: what is the same, and what came after what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from distlint.diagnose import interruptions
from distlint.diagnose.events import Event, Exit
from distlint.diagnose.signatures import Signature

_HARMLESS = ("SystemExit", "GeneratorExit")


def merged(events: Iterable[Event]) -> list[Event]:
    """One event for each message of each rank, be it in several files or told twice."""
    kept: dict[tuple[str, int | None, str, str], Event] = {}
    for event in events:
        seq = event.groups.get("seq", "")
        key = (name_of(event), event.rank, seq, event.group if seq else "")
        known = kept.get(key)
        if known is None:
            kept[key] = event
            continue
        known.count += event.count
        known.frames = known.frames or event.frames
        known.exception = known.exception or event.exception
    return list(kept.values())


def role_of(event: Event) -> str:
    if event.signature is None and interruptions.is_interrupt(event):
        return "ended"
    harmless = event.exception.rpartition(".")[2] in _HARMLESS
    return "echo" if harmless else event.role


def broken_off(event: Event) -> bool:
    return event.signature is None and not event.exception


def name_of(event: Event) -> str:
    if event.signature is not None:
        return event.signature.id
    return event.exception or event.text[:80]


def as_signature(event: Event) -> Signature:
    if interruptions.is_interrupt(event):
        return Signature(name_of(event), "ended", (), "", interruptions.title(event), "")
    title = f"{event.exception or 'an exception'} was raised"
    return Signature(name_of(event), "cause", (), "", title, "")


def ordered(events: Iterable[Event]) -> list[Event]:
    """By time where all tell it, else as they were read."""
    listed = list(events)
    if listed and all(event.time is not None for event in listed):
        return sorted(listed, key=lambda event: (event.time or (), event.order))
    return sorted(listed, key=lambda event: event.order)


def happened_after(event: Event, waits: Sequence[Event]) -> bool:
    """Did this happen after a rank had waited in vain, so that it may come from the clearing up?"""
    same = [w for w in waits if w.rank == event.rank and w.source == event.source]
    if any(wait.order < event.order for wait in same):
        return True
    timed = [w.time for w in waits if w.time is not None]
    return bool(event.time is not None and timed and min(timed) < event.time)


def survived(event: Event, waits: Sequence[Event]) -> bool:
    """Did the rank go on after an exception, to wait in vain later?"""
    same = [w for w in waits if w.rank == event.rank and w.source == event.source]
    return event.rank is not None and any(wait.order > event.order for wait in same)


def was_killed(each: Exit) -> bool:
    return each.code in (-9, -11, -7) or "Out Of Memory" in each.words


def ended_a_hang(each: Exit, waits: Sequence[Event]) -> bool:
    """Was a process of unknown rank killed only after others had waited in vain?"""
    here = [w for w in waits if w.source == each.speaker.source]
    return each.rank is None and any(wait.line < each.line for wait in here)


def ranks_of(events: Iterable[Event]) -> tuple[int, ...]:
    return tuple(sorted({event.rank for event in events if event.rank is not None}))


def ranks_named(event: Event) -> set[int]:
    """The ranks that a message says are missing."""
    text = event.groups.get("missing", "")
    return {int(part) for part in text.replace(",", " ").split() if part.isdecimal()}
