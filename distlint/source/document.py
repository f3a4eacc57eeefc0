"""A file as text: its bytes, the encoding and newlines they are in, and its lines."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

NEWLINE = re.compile(r"\r\n|\r|\n")
_TESTS = re.compile(r"\bdef test_|\b(?:pytest|unittest|TestCase)\b")
"""What files of tests contain, and scripts such as ``torchrun_test.py`` do not."""

_OTHER_UNICODE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


class DocumentError(Exception):
    """The bytes are no text that Python would read; ``row`` and ``column`` start at 1."""

    def __init__(self, message: str, row: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


@dataclass(frozen=True)
class Document:
    """A source file; ``text`` keeps its newlines and has no byte order mark."""

    path: Path
    data: bytes
    text: str
    encoding: str
    newline: str

    @classmethod
    def read(cls, path: Path) -> Document:
        """The document of a file.

        Raises:
            OSError: if it cannot be read.
            DocumentError: if it is no text.
        """
        return cls.from_bytes(path.read_bytes(), path)

    @classmethod
    def from_bytes(cls, data: bytes, path: Path) -> Document:
        """Decode as Python does: a byte order mark, a PEP 263 comment, else UTF-8.

        Raises:
            DocumentError: with the place of the first byte that does not decode.
        """
        _reject_other_unicode(data)
        encoding = _encoding(data)
        _reject_binary(data)
        text = _decode(data, encoding)
        first = NEWLINE.search(text)
        return cls(path, data, text, encoding, first.group() if first else "\n")

    @classmethod
    def of_text(cls, text: str, path: Path) -> Document:
        """The document that a text will be once it is saved; in UTF-8 if it cannot say how."""
        encoding = "utf-8"
        try:
            encoding = tokenize.detect_encoding(
                io.BytesIO(text.encode(encoding, "replace")).readline
            )[0]
            data = text.encode(encoding)
        except (SyntaxError, UnicodeEncodeError):
            data = text.encode(encoding := "utf-8", "replace")
        first = NEWLINE.search(text)
        return cls(path, data, text, encoding, first.group() if first else "\n")

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends, as Python counts them (a form feed ends none)."""
        return NEWLINE.split(self.text)

    @property
    def is_test(self) -> bool:
        """Does it hold tests, by its name and what is in it?"""
        name = self.path.name
        if not name.startswith("test_") and not name.endswith("_test.py"):
            return name == "conftest.py"
        return _TESTS.search(self.text) is not None

    @property
    def code(self) -> bytes:
        """The bytes that hold the program, for a look at what it may contain."""
        return self.data

    def where(self, row: int) -> str:
        """A row, as it is told to people."""
        return f"line {row}"

    def within(self, rows: range) -> range:
        """The rows, as far as they belong to the part of the document that the first is in."""
        return rows

    def encode(self, text: str) -> bytes:
        """Another text in the encoding of this file, byte order mark included."""
        return text.encode(self.encoding)


def digest(data: bytes) -> str:
    """What tells contents apart."""
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def _reject_other_unicode(data: bytes) -> None:
    for mark, name in _OTHER_UNICODE.items():
        if data.startswith(mark):
            raise DocumentError(
                f"file is encoded as {name}, which Python does not support; save it as UTF-8"
            )


def _reject_binary(data: bytes) -> None:
    position = data.find(b"\0")
    if position >= 0:
        raise DocumentError(
            "binary file (it contains a NUL byte)", *_place(data, position, "latin-1")
        )


def _encoding(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        _reject_binary(data)
        _decode(data, "utf-8-sig")  # rather the offending byte than "missing declaration"
        row = 1 if b"coding" in data.splitlines()[0] else 2
        raise DocumentError(str(error.msg), row) from None


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        byte = data[error.start]
        message = f"byte 0x{byte:02x} is not valid {_name(encoding)}"
        raise DocumentError(message, *_place(data, error.start, encoding)) from None
    except (ValueError, LookupError) as error:
        raise DocumentError(f"cannot decode as {encoding}: {error}") from None


def _name(encoding: str) -> str:
    return "UTF-8" if encoding in ("utf-8", "utf-8-sig") else encoding


def _place(data: bytes, position: int, encoding: str) -> tuple[int, int]:
    """Row and column of a byte; what stands before it on its line is known to decode."""
    try:
        before = data[:position].decode(encoding, "replace")
    except (ValueError, LookupError):  # a codec that knows no error handlers
        before = data[:position].decode("latin-1")
    ends = list(NEWLINE.finditer(before))
    start = ends[-1].end() if ends else 0
    return len(ends) + 1, len(before) - start + 1
