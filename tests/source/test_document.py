"""Files as text, in the encodings that Python reads and with a place for what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.source.document import Document, DocumentError

PATH = Path("train.py")


def read(data: bytes) -> Document:
    return Document.from_bytes(data, PATH)


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("x = 'ä'\n".encode(), "x = 'ä'\n", "utf-8"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n", "utf-8-sig"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe4'\n", "# -*- coding: latin-1 -*-\nx = 'ä'\n", None),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'", None, "cp1252"),
    ],
)
def test_encodings_that_python_reads(data: bytes, text: str | None, encoding: str | None) -> None:
    document = read(data)
    assert text is None or document.text == text
    assert encoding is None or document.encoding == encoding
    assert document.encode(document.text) == data


@pytest.mark.parametrize(
    ("data", "message", "row", "column"),
    [
        (b"x = 1\ny = '\xe4'\n", "byte 0xe4 is not valid UTF-8", 2, 6),
        ("ä = 'ä'".encode() + b"\xff", "byte 0xff is not valid UTF-8", 1, 8),
        (b"# coding: ascii\r\nx = '\xe4'", "byte 0xe4 is not valid ascii", 2, 6),
        (b"# coding: klingon\n", "unknown encoding: klingon", 1, 1),
        (b"#!python\n# coding: klingon\n", "unknown encoding: klingon", 2, 1),
        (b"\xef\xbb\xbf# coding: latin-1\n", "encoding problem: utf-8", 1, 1),
        (b"# coding: rot13\n", "cannot decode as rot13", 1, 1),
        (b"# coding: idna\n\xff", "byte 0xff is not valid idna", 2, 1),
        (b"# coding: undefined\n", "cannot decode as undefined", 1, 1),
        (b"x = 1\n\0\1\2", "binary file (it contains a NUL byte)", 2, 1),
        (b"\x7fELF\xff\0", "binary file (it contains a NUL byte)", 1, 6),
        ("x = 1".encode("utf-16"), "file is encoded as UTF-16", 1, 1),
        ("x = 1".encode("utf-32"), "file is encoded as UTF-32", 1, 1),
    ],
)
def test_other_bytes_are_refused_with_their_place(
    data: bytes, message: str, row: int, column: int
) -> None:
    with pytest.raises(DocumentError) as caught:
        read(data)
    assert caught.value.message.startswith(message)
    assert (caught.value.row, caught.value.column) == (row, column)


@pytest.mark.parametrize(
    ("text", "newline", "lines"),
    [
        ("a\nb", "\n", ["a", "b"]),
        ("a\r\nb\r\n", "\r\n", ["a", "b", ""]),
        ("a\rb", "\r", ["a", "b"]),
        ("a", "\n", ["a"]),
        ("a\x0cb\u2028c\n", "\n", ["a\x0cb\u2028c", ""]),
    ],
)
def test_lines_are_those_that_python_counts(text: str, newline: str, lines: list[str]) -> None:
    document = read(text.encode())
    assert document.newline == newline
    assert document.lines == lines
    assert document.text == text


@pytest.mark.parametrize(
    ("text", "encoding", "data"),
    [
        ("é\r\n", "utf-8", b"\xc3\xa9\r\n"),
        ("# coding: latin-1\né", "iso-8859-1", b"# coding: latin-1\n\xe9"),
        ("# coding: latin-1\n\u20ac", "utf-8", b"# coding: latin-1\n\xe2\x82\xac"),
        ("# coding: nonsense\n", "utf-8", b"# coding: nonsense\n"),
        ("\ud800", "utf-8", b"?"),
    ],
)
def test_a_text_that_is_not_saved_is_a_document(text: str, encoding: str, data: bytes) -> None:
    document = Document.of_text(text, Path("train.py"))
    assert (document.text, document.encoding, document.data) == (text, encoding, data)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("test_train.py", "def test_loss():\n    pass\n", True),
        ("train_test.py", "import unittest\n", True),
        ("conftest.py", "", True),
        ("torchrun_test.py", "dist.init_process_group('nccl')\n", False),
        ("test_net.py", "if __name__ == '__main__':\n    evaluate()\n", False),
        ("train.py", "def test_loss():\n    pass\n", False),
    ],
)
def test_what_holds_tests(name: str, text: str, expected: bool) -> None:
    assert Document.of_text(text, Path(name)).is_test is expected
