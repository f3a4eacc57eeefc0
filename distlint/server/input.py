"""Standard input as the protocol reads it, with limits on what a header can ask for."""

from __future__ import annotations

import sys
from typing import BinaryIO

LONGEST_MESSAGE = 256 * 1024 * 1024
LONGEST_LINE = 64 * 1024
"""Bytes that are read at once of what is no message, whatever it is."""

IGNORED = b'{"jsonrpc": "2.0", "method": "$/ignored"}'
"""What servers ignore by definition, in place of a message that is refused."""


class Input:
    """A stream that refuses messages that are too long to be read into memory.

    What follows such a header is skipped until the next one.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        return self._stream.readline(LONGEST_LINE)

    def read(self, size: int) -> bytes:
        if size <= LONGEST_MESSAGE:
            return self._stream.read(size)
        print(f"message rejected: {size:,} bytes is too large", file=sys.stderr)
        return IGNORED
