"""What comes of checking a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from distlint.engine.settings import Settings
from distlint.source.document import Document
from distlint.source.finding import Finding, Meeting
from distlint.source.report import CommentKey, Notice, Reported
from distlint.source.requirements import Asked


@dataclass(frozen=True, slots=True)
class FileResult:
    """What came of one file; ``unused`` are findings void when one of their items is used."""

    path: Path
    reported: tuple[Reported, ...] = ()
    unused: tuple[tuple[Reported, frozenset[CommentKey]], ...] = ()
    used: frozenset[CommentKey] = frozenset()
    notices: tuple[Notice, ...] = ()
    noted: tuple[Reported, ...] = ()
    """Where the analysis is incomplete, unless that is among what is reported."""
    checked: bool = True
    suppressed: int = 0
    over_budget: int = 0
    roots: int = 0
    content: str = ""
    """A digest of the file, if the result may be kept."""
    asked: tuple[Asked, ...] = ()
    """What was asked about the requirements of the file's project."""


@dataclass(frozen=True, slots=True)
class State:
    """A document as a repair sees it.

    ``findings`` are all there are, suppressed and unselected ones included; ``proposed`` are those
    that the user is told of. ``failed`` are the codes of rules that raised, ``meetings`` those of
    ranks in collectives of different places.
    """

    document: Document
    findings: tuple[Finding, ...]
    proposed: tuple[Finding, ...]
    over_budget: int
    failed: frozenset[str] = frozenset()
    meetings: tuple[Meeting, ...] = ()


def joined(run: FileResult, file: FileResult) -> FileResult:
    """The results of a notebook and of a file that it writes, whose comments are its own."""
    unused = [item for item, keys in file.unused if file.used.isdisjoint(keys)]
    return replace(
        run,
        reported=(*run.reported, *file.reported, *unused),
        noted=(*run.noted, *file.noted),
        notices=(*run.notices, *file.notices),
        suppressed=run.suppressed + file.suppressed,
        over_budget=run.over_budget + file.over_budget,
        roots=run.roots + file.roots,
    )


def too_large(path: Path, size: int, settings: Settings) -> Notice:
    message = f"larger than max-file-size ({size:,} of {settings.max_file_size:,} bytes)"
    return Notice("skipped", message, path)


def crash(error: Exception, path: Path) -> Notice:
    import traceback

    what = str(error).split(os.linesep)[0]
    message = f"internal error: {type(error).__name__}" + (f": {what}" if what else "")
    detail = "".join(traceback.format_exception(error))
    return Notice("failed", message, path, detail)
