"""The folder of the cache: what is written there, and what is deleted of it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FOLDER = ".distlint_cache"

TAG = "CACHEDIR.TAG"

TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# This directory contains cached results of distlint, and can be deleted at any time.
# For information about cache directory tags see https://bford.info/cachedir/
"""

IGNORE = ".gitignore"

IGNORE_TEXT = "# Created by distlint.\n*\n"

DAYS_KEPT = 30
"""How long results are kept that no run has asked for."""

DAY = 86_400

_TEMPORARY = ".tmp"

_NAME = re.compile(r"[0-9a-f]{32}\.cache(\.\d+\.tmp)?")


def stamp(file: str | Path) -> tuple[int, int] | None:
    """When a file was written, in nanoseconds, and its size; None if it is not there."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def write(file: Path, text: str) -> None:
    """Put a text into a file, whole or not at all; a cache that cannot be written is none."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}{_TEMPORARY}")
    try:
        _prepare(file.parent.parent)
        file.parent.mkdir(exist_ok=True)
        try:
            temporary.write_text(text, encoding="utf-8")
            os.replace(temporary, file)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError:
        return


def _prepare(folder: Path) -> None:
    """Make the folder, marked for backups and for git as something that need not be kept."""
    if folder.is_dir() and any(folder.iterdir()):
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TAG).write_text(TAG_TEXT, encoding="utf-8")
    (folder / IGNORE).write_text(IGNORE_TEXT, encoding="utf-8")


def evict(folder: Path) -> None:
    """Delete files of configurations and versions that no run has used for long."""
    limit = time.time() - DAYS_KEPT * DAY
    for file in _files(folder):
        written = stamp(file)
        if written is not None and written[0] / 1e9 < limit:
            with suppress(OSError):
                file.unlink()
                file.parent.rmdir()


def _files(folder: Path) -> Iterator[Path]:
    """What caches have written below a folder, for this version or another."""
    for pattern in ("*.cache", f"*.cache.*{_TEMPORARY}"):
        for file in folder.glob(f"*/{pattern}"):
            if _NAME.fullmatch(file.name):
                yield file


def clean(folder: Path) -> bool:
    """Delete a cache, and nothing that a cache has not written; was there one?

    Raises:
        OSError: if something cannot be deleted.
    """
    files = list(_files(folder))
    if not files and not (folder / TAG).is_file():
        return False
    for file in files:
        file.unlink(missing_ok=True)
    for file, text in ((folder / TAG, TAG_TEXT), (folder / IGNORE, IGNORE_TEXT)):
        if file.is_file() and file.read_text("utf-8", errors="replace") == text:
            file.unlink()
    for emptied in (*{file.parent for file in files}, folder):
        with suppress(OSError):  # other files are kept there
            emptied.rmdir()
    return True
