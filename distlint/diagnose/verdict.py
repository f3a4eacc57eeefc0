"""What came first: the cause under the messages that follow from it, and who is missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from distlint.diagnose.events import Collected, Event, Exit, Frame, Progressed, Speaker
from distlint.diagnose.lines import Time, parsed, ranks_text
from distlint.diagnose.signatures import Signature, signatures

EXIT_MEANING = {
    -9: "killed (SIGKILL): mostly the host ran out of memory, or the scheduler ended it",
    -11: "crashed in native code (SIGSEGV)",
    -6: "aborted (SIGABRT): mostly NCCL's watchdog, or a failed check in native code",
    -7: "bus error (SIGBUS): mostly /dev/shm is too small",
    -15: "told to end (SIGTERM), because another process failed",
    -2: "interrupted (SIGINT)",
}
_DEADLY = (-9, -11, -7, -6)
_HARMLESS = ("KeyboardInterrupt", "SystemExit", "SignalException", "GeneratorExit")
_HANG_RULES = ("DST101", "DST102", "DST103", "DST104", "DST105", "DST109", "DST113")
_ENDED_RULES = ("DST104", "DST109", "DST113", "DST101", "DST201")
_MISMATCH_RULES = ("DST101", "DST105", "DST106", "DST111", "DST103")
_HANG_UTILITIES = ("any_rank", "equal_steps", "watch")


@dataclass(frozen=True)
class Quote:
    """A line of a log, and where it stands."""

    text: str
    source: str
    line: int
    rank: int | None = None


@dataclass(frozen=True)
class Waiting:
    """Ranks that stand in the same collective."""

    what: str
    ranks: tuple[int, ...]
    group: str = ""
    number: int | None = None
    place: Frame | None = None


@dataclass(frozen=True)
class Doing:
    """What a rank was doing, as far as the logs tell."""

    rank: int
    last: Quote | None = None
    time: Time | None = None
    place: Frame | None = None
    said: str = ""


@dataclass(frozen=True)
class Seen:
    """A message that is not the cause, and on which ranks."""

    id: str
    title: str
    meaning: str
    ranks: tuple[int, ...]
    count: int
    quote: Quote
    level: str
    advice: str = ""
    rules: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cause:
    """What it is all about."""

    id: str
    title: str
    ranks: tuple[int, ...] = ()
    meaning: str = ""
    advice: str = ""
    quotes: tuple[Quote, ...] = ()
    place: Frame | None = None
    sure: bool = True
    rules: tuple[str, ...] = ()
    utilities: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


@dataclass
class Diagnosis:
    """The answer."""

    cause: Cause | None = None
    waiting: tuple[Waiting, ...] = ()
    doing: tuple[Doing, ...] = ()
    also: tuple[Seen, ...] = ()
    consequences: tuple[Seen, ...] = ()
    notices: tuple[Seen, ...] = ()
    invented: tuple[Seen, ...] = ()
    exits: tuple[tuple[int, str], ...] = ()
    size: int = 0
    notes: tuple[str, ...] = ()
    lines: int = 0
    bytes: int = 0
    names: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = field(default=())
    """The user's own lines that are named, for the rules to be compared with."""

    @property
    def level(self) -> str:
        """The gravest thing found: ``error``, ``warning``, ``info`` or nothing."""
        if self.cause is not None:
            return "error"
        levels = {each.level for each in (*self.notices, *self.invented)}
        return next((level for level in ("error", "warning", "info") if level in levels), "")


def judge(found: Collected, size: int = 0) -> Diagnosis:
    """The diagnosis of what was collected; ``size`` is the world size if the user told it."""
    return _Judge(found, size).diagnosis()


