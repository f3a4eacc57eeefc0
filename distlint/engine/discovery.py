"""Which files a run is about: named ones always, and what lies below named folders."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from distlint.engine.gitignore import Ignored
from distlint.engine.patterns import Pattern
from distlint.engine.selection import exact
from distlint.engine.settings import Resolver
from distlint.source.notebook import SUFFIX
from distlint.source.report import Notice
from distlint.source.settings.kinds import (
    MAX_SIZE,
    PYTHON_SUFFIXES,
    is_about_training,
    kind_of,
    may_be_source,
)

_NEVER_MEANT = frozenset({".git", ".distlint_cache", "__pycache__"})
"""Excluded entries that no user misses."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file to check, as an absolute path."""

    path: Path
    named: bool


@dataclass(slots=True)
class Discovered:
    """The files in order, without duplicates, and what is to be said about the rest."""

    targets: list[Target] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def discover(
    paths: Sequence[Path],
    resolver: Resolver,
    *,
    force_exclude: bool = False,
    respect_gitignore: bool = True,
) -> Discovered:
    """Find the files. A path that cannot be looked at becomes a notice; the others go on.

    Raises:
        ConfigError: if the configuration of a folder cannot be used.
    """
    found = Discovered()
    search = _Search(resolver, found, force_exclude, respect_gitignore)
    for path in paths:
        search.named(path)
    found.targets = _distinct(found.targets)
    found.notices.sort(key=lambda notice: (str(notice.path), notice.message))
    return found


def meant(given: Path) -> str:
    """What was probably meant by a path that cannot be used, as the end of a message."""
    name = str(given)
    file, mark, _ = name.partition("::")
    if mark and os.path.isfile(file):
        return f"; functions are supported by `distlint trace` only; did you mean `{file}`?"
    if exact(name) is not None:
        return f"; separate rules with commas: `--select DST101,{name}`"
    if os.path.isfile(f"{name}.py"):
        return f"; did you mean `{name}.py`?"
    return ""


def reason(error: OSError | ValueError) -> str:
    """Why a path cannot be used, without errno numbers and paths."""
    if isinstance(error, OSError):
        if error.errno == errno.ELOOP:
            return "circular symbolic link"
        if error.errno == errno.ENOENT:
            return "no such file or directory"
        return (error.strerror or str(error)).lower()
    return str(error)


@dataclass(slots=True)
class _Search:
    resolver: Resolver
    found: Discovered
    force_exclude: bool
    respect_gitignore: bool

    def named(self, given: Path) -> None:
        path = Path(os.path.abspath(given))
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError) as error:
            self._fail(path, reason(error) + meant(given))
            return
        if stat.S_ISDIR(mode):
            self.resolver.named.append(path)
            if not self._forced_out(path):
                before = len(self.found.targets), len(self.found.notices)
                excluded = self._walk(path)
                if before == (len(self.found.targets), len(self.found.notices)):
                    self.found.notices.append(_nothing_in(path, excluded))
        elif stat.S_ISREG(mode):
            self.resolver.named.append(path.parent)
            if not self._forced_out(path):
                self.found.targets.append(Target(path, named=True))
        else:
            self._fail(path, "not a regular file; use - to read from standard input")

    def _forced_out(self, path: Path) -> bool:
        if not self.force_exclude:
            return False
        return any(p.names(path) for p in self.resolver.of_folder(path.parent).exclude)

    def _walk(self, root: Path) -> int:
        """Find the files below a directory; how many entries are excluded or ignored by git."""
        excluded = 0
        ignored = Ignored.above(root) if self.respect_gitignore else Ignored(())
        pending = [(root, ignored)]
        while pending:
            folder, ignored = pending.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self._fail(folder, f"cannot read directory: {reason(error)}")
                continue
            if self.respect_gitignore and any(entry.name == ".gitignore" for entry in entries):
                ignored = ignored.within(folder)
            patterns = self._patterns(folder, root)
            for entry in entries:
                path = folder / entry.name
                is_folder = self._is_folder(entry)
                if not is_folder and not is_source(entry.name):
                    continue
                if _excluded(path, patterns, ignored, folder=is_folder):
                    excluded += entry.name not in _NEVER_MEANT
                elif is_folder:
                    pending.append((path, ignored))
                else:
                    self._file(path, entry)
        return excluded

    def _patterns(self, folder: Path, root: Path) -> list[Pattern]:
        """The patterns in force, but for those that rule out the very folder that was named."""
        return [p for p in self.resolver.of_folder(folder).exclude if not _rules_out(p, root)]

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        """A folder to enter. Links to folders are not followed, so there are no loops."""
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError:
            return False

    def _file(self, path: Path, entry: os.DirEntry[str]) -> None:
        try:
            mode = entry.stat().st_mode
        except OSError as error:
            if entry.is_symlink():
                why = reason(error) if error.errno == errno.ELOOP else "broken symbolic link"
                self.found.notices.append(Notice("skipped", why, path))
            else:
                self._fail(path, reason(error))
            return
        if stat.S_ISREG(mode):
            suffix = path.suffix.lower()
            if suffix in PYTHON_SUFFIXES or suffix == SUFFIX or _is_about_training(path, entry):
                self.found.targets.append(Target(path, named=False))
        elif not stat.S_ISDIR(mode):
            self.found.notices.append(Notice("skipped", "not a regular file", path))

    def _fail(self, path: Path, message: str) -> None:
        self.found.notices.append(Notice("failed", message, path))


