"""``distlint server``: speak to an editor."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import BinaryIO, cast

from distlint.cli import OK
from distlint.cli.parser import Parser
from distlint.engine.errors import ConfigError

NEEDED = "'pygls>=2' 'lsprotocol>=2025'"


def run(arguments: Sequence[str]) -> int:
    parser().read(arguments)
    if importlib.util.find_spec("pygls") is None:
        raise ConfigError(f"`distlint server` requires pygls: pip install {NEEDED}")
    from distlint.server.input import Input
    from distlint.server.server import make

    # what anything else prints must not get between the messages
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stdout:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server = make()
        server.start_io(cast(BinaryIO, Input(sys.stdin.buffer)), stdout)
        server.close()
    os._exit(OK)  # an analysis that has begun would keep the editor waiting


def parser() -> Parser:
    parser = Parser(
        "distlint server",
        description="Run the language server on standard input and output.",
        epilog="See docs/editors.md for how to set up editors.",
    )
    parser.add_argument(
        "--stdio",
        action="store_true",
        help="use standard input and output (always on; accepted for compatibility with editors)",
    )
    return parser
