"""The watch over one life of the default group: the thread that compares and reports.

The thread wakes a few times a second, publishes what this rank does, and compares it with the
lowest rank of each group. When calls differ, or one lasts too long, it raises an alarm on the
board; at an alarm every rank leaves a full report there, reads those of the others, and comes to
the same diagnosis.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch.distributed as dist
from torch.distributed import distributed_c10d

from distlint.runtime._world import call_site, member
from distlint.runtime.collective_watch import board as boards
from distlint.runtime.collective_watch import sites
from distlint.runtime.collective_watch.board import Board
from distlint.runtime.collective_watch.diagnosis import Diagnosis, diagnose
from distlint.runtime.collective_watch.errors import CollectiveMismatch, RankMissing, WatchError
from distlint.runtime.collective_watch.journal import BLOCK, Doing, Entry, GroupLog, Journal
from distlint.runtime.collective_watch.peers import Peers, as_dict
from distlint.runtime.collective_watch.report import (
    GroupCalls,
    Now,
    RankReport,
    State,
    pack_groups,
    to_json,
    unpack_groups,
)
from distlint.runtime.collective_watch.strict import KEPT, Agreement, Disagreement
from distlint.runtime.collective_watch.table import KnownFinding, table
from distlint.runtime.collective_watch.turns import Turns, waited

_WINDOW = 256  # calls of each group that are compared at each beat
_MOST_TABLES = 10
_MOST_KINDS = 10_000
_FIRST_SIGHTS = 20  # calls of a new kind that are published at once, between two beats
_ANSWER = 0.5  # seconds in which a rank that is ended answers others that are ended, too
_LAST_WORD = 1.0  # seconds that a rank waits for the others at its end, so that all can compare


@dataclass(frozen=True)
class Options:
    """How to watch; see :func:`distlint.runtime.watch`."""

    strict: bool = False
    patience: float = 5.0
    timeout: float | None = None
    interval: float = 0.5
    findings: tuple[KnownFinding, ...] = ()


@dataclass
class _Told:
    """What has been reported already, so that nothing is reported twice."""

    stalls: set[tuple[str, int]] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    blocks: set[tuple[str, int]] = field(default_factory=set)
    news: set[tuple[object, ...]] = field(default_factory=set)
    tables: int = 0


class Session:
    """What :class:`Watcher` has while there is a default group of more than one rank."""

    def __init__(self, options: Options, journal: Journal, generation: int) -> None:
        self._options = options
        self._journal = journal
        self._rank, self._world = dist.get_rank(), dist.get_world_size()
        self._main = threading.main_thread().ident
        store = boards.bottom(distributed_c10d._get_default_store())
        self._server = store  # its end would take the board away
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        prefix = f"distlint/watch/{attempt}/{generation}/"
        self._board = Board(boards.second_client(store), prefix)
        self._peers = Peers(self._board, self._rank, self._world, options.interval)
        self._turns = Turns(self._board, self._rank)
        self._limit = options.timeout or member().timeout
        self.agreement: Agreement | None = None
        self._broom: Board | None = None
        if options.strict:
            quick = boards.quick_store(store, self._board, self._rank, self._world)
            self._broom = Board(quick, prefix + "agree/")

            def connect() -> Board:
                client = boards.for_waiting(boards.second_client(quick), 2 * self._limit + 60)
                return Board(client, prefix + "agree/")

            self.agreement = Agreement(connect, self._rank, self._interrupt)
        self._round = 1
        self._told = _Told()
        self._beat = 0
        self.spent = 0.0  # CPU seconds of the thread so far
        self.ending = False  # by a signal from outside
        self.seen: set[tuple[object, ...]] = set()
        self._first_sights = _FIRST_SIGHTS
        self._published: dict[str, int] = {}
        self._swept: dict[str, int] = {}
        self._lagging: dict[str, tuple[int, int, float]] = {}
        self._latest: dict[int, dict[str, GroupCalls]] = {}
        self._asked: str | None = None
        self._forgotten = ""
        self._left = ""
        self._clean = True
        self._verdict: tuple[Diagnosis, str] | None = None
        self._wake, self._answered = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="distlint-watch", daemon=True)
        self._thread.start()

    # -- on the threads of the program -------------------------------------------------------------

    def note(self, kind: tuple[object, ...], log: GroupLog, entry: Entry) -> None:
        """Publish a call of a new kind before it is made: it may be the end of this process."""
        if not self._first_sights:
            return
        self._first_sights -= 1
        if len(self.seen) > _MOST_KINDS:
            self.seen.clear()
        self.seen.add(kind)
        with contextlib.suppress(RuntimeError):
            group = GroupCalls(log.name, log.ranks, entry.seq, (log.call(entry),))
            self._board.set_unless_busy(f"newest/{self._rank}", json.dumps(pack_groups([group])))

    def agree(self, log: GroupLog, entry: Entry, *, later: bool) -> None:
        assert self.agreement is not None
        if self._verdict is not None and self._verdict[0].certain:
            raise self._error(log)
        with self._disagreements(log):
            if later:
                self.agreement.post(log, entry)
            else:
                self.agreement.check(log, entry)

    def agree_later(self, log: GroupLog, entry: Entry) -> None:
        assert self.agreement is not None
        with self._disagreements(log):
            self.agreement.verify(log, entry)

    @contextlib.contextmanager
    def _disagreements(self, log: GroupLog) -> Iterator[None]:
        try:
            yield
        except Disagreement:
            self.ask(log.name)
            raise self._error(log) from None
        except WatchError:
            raise
        except RuntimeError as error:  # the store has gone with the rank that held it
            self.ask(log.name)
            raise self._error(log, str(error)) from error

    def _error(self, log: GroupLog, why: str = "the ranks of the group disagree") -> WatchError:
        if self._verdict is None:
            message = f"group {log.name}: {why.partition(chr(10))[0]}"
            return CollectiveMismatch(message, rank=self._rank, site=call_site())
        diagnosis, text = self._verdict
        kind = RankMissing if diagnosis.kind in ("left", "missing") else CollectiveMismatch
        return kind(diagnosis.message, rank=self._rank, site=call_site(), table=text)

    def _interrupt(self, waited: float) -> None:
        """Say why the waiting of a strict call has been ended."""
        if self._verdict is not None and self._verdict[0].certain:
            raise self._error(self._journal.logs()[0])
        if waited > self._limit - self._options.interval:
            doing = self._journal.slot().doing
            name = doing.log.name if doing is not None else ""
            self._told.stalls.clear()
            self.ask(name)
            if self._verdict is not None:
                raise self._error(self._journal.logs()[0])
            message = f"group {name}: not all ranks arrived within {self._limit:.0f} s"
            raise RankMissing(message, rank=self._rank, site=call_site())

    def ask(self, group: str) -> None:
        """Have the thread find out at once what is wrong in a group, and wait for it."""
        self._answered.clear()
        self._asked = group
        self._wake.set()
        if self._thread.is_alive():
            self._answered.wait(4.0 + 4 * self._options.interval)

    def stay(self) -> None:
        """Answer the alarms of other ranks for a moment."""
        self._answered.clear()
        deadline = time.monotonic() + _ANSWER
        while time.monotonic() < deadline and self._thread.is_alive():
            self._wake.set()
            if self._answered.wait(0.05):
                return

    def leave(self, how: str, *, clean: bool) -> None:
        self._clean = clean
        self._left = how
        self._wake.set()
        self._thread.join(5.0 + 4 * self._options.interval)

    # -- on the thread of the watch ----------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._publish()
            while not self._left:
                self._wake.wait(self._options.interval)
                self._wake.clear()
                self._tick()
                self.spent = time.thread_time()
            self._last_word()
        except RuntimeError:  # the store is gone, and with it whoever held it
            self._alone()
        except Exception as error:  # the program matters more than the watch over it
            write(f"distlint watch: stopped by {type(error).__name__}: {error}")
        finally:
            self._answered.set()

    def _tick(self) -> None:
        self._publish()
        self._sweep()
        if self._board.add(f"alarm/{self._round}", 0) or self._trouble():
            self._conclude()
        self._release()

    def _release(self) -> None:
        """Wake a strict call that waits for what will not come."""
        doing = self._journal.doing()
        if self.agreement is None or self._broom is None or doing is None:
            return
        late = time.monotonic() - doing.since > self._limit
        if late or (self._verdict is not None and self._verdict[0].certain):
            self.agreement.stop_waiting(self._broom)

    def _publish(self) -> None:
        self._beat += 1
        self._first_sights = _FIRST_SIGHTS
        logs = self._journal.logs()
        heart = {
            "beat": self._beat,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "left": self._left,
            "counts": {log.name: log.count for log in logs},
            "blocks": {},
        }
        for log in logs:
            log.sum_up()
            heart["blocks"] = {**as_dict(heart["blocks"]), log.name: log.blocks}
        counts = {log.name: log.count for log in logs}
        if counts != self._published:
            self._published = counts
            groups = [self._calls(log, _WINDOW) for log in logs]
            self._board.set(f"calls/{self._rank}", json.dumps(pack_groups(groups)))
        self._board.set(f"heart/{self._rank}", json.dumps(heart))

    @staticmethod
    def _calls(log: GroupLog, most: int) -> GroupCalls:
        entries = log.tail(most)
        count = entries[-1].seq if entries else 0
        return GroupCalls(log.name, log.ranks, count, tuple(map(log.call, entries)))

    def _sweep(self, keep: int = KEPT) -> None:
        if self.agreement is None or self._broom is None:
            return
        for log in self._journal.logs():
            if log.ranks[0] == self._rank:
                done = self._swept.get(log.name, 0)
                self._swept[log.name] = self.agreement.forget(self._broom, log, done, keep)

    def _trouble(self) -> bool:
        """Is there a reason for an alarm?"""
        if self._asked is not None:
            return True
        doing = self._journal.doing()
        if doing is not None and (doing.log.name, doing.entry.seq) not in self._told.stalls:
            waited = time.monotonic() - doing.since
            if waited > self._options.patience:
                return True
            if waited > self._options.interval and self._somebody_left(doing):
                return True
        return any(self._differs(log) for log in self._journal.logs())

    def _somebody_left(self, doing: Doing) -> bool:
        if not self._board.add("left", 0):
            return False
        for rank in doing.log.ranks:
            heart = self._peers.heart(rank)
            if heart.get("left") and heart["counts"].get(doing.log.name, 0) < doing.entry.seq:
                return True
        return False

    def _differs(self, log: GroupLog) -> bool:
        """Has the lowest rank of the group called something else, or is one of us left behind?"""
        leader = log.ranks[0]
        if leader == self._rank or log.name in self._told.groups:
            return False
        heart = self._peers.heart(leader)
        theirs = heart.get("counts", {}).get(log.name, 0)
        if not theirs or not log.count:
            return self._stalled(log, theirs, bool(heart.get("left")))
        for number, total in heart["blocks"].get(log.name, {}).items():
            block = (log.name, int(number))
            if log.blocks.get(block[1], total) != total and block not in self._told.blocks:
                self._told.blocks.add(block)
                last = block[1] * BLOCK
                self._forgotten = (
                    f"calls {last - BLOCK + 1} to {last} of group {log.name} differ from those of "
                    f"rank {leader}; their details are no longer available"
                )
                return True
        text = self._board.get(f"calls/{leader}")
        if text is not None:
            self._latest[leader] = unpack_groups(json.loads(text))
            other = self._latest[leader].get(log.name)
            if other is not None:
                own = self._calls(log, _WINDOW)
                pair = [_only(self._rank, own), _only(leader, other)]
                if diagnose(pair) is not None:
                    return True
        return self._stalled(log, theirs, bool(heart.get("left")))

    def _stalled(self, log: GroupLog, theirs: int, left: bool) -> bool:
        """Have the counts of two ranks differed for long, with neither of them moving?

        This finds a rank that is ahead without being in a call, as with collectives that only
        enqueue work for a GPU.
        """
        if theirs == log.count:
            self._lagging.pop(log.name, None)
            return False
        before = self._lagging.get(log.name)
        now = time.monotonic()
        if before is None or before[:2] != (log.count, theirs):
            self._lagging[log.name] = (log.count, theirs, now)
            return bool(left and self._left)
        if (log.name, max(log.count, theirs)) in self._told.stalls:
            return False
        return now - before[2] > self._options.patience or bool(left and self._left)

    def _last_word(self) -> None:
        """Publish how this rank went, and compare once more when the others have done so, too."""
        self._publish()
        deadline = time.monotonic() + _LAST_WORD + self._options.interval
        all_left = self._together("left", deadline)
        if self._clean and self._trouble():
            self._conclude()
        if all_left:
            self._sweep(keep=0)
        compared = self._together("compared", deadline)
        if compared and self._rank == 0:  # which may hold the store, and end with it
            for rank in range(self._world):
                for key in ("calls", "newest", "heart"):
                    self._board.delete(f"{key}/{rank}")

    def _together(self, what: str, deadline: float) -> bool:
        """Wait until all ranks have come this far; for a moment only, since some never will.

        True when all have, and nobody has raised an alarm.
        """
        come = self._board.add(what, 1)
        while come < self._world and time.monotonic() < deadline:
            if self._board.add(f"alarm/{self._round}", 0):
                self._conclude()
            time.sleep(min(0.02, self._options.interval))
            come = self._board.add(what, 0)
        alarm = bool(self._board.add(f"alarm/{self._round}", 0))
        if alarm:
            self._conclude()
        return come >= self._world and not alarm

    def _conclude(self) -> None:
        """Report, read the reports of the others, and say what is wrong."""
        self._board.add(f"alarm/{self._round}", 1)
        own = self._report()
        self._board.set(f"report/{self._round}/{self._rank}", to_json(own))
        reports = self._peers.reports(own, self._round)
        self._round += 1
        for report in reports:
            if report.now is not None and report.now.seconds > self._options.patience / 2:
                self._told.stalls.add((report.now.group, report.now.seq))
        diagnosis = diagnose(reports, self._told.groups)
        if diagnosis is not None:
            self._tell(diagnosis, reports)
        elif self._forgotten:
            write(f"distlint watch, seen by rank {self._rank}: {self._forgotten}")
        self._forgotten = ""
        self._asked = None
        self._answered.set()

    def _tell(self, diagnosis: Diagnosis, reports: Sequence[RankReport]) -> None:
        if self.ending and diagnosis.kind == "missing" and waited(reports) < 1.0:
            return  # a healthy program, ended between two calls
        text = table(diagnosis, reports, self._options.findings, self._rank)
        self._verdict = (diagnosis, text)
        last = max(
            (r.groups[diagnosis.group].count for r in reports if diagnosis.group in r.groups),
            default=0,
        )
        self._told.stalls.add((diagnosis.group, last))
        if diagnosis.kind in ("mismatch", "swapped", "skipped"):
            self._told.groups.add(diagnosis.group)
            self._told.news |= {(*self._position(), certain) for certain in (True, False)}
        else:
            news = {
                (*self._position(), diagnosis.certain),
                (diagnosis.kind, diagnosis.group, diagnosis.seq),
            }
            if news & self._told.news or (self._left and self._told.tables):
                return
            self._told.news |= news
        self._told.tables += 1
        key = f"{diagnosis.kind}/{diagnosis.group}/{diagnosis.seq}"
        if self._told.tables <= _MOST_TABLES and self._turns.is_mine(key, reports):
            write(text)
            self._turns.done(key)

    def _position(self) -> tuple[str, int]:
        """Where this rank stands: at one place it tells one table."""
        doing = self._journal.doing()
        if doing is None:
            return "", sum(log.count for log in self._journal.logs())
        return doing.log.name, doing.entry.seq

    def _report(self) -> RankReport:
        doing = self._journal.doing()
        groups = {log.name: self._calls(log, 4096) for log in self._journal.logs()}
        return RankReport(self._rank, self._left, self._stuck(doing), self._now(doing), groups)

    def _stuck(self, doing: Doing | None) -> str:
        if self._asked:
            return self._asked
        if doing is not None and time.monotonic() - doing.since > self._options.patience / 2:
            return doing.log.name
        if doing is not None and self._somebody_left(doing):
            return doing.log.name
        now = time.monotonic()
        for name, (_, _, since) in self._lagging.items():
            if now - since > self._options.patience:
                return name
        return ""

    def _now(self, doing: Doing | None) -> Now:
        frames = sys._current_frames()
        thread = self._main
        if doing is not None:
            thread = next(
                (slot.thread for slot in self._journal.slots if slot.doing is doing), thread
            )
        stack = tuple(sites.stack(frames.get(thread or 0)))
        site = sites.user_site(list(stack))
        now = time.monotonic()
        if doing is None:
            idle = self._journal.idle_since() or now
            return Now("out", round(now - idle, 1), "", 0, stack, site)
        state: State = "waits" if doing.waits else "in"
        if not doing.waits:
            site = doing.log.call(doing.entry).site or site
        return Now(state, round(now - doing.since, 1), doing.log.name, doing.entry.seq, stack, site)

    def _alone(self) -> None:
        """The board is gone. Say what this rank was doing, if it was doing anything."""
        doing = self._journal.doing()
        if doing is None or self._left:
            return
        log = doing.log
        self._asked = log.name
        own = self._report()
        assumed = {log.name: GroupCalls(log.name, log.ranks, doing.entry.seq - 1, ())}
        left = "unreachable: the store is gone, with the rank that hosted it"
        reports = [
            own if rank == self._rank else RankReport(rank, left, groups=known or {}, partial=True)
            for rank in range(self._world)
            if (known := self._latest.get(rank, assumed if rank == 0 else None)) is not None
            or rank == self._rank
        ]
        diagnosis = diagnose([each for each in reports if log.name in each.groups])
        if diagnosis is not None:
            self._tell(diagnosis, reports)


def _only(rank: int, calls: GroupCalls) -> RankReport:
    return RankReport(rank, groups={calls.name: calls})


def write(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