class _Judge:
    def __init__(self, found: Collected, size: int) -> None:
        self.found = found
        self._resolve()
        self.events = _merged(found.events)
        told = [int(e.groups["want"]) for e in self.events if e.groups.get("want", "").isdecimal()]
        self.seen = self._all_seen()
        least = max(self.seen, default=-1) + 1
        self.size = size or max([found.size, least, *told])
        self.world = frozenset(range(self.size)) if self.seen or size else frozenset[int]()

    def _resolve(self) -> None:
        spoken: list[Event | Exit | Progressed] = [*self.found.events, *self.found.exits]
        for each in (*spoken, *self.found.progressed):
            each.rank = self._rank(each.speaker)

    def _rank(self, speaker: Speaker) -> int | None:
        if speaker.rank is not None:
            return speaker.rank
        if speaker.local is not None:
            home = self.found.homes[speaker.source]
            return self.found.ranks.get((home, speaker.local), speaker.local)
        return self.found.writers.get(speaker.writer)

    def _all_seen(self) -> set[int]:
        spoken = {e.rank for e in self.events} | {e.rank for e in self.found.exits}
        spoken |= {self._rank(speaker) for speaker in (*self.found.last, *self.found.files)}
        spoken |= {rank for e in self.events for rank in _named(e)}
        return {rank for rank in spoken if rank is not None and rank < 1_000_000}

    # -- the decision ------------------------------------------------------------------------

    def diagnosis(self) -> Diagnosis:
        by_role: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            harmless = event.exception.rpartition(".")[2] in _HARMLESS
            by_role["echo" if harmless else event.role].append(event)
        waits, causes = by_role["wait"], by_role["cause"]
        causes = [e for e in causes if not self._broad(e, causes)]
        on_time = [e for e in causes if not _after(e, waits) and not _survived(e, waits)]
        answer = self._crash(on_time, by_role) or self._hang(waits, by_role) or Diagnosis()
        if answer.cause is None and causes:
            answer = self._blame(causes[0], causes)
        if answer.cause is None:
            answer.cause = self._only_told(by_role["summary"])
        if answer.cause is None and by_role["echo"]:
            answer = self._blame(by_role["echo"][0], by_role["echo"], sure=False)
        blamed = answer.cause.id if answer.cause else ""
        answer.also = tuple(
            self._group([e for e in causes if _id(e) != blamed and not _after(e, waits)])
        )
        later = [e for e in causes if _after(e, waits) and _id(e) != blamed]
        told = [e for e in by_role["summary"] if e.signature and e.signature.id != "root-cause"]
        rest = [e for e in (*waits, *by_role["echo"], *later, *told) if _id(e) != blamed]
        answer.consequences = tuple(self._group(rest)) if answer.cause else ()
        answer.notices = tuple(self._group(by_role["notice"]))
        answer.invented = tuple(self._group(by_role["invented"]))
        answer.exits = self._exits()
        return self._finish(answer)

    def _finish(self, answer: Diagnosis) -> Diagnosis:
        found = self.found
        notes = list(found.notes)
        if found.dropped:
            notes.append(f"{found.dropped:,} more messages were too many to keep")
        if answer.cause and not self.seen:
            notes.append("no line tells its rank, so nothing can be said about who is missing")
        answer.size, answer.notes = self.size if self.seen else 0, tuple(notes)
        answer.lines, answer.bytes, answer.names = found.lines, found.bytes, tuple(found.names)
        places = [e.place for e in self.events if e.place is not None]
        answer.frames = tuple(dict.fromkeys(place for place in places if place is not None))
        return answer

    def _broad(self, event: Event, causes: Sequence[Event]) -> bool:
        """Does another message of the same rank say the same more exactly?"""
        return bool(event.signature and event.signature.broad) and any(
            other is not event and other.rank == event.rank for other in causes
        )

    # -- a rank failed by itself -------------------------------------------------------------

    def _crash(self, causes: list[Event], by_role: dict[str, list[Event]]) -> Diagnosis | None:
        first = next((e for e in self.found.exits if e.first and e.code in _DEADLY), None)
        waits = by_role["wait"]
        deaths = (e for e in self.found.exits if _was_killed(e) and not _ended_a_hang(e, waits))
        killed = first or next(deaths, None)
        silent = killed is not None and not any(
            (e.rank == killed.rank and e.role in ("cause", "wait")) or _id(e) == "python-fatal"
            for e in self.events
        )
        if killed is not None and killed.code == -6 and self._left(by_role):
            killed = None
        if killed is not None and silent and (first is not None or not causes):
            return self._killed(killed)
        if not causes:
            return None
        told = next((e.rank for e in self.found.exits if e.first), None)
        order = _ordered(causes)
        best = next((e for e in order if e.rank == told and told is not None), order[0])
        if best.time and order[0].time and order[0].time < best.time:
            best = order[0]
        return self._blame(best, causes)

    def _blame(self, best: Event, causes: Sequence[Event], *, sure: bool = True) -> Diagnosis:
        alike = [e for e in causes if _id(e) == _id(best)]
        ranks = _ranks(alike) or self._failed()
        signature = best.signature
        place = best.place or next((e.place for e in alike if e.place), None)
        named = sorted({rank for e in alike for rank in _named(e)} - {*ranks})
        if signature is None:
            kind = best.exception or "an exception"
            cause = Cause(
                _id(best),
                f"{_subject(ranks, self.size)} raised {kind}",
                ranks,
                "An error of this script or of what it calls; everything else follows from it.",
                "Mend it as on one process. If only some ranks raise it, see what differs there: "
                "data, files, memory.",
                (self._quote(best),),
                place,
            )
        else:
            meaning, advice = signature.explained(best.groups)
            cause = Cause(
                signature.id,
                signature.title,
                ranks or tuple(named),
                meaning,
                advice,
                (self._quote(best),),
                place,
                sure,
                signature.rules,
                signature.utilities,
                signature.checks,
            )
        return Diagnosis(cause, doing=tuple(self._doing(ranks[:4], best)) if ranks else ())

    def _left(self, by_role: dict[str, list[Event]]) -> bool:
        """Was it only at its exit that a process aborted, with nothing left to do?"""
        return any(_id(event) == "abort-at-exit" for event in by_role["notice"])

    def _failed(self) -> tuple[int, ...]:
        """The ranks that ended by an exception of their own, if lines do not tell who raised it."""
        codes = [(each.rank, each.code or 0) for each in self.found.exits]
        raised = {rank for rank, code in codes if rank is not None and code > 0}
        crashed = {rank for rank, code in codes if rank is not None and code in _DEADLY}
        return tuple(sorted(raised or crashed))

    def _killed(self, killed: Exit) -> Diagnosis:
        words = EXIT_MEANING.get(killed.code or 0, killed.words)
        ranks = () if killed.rank is None else (killed.rank,)
        name = self.found.names[killed.speaker.source]
        quotes = (Quote(killed.text, name, killed.line, killed.rank),) if killed.text else ()
        cause = Cause(
            f"exit{killed.code}" if killed.code is not None else "killed",
            f"{_subject(ranks, self.size)} ended without a message: {words}",
            ranks,
            "The launcher saw it end. A process that is killed prints nothing, and the others lose "
            "their connection to it.",
            "`dmesg` and the scheduler's accounting tell about memory; exit code -7 asks for a "
            "larger /dev/shm, -11 for a native stack (python -X faulthandler).",
            quotes,
            checks=("shm", "limits"),
            rules=("DST207",) if killed.code in (-9, -7) else (),
        )
        return Diagnosis(cause, doing=tuple(self._doing(ranks)))

    # -- somebody is missing -----------------------------------------------------------------

    def _hang(self, waits: list[Event], by_role: dict[str, list[Event]]) -> Diagnosis | None:
        echoes = [e for e in by_role["echo"] if e.signature is not None]
        if not waits and not echoes:
            return None
        waiting = self._waiting(waits, echoes)
        standing = {rank for each in waiting for rank in each.ranks}
        named = {rank for e in waits for rank in _named(e)}
        main = _ordered(waits or echoes)[0]
        waiting.sort(key=lambda row: (main.group != row.group, -len(row.ranks)))
        odd = _odd_ones([row for row in waiting if row.group == waiting[0].group])
        lagging = self._lagging(main)
        missing = named or (self.world - standing) or odd or lagging
        quotes = tuple(self._quote(e) for e in _ordered(waits or echoes)[:1])
        if not waits and not missing and not self._all_lost_another(echoes):
            return None
        cause = self._hang_cause(main, waiting, missing, odd if missing == odd else set(), quotes)
        return Diagnosis(cause, tuple(waiting), tuple(self._doing(sorted(missing)[:8])))

    def _hang_cause(
        self,
        main: Event,
        waiting: Sequence[Waiting],
        missing: Iterable[int],
        odd: set[int],
        quotes: tuple[Quote, ...],
    ) -> Cause:
        ranks = tuple(sorted(missing))
        signature = main.signature
        assert signature is not None
        meaning, advice = signature.explained(main.groups)
        what = waiting[0].what if waiting else "a collective"
        rules, utilities = signature.rules or _HANG_RULES, signature.utilities or _HANG_UTILITIES
        if odd:
            others = next(w for w in waiting if not odd.issuperset(w.ranks))
            theirs = next(w for w in waiting if odd.intersection(w.ranks))
            title = (
                f"{ranks_text(odd)} {_s(odd, 'stands', 'stand')} in {theirs.what}, "
                f"the others in {others.what}"
            )
            meaning = "Ranks have parted ways before this point: each waits for the others in a "
            meaning += "collective that the others do not issue."
            rules = _MISMATCH_RULES
        elif ranks:
            gone = {e.rank for e in self.found.exits if e.code == 0} & set(ranks)
            ended = main.role == "echo"
            verb = "ended before" if ended or gone else "did not come to"
            there = sorted({r for w in waiting for r in w.ranks} - {*ranks})
            title = f"{ranks_text(list(ranks))} {verb} {what}"
            if there:
                title += f", where {ranks_text(there)} {_s(there, 'waits', 'wait')}"
            rules = _ENDED_RULES if ended else rules
        elif waiting and self.size > 1 and not self.world - {r for w in waiting for r in w.ranks}:
            title = f"all ranks came to {what}, and it did not finish"
            meaning = (
                "Nobody is missing: the network, a GPU, or work on the device that never ends."
            )
            advice = (
                "Check the network and the GPUs; a flight-recorder dump tells whether it began."
            )
        elif main.role == "echo" and waiting:
            title = f"another rank ended before {what}, where "
            title += f"{ranks_text(waiting[0].ranks)} {_s(waiting[0].ranks, 'waits', 'wait')}"
            rules = _ENDED_RULES
        else:
            title = signature.title
        told = ranks or main.role == "echo"
        checks = signature.checks or (() if told else ("network", "gpu"))
        sure = bool(ranks)
        place = next((w.place for w in waiting if w.place), main.place)
        return Cause(
            signature.id,
            title,
            ranks,
            meaning,
            advice,
            quotes,
            place,
            sure,
            rules,
            utilities,
            checks,
        )

    def _waiting(self, waits: Sequence[Event], echoes: Sequence[Event]) -> list[Waiting]:
        """Ranks by the collective in which they stand; most of them first."""
        groups: dict[tuple[str, str, int | None, str], list[Event]] = defaultdict(list)
        placed: set[int] = set()
        for event in _ordered([*waits, *echoes]):
            if event.rank is None or event.rank in placed:
                continue
            if event.role == "echo" and event.place is None and waits:
                continue
            op = event.groups.get("op", "")
            number = int(event.groups["seq"]) if event.groups.get("seq") else None
            place = event.place
            where = f"{place.file}:{place.line}" if place else ""
            if op:
                count = event.groups.get("nin", "")
                what = op + (f" number {number}" if number is not None else "")
                what += f" ({_elements(count)})" if count else ""
            else:
                what = f"{_call(place)} at {_short(place)}" if place else "a collective"
            groups[event.group, what, number, where].append(event)
            placed.add(event.rank)
        rows = [
            Waiting(what, _ranks(events), group, number, events[0].place)
            for (group, what, number, _), events in groups.items()
        ]
        return sorted(rows, key=lambda row: -len(row.ranks))

    def _all_lost_another(self, echoes: Sequence[Event]) -> bool:
        """Did every rank that failed, by the launcher's count, say that another one was gone?"""
        failed = {e.rank for e in self.found.exits if e.code not in (0, -15, None)}
        return bool(failed) and None not in failed and failed <= {e.rank for e in echoes}

    def _lagging(self, main: Event) -> set[int]:
        """Ranks that had issued fewer collectives than others, in the group that timed out."""
        told = [p for p in self.found.progressed if p.rank is not None]
        told = [p for p in told if p.group == main.group] or told
        most = max((p.enqueued for p in told), default=0)
        behind = {p.rank for p in told if p.enqueued < most and p.rank is not None}
        return behind if len(behind) < len(told) else set()

    def _doing(self, ranks: Iterable[int], event: Event | None = None) -> Iterable[Doing]:
        latest = sorted(self.found.last.items(), key=lambda item: (item[1].source, item[1].line))
        last = {self._rank(speaker): last for speaker, last in latest}
        for rank in ranks:
            mine = [e for e in self.events if e.rank == rank and e.place is not None]
            place = mine[0].place if mine else None
            status = [p for p in self.found.progressed if p.rank == rank]
            said = f"it had issued {status[-1].enqueued} collectives" if status else ""
            wrote = last.get(rank)
            if wrote is None:
                if event is None:
                    yield Doing(rank, None, None, place, said or "nothing of it is in the logs")
                continue
            line = parsed(wrote.raw)
            text = line.text.strip()[:200]
            if event is not None and text[:100] in event.text:
                continue
            quote = Quote(text, self.found.names[wrote.source], wrote.line, rank)
            if event is None or place is None:
                yield Doing(rank, quote, line.time, place, said)

    # -- only the launcher speaks --------------------------------------------------------------

    def _only_told(self, summaries: Sequence[Event]) -> Cause | None:
        first = next((e for e in self.found.exits if e.first), None)
        first = first or next((e for e in self.found.exits if e.code not in (0, -15, None)), None)
        if first is None and not summaries:
            return None
        ranks = () if first is None or first.rank is None else (first.rank,)
        words = ""
        if first is not None:
            words = EXIT_MEANING.get(first.code or 0, f"ended with exit code {first.code}")
            words = words if first.code is not None else first.words
        title = f"{_subject(ranks, self.size)} {words}" if words else "a process failed"
        return Cause(
            "exit",
            title,
            ranks,
            "Only the launcher's summary is here; the message of the process itself is not.",
            "Give the output of that rank as well: torchrun's --log-dir, or standard error.",
            tuple(self._quote(e) for e in summaries[:1]),
            None,
            False,
            ("DST501",),
        )

    # -- what is shown -------------------------------------------------------------------------

    def _quote(self, event: Event) -> Quote:
        return Quote(event.text, self.found.names[event.source], event.line, event.rank)

    def _group(self, events: Sequence[Event]) -> Iterable[Seen]:
        alike: dict[str, list[Event]] = defaultdict(list)
        for event in _ordered(events):
            alike[_id(event)].append(event)
        for name, group in alike.items():
            first = group[0]
            signature = first.signature or _unknown(first)
            meaning, advice = signature.explained(first.groups)
            yield Seen(
                name,
                signature.title,
                meaning,
                _ranks(group),
                sum(event.count for event in group),
                self._quote(first),
                signature.level,
                advice,
                signature.rules,
                tuple(each for each in signature.instead if each in signatures()),
            )

    def _exits(self) -> tuple[tuple[int, str], ...]:
        told: dict[int, str] = {}
        for each in self.found.exits:
            if each.rank is None:
                continue
            words = each.words
            if each.code is not None:
                words = EXIT_MEANING.get(each.code, "")
                words = f"exit code {each.code}" + (f", {words}" if words else "")
            told.setdefault(each.rank, words)
        return tuple(sorted(told.items()))


