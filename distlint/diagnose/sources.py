"""What the user named, as chunks of bytes: files, folders, standard input, compressed or not."""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Protocol

from distlint.source.paths import STDIN, display

CHUNK = 1 << 20
LONGEST = 1 << 20
"""Bytes of one line that are kept together."""

_RAW = 1 << 18  # bytes of a compressed file that are read at once
_PACKED: dict[bytes, Callable[[], _Unpacker]] = {
    b"\x1f\x8b": lambda: _Inflate(),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
}
_ZSTD = b"\x28\xb5\x2f\xfd"
_WIDE = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_NO_LOGS = frozenset(
    ".py .pyc .sh .yaml .yml .toml .cfg .ini .md .pt .pth .bin .safetensors .ckpt .npy .npz .png "
    ".jpg .jpeg .gif .svg .pdf .html .css .js .so .a .o .zip .tar .whl .parquet .arrow .h5 .csv "
    ".tfevents .sqlite .db .lock .pid .mp4 .wav".split()
)
_RANK_IN_NAME = re.compile(r"(?:^|[^a-zA-Z])(?:global_?)?(?:rank|RANK|Rank|r)[._-]?(\d{1,6})(?!\d)")
_ATTEMPT = re.compile(r"attempt_\d+")
_NUMBER = re.compile(r"\d+")


class Progress(Protocol):
    """Told how many bytes there are, and how many more have been read."""

    def start(self, total: int) -> None: ...
    def advance(self, count: int) -> None: ...


@dataclass(frozen=True)
class Source:
    """A file, or standard input; ``rank`` and ``local`` are what its name says of its writer."""

    path: Path
    rank: int | None = None
    local: int | None = None
    attempt: str = ""
    """The folder of torchrun that holds the files of a node's processes."""

    @property
    def name(self) -> str:
        return "standard input" if self.path == STDIN else display(self.path)

    @property
    def size(self) -> int:
        try:
            return 0 if self.path == STDIN else self.path.stat().st_size
        except OSError:
            return 0


@dataclass(frozen=True)
class Found:
    """The files to read, and what was left out."""

    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()


def find(paths: Sequence[Path]) -> Found:
    """All files among the paths and below them.

    Raises:
        OSError: if one of the paths does not exist.
    """
    sources: list[Source] = []
    passed = 0
    for path in paths:
        if path == STDIN:
            sources.append(Source(STDIN))
        elif path.is_dir():
            for file in sorted(_below(path), key=_reading_order):
                if file.suffix.lower() in _NO_LOGS or "tfevents" in file.name:
                    passed += 1
                else:
                    sources.append(_named(file))
        else:
            path.stat()
            sources.append(_named(path))
    notes = (
        (f"skipped {passed} files in directories that are not logs, judging by their names",)
        if passed
        else ()
    )
    return Found(tuple(_numbered(sources)), notes)


def _below(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(root, name) for name in files if Path(root, name).is_file())


def _reading_order(path: Path) -> tuple[bool, list[tuple[int, str]]]:
    """By name, numbers as numbers; what is told in ``error.json`` stands in a log as well."""
    parts = re.split(r"(\d+)", str(path))
    natural = [(int(part) if part.isdecimal() else 0, part) for part in parts]
    return path.name == "error.json", natural


def _named(path: Path) -> Source:
    """What the name of a file says: torchrun writes ``attempt_0/<local rank>/stderr.log``."""
    if path.parent.name.isdecimal() and _ATTEMPT.fullmatch(path.parent.parent.name):
        return Source(path, local=int(path.parent.name), attempt=str(path.parent.parent))
    match = _RANK_IN_NAME.search(path.name)
    return Source(path, rank=int(match[1]) if match else None)


def _numbered(sources: list[Source]) -> list[Source]:
    """Files whose names differ in one number only, 0 to n-1, are those of the ranks."""
    unknown = [each for each in sources if each.rank is None and each.local is None]
    if len(unknown) < 2:
        return sources
    parts = [(_NUMBER.split(each.path.name), _NUMBER.findall(each.path.name)) for each in unknown]
    if any(text != parts[0][0] or len(n) != len(parts[0][1]) for text, n in parts):
        return sources
    columns = list(zip(*(numbers for _, numbers in parts), strict=True))
    varying = [column for column in columns if len(set(column)) > 1]
    if len(varying) != 1 or sorted(map(int, varying[0])) != list(range(len(unknown))):
        return sources
    ranks = {id(each): int(number) for each, number in zip(unknown, varying[0], strict=True)}
    return [replace(s, rank=ranks[id(s)]) if id(s) in ranks else s for s in sources]


