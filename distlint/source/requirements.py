"""What a file's project says: versions of a library, that it is it, what files beside it hold."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache, wraps
from pathlib import Path
from typing import TypeVar, cast

from distlint.source.document import digest
from distlint.source.nodes import starts_several_nodes
from distlint.source.numbers import version_numbers

_FILES = ("requirements*.txt", "pyproject.toml", "setup.py", "setup.cfg", "Pipfile")
_OF_CONDA = "*environment*.y*ml"
_PROSE = ("README*", "INSTALL*", "Dockerfile*", "install*.sh")
_OF_LAUNCHES = (
    "*.sh", "*.bash", "*.slurm", "*.sbatch", "*.sub", "*.job", "README*", "*.md", "*.yaml",
    "*.yml", "Makefile",
)  # fmt: skip
_LOCKS = ("Pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock")
_MAX_SIZE = 200_000
_MAX_FOLDERS = 2_000
_MAX_LAUNCHES = 1_000
_MAX_LOCK = 4_000_000
_PYTHON = re.compile(r"(?:requires-python|python_requires)\s*=\s*[\"']?([^\"'#\n]*)")
_AT_LEAST = re.compile(r"(?:>=?|~=|==|^=)\s*(\d+(?:\.\d+)*)")
_INCLUDES = re.compile(r"(?m)^\s*(?:-r|--requirement)[ =]\s*([\w./-]+)")
_LAUNCHERS = re.compile(r"\b(?:accelerate|deepspeed|torchrun|torch\.distributed|launch)\b")
_CONFIGURATION = re.compile(r"--config_file[ =]+[\"']?([\w./-]+)")
_BOUND = re.compile(r"(===?|~=|<=?|\^|^=)\s*v?(\d+(?:\.\d+)*)")
_DIGIT = re.compile(r"\d")
_PLAIN = re.compile(r"v?(\d+(?:\.\d+)+)")
_WHEEL = re.compile(r"@.*/[\w.]+-(\d+(?:\.\d+)+)\S*\.whl")
_OPERATORS = {"=": "==", "\u2265": ">=", "%E2%89%A5": ">="}
_CONDA_NAMES = {"torch": "pytorch"}
"""Libraries that conda has under another name, too; there ``=1.9`` asks for a version."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of this module, and what the answer was."""

    question: str
    file: Path
    words: tuple[str, ...]
    answer: bool

    @property
    def holds(self) -> bool:
        """Is that still the answer?

        Raises:
            KeyError, TypeError: if there is no such question.
        """
        return _QUESTIONS[self.question](self.file, *self.words) == self.answer

    @property
    def is_of_a_content(self) -> bool:
        """Does all that another file holds count, rather than one thing in it?"""
        return self.question in (bounds_are.__name__, holds.__name__, hold.__name__)


_Question = TypeVar("_Question", bound=Callable[..., bool])
_QUESTIONS: dict[str, Callable[..., bool]] = {}
_listeners: list[list[Asked]] = []


@contextmanager
def noted() -> Iterator[list[Asked]]:
    """Collects what is asked here meanwhile: an analysis depends on the answers."""
    heard: list[Asked] = []
    _listeners.append(heard)
    try:
        yield heard
    finally:
        _listeners.pop()


def _question(function: _Question) -> _Question:
    _QUESTIONS[function.__name__] = function

    @wraps(function)
    def ask(file: Path, *words: str) -> bool:
        answer = function(file, *words)
        _note(function.__name__, file, words, answer)
        return answer

    return cast(_Question, ask)


def _note(question: str, file: Path, words: tuple[str, ...], answer: bool = True) -> None:
    for heard in _listeners:
        heard.append(Asked(question, file, words, answer))


@_question
def is_source_of(file: Path, package: str) -> bool:
    """Does a file belong to the repository of the package itself?"""
    return any(
        (folder / inside / package / "__init__.py").is_file()
        for folder in _folders(file)
        for inside in ("src", "")
    )


