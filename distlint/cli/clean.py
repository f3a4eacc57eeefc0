"""``distlint clean``: delete what is kept from earlier runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from distlint.cli import FAILED, OK, options
from distlint.cli.parser import Parser
from distlint.engine.cache_folder import FOLDER, clean
from distlint.engine.errors import ConfigError
from distlint.engine.settings import DEFAULT_EXCLUDE
from distlint.source.paths import display


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    status = OK
    for folder in _caches(chosen):
        try:
            if clean(folder) and not chosen.quiet:
                print(f"Removed cache {display(folder)}.")
        except OSError as error:
            print(f"distlint: {display(folder)}: {error.strerror}", file=sys.stderr)
            status = FAILED
    return status


def parser() -> Parser:
    parser = Parser(
        "distlint clean",
        description="Delete the caches in the given directories and their subdirectories.",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="directories (default: current directory)",
    )
    options.add_cache_dir(parser)
    options.add_configuration(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="do not list what is deleted")
    return parser


def _caches(chosen: argparse.Namespace) -> Iterator[Path]:
    """The caches that runs in these folders may have left."""
    resolver = options.resolver(chosen)
    found: dict[Path, None] = {}
    for path in chosen.paths or [Path()]:
        top = Path(os.path.abspath(path))
        if not top.is_dir():
            raise ConfigError(f"no such directory: {display(top)}")
        resolver.named.append(top)
        settings = resolver.of_folder(top)
        found[settings.cache_dir or settings.root / FOLDER] = None
        for folder, names, _ in os.walk(top):
            if FOLDER in names:
                found[Path(folder, FOLDER)] = None
            names[:] = sorted(set(names) - set(DEFAULT_EXCLUDE))
    yield from found
