"""What this process has called: a numbered ring for each group, and what each thread is doing.

Only the wrappers write here, on the threads of the program; the thread of the watch reads. Both
rely on the interpreter's lock: every write is one store or one append.
"""

from __future__ import annotations

import functools
import threading
import time
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

from distlint.runtime.collective_watch import calls, sites
from distlint.runtime.collective_watch.calls import Call

RING = 4096
BLOCK = 256  # calls that are summed up in one number, to compare what no longer fits a message
_MOST_WORKS = 4096


class Entry(NamedTuple):
    """One call of a collective, as raw values; all of it can be hashed."""

    seq: int
    op: str
    payload: tuple[Any, ...]
    root: Any
    reduce: Any
    path: sites.Path


class GroupLog:
    """The calls on one group; the first has the number 1."""

    def __init__(self, name: str, ranks: tuple[int, ...]) -> None:
        self.name = name
        self.ranks = ranks
        self.count = 0
        self.calls: deque[Entry] = deque(maxlen=RING)
        self.blocks: dict[int, int] = {}
        self._summed = 0
        self._sum = 0
        self._whole = True

    def tail(self, most: int) -> list[Entry]:
        """The newest entries, oldest first."""
        entries = self.calls.copy()
        return list(entries)[-most:]

    def retract(self, entry: Entry) -> None:
        """The newest call was not made after all."""
        if self.calls and self.calls[-1] is entry:
            self.calls.pop()
            self.count -= 1
            if self._summed >= entry.seq:
                self._summed, self._whole = self.count, False

    def sum_up(self) -> None:
        """Bring the sums of blocks up to date; a block that has left the ring is given up."""
        entries = list(self.calls.copy())
        if not entries or entries[-1].seq == self._summed:
            return
        if entries[0].seq > self._summed + 1:
            self._summed, self._whole = entries[0].seq - 1, False
        for entry in entries[self._summed - entries[-1].seq :]:
            if (entry.seq - 1) % BLOCK == 0:
                self._sum, self._whole = 0, True
            self._sum = (self._sum * 1_000_003 + self.key_number(entry)) & 0xFFFF_FFFF_FFFF
            if entry.seq % BLOCK == 0 and self._whole:
                self.blocks[entry.seq // BLOCK] = self._sum
                if len(self.blocks) > 32:
                    del self.blocks[min(self.blocks)]
        self._summed = entries[-1].seq

    def call(self, entry: Entry) -> Call:
        """The entry in words."""
        return _call(*entry[1:], self.ranks)

    def key_number(self, entry: Entry) -> int:
        """A number that stands for what the members must agree on."""
        return _key_number(*entry[1:5], self.ranks)


@functools.lru_cache(maxsize=8192)
def _call(
    op: str,
    payload: tuple[Any, ...],
    root: Any,
    reduce: Any,
    path: sites.Path,
    ranks: tuple[int, ...],
) -> Call:
    site, via = sites.resolve(path)
    words = calls.words(op, payload, root, reduce, ranks)
    return Call(*words, site, via, sites.arguments(path))


@functools.lru_cache(maxsize=8192)
def _key_number(
    op: str, payload: tuple[Any, ...], root: Any, reduce: Any, ranks: tuple[int, ...]
) -> int:
    return zlib.crc32("|".join(calls.words(op, payload, root, reduce, ranks)).encode())


@functools.lru_cache(maxsize=8192)
def payload_number(path: sites.Path) -> int:
    """A number that stands for what was passed, as the source says it."""
    return zlib.crc32("|".join(sites.arguments(path)).encode())


class Doing(NamedTuple):
    """What a thread is inside: a collective, or the wait for an asynchronous one."""

    log: GroupLog
    entry: Entry
    since: float
    waits: bool


class Slot:
    """One thread of the program."""

    __slots__ = ("doing", "idle_since", "thread")

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.doing: Doing | None = None
        self.idle_since = time.monotonic()


class Local(threading.local):
    """What belongs to one thread; ``inside`` while it is in a collective that is watched."""

    inside = False
    slot: Slot | None = None


_new: Any = tuple.__new__  # named tuples are made in half the time


class Journal:
    """All groups and threads of this process."""

    def __init__(self) -> None:
        self.groups: dict[object, GroupLog | None] = {}
        self.slots: list[Slot] = []
        self.local = Local()
        self.works: OrderedDict[int, tuple[GroupLog, Entry]] = OrderedDict()

    def reset(self) -> None:
        """Forget all calls: a default group begins its life."""
        self.groups.clear()
        self.works.clear()
        for slot in self.slots:
            slot.doing = None
            slot.idle_since = time.monotonic()

    def logs(self) -> list[GroupLog]:
        """The groups of more than one rank, in the order of their first use."""
        found = {log.name: log for log in list(self.groups.values()) if log is not None}
        return [log for log in found.values() if len(log.ranks) > 1]

    def log_of(self, group: object, open_log: Callable[[object], GroupLog | None]) -> Any:
        """The log of a group; None if this rank is not a member of it."""
        try:
            return self.groups[group]
        except KeyError:
            log = open_log(group)
            same = next((known for known in self.groups.values() if _same(known, log)), log)
            self.groups[group] = same
            return same
        except TypeError:  # a list of ranks, as functional collectives take
            return open_log(group)

    def enter(
        self, log: GroupLog, op: str, payload: tuple[Any, ...], root: Any, reduce: Any, path: Any
    ) -> Entry:
        """A thread enters a collective."""
        seq = log.count + 1
        entry = _new(Entry, (seq, op, payload, root, reduce, path))
        log.calls.append(entry)
        log.count = seq
        slot = self.local.slot or self.slot()
        slot.doing = _new(Doing, (log, entry, time.monotonic(), False))
        return entry  # type: ignore[no-any-return]

    def wait(self, log: GroupLog, entry: Entry) -> None:
        """A thread waits for a collective that it had started before."""
        self.slot().doing = Doing(log, entry, time.monotonic(), True)

    def leave(self) -> None:
        """The thread is out of it."""
        slot = self.local.slot or self.slot()
        slot.doing = None
        slot.idle_since = time.monotonic()

    def slot(self) -> Slot:
        """The slot of the calling thread."""
        slot = self.local.slot
        if slot is None:
            slot = self.local.slot = Slot()
            self.slots.append(slot)
        return slot

    def started(self, work: object, log: GroupLog, entry: Entry) -> None:
        """Remember what an asynchronous work belongs to."""
        self.works[id(work)] = (log, entry)
        if len(self.works) > _MOST_WORKS:
            self.works.popitem(last=False)

    def doing(self) -> Doing | None:
        """The oldest thing that a thread is inside."""
        busy = [slot.doing for slot in self.slots]
        return min((each for each in busy if each is not None), key=_since, default=None)

    def idle_since(self) -> float:
        """When the last thread came out of a collective."""
        return max((slot.idle_since for slot in self.slots), default=0.0)


def _since(doing: Doing) -> float:
    return doing.since


def _same(known: GroupLog | None, log: GroupLog | None) -> bool:
    return known is not None and log is not None and known.name == log.name
