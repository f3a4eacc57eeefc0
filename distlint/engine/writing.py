"""Replace what a file holds, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

NEW_MODE = 0o644
"""Of a file that was not there."""


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
            raise NotWritten("it is read-only")
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


def _expect(target: Path, old: bytes | None) -> None:
    if (target.read_bytes() if target.exists() else None) != old:
        raise NotWritten("it has changed since it was read")


def _written(target: Path, data: bytes, status: os.stat_result | None) -> str:
    """A complete file beside the target, with its mode and owner."""
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:64]}.", dir=target.parent)
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
        return f"its folder {target.parent} is read-only"
    return error.strerror or str(error)
