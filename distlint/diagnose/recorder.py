"""Dumps of torch's flight recorder: what each rank had issued, collective by collective.

``TORCH_FR_BUFFER_SIZE`` (before: ``TORCH_NCCL_TRACE_BUFFER_SIZE``) switches it on; each rank writes
a pickle, or JSON. A pickle can run any code, so these are read by an unpickler that knows no names:
numbers, text, lists and dicts come through, everything else is refused.
"""

from __future__ import annotations

import io
import json
import linecache
import pickle
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distlint.diagnose.events import Frame
from distlint.diagnose.lines import ranks_text
from distlint.diagnose.sources import Source, head
from distlint.source.paths import display

LARGEST = 512 << 20
_PER_RANK_SIZES = ("all_to_all", "alltoall", "coalesced", "gather_into", "scatter", "send", "recv")
_NUMBER = re.compile(r"(\d+)(?:\.(?:json|pickle|pkl))?$")


class NotPlain(pickle.UnpicklingError):
    """The pickle asks for more than plain data."""


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise NotPlain(f"it references {module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        raise NotPlain("it references external objects")


@dataclass(frozen=True)
class Issued:
    """A collective that a rank issued."""

    number: int
    op: str
    sizes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    state: str
    place: Frame | None
    frames: tuple[Frame, ...]

    @property
    def what(self) -> str:
        sizes = ", ".join(str(list(size)) for size in self.sizes)
        return f"{self.op} {sizes}".rstrip()

    def agrees(self, other: Issued) -> bool:
        """Can the two be one collective?"""
        if self.op != other.op:
            return False
        if any(word in self.op for word in _PER_RANK_SIZES) or self.op in ("gather", "barrier"):
            return True
        return self.sizes == other.sizes and self.dtypes == other.dtypes


@dataclass(frozen=True)
class Dump:
    """What one rank recorded: its groups, with their members, and the collectives in each."""

    rank: int
    members: Mapping[str, tuple[int, ...]]
    issued: Mapping[str, Mapping[int, Issued]]
    names: Mapping[str, str]


@dataclass(frozen=True)
class Row:
    """A rank at the point where the ranks part."""

    rank: int
    number: int | None
    what: str
    state: str
    place: Frame | None
    odd: bool


@dataclass(frozen=True)
class Group:
    """A process group: where its ranks part, or that they do not."""

    name: str
    ranks: tuple[int, ...]
    verdict: str
    culprits: tuple[int, ...]
    number: int | None
    rows: tuple[Row, ...]
    without: tuple[int, ...]
    """Members of which there is no dump."""


def is_dump(source: Source) -> bool:
    """Is this, by its first bytes, a flight-recorder dump?"""
    start = head(source, 4096)
    if start[:1] == b"\x80":
        return b"version" in start or b"entries" in start or b"pg_config" in start
    text = start.lstrip()
    return text[:1] == b"{" and (
        b'"entries"' in text or b'"pg_config"' in text or b'"comm_lib_version"' in text
    )


def load(path: Path, script: Path | None = None) -> Dump:
    """Read one dump; lines of source come from ``script`` if it has the name that they tell.

    Raises:
        ValueError: if it is not one, is damaged, or holds more than plain data.
    """
    if path.stat().st_size > LARGEST:
        raise ValueError(f"larger than {LARGEST >> 20} MiB")
    data = path.read_bytes()
    try:
        content = json.loads(data) if data.lstrip()[:1] == b"{" else _Plain(io.BytesIO(data)).load()
    except NotPlain as error:
        raise ValueError(f"refused: {error}, which no Flight Recorder dump needs") from None
    except Exception as error:  # whatever damaged data leads an unpickler to
        raise ValueError(f"corrupt: {error}") from None
    try:
        return _dump(content, path, script)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a Flight Recorder dump: {error!r}") from None


def _dump(content: Any, path: Path, script: Path | None) -> Dump:
    match = _NUMBER.search(path.name)
    rank = content.get("rank", int(match[1]) if match else None)
    if not isinstance(rank, int):
        raise ValueError("neither the file nor its name contains the rank")
    issued: dict[str, dict[int, Issued]] = defaultdict(dict)
    names: dict[str, str] = {}
    for entry in content["entries"]:
        if entry.get("is_p2p"):
            continue
        name, description = [*entry.get("process_group", ()), "", ""][:2]
        names[str(name)] = str(description)
        frames = tuple(
            _frame(str(f["filename"]), int(f["line"]), str(f["name"]), script)
            for f in reversed(entry.get("frames", ()))
        )
        place = next((f for f in reversed(frames) if not f.library), None)
        number = int(entry["collective_seq_id"])
        state = str(entry.get("state", "?"))
        if entry.get("time_discovered_completed_ns"):
            state = "completed"
        issued[str(name)][number] = Issued(
            number,
            str(entry.get("profiling_name", "?")).partition(":")[2] or "?",
            tuple(tuple(map(int, size)) for size in entry.get("input_sizes", ())),
            tuple(map(str, entry.get("input_dtypes", ()))),
            state,
            place,
            frames,
        )
    members = {
        str(each.get("name", name)): tuple(
            int(part) for part in re.findall(r"\d+", str(each.get("ranks", "")))
        )
        for name, each in content.get("pg_config", {}).items()
    }
    return Dump(rank, members, issued, names)


def _frame(file: str, line: int, function: str, script: Path | None) -> Frame:
    known = str(script) if script is not None and script.name == Path(file).name else file
    return Frame(file, line, function, linecache.getline(known, line).strip())


def compare(dumps: Sequence[Dump]) -> list[Group]:
    """Every process group of the dumps, those whose ranks part first."""
    names = sorted({name for dump in dumps for name in dump.issued})
    groups = [_group(name, dumps) for name in names]
    return sorted(groups, key=lambda group: not group.culprits)


def _group(name: str, dumps: Sequence[Dump]) -> Group:
    told = next((d.members[name] for d in dumps if d.members.get(name)), ())
    if not told and any(d.members.get("") for d in dumps) and name == "0":
        told = next(d.members[""] for d in dumps if d.members.get(""))
    mine = {d.rank: d.issued[name] for d in dumps if name in d.issued}
    present = {d.rank: mine.get(d.rank, {}) for d in dumps if not told or d.rank in told}
    ranks = told or tuple(sorted(present))
    without = tuple(sorted(set(ranks) - set(present)))
    title = next((d.names[name] for d in dumps if d.names.get(name)), "") or name
    first = max((min(each) for each in present.values() if each), default=0)
    numbers = sorted({number for each in present.values() for number in each if number >= first})
    last = numbers[-1] if numbers else 0
    for number in numbers:
        there = {rank: each[number] for rank, each in present.items() if number in each}
        absent = sorted(set(present) - set(there))
        sides = _sides(there)
        if len(sides) > 1:
            return _parted(title, ranks, number, there, absent, sides, without)
        if absent:
            return _missing(title, ranks, number, there, absent, present, without)
    return _same(title, ranks, last, present, without)


def _sides(there: Mapping[int, Issued]) -> list[list[int]]:
    """The ranks by what they issued, most of them first."""
    sides: list[list[int]] = []
    for rank, issued in sorted(there.items()):
        side = next((s for s in sides if there[s[0]].agrees(issued)), None)
        if side is None:
            sides.append([rank])
        else:
            side.append(rank)
    return sorted(sides, key=len, reverse=True)


def _parted(
    title: str,
    ranks: tuple[int, ...],
    number: int,
    there: Mapping[int, Issued],
    absent: Sequence[int],
    sides: Sequence[Sequence[int]],
    without: tuple[int, ...],
) -> Group:
    odd = {rank for side in sides[1:] for rank in side}
    parts = [f"{ranks_text(list(side))} issued {there[side[0]].what}" for side in sides[:4]]
    verdict = f"ranks diverge at collective {number}: {', '.join(parts)}"
    rows = [
        Row(rank, number, each.what, each.state, each.place, rank in odd)
        for rank, each in sorted(there.items())
    ]
    rows += [Row(rank, None, "nothing", "", None, True) for rank in absent]
    return Group(title, ranks, verdict, tuple(sorted(odd)), number, tuple(rows), without)


def _missing(
    title: str,
    ranks: tuple[int, ...],
    number: int,
    there: Mapping[int, Issued],
    absent: Sequence[int],
    present: Mapping[int, Mapping[int, Issued]],
    without: tuple[int, ...],
) -> Group:
    what = next(iter(there.values())).what
    verdict = f"{ranks_text(list(absent))} did not issue collective {number}, {what}"
    rows = [
        Row(rank, number, each.what, each.state, each.place, False)
        for rank, each in sorted(there.items())
    ]
    for rank in absent:
        issued = present[rank]
        latest = issued[max(issued)] if issued else None
        state = (
            f"last collective: {latest.what}, {latest.state}" if latest else "no collective issued"
        )
        place = latest.place if latest else None
        rows.append(Row(rank, latest.number if latest else None, "", state, place, True))
    rows.sort(key=lambda row: row.rank)
    return Group(title, ranks, verdict, tuple(absent), number, tuple(rows), without)


def _same(
    title: str,
    ranks: tuple[int, ...],
    last: int,
    present: Mapping[int, Mapping[int, Issued]],
    without: tuple[int, ...],
) -> Group:
    rows = [
        Row(rank, last, each[last].what, each[last].state, each[last].place, False)
        for rank, each in sorted(present.items())
        if last in each
    ]
    verdict = f"all ranks issued the same collectives up to number {last}"
    if without:
        verdict = f"all ranks with a dump issued the same collectives up to number {last}"
    return Group(title, ranks, verdict, (), last, tuple(rows), without)


def read_all(
    sources: Sequence[Source], notes: list[str], script: Path | None = None
) -> list[Group]:
    """All dumps among the sources, compared; what cannot be read is noted."""
    dumps: dict[int, Dump] = {}
    for source in sources:
        try:
            dump = load(source.path, script)
        except (OSError, ValueError) as error:
            notes.append(f"{display(source.path)}: {error}")
            continue
        if dump.rank in dumps:
            notes.append(f"{display(source.path)}: a second dump of rank {dump.rank}; ignored")
        else:
            dumps[dump.rank] = dump
    return compare(list(dumps.values())) if dumps else []
