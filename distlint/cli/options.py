"""Options that several commands share, and what they come down to."""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from distlint.engine.errors import ConfigError
from distlint.engine.selection import Layer
from distlint.engine.settings import Overrides, Resolver, explicit_config
from distlint.source.finding import Severity
from distlint.source.numbers import whole_number
from distlint.source.paths import display

MAX_WIDTH = 140
DEFAULT_WIDTH = 100


def add_display(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("display")
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="when to use colours; auto means on terminals, and respects NO_COLOR and FORCE_COLOR",
    )
    group.add_argument("-v", "--verbose", action="store_true", help="show more details")
    group.add_argument("-q", "--quiet", action="store_true", help="print findings only")


def add_output_format(
    group: argparse.ArgumentParser | argparse._ArgumentGroup, *more: str, shortcut: bool = False
) -> None:
    """``--output-format`` with full, JSON and ``more``; ``--json`` as well if that is asked for."""
    group.add_argument(
        "--output-format",
        choices=("full", *more, "json"),
        default="full",
        help="output format (default: full)",
    )
    if shortcut:
        group.add_argument(
            "--json",
            action="store_const",
            const="json",
            dest="output_format",
            help="same as --output-format json",
        )


def add_unsafe_fixes(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--unsafe-fixes",
        action=argparse.BooleanOptionalAction,
        help="apply unsafe fixes, which may change behaviour beyond the bug",
    )


def add_configuration(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("configuration")
    group.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="use this configuration file and ignore all others",
    )
    group.add_argument("--isolated", action="store_true", help="ignore all configuration files")


def add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rules", "codes, names, prefixes or ALL, separated by commas")
    for option, text in (
        ("--select", "enable only these rules"),
        ("--extend-select", "enable these rules in addition"),
        ("--ignore", "ignore these rules"),
        ("--extend-ignore", "ignore these rules in addition"),
    ):
        group.add_argument(option, action="append", type=_comma_list, metavar="RULES", help=text)
    group.add_argument(
        "--preview", action=argparse.BooleanOptionalAction, help="enable rules in preview"
    )
    group.add_argument(
        "--fail-on",
        choices=[each.value for each in Severity],
        help="minimum severity for exit status 1 (default: warning)",
    )


def add_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files")
    group.add_argument(
        "--exclude",
        action="append",
        type=_comma_list,
        metavar="PATTERNS",
        help="exclude paths (.gitignore patterns), instead of the default patterns",
    )
    group.add_argument(
        "--extend-exclude",
        action="append",
        type=_comma_list,
        metavar="PATTERNS",
        help="exclude these paths in addition",
    )
    group.add_argument(
        "--force-exclude",
        action="store_true",
        help="exclude paths even if given on the command line",
    )
    group.add_argument(
        "--respect-gitignore",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="skip files ignored by git in the given directories (default)",
    )


def add_cache_dir(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--cache-dir",
        type=Path,
        metavar="DIR",
        default=os.environ.get("DISTLINT_CACHE_DIR") or None,
        help="cache directory (environment: DISTLINT_CACHE_DIR)",
    )


def resolver(chosen: argparse.Namespace, *, runs_rules: bool = False) -> Resolver:
    """Finds the settings of files under the options given.

    Args:
        chosen: the options.
        runs_rules: may the command run rules of projects? The user is told when it first does.

    Raises:
        ConfigError: if the options cannot be used.
    """
    given = replace(overrides(chosen), runs_rules=runs_rules)
    quiet = vars(chosen).get("quiet", False)
    return Resolver(given, announce=None if quiet else announce)


def announce(text: str) -> None:
    print(f"distlint: {text}", file=sys.stderr, flush=True)


def overrides(options: argparse.Namespace) -> Overrides:
    """What the options given set for every file.

    Raises:
        ConfigError: if they cannot be used.
    """
    given = vars(options)
    select = given.get("select")
    exclude = given.get("exclude")
    return Overrides(
        layer=Layer(
            select=None if select is None else _joined(select),
            extend_select=_joined(given.get("extend_select")),
            ignore=_joined(given.get("ignore")),
            extend_ignore=_joined(given.get("extend_ignore")),
        ),
        exclude=None if exclude is None else _joined(exclude),
        extend_exclude=_joined(given.get("extend_exclude")),
        preview=given.get("preview"),
        fail_on=Severity(given["fail_on"]) if given.get("fail_on") else None,
        cache_dir=_absolute(given.get("cache_dir")),
        baseline=_absolute(given.get("baseline")),
        config=explicit_config(options.config) if options.config else None,
        isolated=options.isolated,
    )


def colored(choice: str, stream: IO[str]) -> bool:
    """Should output to this stream have colours?"""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return drawn(stream)


def drawn(stream: IO[str]) -> bool:
    """Does a person read this stream, on a terminal that understands escape sequences?"""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def output(file: Path | None, default: IO[str]) -> Iterator[IO[str]]:
    """Where output goes: a file that the user named, with the folders above it, or the default.

    The file is written when all of it is there, so that a full disk leaves what was there before.
    """
    if file is None:
        yield default
        return
    from distlint.engine.writing import NotWritten, put

    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding="utf-8")
    yield stream
    stream.flush()
    with suppress(OSError):  # writing says better what is wrong
        file.parent.mkdir(parents=True, exist_ok=True)
    try:
        put(file, data.getvalue())
    except NotWritten as error:
        raise ConfigError(f"--output-file: {display(file)}: {error}") from None


def width() -> int:
    """Columns to fill: the terminal's, or COLUMNS."""
    return min(MAX_WIDTH, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)


def count(text: str) -> int:
    """A number from 1, as the type of an option."""
    found = whole_number(text) if text.isdecimal() else None
    if not found:
        raise argparse.ArgumentTypeError(f"invalid number of processes: {text[:40]}")
    return found


def seconds(text: str) -> float:
    """A time above zero, as the type of an option."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"invalid number of seconds: {text}")
    return found


def _comma_list(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _absolute(path: Path | None) -> Path | None:
    return Path(os.path.abspath(path)) if path else None


def _joined(lists: list[list[str]] | None) -> tuple[str, ...]:
    return tuple(item for items in lists or () for item in items)
