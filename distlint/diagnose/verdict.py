"""What came first: the cause under the messages that follow from it, and who is missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from distlint.diagnose import interruptions, watch
from distlint.diagnose.diagnosis import Cause, Diagnosis, Doing, Quote, Seen, Waiting
from distlint.diagnose.events import Collected, Event, Exit, Progressed, Speaker
from distlint.diagnose.lines import parsed, ranks_text
from distlint.diagnose.signatures import signatures
from distlint.diagnose.timeline import (
    as_signature,
    broken_off,
    ended_a_hang,
    happened_after,
    merged,
    name_of,
    ordered,
    ranks_named,
    ranks_of,
    role_of,
    survived,
    was_killed,
)
from distlint.diagnose.words import called, elements, short_place, subject, verb

EXIT_MEANING = {
    -9: "killed (SIGKILL), usually because the host ran out of memory or by the scheduler",
    -11: "crashed in native code (SIGSEGV)",
    -6: "aborted (SIGABRT), usually by NCCL's watchdog or a failed check in native code",
    -7: "bus error (SIGBUS), usually because /dev/shm is too small",
    -15: "terminated (SIGTERM) because another process failed",
    -2: "interrupted (SIGINT)",
}
_DEADLY = (-9, -11, -7, -6)
_HANG_RULES = ("DST101", "DST102", "DST103", "DST104", "DST105", "DST109", "DST113")
_ENDED_RULES = ("DST104", "DST109", "DST113", "DST101", "DST201")
_MISMATCH_RULES = ("DST101", "DST105", "DST106", "DST111", "DST103")
_HANG_UTILITIES = ("any_rank", "equal_steps", "watch")


def judge(found: Collected, size: int = 0) -> Diagnosis:
    """The diagnosis of what was collected; ``size`` is the world size if the user told it."""
    return _Judge(found, size).diagnosis()


class _Judge:
    def __init__(self, found: Collected, size: int) -> None:
        self.found = found
        self._resolve()
        self.events = merged(found.events)
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
        spoken |= {rank for e in self.events for rank in ranks_named(e)}
        spoken |= {rank for table in self.found.tables for rank in table.ranks}
        return {rank for rank in spoken if rank is not None and rank < 1_000_000}

    # -- the decision ------------------------------------------------------------------------

    def diagnosis(self) -> Diagnosis:
        by_role: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            by_role[role_of(event)].append(event)
        waits, causes, ended = by_role["wait"], by_role["cause"], by_role["ended"]
        if ended:  # of tracebacks that processes wrote into each other
            by_role["echo"] += [e for e in causes if broken_off(e)]
            causes = [e for e in causes if not broken_off(e)]
        causes = [e for e in causes if not self._broad(e, causes)]
        stops = [*waits, *ended]
        on_time = [e for e in causes if not happened_after(e, stops) and not survived(e, waits)]
        table = watch.main_table(self.found.tables)
        answer = (
            self._crash_beside(table, on_time, by_role)
            or self._watched(table)
            or (None if ended and not waits else self._hang(waits, by_role))
            or self._ended(ended)
            or Diagnosis()
        )
        if answer.cause is None and causes:
            answer = self._blame(causes[0], causes)
        if answer.cause is None:
            answer.cause = self._only_told(by_role["summary"])
        if answer.cause is None and by_role["echo"]:
            answer = self._blame(by_role["echo"][0], by_role["echo"], sure=False)
        blamed = answer.cause.id if answer.cause else ""
        others = [e for e in causes if name_of(e) != blamed]
        later = [e for e in others if happened_after(e, stops)]
        answer.also = tuple(self._group([e for e in others if e not in later]))
        told = [e for e in by_role["summary"] if e.signature and e.signature.id != "root-cause"]
        stopped = [] if blamed == interruptions.ID else ended
        rest = [*waits, *stopped, *by_role["echo"], *later, *told]
        rest = [e for e in rest if name_of(e) != blamed]
        answer.consequences = tuple(self._group(rest)) if answer.cause else ()
        answer.notices = tuple(self._group(by_role["notice"]))
        answer.invented = tuple(self._group(by_role["invented"]))
        answer.exits = self._exits()
        return self._finish(answer)

    def _finish(self, answer: Diagnosis) -> Diagnosis:
        found = self.found
        notes = list(found.notes)
        if found.dropped:
            notes.append(f"{found.dropped:,} more messages were dropped")
        if answer.cause and not self.seen:
            notes.append("no line identifies its rank, so missing ranks cannot be determined")
        answer.size, answer.notes = self.size if self.seen else 0, tuple(notes)
        answer.lines, answer.bytes, answer.names = found.lines, found.bytes, tuple(found.names)
        places = [e.place for e in self.events if e.place is not None]
        places += [frame for table in found.tables for frame in table.frames()]
        answer.frames = tuple(dict.fromkeys(place for place in places if place is not None))
        return answer

    def _crash_beside(
        self, table: watch.Table | None, causes: list[Event], by_role: dict[str, list[Event]]
    ) -> Diagnosis | None:
        """An error that is the cause although the watch has printed a table, or without one."""
        if table is None or table.stall:  # ranks that were late may have come
            return self._crash(causes, by_role)
        gone = table.gone
        if not gone:
            return None
        return self._crash([e for e in causes if e.rank is None or e.rank in gone], by_role)

    def _watched(self, table: watch.Table | None) -> Diagnosis | None:
        """The answer that the collective watch has given while the job ran."""
        if table is None:
            return None
        quote = Quote(table.head, self.found.names[table.source], table.line, table.speaker)
        return table.diagnosis(quote)

    def _ended(self, ended: Sequence[Event]) -> Diagnosis | None:
        """A person or a scheduler has ended the job, and nothing had failed before."""
        if not ended:
            return None
        first = ordered(ended)[0]
        spoken = {e.rank for e in ended} | {self._rank(speaker) for speaker in self.found.last}
        doing = self._doing(sorted(rank for rank in spoken if rank is not None)[:8])
        standing = tuple(d for d in doing if d.place is not None or d.last is not None)
        cause = interruptions.cause(first, self._quote(first), known=bool(standing))
        return Diagnosis(cause, doing=standing)

    def _broad(self, event: Event, causes: Sequence[Event]) -> bool:
        """Does another message of the same rank say the same more exactly?"""
        return bool(event.signature and event.signature.broad) and any(
            other is not event and other.rank == event.rank for other in causes
        )

    # -- a rank failed by itself -------------------------------------------------------------

    def _crash(self, causes: list[Event], by_role: dict[str, list[Event]]) -> Diagnosis | None:
        first = next((e for e in self.found.exits if e.first and e.code in _DEADLY), None)
        waits = by_role["wait"]
        deaths = (e for e in self.found.exits if was_killed(e) and not ended_a_hang(e, waits))
        killed = first or next(deaths, None)
        silent = killed is not None and not any(
            (e.rank == killed.rank and e.role in ("cause", "wait")) or name_of(e) == "python-fatal"
            for e in self.events
        )
        if killed is not None and killed.code == -6 and self._left(by_role):
            killed = None
        if killed is not None and silent and (first is not None or not causes):
            return self._killed(killed)
        if not causes:
            return None
        told = next((e.rank for e in self.found.exits if e.first), None)
        order = ordered(causes)
        best = next((e for e in order if e.rank == told and told is not None), order[0])
        if best.time and order[0].time and order[0].time < best.time:
            best = order[0]
        return self._blame(best, causes)

    def _blame(self, best: Event, causes: Sequence[Event], *, sure: bool = True) -> Diagnosis:
        alike = [e for e in causes if name_of(e) == name_of(best)]
        ranks = ranks_of(alike) or self._failed()
        signature = best.signature
        place = best.place or next((e.place for e in alike if e.place), None)
        named = sorted({rank for e in alike for rank in ranks_named(e)} - {*ranks})
        if signature is None:
            kind = best.exception or "an exception"
            cause = Cause(
                name_of(best),
                f"{subject(ranks, self.size)} raised {kind}",
                ranks,
                "An error in this script or in code that it calls; the other failures are "
                "consequences.",
                "Fix it as you would in a single-process run; if only some ranks raise it, compare "
                "their data, files and memory with those of the other ranks",
                (self._quote(best),),
                place,
            )
        else:
            meaning, help = signature.explained(best.groups)
            cause = Cause(
                signature.id,
                signature.title,
                ranks or tuple(named),
                meaning,
                help,
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
        return any(name_of(event) == "abort-at-exit" for event in by_role["notice"])

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
            f"{subject(ranks, self.size)} exited without an error message: {words}",
            ranks,
            "Reported by the launcher. A killed process prints nothing, and the other ranks lose "
            "their connection to it.",
            "Check `dmesg` and the scheduler's accounting for memory usage; for exit code -7, "
            "increase /dev/shm; for -11, get a native stack trace (python -X faulthandler)",
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
        named = {rank for e in waits for rank in ranks_named(e)}
        main = ordered(waits or echoes)[0]
        waiting.sort(key=lambda row: (main.group != row.group, -len(row.ranks)))
        odd = _odd_ones([row for row in waiting if row.group == waiting[0].group])
        lagging = self._lagging(main)
        missing = named or (self.world - standing) or odd or lagging
        quotes = tuple(self._quote(e) for e in ordered(waits or echoes)[:1])
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
        meaning, help = signature.explained(main.groups)
        what = waiting[0].what if waiting else "a collective"
        rules, utilities = signature.rules or _HANG_RULES, signature.utilities or _HANG_UTILITIES
        if odd:
            others = next(w for w in waiting if not odd.issuperset(w.ranks))
            theirs = next(w for w in waiting if odd.intersection(w.ranks))
            title = (
                f"{ranks_text(odd)} {verb(odd, 'waits', 'wait')} in {theirs.what}, "
                f"the other ranks in {others.what}"
            )
            meaning = "The ranks diverged before this point: each waits in a collective that the "
            meaning += "other ranks never issue."
            rules = _MISMATCH_RULES
        elif ranks:
            gone = {e.rank for e in self.found.exits if e.code == 0} & set(ranks)
            ended = main.role == "echo"
            happened = "exited before" if ended or gone else "never reached"
            there = sorted({r for w in waiting for r in w.ranks} - {*ranks})
            title = f"{ranks_text(list(ranks))} {happened} {what}"
            if there:
                title += f", where {ranks_text(there)} {verb(there, 'waits', 'wait')}"
            rules = _ENDED_RULES if ended else rules
        elif waiting and self.size > 1 and not self.world - {r for w in waiting for r in w.ranks}:
            title = f"all ranks reached {what}, but it did not finish"
            meaning = (
                "No rank is missing. Possible causes: the network, a GPU, or work on the device "
                "that never finishes."
            )
            help = (
                "Check the network and the GPUs; a Flight Recorder dump shows whether the "
                "collective started"
            )
        elif main.role == "echo" and waiting:
            title = f"another rank exited before {what}, where "
            title += f"{ranks_text(waiting[0].ranks)} {verb(waiting[0].ranks, 'waits', 'wait')}"
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
            help,
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
        for event in ordered([*waits, *echoes]):
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
                what += f" ({elements(count)})" if count else ""
            else:
                what = f"{called(place)} at {short_place(place)}" if place else "a collective"
            groups[event.group, what, number, where].append(event)
            placed.add(event.rank)
        rows = [
            Waiting(what, ranks_of(events), group, number, events[0].place)
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
            said = f"{status[-1].enqueued} collectives issued" if status else ""
            wrote = last.get(rank)
            if wrote is None:
                if event is None:
                    yield Doing(rank, None, None, place, said or "no output in the logs")
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
        title = f"{subject(ranks, self.size)} {words}" if words else "a process failed"
        return Cause(
            "exit",
            title,
            ranks,
            "The input contains only the launcher's summary, not the error message of the process.",
            "Include the output of that rank as well: torchrun's --log-dir, or its standard error",
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
        for event in ordered(events):
            alike[name_of(event)].append(event)
        for name, group in alike.items():
            first = group[0]
            signature = first.signature or as_signature(first)
            meaning, help = signature.explained(first.groups)
            yield Seen(
                name,
                signature.title,
                meaning,
                ranks_of(group),
                sum(event.count for event in group),
                self._quote(first),
                signature.level,
                help,
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


def _odd_ones(waiting: Sequence[Waiting]) -> set[int]:
    """Those who stand where the fewest do; of two that are alone, the second."""
    counts = Counter({index: len(row.ranks) for index, row in enumerate(waiting)})
    if len(waiting) < 2:
        return set()
    most = counts[0]
    return {rank for row in waiting[1:] if len(row.ranks) <= most for rank in row.ranks}