def _merged(events: Iterable[Event]) -> list[Event]:
    """One event for each message of each rank, be it in several files or told twice."""
    kept: dict[tuple[str, int | None, str, str], Event] = {}
    for event in events:
        seq = event.groups.get("seq", "")
        key = (_id(event), event.rank, seq, event.group if seq else "")
        known = kept.get(key)
        if known is None:
            kept[key] = event
            continue
        known.count += event.count
        known.frames = known.frames or event.frames
        known.exception = known.exception or event.exception
    return list(kept.values())


def _id(event: Event) -> str:
    if event.signature is not None:
        return event.signature.id
    return event.exception or event.text[:80]


def _unknown(event: Event) -> Signature:
    title = f"{event.exception or 'an exception'} was raised"
    return Signature(_id(event), "cause", (), "", title, "")


def _ordered(events: Iterable[Event]) -> list[Event]:
    """By time where all tell it, else as they were read."""
    listed = list(events)
    if listed and all(event.time is not None for event in listed):
        return sorted(listed, key=lambda event: (event.time or (), event.order))
    return sorted(listed, key=lambda event: event.order)


def _after(event: Event, waits: Sequence[Event]) -> bool:
    """Did this happen after a rank had waited in vain, so that it may come from the clearing up?"""
    same = [w for w in waits if w.rank == event.rank and w.source == event.source]
    if any(wait.order < event.order for wait in same):
        return True
    timed = [w.time for w in waits if w.time is not None]
    return bool(event.time is not None and timed and min(timed) < event.time)


