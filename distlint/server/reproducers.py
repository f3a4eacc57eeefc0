"""Scripts that show the hangs in an open file."""

from __future__ import annotations

from pathlib import Path

from distlint.engine.check import Session
from distlint.server.open_files import OpenFiles
from distlint.source.notebook import Notebook


def reproducer(files: OpenFiles, path: Path, row: int, code: str) -> tuple[str, str] | None:
    """The script for a finding and why there is none, one of them empty; None without a finding."""
    from distlint.confirm.reproducers import reproducers

    analysis = files.checked(path)
    if analysis is None or analysis.resolver is None or analysis.settings is None:
        return None
    if isinstance(analysis.document, Notebook):
        return "", "reproducers are written for scripts only"
    session = Session(analysis.resolver, files.buffers)
    for each in reproducers(analysis.document, session, analysis.settings):
        if each.finding.place.span.row == row and each.finding.code == code:
            return (each.script.source if each.script else "", each.reason)
    return None