def _nothing_in(path: Path, excluded: int) -> Notice:
    """A directory without files to check: which kinds were looked for."""
    message = (
        "nothing to check: no Python files, notebooks, or training settings in JSON, YAML, "
        "shell scripts, Dockerfiles or Makefiles"
    )
    if excluded:
        entries = "1 entry is" if excluded == 1 else f"{excluded:,} entries are"
        message += f" ({entries} excluded or ignored by git)"
    return Notice("nothing", message, path)


def is_source(name: str) -> bool:
    """May a file of this name be one to check? The pre-commit hooks ask the same by `files`."""
    return may_be_source(name) or os.path.splitext(name)[1].lower() == SUFFIX


def _is_about_training(path: Path, entry: os.DirEntry[str]) -> bool:
    """Does a file that is no Python configure or start a training, by its content?"""
    try:
        if entry.stat().st_size > MAX_SIZE:
            return False
        with open(path, "rb") as file:
            first = file.read(256)
            kind = kind_of(path, first)
            if kind is None or kind == "python":  # a script without a suffix has to be named
                return False
            return is_about_training(kind, path, first + file.read())
    except OSError:
        return False


def _excluded(
    path: Path, patterns: Sequence[Pattern], ignored: Ignored, *, folder: bool = False
) -> bool:
    return any(p.names_entry(path, folder) for p in patterns) or ignored.covers(path, folder)


def _rules_out(pattern: Pattern, root: Path) -> bool:
    return not pattern.plain and pattern.names(root)


def _distinct(targets: list[Target]) -> list[Target]:
    """Each file once, in the order of the paths; under its real path rather than through a link."""
    folders: dict[Path, str] = {}
    by_file: dict[str, Target] = {}
    for target in sorted(targets, key=lambda target: target.path):
        real = _real(target.path, folders)
        known = by_file.get(real)
        named = target.named or (known is not None and known.named)
        if known is None or str(target.path) == real:
            by_file[real] = Target(target.path, named)
        else:
            by_file[real] = Target(known.path, named)
    return sorted(by_file.values(), key=lambda target: target.path)


def _real(path: Path, folders: dict[Path, str]) -> str:
    """``os.path.realpath``, resolving each folder once."""
    if path.is_symlink():
        return os.path.realpath(path)
    if path.parent not in folders:
        folders[path.parent] = os.path.realpath(path.parent)
    return os.path.join(folders[path.parent], path.name)