def _survived(event: Event, waits: Sequence[Event]) -> bool:
    """Did the rank go on after an exception, to wait in vain later?"""
    same = [w for w in waits if w.rank == event.rank and w.source == event.source]
    return event.rank is not None and any(wait.order > event.order for wait in same)


def _was_killed(each: Exit) -> bool:
    return each.code in (-9, -11, -7) or "Out Of Memory" in each.words


def _ended_a_hang(each: Exit, waits: Sequence[Event]) -> bool:
    """Was a process of unknown rank killed only after others had waited in vain?"""
    here = [w for w in waits if w.source == each.speaker.source]
    return each.rank is None and any(wait.line < each.line for wait in here)


def _ranks(events: Iterable[Event]) -> tuple[int, ...]:
    return tuple(sorted({event.rank for event in events if event.rank is not None}))


def _named(event: Event) -> set[int]:
    """The ranks that a message says are missing."""
    text = event.groups.get("missing", "")
    return {int(part) for part in text.replace(",", " ").split() if part.isdecimal()}


def _odd_ones(waiting: Sequence[Waiting]) -> set[int]:
    """Those who stand where the fewest do; of two that are alone, the second."""
    counts = Counter({index: len(row.ranks) for index, row in enumerate(waiting)})
    if len(waiting) < 2:
        return set()
    most = counts[0]
    return {rank for row in waiting[1:] if len(row.ranks) <= most for rank in row.ranks}


def _subject(ranks: Sequence[int], size: int) -> str:
    if not ranks:
        return "a process"
    if size > 1 and len(ranks) == size:
        return "every rank"
    return ranks_text(list(ranks))


def _s(ranks: Iterable[int], one: str, several: str) -> str:
    return one if len(list(ranks)) == 1 else several


def _elements(count: str) -> str:
    number = int(count)
    return f"{number:,} element{'s' if number != 1 else ''}"


def _call(place: Frame) -> str:
    """The line of source in which a rank stands, if it fits into a sentence."""
    return f"`{place.code}`" if 0 < len(place.code) <= 60 else "a collective"


def _short(place: Frame | None) -> str:
    if place is None:
        return ""
    name = place.file.rsplit("/", 1)[-1]
    return f"{name}:{place.line}"
