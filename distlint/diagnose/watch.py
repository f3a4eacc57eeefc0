"""The tables of the collective watch, read back from a log: they name ranks, calls and lines.

They are written by :mod:`distlint.runtime.collective_watch.table`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from distlint.diagnose.diagnosis import Cause, Diagnosis, Doing, Quote, Waiting
from distlint.diagnose.events import Frame

HEAD = "== distlint watch, seen by rank "
END = "=="
MOST_LINES = 400

_HEAD = re.compile(re.escape(HEAD) + r"(\d{1,7}): (.{1,4000})")
_GROUP = re.compile(r"group (.{1,300}) \((ranks? [\d, -]{1,40000})\)$")
_DIFFERENCE = re.compile(r"first difference: call (\d{1,15})")
_ROW = re.compile(r"  (ranks? \d[\d, -]{0,40000}): (.*)")
_RULE = re.compile(r"(DST\d{3}) [a-z]|hint: .{0,400}`distlint rule (DST\d{3})`")
_ABSENT = re.compile(r"ha(?:s|ve) not (?:come to|reached) it|not known to have reached it")
_LINE = r"at (\S.{0,400}?):(\d{1,9})(?: in ([\w<>]{1,200}))?"
_SITE = re.compile(rf" {_LINE}(?: \(through [^)]{{1,300}}\))?$")
_DOING = re.compile(rf", {_LINE}(?:;|$)")
_GONE = re.compile(r"raised |was killed|gives no sign|does not respond|exited with status (?!0)")
_HANG_RULES = ("DST101", "DST102", "DST103", "DST104", "DST105", "DST109", "DST113")


@dataclass(frozen=True)
class Row:
    """What some ranks have called, or what they do."""

    ranks: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Table:
    """One table, and where it stands."""

    source: int
    line: int
    speaker: int
    title: str
    group: str
    ranks: tuple[int, ...]
    number: int
    calls: tuple[Row, ...]
    doing: tuple[Row, ...]
    rules: tuple[str, ...]

    @property
    def head(self) -> str:
        """Its first line."""
        return f"{HEAD}{self.speaker}: {self.title}"

    @property
    def stall(self) -> bool:
        """Had ranks only waited for long, so that it may have gone on?"""
        return "did not reach call" in self.title or "did not come to call" in self.title

    @property
    def absent(self) -> tuple[int, ...]:
        """The ranks that had not reached the call, else those of which the fewest did the same."""
        missing = [rank for row in self.calls if _ABSENT.search(row.text) for rank in row.ranks]
        if missing:
            return tuple(missing)
        rows = sorted(self.calls, key=lambda row: len(row.ranks))
        alone = len(rows) > 1 and len(rows[0].ranks) < len(rows[-1].ranks)
        return rows[0].ranks if alone else ()

    @property
    def gone(self) -> frozenset[int]:
        """The ranks that had ended by an error or a signal: their own messages say more."""
        return frozenset(rank for row in self.doing if _GONE.match(row.text) for rank in row.ranks)

    def diagnosis(self, quote: Quote) -> Diagnosis:
        """The answer that it gives."""
        waiting = tuple(
            Waiting(
                f"`{_without_site(row.text)}` (call {self.number})",
                row.ranks,
                "" if self.group == "0" else self.group,
                self.number,
                _frame(_SITE, row.text),
            )
            for row in self.calls
            if not _ABSENT.search(row.text)
        )
        absent = self.absent
        doing = tuple(
            Doing(rank, None, None, _frame(_DOING, row.text), row.text)
            for row in self.doing
            for rank in row.ranks
            if rank in absent
        )
        places = [each.place for each in doing] + [each.place for each in waiting]
        cause = Cause(
            "watch",
            f"reported by the watch: {self.title}",
            absent,
            "The table shows what each rank called, on which line, and where each rank was.",
            "Find the condition that leads to these different lines",
            (quote,),
            next((place for place in places if place is not None), None),
            sure=not self.stall,
            rules=self.rules or _HANG_RULES,
            utilities=("any_rank", "equal_steps"),
        )
        return Diagnosis(cause, waiting, doing[:8])

    def frames(self) -> Iterator[Frame]:
        """The lines of the program that it names."""
        for pattern, rows in ((_SITE, self.calls), (_DOING, self.doing)):
            found = (_frame(pattern, row.text) for row in rows)
            yield from (frame for frame in found if frame is not None)


def table(lines: Sequence[str], source: int, number: int) -> Table | None:
    """A table from its lines; None if its beginning is not that of one."""
    head = _HEAD.match(lines[0])
    if head is None:
        return None
    group, call = "", 0
    ranks: tuple[int, ...] = ()
    calls: list[Row] = []
    doing: list[Row] = []
    rows: list[Row] = []
    rules: list[str] = []
    for line in lines[1:]:
        if m := _ROW.match(line):
            rows.append(Row(_numbers(m[1]), m[2][:2000]))
        elif m := _GROUP.match(line):
            group, ranks = m[1], _numbers(m[2])
        elif m := _DIFFERENCE.match(line):
            call, rows = int(m[1]), calls
        elif line.startswith("what each rank is doing"):
            rows = doing
        elif m := _RULE.match(line):
            rules.append(m[1] or m[2])
        elif line.startswith("last "):
            rows = []
    return Table(
        source,
        number,
        int(head[1]),
        head[2],
        group,
        ranks,
        call,
        tuple(calls),
        tuple(doing),
        tuple(dict.fromkeys(rules)),
    )


def main_table(tables: Sequence[Table]) -> Table | None:
    """The first that names a difference; of those about ranks that are late, the last."""
    certain = next((each for each in tables if not each.stall), None)
    return certain or (tables[-1] if tables else None)


def _numbers(text: str) -> tuple[int, ...]:
    """The ranks of ``rank 3``, ``ranks 0, 2-63``; not endlessly many."""
    found: list[int] = []
    for part in text.partition(" ")[2].split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal():
            upper = int(last) if last.isdecimal() else int(first)
            found += range(int(first), min(upper, int(first) + 100_000) + 1)
        if len(found) > 100_000:
            break
    return tuple(found)


def _without_site(text: str) -> str:
    return _SITE.sub("", text)


def _frame(pattern: re.Pattern[str], text: str) -> Frame | None:
    found = pattern.search(text)
    return None if found is None else Frame(found[1], int(found[2]), found[3] or "<module>")