def head(source: Source, count: int = 64) -> bytes:
    """The first bytes of a file, unpacked; nothing of pipes, which are read once."""
    if source.path == STDIN or not source.path.is_file():
        return b""
    try:
        with source.path.open("rb") as file:
            return next(_unpacked(file, []), b"")[:count]
    except OSError:
        return b""


def chunks(source: Source, progress: Progress | None, notes: list[str]) -> Iterator[bytes]:
    """The text of a source in pieces of about a megabyte, as UTF-8 where it was UTF-16.

    What cannot be read is noted, and what came before it is not lost.
    """
    troubles: list[str] = []
    try:
        if source.path == STDIN:
            yield from _as_utf8(_unpacked(sys.stdin.buffer, troubles))
        else:
            with source.path.open("rb") as file:
                yield from _told(_as_utf8(_unpacked(file, troubles)), file, progress)
    except OSError as error:
        troubles.append(f"cannot read file: {error.strerror or error}")
    notes.extend(f"{source.name}: {trouble}" for trouble in troubles)


def _told(pieces: Iterable[bytes], file: IO[bytes], progress: Progress | None) -> Iterator[bytes]:
    before = 0
    seekable = file.seekable()
    for piece in pieces:
        if progress is not None and seekable:
            progress.advance(file.tell() - before)
            before = file.tell()
        yield piece


def _as_utf8(pieces: Iterable[bytes]) -> Iterator[bytes]:
    decoder: codecs.IncrementalDecoder | None = None
    for number, piece in enumerate(pieces):
        if number == 0:
            decoder = _decoder(piece)
        yield decoder.decode(piece).encode("utf-8", "replace") if decoder else piece


class _Unpacker(Protocol):
    """What bz2 and lzma have, and zlib nearly."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Inflate:
    """zlib in the shape of the others."""

    def __init__(self) -> None:
        self._object = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._object.eof

    @property
    def needs_input(self) -> bool:
        return not self._object.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._object.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._object.decompress(self._object.unconsumed_tail + data, max_length)


def _unpacked(file: IO[bytes], troubles: list[str]) -> Iterator[bytes]:
    """The pieces of a file, unpacked if it is compressed, as far as it is whole."""
    raw = _some(file, CHUNK)
    make = next((made for magic, made in _PACKED.items() if raw.startswith(magic)), None)
    if make is None:
        if raw.startswith(_ZSTD):
            troubles.append("zstd is not supported; decompress it and pipe it in")
            return
        while raw:
            yield raw
            raw = _some(file, CHUNK)
        return
    try:
        yield from _inflated(file, raw, make, troubles)
    except (OSError, zlib.error, lzma.LZMAError, EOFError) as error:
        troubles.append(f"corrupt compressed data: {error}")


def _inflated(
    file: IO[bytes], data: bytes, make: Callable[[], _Unpacker], troubles: list[str]
) -> Iterator[bytes]:
    """Members one after the other, never more than a chunk at once."""
    unpacker = make()
    while True:
        if piece := unpacker.decompress(data, CHUNK):
            yield piece
        data = b""
        if unpacker.eof:
            data = unpacker.unused_data or _some(file, _RAW)
            if not data.strip(b"\0"):
                return
            unpacker = make()
        elif unpacker.needs_input:
            data = _some(file, _RAW)
            if not data and not piece:
                troubles.append("the compressed file is truncated")
                return


def _some(stream: IO[bytes], count: int) -> bytes:
    """What is there, so that a pipe is read as it comes."""
    return stream.read1(count) if isinstance(stream, io.BufferedReader) else stream.read(count)


def _decoder(data: bytes) -> codecs.IncrementalDecoder | None:
    for bom, name in _WIDE.items():
        if data.startswith(bom):
            return codecs.getincrementaldecoder(name)("replace")
    return None


def lines_of(data: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Chunks that end with a line, and whether a line was cut for being too long.

    Carriage returns, with which progress bars overwrite themselves, end a line like any other.
    """
    rest = b""
    for chunk in data:
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        whole = rest + chunk if rest else chunk
        end = whole.rfind(b"\n") + 1
        if end:
            yield whole[:end], False
            rest = whole[end:]
        elif len(whole) > LONGEST:
            yield whole + b"\n", True
            rest = b""
        else:
            rest = whole
    if rest:
        yield rest + b"\n", False