@_question
def asks_for_older(file: Path, library: str, version: str) -> bool:
    """Does the project hold itself to versions of a library that are older than this one?

    The requirement files nearest to the file that name the library decide; if none of them has a
    version, what the nearest README says.
    """
    return any(_excludes(bounds, version) for bounds in _bounds_or_said(file, library))


@_question
def runs_on_older(file: Path, library: str, version: str) -> bool:
    """Does the project promise to run with versions of a library that are older than this one?

    Nothing that names no lowest version is no such promise.
    """
    lowest = [
        _numbers(text)
        for bounds in _bounds_or_said(file, library)
        for text in _AT_LEAST.findall(bounds)
    ]
    return any(each < _numbers(version) for each in lowest)


def bounds_of(file: Path, library: str) -> tuple[str, ...]:
    """What follows the name of a library in the nearest requirement files that give a version.

    If none does, in the nearest that name it.
    """
    nearest: tuple[str, ...] = ()
    named, in_conda = _naming(library), _naming(_CONDA_NAMES.get(library, library))
    for folder in _folders(file):
        asked = [rest for text in _texts(folder) for rest in named.findall(text)]
        if in_conda is not named:
            asked += [r for text in _matching(folder, _OF_CONDA) for r in in_conda.findall(text)]
        asked += _locked(folder, library)
        if any(_DIGIT.search(bounds) for bounds in asked):
            return tuple(map(_with_operator, asked))
        nearest = nearest or tuple(asked)
    return nearest


def _with_operator(bounds: str) -> str:
    """The bounds of ``pip list``, poetry and wheels, ``torch 2.1.0``, as pip writes them."""
    exact = _PLAIN.match(bounds) or _WHEEL.match(bounds)
    return f"=={exact[1]}" if exact else bounds


def _bounds_or_said(file: Path, library: str) -> tuple[str, ...]:
    """The same; without a version there, the versions in the nearest text for readers."""
    asked = bounds_of(file, library)
    if any(_DIGIT.search(bounds) for bounds in asked):
        return asked
    said = _saying(library)
    for folder in _folders(file):
        texts = [text for pattern in _PROSE for text in _matching(folder, pattern)]
        found = [
            f"{'>=' if later else _OPERATORS.get(operator, operator or '==')}{version}"
            for text in texts
            for operator, version, later in said.findall(text)
        ]
        if found:
            return tuple(found)
    return ()


@lru_cache
def _saying(library: str) -> re.Pattern[str]:
    """A library and its version in a text: ``PyTorch==1.8.0``, ``PyTorch 1.8 or later``."""
    names = {library, _CONDA_NAMES.get(library, library)}
    name = "|".join(re.escape(each).replace(r"\-", "[ _-]") for each in sorted(names))
    filler = r"[ \t`*|:()\[\]_-]*"
    return re.compile(
        rf"(?i)(?<![\w.-])(?:{name})(?![\w.]){filler}(?:versions?\b)?{filler}"
        r"(===?|~=|[<>]=?|=|\u2265|%E2%89%A5)?[ \t]*v?(\d+(?:\.\d+)+)(?![\d.]*[\w%])"
        r"([ \t`*)]*(?:\+(?!\w)|(?:or|and)[ \t]+(?:above|greater|higher|later|newer|up)\b))?"
    )


@lru_cache
def _naming(library: str) -> re.Pattern[str]:
    toml = r"=\s*(?:\{[^}\n]*?\bversion\s*=\s*)?[\"']"
    return re.compile(
        rf"(?<![\w.-]){re.escape(library)}(?![\w.:-])\s*(?:\[[^\]]*\])?\s*(?:{toml})?([^\"'#;\n]*)"
    )


def _locked(folder: Path, library: str) -> list[str]:
    """The versions of a library that the files with the resolved requirements name."""
    return [
        f"=={version}"
        for name in _LOCKS
        for text in _read(folder / name, _MAX_LOCK)
        for found in _lock_entry(library).findall(text)
        for version in found
        if version
    ]


@lru_cache
def _lock_entry(library: str) -> re.Pattern[str]:
    toml = rf'name = "{re.escape(library)}"\r?\nversion = "([^"]*)"'
    json = rf' +"{re.escape(library)}": \{{[^{{}}]*?"version": "==([^"]*)"'
    return re.compile(rf"(?m)^(?:{toml}|{json})")


