"""``distlint check --watch``: check again whenever a file changes."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from distlint.cli import options
from distlint.engine.config_file import FILE_NAME, PYPROJECT
from distlint.engine.discovery import discover, meant, reason
from distlint.engine.errors import ConfigError
from distlint.source.paths import display

INTERVAL = 0.4
"""Seconds between two looks at the files; more where a look itself takes long."""

_SHARE = 10  # of the time that may go into looking: one part in so many
_CLEAR = "\033[2J\033[3J\033[H"

_START = f"""\
import sys
sys.path[:] = [*filter(None, sys.path), {str(Path(__file__).parents[2])!r}]
from distlint.cli import main
sys.exit(main())
"""
"""As the script, which imports nothing from the working directory, unlike ``python -m``."""

State = dict[Path, tuple[int, int] | None]
"""When each file was last written, and its size; None for one that is not there."""


def watch(chosen: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Run the same command without ``--watch`` after every change, until the user has enough."""
    _refuse_missing(chosen.paths)
    command = [sys.executable, "-c", _START, "check"]
    command += [each for each in arguments if each != "--watch"]
    state: State | None = None
    while True:
        state = _changed(chosen, state)
        if sys.stdout.isatty():
            print(_CLEAR, end="", flush=True)
        # A process of its own has read no file before, be it a module, a rule or a setting.
        subprocess.run(command, check=False)
        if not chosen.quiet:
            print("Watching for changes. Press Ctrl-C to stop.", file=sys.stderr, flush=True)


def _refuse_missing(paths: Sequence[Path]) -> None:
    """A path that does not exist is a slip; what is deleted later is watched all the same."""
    for path in paths:
        try:
            os.stat(path)
        except (OSError, ValueError) as error:
            why = reason(error) + meant(path)
            raise ConfigError(f"{display(Path(os.path.abspath(path)))}: {why}") from None


def _changed(chosen: argparse.Namespace, before: State | None) -> State:
    """The files as they are, once that is not as before."""
    while True:
        start = time.monotonic()
        state = {path: _stamp(path) for path in _files(chosen, before or {})}
        if state != before:
            return state
        time.sleep(max(INTERVAL, (time.monotonic() - start) * _SHARE))


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _files(chosen: argparse.Namespace, before: State) -> Iterator[Path]:
    """What a run may read: the files, the rest of their projects for imports, the settings."""
    paths = chosen.paths or [Path()]
    try:
        resolver = options.resolver(chosen)
        found = discover(
            paths,
            resolver,
            force_exclude=chosen.force_exclude,
            respect_gitignore=chosen.respect_gitignore,
        )
        files = [target.path for target in found.targets]
        settings = {resolver.of_file(file).root: resolver.of_file(file) for file in files}
        projects = discover(sorted(settings), resolver)
    except ConfigError:  # which the run itself tells; what was watched may fix it
        absolute = [Path(os.path.abspath(path)) for path in paths]
        above = {each for path in absolute for each in (path, *path.parents)}
        yield from before or _settings(above)
        return
    yield from files
    yield from (target.path for target in projects.targets)
    yield from _settings({folder for file in files for folder in file.parents})
    for each in settings.values():
        own = [path for path in (*each.catalogue, *each.rules) if isinstance(path, Path)]
        yield from (*each.sources, *own, *([each.baseline] if each.baseline else ()))


def _settings(folders: set[Path]) -> Iterator[Path]:
    for folder in folders:
        yield folder / FILE_NAME
        yield folder / PYPROJECT
