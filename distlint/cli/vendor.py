"""``distlint vendor``: write the runtime as one file of the project's own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from distlint.cli import FAILED, OK, options
from distlint.cli.parser import Parser
from distlint.source.paths import display


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    from distlint.engine import vendor

    path = Path(chosen.path).absolute()
    if path.suffix != ".py":
        print(f"distlint: {chosen.path} is not a .py file", file=sys.stderr)
        return FAILED
    if path.exists():
        vendor.names_in(path)
    if chosen.all:
        names = None
    elif chosen.names:
        names = [name.strip() for text in chosen.names for name in text.split(",") if name.strip()]
    else:
        names = vendor.names_used(path)
    text = vendor.vendored(path, names)
    path.parent.mkdir(parents=True, exist_ok=True)
    written = vendor.write(path, text)
    if not chosen.quiet:
        what = "all utilities" if names is None else ", ".join(names)
        print(f"{display(path)}: {what} ({'written' if written else 'unchanged'})")
    return OK


def parser() -> Parser:
    parser = Parser(
        "distlint vendor",
        description="Copy the parts of distlint.runtime that the project uses into a single file "
        "that depends on torch only. A file that this command did not write is never overwritten. "
        "The watch and the replica checks are debugging tools and cannot be copied.",
    )
    parser.add_argument("path", metavar="PATH", help="file to write, such as mypackage/ranks.py")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--names",
        action="append",
        metavar="NAMES",
        help="utilities to copy, separated by commas (default: those that the project imports)",
    )
    which.add_argument("--all", action="store_true", help="copy all utilities")
    options.add_display(parser)
    return parser
