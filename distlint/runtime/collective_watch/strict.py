"""Agreement before each call: the members of a group add up what they are about to do.

Each call has a number on the store. A member adds ``1 + digest + payload``, packed in one integer,
and reads the sum: it tells how many have come, and whether all of their digests are its own. The
last to come, or the first that sees a difference, writes the sum for those who wait: they sleep
until then. Nothing more is exchanged but when payloads differ twice within a few calls: only then
may they have crossed.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import combinations
from typing import Any

from distlint.runtime.collective_watch import sites
from distlint.runtime.collective_watch.board import Board
from distlint.runtime.collective_watch.diagnosis import CROSSING
from distlint.runtime.collective_watch.journal import Entry, GroupLog, payload_number

KEPT = 1024  # calls whose sums stay: asynchronous ones may be verified long after they were made
_STOP = "stop"
_MOST_VERDICTS = 1024


class Disagreement(Exception):
    """The members are not about to do the same."""


class Agreement:
    """The strict level of the watch, for the threads of the program.

    Args:
        connect: makes a board on a store that answers quickly; one for each thread, since a
            thread that waits must not keep another from saying what it does.
        rank: of this process in the world.
        interrupt: called when the waiting was ended from outside, to raise the reason.
    """

    def __init__(
        self, connect: Callable[[], Board], rank: int, interrupt: Callable[[float], None]
    ) -> None:
        self._connect = connect
        self._own = threading.local()
        self._rank = rank
        self._interrupt = interrupt
        self._posted: dict[tuple[str, int], int] = {}
        self._recent: dict[str, deque[tuple[int, int]]] = {}
        self._harmless: set[tuple[int, ...]] = set()
        self._waits_for: dict[int, str] = {}
        self.agreed: dict[str, int] = {}

    @property
    def _board(self) -> Board:
        board: Board | None = getattr(self._own, "board", None)
        if board is None:
            board = self._own.board = self._connect()
        return board

    def check(self, log: GroupLog, entry: Entry) -> None:
        """Wait until all members have come to this call, and compare.

        Raises:
            Disagreement: if they are about to do different things.
        """
        recent = self._recent.setdefault(log.name, deque(maxlen=CROSSING))
        while recent and entry.seq - recent[0][0] > CROSSING:
            recent.popleft()
        if recent:
            self._leave_word(log, entry)
        self.post(log, entry)
        payloads = self.verify(log, entry)
        fields = _Fields(len(log.ranks))
        if payloads and payloads != len(log.ranks) * fields.cut(payload_number(entry.path)):
            if not recent:
                self._leave_word(log, entry)
            recent.append((entry.seq, payloads))
            self._look_for_crossing(log, entry)

    def post(self, log: GroupLog, entry: Entry) -> None:
        """Say what this rank is about to do, and wait for nobody."""
        fields = _Fields(len(log.ranks))
        digest = log.key_number(entry)
        total = self._board.add(_key(log, entry), fields.pack(digest, payload_number(entry.path)))
        self._posted[log.name, entry.seq] = total
        agrees = fields.same_key(total, digest)
        if not agrees or fields.count(total) == len(log.ranks):
            self._board.set(_sum(log, entry), str(total))
        if not agrees:
            raise Disagreement

    def verify(self, log: GroupLog, entry: Entry) -> int:
        """Wait for the others at a call that was posted; the result is the sum of the payloads."""
        total = self._posted.pop((log.name, entry.seq), None)
        if total is None:
            return 0
        fields = _Fields(len(log.ranks))
        if fields.count(total) < len(log.ranks):
            total = self._final(log, entry)
            if not fields.same_key(total, log.key_number(entry)):
                raise Disagreement
        self.agreed[log.name] = max(entry.seq, self.agreed.get(log.name, 0))
        return fields.payloads(total)

    def _final(self, log: GroupLog, entry: Entry) -> int:
        """Sleep until somebody writes the sum."""
        if self.agreed.get(log.name, 0) > entry.seq and not self._board.add(_key(log, entry), 0):
            return 0  # removed, since all were past it
        began = time.perf_counter()
        key, thread = _sum(log, entry), threading.get_ident()
        self._waits_for[thread] = key
        try:
            text = self._board.wait_for(key)
        finally:
            del self._waits_for[thread]
        if text in (None, _STOP):
            self._interrupt(time.perf_counter() - began)
            raise Disagreement
        return int(text or 0)

    def stop_waiting(self, board: Board) -> None:
        """Wake those who wait for the same as this rank; called by the thread of the watch."""
        for key in list(self._waits_for.values()):
            board.set(key, _STOP)

    def forget(self, board: Board, log: GroupLog, done: int, keep: int) -> int:
        """Remove what is left of calls that all members are past; for the thread of one of them."""
        upto = self.agreed.get(log.name, 0) - keep
        for seq in range(done + 1, upto + 1):
            board.delete(f"{log.name}/{seq}")
            board.delete(f"sum/{log.name}/{seq}")
        return max(done, upto)

    def _leave_word(self, log: GroupLog, entry: Entry) -> None:
        """Write what this rank passes, for those who compare after all have come."""
        word = [entry.seq, log.key_number(entry), *sites.arguments(entry.path)]
        self._board.set(_word(log, entry.seq, self._rank), json.dumps(word))

    def _look_for_crossing(self, log: GroupLog, entry: Entry) -> None:
        """Payloads differ here; if they did so shortly before, they may have crossed."""
        recent = self._recent[log.name]
        known = tuple(payloads for _, payloads in recent)
        if len(recent) < 2 or known in self._harmless:
            return
        seqs = [seq for seq, _ in recent]
        rows = {tuple(self._read(log, seq, rank) for seq in seqs) for rank in log.ranks}
        last = len(seqs) - 1
        for one, two in combinations(rows, 2):
            for earlier in range(last):
                if one[earlier] is None or one[last] is None:  # asynchronous there
                    continue
                if one[earlier] == two[last] != one[last] == two[earlier]:
                    raise Disagreement
        if len(self._harmless) > _MOST_VERDICTS:
            self._harmless.clear()
        self._harmless.add(known)

    def _read(self, log: GroupLog, seq: int, rank: int) -> tuple[Any, ...] | None:
        text = self._board.get(_word(log, seq, rank))
        word = [0] if text is None else json.loads(text)
        return tuple(word[1:]) if word[0] == seq else None


def _word(log: GroupLog, seq: int, rank: int) -> str:
    return f"word/{log.name}/{seq % (2 * CROSSING)}/{rank}"


def _key(log: GroupLog, entry: Entry) -> str:
    return f"{log.name}/{entry.seq}"


def _sum(log: GroupLog, entry: Entry) -> str:
    return f"sum/{log.name}/{entry.seq}"


class _Fields:
    """Three sums in the 63 bits of a number: members that came, digests, payloads."""

    def __init__(self, members: int) -> None:
        self._head = members.bit_length()
        self._bits = (63 - 3 * self._head) // 2
        self._wide = self._bits + self._head
        self._cut = (1 << self._bits) - 1

    def pack(self, digest: int, payload: int) -> int:
        payload = (payload & self._cut) << (self._head + self._wide)
        return 1 | (digest & self._cut) << self._head | payload

    def count(self, total: int) -> int:
        return total & ((1 << self._head) - 1)

    def same_key(self, total: int, digest: int) -> bool:
        digests = (total >> self._head) & ((1 << self._wide) - 1)
        return digests == self.count(total) * (digest & self._cut)

    def payloads(self, total: int) -> int:
        return total >> (self._head + self._wide)

    def cut(self, number: int) -> int:
        return number & self._cut
