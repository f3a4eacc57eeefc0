"""HTML pages of what each group of ranks does, which the editor opens from a finding."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsprotocol import types

from distlint.engine.errors import Superseded
from distlint.server.client import Client, plain
from distlint.server.documents import Documents, path_from_uri
from distlint.server.hover import function_at
from distlint.server.open_files import OpenFiles
from distlint.server.questions import Questions
from distlint.server.translate import lines_of
from distlint.source.document import DocumentError
from distlint.source.notebook import Notebook
from distlint.source.trace import Trace

SHOW_RANKS = "distlint.showRanks"


class TracePages:
    """Writes pages into a temporary directory, and has the editor open them."""

    def __init__(self, client: Client, documents: Documents, questions: Questions) -> None:
        self._client = client
        self._documents = documents
        self._questions = questions
        self._directory: Path | None = None

    def command(
        self, path: Path, diagnostic: types.Diagnostic, data: Mapping[object, object]
    ) -> types.Command:
        """What opens the page of a finding in a file; ``data`` is that of its diagnostic."""
        where = {
            "uri": self._documents.uri_of(path),
            "code": str(diagnostic.code),
            **{key: data.get(key) for key in ("row", "cell")},
        }
        return types.Command("Show the ranks", SHOW_RANKS, arguments=[where])

    async def show(self, where: object) -> None:
        """Open the page of a finding in the browser."""
        where = plain(where)
        if not isinstance(where, Mapping):
            return
        path, row, cell = path_from_uri(str(where.get("uri"))), where.get("row"), where.get("cell")
        if path is None or path not in self._documents.versions or not isinstance(row, int):
            return
        page = await self._questions.of_engine(
            path, trace_page, cell if isinstance(cell, int) else 0, row
        )
        if page is None:
            return
        if self._directory is None:
            self._directory = Path(tempfile.mkdtemp(prefix="distlint-"))
        file = self._directory / f"{path.stem}_{row}_{where.get('code')}.html"
        file.write_text(page, "utf-8")
        if not await self._client.opens(file):
            self._client.show(types.MessageType.Info, f"distlint: the ranks are shown in {file}")

    def close(self) -> None:
        """Remove the pages."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)


def trace_page(files: OpenFiles, path: Path, cell: int, row: int) -> str | None:
    """The page of the traces that lead through a row of an open file; None if it was closed."""
    from distlint.output import trace_html

    def read(source: Path, number: int) -> Sequence[str]:
        try:
            return lines_of(files.read(source), number)
        except (OSError, DocumentError):
            return ()

    while True:
        try:
            traces = _traces(files, path, cell, row)
            return None if traces is None else trace_html.render(traces, read)
        except Superseded:
            continue


def _traces(files: OpenFiles, path: Path, cell: int, row: int) -> list[Trace] | None:
    """Those in which ranks diverge at a row, else those of the function around it, else all."""
    analysis = files.checked(path)
    if analysis is None:
        return None
    document = analysis.document
    program = document.program_with(cell) if isinstance(document, Notebook) else document
    found = files.traces(analysis, cell, None)
    diverging = [trace for trace in found if not trace.aligned]
    here = [trace for trace in diverging if _leads_through(trace, path, cell, row)]
    if here or program is None:
        return here or found
    first = program.first_row(cell) if isinstance(program, Notebook) else 1
    function = function_at(program.text, row + first - 1)
    around = files.traces(analysis, cell, function) if function is not None else []
    return [trace for trace in around if not trace.aligned] or diverging or found


def _leads_through(trace: Trace, path: Path, cell: int, row: int) -> bool:
    steps = [step.place for each in trace.rows for step in each if step is not None]
    places = [*steps, *(decision.place for decision in trace.decisions)]
    return any(
        place is not None
        and (place.path, place.cell) == (path, cell)
        and place.span.row <= row <= place.span.end_row
        for place in places
    )