def bounds(file: Path, library: str) -> tuple[str, ...]:
    """The same, and an analysis depends on all of it."""
    found = bounds_of(file, library)
    _note(bounds_are.__name__, file, (library, *found))
    return found


@_question
def bounds_are(file: Path, library: str, *found: str) -> bool:
    """Is this what follows the name of a library there?"""
    return bounds_of(file, library) == found


def content(file: Path, most: int) -> bytes | None:
    """What a file holds; None if it is not there, or larger than ``most`` bytes."""
    found = _content(file, most)
    _note(holds.__name__, file, (str(most), _mark(found)))
    return found


@_question
def holds(file: Path, most: str, mark: str) -> bool:
    """Does a file hold what it held?"""
    return _mark(_content(file, int(most))) == mark


def contents(folder: Path, pattern: str, most: int) -> list[bytes]:
    """What the first so many files of a folder hold, by a pattern for their names."""
    found = _contents(folder, pattern, most)
    _note(hold.__name__, folder, (pattern, str(most), *map(_mark, found)))
    return found


@_question
def hold(folder: Path, pattern: str, most: str, *marks: str) -> bool:
    """Do the files of a folder hold what they held?"""
    return tuple(map(_mark, _contents(folder, pattern, int(most)))) == marks


@_question
def runs_on_older_python(file: Path, version: str) -> bool:
    """Does the project of a file promise to run on a Python that is older than this version?

    Nothing that is written with plain numbers is no such promise.
    """
    for folder in _folders(file):
        asked = [bounds for text in _texts(folder) for bounds in _PYTHON.findall(text)]
        if asked:
            lowest = [_numbers(text) for bounds in asked for text in _AT_LEAST.findall(bounds)]
            return any(each < _numbers(version) for each in lowest)
    return False


@_question
def is_beside(file: Path, *patterns: str) -> bool:
    """Does another script of the folder have all that these patterns look for?"""
    return _is_in_one_of(_others(file, "*.py"), patterns)


@_question
def is_run_beside(file: Path, *patterns: str) -> bool:
    """The same, also for scripts of the shell and of Slurm."""
    kinds = ("*.py", "*.sh", "*.sbatch", "*.slurm")
    return _is_in_one_of([each for kind in kinds for each in _others(file, kind)], patterns)


@_question
def is_among_tests(file: Path) -> bool:
    """Does a file stand in a folder of its repository that holds the tests?"""
    return any(
        folder.name == "tests" and not (folder / ".git").exists() for folder in _folders(file)
    )


@_question
def is_launched_with(file: Path, words: str, settings: str) -> bool:
    """Do all commands in scripts of its repository that launch a file have these words?

    Or name a configuration with these settings. ``words`` and ``settings`` are patterns.
    """
    found = [
        re.search(words, command) is not None or _configures(script, command, settings)
        for script in _scripts(file)
        for command in _launches(script, file.name)
    ]
    return bool(found) and all(found)


@_question
def runs_on_several_nodes(file: Path) -> bool:
    """Does a launch line, a text for readers or a configuration of its repository do so?

    Scripts in Python count if they stand beside the file.
    """
    folders = list(_folders(file))
    found = _others(file, "*.py")
    if not (folders[-1] / ".git").exists():
        found += [path for kind in _OF_LAUNCHES for path in _others(file, kind)]
    else:
        found += _matching_below(folders[-1], _OF_LAUNCHES)
    return any(starts_several_nodes(text) for path in found for text in _read(path))


