"""Agreement before each call: the members of a group add up what they are about to do.

Each call has a number on the store. A member adds ``1 + digest + payload``, packed in one integer,
and reads the sum: it tells how many have come, and whether all of their digests are its own. That
is one round trip for the last to come, and a few for those who wait. Nothing is exchanged but when
payloads differ twice within a few calls: only then may they have crossed.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from itertools import combinations

from distlint.runtime.collective_watch import sites
from distlint.runtime.collective_watch.board import Board
from distlint.runtime.collective_watch.diagnosis import CROSSING
from distlint.runtime.collective_watch.journal import Entry, GroupLog, payload_number

_SPIN = 0.0005
_LONGEST_SLEEP = 0.01
_MOST_VERDICTS = 1024


class Disagreement(Exception):
    """The members are not about to do the same."""


class Agreement:
    """The strict level of the watch, for the threads of the program.

    Args:
        board: on a store that answers quickly, used by nothing else.
        rank: of this process in the world.
        interrupt: called while a rank waits; raises to end the waiting.
    """

    def __init__(self, board: Board, rank: int, interrupt: Callable[[float], None]) -> None:
        self._board = board
        self._rank = rank
        self._interrupt = interrupt
        self._posted: dict[tuple[str, int], int] = {}
        self._crossings: dict[str, deque[tuple[int, int, sites.Path]]] = {}
        self._verdicts: dict[tuple[int, ...], bool] = {}
        self.agreed: dict[str, int] = {}

    def check(self, log: GroupLog, entry: Entry) -> None:
        """Wait until all members have come to this call, and compare.

        Raises:
            Disagreement: if they are about to do different things.
        """
        self.post(log, entry)
        self.verify(log, entry, final=True)

    def post(self, log: GroupLog, entry: Entry) -> None:
        """Say what this rank is about to do, and wait for nobody."""
        fields = _Fields(len(log.ranks))
        own = fields.pack(log.key_number(entry), payload_number(entry.path))
        total = self._board.add(_key(log, entry), own)
        self._posted[log.name, entry.seq] = total
        self._compare(fields, log, entry, total)

    def verify(self, log: GroupLog, entry: Entry, *, final: bool = False) -> None:
        """Wait for the others at a call that was posted."""
        total = self._posted.pop((log.name, entry.seq), None)
        if total is None:
            return
        fields = _Fields(len(log.ranks))
        began = time.perf_counter()
        while 0 < fields.count(total) < len(log.ranks):
            waited = time.perf_counter() - began
            if waited > _SPIN:
                self._interrupt(waited)
                time.sleep(min(_LONGEST_SLEEP, waited / 8))
            total = self._board.add(_key(log, entry), 0)
            self._compare(fields, log, entry, total)
        self.agreed[log.name] = max(entry.seq, self.agreed.get(log.name, 0))
        if final and fields.count(total) and not fields.same_payload(
            total, payload_number(entry.path)
        ):
            self._look_for_crossing(log, entry, fields.payloads(total))

    def forget(self, board: Board, log: GroupLog, done: int) -> int:
        """Remove the numbers of calls that all members are past; for the thread of one of them."""
        upto = self.agreed.get(log.name, 0) - 1
        for seq in range(done + 1, upto + 1):
            board.delete(f"{log.name}/{seq}")
        return max(done, upto)

    def _compare(self, fields: _Fields, log: GroupLog, entry: Entry, total: int) -> None:
        count = fields.count(total)
        if count and not fields.same_key(total, log.key_number(entry)):
            raise Disagreement

    def _look_for_crossing(self, log: GroupLog, entry: Entry, payloads: int) -> None:
        recent = self._crossings.setdefault(log.name, deque(maxlen=CROSSING))
        while recent and entry.seq - recent[0][0] > CROSSING:
            recent.popleft()
        recent.append((entry.seq, payloads, entry.path))
        if len(recent) < 2:
            return
        known = tuple(each[1] for each in recent)
        if known not in self._verdicts:
            if len(self._verdicts) > _MOST_VERDICTS:
                self._verdicts.clear()
            self._verdicts[known] = self._crossed(log, entry, list(recent))
        if self._verdicts[known]:
            raise Disagreement

    def _crossed(
        self, log: GroupLog, entry: Entry, recent: list[tuple[int, int, sites.Path]]
    ) -> bool:
        """Lay the payloads of all members side by side."""
        place = f"crossing/{log.name}/{entry.seq}/"
        texts = {str(seq): sites.arguments(path) for seq, _, path in recent}
        self._board.set(f"{place}{self._rank}", json.dumps(texts))
        found = {json.dumps(self._read(f"{place}{rank}")) for rank in log.ranks}
        rows = [json.loads(each) for each in sorted(found)]
        for one, two in combinations(rows, 2):
            for first, second in combinations(sorted(one.keys() & two.keys(), key=int), 2):
                if (
                    one[first] == two[second] != one[second] == two[first]
                ):
                    return True
        return False

    def _read(self, key: str) -> object:
        began = time.perf_counter()
        while (text := self._board.get(key)) is None:
            self._interrupt(time.perf_counter() - began)
            time.sleep(0.001)
        return json.loads(text)


def _key(log: GroupLog, entry: Entry) -> str:
    return f"{log.name}/{entry.seq}"


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

    def same_payload(self, total: int, payload: int) -> bool:
        return self.payloads(total) == self.count(total) * (payload & self._cut)
