"""Replace what a file holds, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

NEW_MODE = 0o644
"""Of a file that was not there."""
HOURS_KEPT = 1
"""After so long, a temporary file belongs to no process that is still writing."""

_OPEN_FILES = ("/dev/", "/proc/")
"""Where a name may stand for a file that another process writes to, such as `/dev/stdout`."""
_SUFFIX = ".distlint"
_TEMPORARY = re.compile(rf"\..+\.(\d{{1,10}})\.[a-z0-9_]{{8}}{re.escape(_SUFFIX)}", re.DOTALL)


class NotWritten(Exception):
    """Why a file was left as it is."""


def replace(path: Path, old: bytes | None, new: bytes) -> None:
    """Put new bytes in the place of the old ones, or of no file (``old`` is None).

    The new file is complete on the disk before it takes the name of the old one, so that whoever
    reads it, even after a crash, finds one or the other. Links are followed, mode and owner stay.

    Raises:
        NotWritten: if the file may not be written or no longer holds ``old``.
    """
    target = Path(os.path.realpath(path))
    try:
        status = os.stat(target) if old is not None else None
        if status is not None and not os.access(target, os.W_OK):
            raise NotWritten("the file is read-only")
        _expect(target, old)
        temporary = _written(target, new, status)
    except OSError as error:
        raise NotWritten(_reason(error, target)) from None
    try:
        _expect(target, old)
        os.replace(temporary, target)
    except BaseException as error:
        _discard(temporary)
        if isinstance(error, OSError):
            raise NotWritten(_reason(error, target)) from None
        raise
    _sync_folder(target.parent)


def put(path: Path, data: bytes) -> None:
    """Write a file whatever it held: whole, or not at all where its directory lets us.

    A pipe, a device, and a file in a directory that is read-only are written to as they are.

    Raises:
        BrokenPipeError: if the other end of a pipe is closed.
        NotWritten: if it cannot be written.
    """
    try:
        status = os.stat(path) if path.exists() else None
        if status is not None and not _is_replaceable(path, status):
            path.write_bytes(data)
            return
        target = Path(os.path.realpath(path))
        temporary = _written(target, data, status)
        try:
            os.replace(temporary, target)
        except BaseException:
            _discard(temporary)
            raise
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from None


def _is_replaceable(path: Path, status: os.stat_result) -> bool:
    if not stat.S_ISREG(status.st_mode) or str(path).startswith(_OPEN_FILES):
        return False
    return os.access(Path(os.path.realpath(path)).parent, os.W_OK | os.X_OK)


def beyond(path: Path, directories: Iterable[Path]) -> Path | None:
    """The file that a link leads to, if it is below none of the directories."""
    real = os.path.realpath(path)
    if any(real.startswith(os.path.join(os.path.realpath(each), "")) for each in directories):
        return None
    return Path(real)


def sweep(directories: Iterable[Path]) -> None:
    """Delete the temporary files of processes that were killed while they wrote."""
    for directory in directories:
        with contextlib.suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                if entry.name.endswith(_SUFFIX) and _is_left_over(entry):
                    _discard(entry.path)


def _is_left_over(entry: os.DirEntry[str]) -> bool:
    named = _TEMPORARY.fullmatch(entry.name)
    if named is None or not entry.is_file(follow_symlinks=False):
        return False
    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
    return age > HOURS_KEPT * 3600 or not _is_running(int(named[1]))


def _is_running(process: int) -> bool:
    """Does a process still run, as far as that can be told?"""
    if sys.platform == "win32":  # where this would end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _expect(target: Path, old: bytes | None) -> None:
    if (target.read_bytes() if target.exists() else None) != old:
        raise NotWritten("the file was modified in the meantime")


def _written(target: Path, data: bytes, status: os.stat_result | None) -> str:
    """A complete file beside the target, with its mode and owner."""
    prefix = f".{target.name[:32]}.{os.getpid()}."
    handle, temporary = tempfile.mkstemp(prefix=prefix, suffix=_SUFFIX, dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if status and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):  # a group we are not in
                    os.fchown(file.fileno(), status.st_uid, status.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode) if status else NEW_MODE)
            os.fsync(file.fileno())
    except BaseException:
        _discard(temporary)
        raise
    return temporary


def _discard(temporary: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(temporary)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system lets us."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _reason(error: OSError, target: Path) -> str:
    if isinstance(error, PermissionError):
        return f"the directory {target.parent} is read-only"
    return error.strerror or str(error)
