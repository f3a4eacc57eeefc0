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
        print(f"distlint: {chosen.path} is not the name of a Python file", file=sys.stderr)
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
        what = "everything" if names is None else ", ".join(names)
        print(f"{display(path)}: {what} ({'written' if written else 'unchanged'})")
    return OK


def parser() -> Parser:
    parser = Parser(
        "distlint vendor",
        description="Write what the project uses of distlint.runtime as one file of its own, which "
        "needs torch and nothing else. A file that this command did not write is left alone. The "
        "watch and the checks of replicas are instruments and stay in distlint.",
    )
    parser.add_argument("path", metavar="PATH", help="the file, such as mypackage/ranks.py")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--names",
        action="append",
        metavar="NAMES",
        help="these utilities, separated by commas (default: those that the project imports)",
    )
    which.add_argument("--all", action="store_true", help="all utilities")
    options.add_display(parser)
    return parser