def _matching_below(root: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    """The files of a repository with such names, the first so many."""
    count = 0
    for number, (folder, inner, names) in enumerate(os.walk(root)):
        inner[:] = sorted(name for name in inner if name[0] != ".")
        for name in sorted(names):
            if any(fnmatch(name, pattern) for pattern in patterns):
                yield Path(folder, name)
                count += 1
        if number == _MAX_FOLDERS or count > _MAX_LAUNCHES:
            return


def _scripts(file: Path) -> list[Path]:
    """The shell scripts of a file's repository, or beside it, and the texts above it."""
    folders = list(_folders(file))
    if not (folders[-1] / ".git").exists():
        return _others(file, "*.sh")
    found = [path for folder in folders for path in sorted(folder.glob("README*"))]
    for number, (folder, inner, names) in enumerate(os.walk(folders[-1])):
        if number == _MAX_FOLDERS:
            break
        inner[:] = sorted(name for name in inner if name[0] != ".")
        found += [Path(folder, name) for name in sorted(names) if name.endswith(".sh")]
    return found


def _launches(script: Path, name: str) -> list[str]:
    """The commands of a script that launch a Python file of this name."""
    launched = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
    return [
        command
        for text in _read(script)
        if name in text
        for command in text.replace("\\\n", " ").splitlines()
        if launched.search(command) and _LAUNCHERS.search(command)
    ]


def _configures(script: Path, command: str, settings: str) -> bool:
    """Has the configuration that a command names these settings?"""
    return any(
        re.search(settings, text)
        for name in _CONFIGURATION.findall(command)
        for folder in _folders(script)
        for text in _read(folder / name)
    )


def _others(file: Path, pattern: str) -> list[Path]:
    with suppress(OSError):
        return sorted(path for path in file.parent.glob(pattern) if path.name != file.name)
    return []


def _is_in_one_of(files: list[Path], patterns: tuple[str, ...]) -> bool:
    searches = [re.compile(pattern) for pattern in patterns]
    return any(
        all(search.search(text) for search in searches) for file in files for text in _read(file)
    )


def _content(file: Path, most: int) -> bytes | None:
    try:
        if not file.is_file() or file.stat().st_size > most:
            return None
        return file.read_bytes()
    except (OSError, ValueError):
        return None


def _contents(folder: Path, pattern: str, most: int) -> list[bytes]:
    found = []
    with suppress(OSError):
        for path in sorted(folder.glob(pattern))[:most]:
            with suppress(OSError):  # a folder, or one that may not be read
                found.append(path.read_bytes())
    return found


def _mark(data: bytes | None) -> str:
    return "" if data is None else digest(data)


def _folders(file: Path) -> Iterator[Path]:
    """The folders that a file stands in, up to the root of its repository."""
    for folder in file.parents:
        yield folder
        if (folder / ".git").exists():
            return


def _texts(folder: Path) -> Iterator[str]:
    for pattern in _FILES:
        for text in _matching(folder, pattern):
            yield text
            yield from _included(folder, text)
    yield from _matching(folder, _OF_CONDA)


def _matching(folder: Path, pattern: str) -> Iterator[str]:
    with suppress(OSError):
        for path in sorted(folder.glob(pattern)):
            yield from _read(path)


def _read(path: Path, most: int = _MAX_SIZE) -> Iterator[str]:
    with suppress(OSError):
        if path.is_file() and path.stat().st_size <= most:
            yield path.read_text(encoding="utf-8", errors="replace")


def _included(folder: Path, text: str) -> Iterator[str]:
    """The files below the folder that a requirement file takes in: ``-r requirements/base.txt``."""
    for name in _INCLUDES.findall(text):
        path = folder / name
        if ".." not in path.parts:
            yield from _read(path)


def _excludes(bounds: str, version: str) -> bool:
    """Do bounds such as ``>=0.16,<1.0`` leave out a version and all later ones?"""
    limit = _numbers(version)
    for operator, text in _BOUND.findall(bounds):
        bound = _numbers(text)
        if operator == "~=":
            bound = _next(bound[:-1])
        elif operator == "^":
            bound = _next(bound[: next((i for i, n in enumerate(bound) if n), 0) + 1])
        if bound < limit or (bound == limit and operator in ("<", "~=", "^")):
            return True
    return False


def _next(version: tuple[int, ...]) -> tuple[int, ...]:
    return (*version[:-1], version[-1] + 1) if version else (1,)


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, without the zeros at its end: 1.0 is 1."""
    numbers = list(version_numbers(version))
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
