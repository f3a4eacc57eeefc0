"""Find what matters in logs of any size: most lines are only passed by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from distlint.diagnose import watch
from distlint.diagnose.events import Collected, Event, Exit, Frame, Last, Progressed, Speaker
from distlint.diagnose.lines import Line, parsed
from distlint.diagnose.signatures import Signature, needles, signatures
from distlint.diagnose.sources import Progress, Source, chunks, lines_of

TRACEBACK = "Traceback (most recent call last):"
_MARKS = (
    TRACEBACK.encode(),
    b"Root Cause (first",
    b"(local_rank: ",
    b"exitcode  : ",
    b"failed (exitcode: ",
    b"exits with return code = ",
    b"CalledProcessError: Command '[",
    b" Killed  ",
    b" Segmentation fault",
    b" Bus error",
    b"last enqueued ",
    b"srun: error: ",
    b" nranks ",
    watch.HEAD.encode(),
)
_MOST_EVENTS = 50_000
_MOST_TABLES = 1000
_MOST_LINES = 400  # of one traceback
_MOST_OTHERS = 20_000  # lines of others before a block is given up,
_FOR_EACH = 100  # and so many more for each writer that is at it
_SHOWN = 400  # characters of a message

_RANKED = re.compile(
    rb"\n(?:\[?\d{4}-\d\d-\d\d[^\[\n]{0,40}\]? ?)?"
    rb"(?:\[(?:(?:rank|[Rr]ank |RANK )(\d{1,7})|[A-Za-z_.-]{1,20}?(\d{1,7}))\]"
    rb"|(\d{1,7}): |\[\d+,(\d{1,7})\]<)(?::\[rank(\d{1,7})\])?"
)
_FILE = re.compile(r' *File "([^"]{1,1000})", line (\d+)(?:, in (.{1,200}))?')
_EXCEPTION = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: ?(.*))?$")
_SUMMARY_RANK = re.compile(r"rank\s+: (\d+) \(local_rank: (\d+)\)")
_SUMMARY_EXIT = re.compile(r"exitcode\s+: (-?\d+) \(pid: (\d+)\)")
_AGENT_EXIT = re.compile(r"failed \(exitcode: (-?\d+)\) local_rank: (\d+) \(pid: (\d+)\)")
_STATUS = re.compile(
    r"last enqueued (?:NCCL )?work: (-?\d+), last completed (?:NCCL )?work: (-?\d+)"
)
_RETURNED = re.compile(
    r"exits with return code = (-?\d+)"
    r"|CalledProcessError: Command '\['[^']*(?:python[\d.]*|deepspeed|torchrun)', .*\]' "
    r"(?:returned non-zero exit status (\d+)|died with <Signals\.\w+: (\d+)>)"
)
_SHELL = re.compile(
    r"\bline \d+: +\d+ (Killed|Segmentation fault|Bus error)\b"
    r".{0,200}\b(?:python[\d.]*|torchrun|accelerate|deepspeed|srun|mpirun)\b"
)
_EXITED = re.compile(r"Exited with exit code (\d+)")
_SIGNALS = {
    "Killed": -9,
    "Segmentation fault": -11,
    "Bus error": -7,
    "Aborted": -6,
    "Terminated": -15,
    "Interrupt": -2,
}
_FROM_128 = {128 - code: code for code in _SIGNALS.values()}  # as shells and containers tell it
_SRUN = re.compile(r"srun: error: (\S+): tasks? ([\d,-]+): (.{1,100})")
_COMM = re.compile(r"NCCL INFO .{0,200}?\brank (\d+) nranks (\d+)")


@dataclass
class _Block:
    """Lines of one speaker that belong together."""

    signature: Signature | None
    speaker: Speaker
    head: Line
    number: int
    left: int
    writer: Speaker
    """Whose lines belong to it; that of a launcher, where it quotes a process."""
    since: int = 0
    lines: list[str] = field(default_factory=list)
    table: bool = False
    """Is it one of the collective watch?"""
    base: int | None = None
    frames: list[Frame] = field(default_factory=list)


class Scanner:
    """Reads sources one after the other into one collection."""

    def __init__(self) -> None:
        self.found = Collected()
        self._needles = (*needles(), *_MARKS)
        self._single = tuple(signatures().values())
        self._by_needle = {
            needle: [s for s in self._single if any(needle in literal for literal in s.needles)]
            for needle in self._needles
        }
        self._seen: dict[tuple[str, Speaker], Event] = {}
        self._blocks: dict[Speaker, list[_Block]] = {}
        self._handled = 0
        self._source = Source.__new__(Source)
        self._index = -1
        self._order = 0
        self._summary: tuple[int, int] | None = None
        self._root = False
        self._cut = self._binary = 0
        self._last_frames: dict[Speaker, tuple[int, tuple[Frame, ...], str]] = {}

    def read(self, source: Source, progress: Progress | None = None) -> None:
        """Take in one source."""
        found = self.found
        self._source, self._index = source, len(found.names)
        found.names.append(source.name)
        found.homes.append(source.attempt or source.name)
        if source.rank is not None or source.local is not None:
            found.files.append(Speaker(self._index, source.rank, source.local))
        self._cut = self._binary = 0
        self._summary, self._root = None, False
        before, line, told = found.bytes, 1, len(found.notes)
        tail = b""
        pieces = chunks(source, progress, found.notes)
        if source.path.name == "error.json":
            pieces = _told_to_torchelastic(pieces)
        for data, cut in lines_of(pieces):
            found.bytes += len(data)
            self._cut += cut
            if b"\0" in data:
                self._binary += data.count(b"\0")
            self._last_lines(data, line)
            self._chunk(data, line)
            line += data.count(b"\n")
            tail = data
        for block in [block for blocks in self._blocks.values() for block in blocks]:
            self._close(block)
        found.lines += line - 1
        self._last_of_file(tail, line)
        self._remarks(found.bytes - before, told=len(found.notes) > told)

    def _remarks(self, size: int, *, told: bool) -> None:
        """What is strange about a source; ``told`` if it is known why nothing could be read."""
        notes, name = self.found.notes, self._source.name
        nobody = self._source.rank is None and self._source.local is None
        if not size and nobody and not told:
            notes.append(f"{name}: empty")
        elif self._binary > size // 20:
            notes.append(f"{name}: mostly binary data; only the text in it was analysed")
        elif self._binary:
            notes.append(f"{name}: {self._binary:,} NUL bytes in the text")
        if self._cut:
            notes.append(f"{name}: {self._cut:,} lines of more than 1 MB were truncated")

    # -- which lines -------------------------------------------------------------------------

    def _chunk(self, data: bytes, number: int) -> None:
        """Handle the lines with one of the needles, and those after them that belong to them."""
        hits = self._hits(data)
        starts = sorted(hits)
        position = index = 0
        while position < len(data):
            if not self._blocks:
                while index < len(starts) and starts[index] < position:
                    index += 1
                if index == len(starts):
                    return
                number += data.count(b"\n", position, starts[index])
                position = starts[index]
            position = self._one(data, position, number, hits.get(position, ()))
            number += 1

    def _hits(self, data: bytes) -> dict[int, list[bytes]]:
        """Where lines with needles begin, and with which."""
        starts: dict[int, list[bytes]] = {}
        for needle in self._needles:
            at = data.find(needle)
            while at >= 0:
                starts.setdefault(data.rfind(b"\n", 0, at) + 1, []).append(needle)
                at = data.find(needle, data.find(b"\n", at))
        return starts

    def _one(self, data: bytes, start: int, number: int, there: Sequence[bytes]) -> int:
        """Handle the line that starts there; the result is where the next one does."""
        end = data.find(b"\n", start)
        raw = data[start : min(end, start + 16_384)]
        named = [
            signature
            for needle in there
            for signature in self._by_needle[needle]
            if any(literal in raw for literal in signature.needles)
        ]
        marked = any(needle in _MARKS for needle in there)
        if self._blocks or named or marked:
            line = parsed(raw)
            speaker = self._speaker(line)
            self._continue(line, speaker, number)
            for signature in dict.fromkeys(named):
                self._found(signature, line, speaker, number)
            if marked:
                self._marked(line, speaker, number)
        return end + 1

    def _speaker(self, line: Line) -> Speaker:
        source = self._source
        rank = line.rank if line.rank is not None else source.rank
        local = line.local if line.local is not None else source.local
        if rank is not None and local is not None:
            self.found.ranks.setdefault((self.found.homes[self._index], local), rank)
        if line.writer and rank is not None:
            self.found.writers.setdefault(line.writer, rank)
        return Speaker(self._index, rank, local, line.writer)

    # -- what a line says --------------------------------------------------------------------

    def _found(self, signature: Signature, line: Line, speaker: Speaker, number: int) -> None:
        if signature.lines == 1:
            self._matched(signature, line.text, line, speaker, number)
        else:
            lines = [line.text]
            block = _Block(signature, speaker, line, number, signature.lines, speaker, lines=lines)
            self._open(block)

    def _marked(self, line: Line, speaker: Speaker, number: int) -> None:
        """What no signature says: tracebacks, summaries, how far a rank has come."""
        text = line.text
        if text.startswith(watch.HEAD):
            most = watch.MOST_LINES
            block = _Block(None, speaker, line, number, most, speaker, table=True)
            block.lines.append(text)
            self._open(block)
        if TRACEBACK in text:
            owner = speaker
            if "traceback :" in text and self._summary:
                owner = Speaker(self._index, self._summary[0], self._summary[1])
            self._open(_Block(None, owner, line, number, _MOST_LINES, speaker))
        if "Root Cause (first" in text:
            self._root = True
        elif m := _SUMMARY_RANK.search(text):
            self._summary = int(m[1]), int(m[2])
        elif (m := _SUMMARY_EXIT.search(text)) and self._summary:
            rank, local = self._summary
            self.found.ranks.setdefault((self.found.homes[self._index], local), rank)
            self._ended(Speaker(self._index, rank, local), int(m[1]), line, number, self._root)
            self._root = False
        elif m := _AGENT_EXIT.search(text):
            self._ended(Speaker(self._index, None, int(m[2])), int(m[1]), line, number)
        elif m := _RETURNED.search(text):
            code = -int(m[3]) if m[3] else int(m[1] or m[2])
            self._ended(speaker, code, line, number)
        elif m := _SHELL.search(text):
            self._ended(speaker, _SIGNALS[m[1]], line, number)
        elif m := _STATUS.search(text):
            self.found.progressed.append(Progressed(speaker, int(m[1]), int(m[2]), line.group))
        elif m := _SRUN.search(text):
            for rank in _task_numbers(m[2]):
                self._task_ended(Speaker(self._index, rank), m[3].strip(), line, number)
        elif m := _COMM.search(text):
            self.found.size = max(self.found.size, int(m[2]))
            if line.writer:
                self.found.writers.setdefault(line.writer, int(m[1]))

    def _ended(
        self, speaker: Speaker, code: int, line: Line, number: int, first: bool = False
    ) -> None:
        code = _FROM_128.get(code, code)
        told = Exit(speaker, code, first=first, line=number, text=line.text.strip()[:_SHOWN])
        self.found.exits.append(told)

    def _task_ended(self, speaker: Speaker, words: str, line: Line, number: int) -> None:
        """What srun says of a task."""
        exited = _EXITED.search(words)
        code = int(exited[1]) if exited else None
        code = next((c for word, c in _SIGNALS.items() if words.startswith(word)), code)
        if code is not None:
            self._ended(speaker, code, line, number)
        else:
            text = line.text.strip()[:_SHOWN]
            self.found.exits.append(Exit(speaker, None, words, line=number, text=text))

    def _open(self, block: _Block) -> None:
        """Collect the lines of a writer from here on."""
        mine = self._blocks.setdefault(block.writer, [])
        for other in [each for each in mine if each.signature is block.signature is None]:
            if other.table and not block.table:
                continue
            if other.frames or other.table:
                self._close(other)
            else:  # two processes without prefixes, at the same time
                mine.remove(other)
        block.since = self._handled
        self._blocks.setdefault(block.writer, []).append(block)

    def _continue(self, line: Line, speaker: Speaker, number: int) -> None:
        """Hand a line to the blocks of its writer, and give up those that wait for too long."""
        self._handled += 1
        for block in list(self._blocks.get(speaker, ())):
            block.left -= 1
            if block.signature is not None:
                block.lines.append(line.text)
                if block.left <= 1:
                    self._close(block)
            elif block.table:
                block.lines.append(line.text)
                if line.text.strip() == watch.END or block.left <= 0:
                    self._close(block)
            elif self._traced(block, line) or block.left <= 0:
                block.number = number
                self._close(block)
        if self._blocks and self._handled % 1024 == 0:
            latest = self._handled - _MOST_OTHERS - _FOR_EACH * len(self._blocks)
            for block in [b for blocks in self._blocks.values() for b in blocks]:
                if block.since < latest:
                    self._close(block)

    def _traced(self, block: _Block, line: Line) -> bool:
        """Add a line to a traceback; true when it was the last one."""
        text = line.text
        if m := _FILE.match(text):
            if block.base is None:
                block.base = max(0, len(text) - len(text.lstrip()) - 2)
            block.frames.append(Frame(m[1], int(m[2]), (m[3] or "").strip()))
            del block.frames[:-60]
            return False
        stripped = text.strip()
        indent = len(text) - len(text.lstrip())
        if not stripped or TRACEBACK in text:
            return False
        if block.base is not None and indent > block.base:
            if block.frames and not block.frames[-1].code and stripped.strip("^~ "):
                last = block.frames[-1]
                block.frames[-1] = Frame(last.file, last.line, last.function, stripped[:200])
            return False
        block.lines = [stripped]
        return True

    def _close(self, block: _Block) -> None:
        blocks = self._blocks[block.writer]
        blocks.remove(block)
        if not blocks:
            del self._blocks[block.writer]
        if block.signature is not None:
            text = "\n".join(block.lines)
            self._matched(block.signature, text, block.head, block.speaker, block.number)
        elif not block.table:
            self._raised(block)
        elif len(self.found.tables) < _MOST_TABLES:
            table = watch.table(block.lines, self._index, block.number)
            self.found.tables += [] if table is None else [table]

    def _raised(self, block: _Block) -> None:
        """A traceback is complete: its exception is an event unless a signature names it."""
        text = block.lines[0] if block.lines else ""
        m = _EXCEPTION.match(text)
        name = m[1] if m else ""
        frames = tuple(block.frames)
        named = [s for s in self._single if any(literal in text for literal in s.literals)]
        matched = False
        for signature in named:
            if (found := signature.match(text)) is not None:
                self._add(signature, text, found, block, frames, name)
                matched = True
        if named and not matched and any(s.lines > 1 for s in named):
            matched = True  # the rest of the message is still to come
        self._last_frames[block.speaker] = (self._order, frames, name)
        if not matched:
            self._add(None, text or "(truncated traceback)", None, block, frames, name)

    def _matched(
        self, signature: Signature, text: str, line: Line, speaker: Speaker, number: int
    ) -> None:
        found = signature.match(text)
        if found is None:
            return
        block = _Block(signature, speaker, line, number, 0, speaker)
        frames: tuple[Frame, ...] = ()
        if speaker in self._last_frames and self._order - self._last_frames[speaker][0] < 3:
            frames = self._last_frames[speaker][1]
        self._add(signature, text, found, block, frames, "")

    def _add(
        self,
        signature: Signature | None,
        text: str,
        match: re.Match[str] | None,
        block: _Block,
        frames: tuple[Frame, ...],
        exception: str,
    ) -> None:
        groups = {k: v for k, v in match.groupdict().items() if v is not None} if match else {}
        speaker = block.speaker
        spoken = groups.get("rank")
        if spoken is not None and spoken.isdecimal() and speaker.rank is None:
            speaker = Speaker(speaker.source, int(spoken), speaker.local, speaker.writer)
        key = (signature.id if signature else text[:_SHOWN], speaker)
        self._order += 1
        known = self._seen.get(key)
        if known is not None:
            known.count += 1
            known.frames = known.frames or frames
            known.exception = known.exception or exception
            return
        if len(self._seen) >= _MOST_EVENTS:
            self.found.dropped += 1
            return
        if match is not None and signature is not None and signature.lines == 1:
            text = _around(text, match)
        event = Event(
            signature,
            speaker,
            self._index,
            block.number,
            self._order,
            text[:_SHOWN],
            groups,
            block.head.time,
            block.head.group,
            exception,
            frames,
        )
        self._seen[key] = event
        self.found.events.append(event)

    # -- what each rank wrote last -------------------------------------------------------------

    def _last_lines(self, data: bytes, number: int) -> None:
        places: dict[tuple[bytes, bool], int] = {}
        for match in _RANKED.finditer(b"\n" + data):
            rank, local, task, mpi, inner = match.groups()
            known = inner or rank or task or mpi
            places[known or local, known is not None] = match.start()
        position = 0
        for (name, known), start in sorted(places.items(), key=lambda place: place[1]):
            number += data.count(b"\n", position, start)
            position = start
            raw = data[start : min(data.find(b"\n", start), start + 2000)]
            speaker = Speaker(self._index, *((int(name), None) if known else (None, int(name))))
            self.found.last[speaker] = Last(self._index, number, raw)

    def _last_of_file(self, tail: bytes, line: int) -> None:
        """The last line of a file that is one rank's by its name."""
        source = self._source
        if source.rank is None and source.local is None:
            return
        text = next((t for t in reversed(tail.split(b"\n")[-50:]) if t.strip()), b"")
        if text and not any(known.source == self._index for known in self.found.last):
            speaker = Speaker(self._index, source.rank, source.local)
            self.found.last[speaker] = Last(self._index, line - 1, text[:2000])


def _told_to_torchelastic(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The traceback in the file in which ``@record`` leaves it; other files as they are."""
    data = b"".join(pieces)
    try:
        message = json.loads(data)["message"]
        yield str(message["extraInfo"]["py_callstack"]).encode()
    except (ValueError, KeyError, TypeError):
        yield data


def _around(text: str, match: re.Match[str]) -> str:
    """The part of a long line that matters."""
    if len(text) <= _SHOWN:
        return text.strip()
    start = max(0, match.start() - 80)
    return ("..." if start else "") + text[start:].strip()


def _task_numbers(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal():
            upper = int(last) if last.isdecimal() else int(first)
            yield from range(int(first), min(upper, int(first) + 4096) + 1)
