"""Code actions: quick fixes, suppression comments, reproducers, all safe fixes together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from lsprotocol import types

from distlint.engine.errors import ConfigError
from distlint.engine.ignores import comments, document_with
from distlint.engine.writing import NotWritten
from distlint.server.client import Client, plain
from distlint.server.documents import Documents
from distlint.server.open_files import Analysis
from distlint.server.publisher import Publisher
from distlint.server.questions import Questions
from distlint.server.trace_pages import TracePages
from distlint.server.translate import SOURCE, Change, text_edits
from distlint.source.document import Document
from distlint.source.edits import difference
from distlint.source.finding import Edit
from distlint.source.notebook import Notebook, relative

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.distlint"
FIX_ALL_CELLS = f"notebook.{FIX_ALL}"


class CodeActions:
    """Offers code actions for what was found, and makes their edits."""

    def __init__(
        self,
        client: Client,
        documents: Documents,
        publisher: Publisher,
        questions: Questions,
        pages: TracePages,
    ) -> None:
        self._client = client
        self._documents = documents
        self._publisher = publisher
        self._questions = questions
        self._pages = pages

    async def asked(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        uri = params.text_document.uri
        analysis = await self._questions.by_now(uri)
        if analysis is None:
            return None
        found = self._quick_fixes(params.context, analysis)
        fixable = any(
            item.finding.fix and item.finding.fix.applicability == "safe"
            for item in analysis.reported
        )
        # one cell is none by itself
        kind = FIX_ALL_CELLS if uri in self._documents.cells else FIX_ALL
        if fixable and _is_asked(kind, params.context.only):
            action = types.CodeAction("distlint: Apply all safe fixes", kind=kind)
            if self._client.resolves_edits:
                action.data = {"uri": uri}
            else:
                action.edit = await self._fix_all(uri)
            if action.data or action.edit:
                found.append(action)
        return found

    async def resolved(self, action: types.CodeAction) -> types.CodeAction:
        """An action that was chosen, with its edit."""
        data = plain(action.data)
        if action.edit is None and isinstance(data, Mapping):
            uri = str(data.get("uri"))
            if "code" in data:
                row, code = _number(data.get("row")), str(data["code"])
                action.edit = await self._reproducer(uri, row, code)
            else:
                action.edit = await self._fix_all(uri)
        return action

    def _quick_fixes(
        self, context: types.CodeActionContext, analysis: Analysis
    ) -> list[types.CodeAction]:
        found: list[types.CodeAction] = []
        if _is_asked(types.CodeActionKind.QuickFix.value, context.only):
            for diagnostic in context.diagnostics:
                if diagnostic.source == SOURCE:
                    found += self._quick_fixes_of(diagnostic, analysis)
        return found

    def _quick_fixes_of(
        self, diagnostic: types.Diagnostic, analysis: Analysis
    ) -> list[types.CodeAction]:
        """The fix that a diagnostic carries, and a comment that switches it off."""
        data = plain(diagnostic.data)
        if not isinstance(data, Mapping) or data.get("version") != analysis.version:
            return []  # of a text that is no longer there
        found = []
        fix = data.get("fix")
        if isinstance(fix, Mapping):
            with contextlib.suppress(KeyError, TypeError, ValueError):
                safe = fix["applicability"] == "safe"
                found.append(
                    types.CodeAction(
                        f"{fix['message']}{'' if safe else ' (unsafe)'}",
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[diagnostic],
                        is_preferred=safe,
                        edit=self._edit(analysis.version, text_edits(fix)),
                    )
                )
        shows_ranks = _shows_ranks(diagnostic, data, analysis)
        if self._client.runs_commands and shows_ranks:
            command = self._pages.command(analysis.document.path, diagnostic, data)
            found.append(
                types.CodeAction(
                    command.title,
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    command=command,
                )
            )
        is_script = not isinstance(analysis.document, Notebook)
        if self._client.creates_files and shows_ranks and is_script:
            where = {"uri": self._documents.uri_of(analysis.document.path), "row": data.get("row")}
            found.append(
                types.CodeAction(
                    "Write a script that shows this hang",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    data={**where, "code": str(diagnostic.code)},
                )
            )
        comment = self._comment(diagnostic, data, analysis)
        if comment:
            found.append(
                types.CodeAction(
                    f"Ignore {diagnostic.code} ({data.get('name')}) on this line",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    edit=self._edit(analysis.version, comment),
                )
            )
        return found

    def _comment(
        self, diagnostic: types.Diagnostic, data: Mapping[str, object], analysis: Analysis
    ) -> list[Change]:
        """The edit that writes a suppression comment; none where no comment can."""
        document = analysis.document
        if isinstance(document, Notebook):
            document = document.program_with(_number(data.get("cell"))) or document
        items = [
            item
            for item in analysis.reported
            if item.finding.code == diagnostic.code
            and item.finding.place.span.row == data.get("row")
            and item.finding.place.cell == data.get("cell")
            and item.finding.place.path == document.path
            and item.finding.code not in ("DST000", "DST001")
            and item.noqa_row is not None
        ]
        if not items or analysis.resolver is None:
            return []
        try:
            edits = comments(document, items[:1], analysis.resolver)
            document_with(document, edits)
        except (NotWritten, ConfigError):
            return []
        edits = [relative(document, edit) for edit in edits]
        return self._publisher.translator.edits(document, edits)

    async def _fix_all(self, uri: str) -> types.WorkspaceEdit | None:
        """All safe fixes together, proven as ``distlint fix`` proves them."""
        path = self._documents.path_of(uri)
        if path is None:
            return None
        result = await self._questions.repaired(path)
        if result is None:
            return None
        before, after, version = result
        if self._documents.versions.get(path) != version:
            return None  # of a text that is no longer there
        edits = list(_differences(before, after))
        translator = self._publisher.translator
        return self._edit(version, translator.edits(before, edits)) if edits else None

    async def _reproducer(self, uri: str, row: int, code: str) -> types.WorkspaceEdit | None:
        """A new file next to the script, with what shows a hang."""
        path = self._documents.path_of(uri)
        written = await self._questions.reproducer(path, row, code) if path is not None else None
        if path is None or written is None:
            return None
        source, reason = written
        if not source:
            self._client.show(types.MessageType.Info, f"distlint: no script: {reason}")
            return None
        target, number = path.with_name(f"{path.stem}_{row}_{code}.py"), 2
        while target.exists():
            target, number = path.with_name(f"{path.stem}_{row}_{code}_{number}.py"), number + 1
        created = self._documents.uri_of(target)
        start = types.Range(types.Position(0, 0), types.Position(0, 0))
        document = types.OptionalVersionedTextDocumentIdentifier(created, None)
        return types.WorkspaceEdit(
            document_changes=[
                types.CreateFile(created),
                types.TextDocumentEdit(document, [types.TextEdit(start, source)]),
            ]
        )

    def _edit(self, version: int, changes: Iterable[Change]) -> types.WorkspaceEdit:
        """An edit of a version of a file, or of the cells of a notebook, which have their own."""
        by_text: dict[str, list[types.TextEdit]] = {}
        for uri, change in changes:
            by_text.setdefault(uri, []).append(change)
        if not self._client.takes_document_changes:
            return types.WorkspaceEdit(changes=by_text)
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(
                        uri, None if uri in self._documents.cells else version
                    ),
                    list(edits),
                )
                for uri, edits in by_text.items()
            ]
        )


def _is_asked(kind: str, only: object) -> bool:
    """Is a kind of action wanted? A kind stands for all below it."""
    if not isinstance(only, (list, tuple)) or not only:
        return True
    kinds = [getattr(each, "value", each) for each in only]
    return any(kind == each or kind.startswith(f"{each}.") for each in kinds)


def _shows_ranks(
    diagnostic: types.Diagnostic, data: Mapping[object, object], analysis: Analysis
) -> bool:
    """Is it a finding that shows what each group of ranks does?"""
    return any(
        item.finding.explanation is not None
        and item.finding.explanation.lanes
        and item.finding.code == diagnostic.code
        and item.finding.place.span.row == data.get("row")
        for item in analysis.reported
    )


def _differences(before: Document, after: Document) -> Iterator[Edit]:
    """What makes one document another: edits of its lines, of a notebook in each cell."""
    if isinstance(before, Notebook) and isinstance(after, Notebook):
        for cell, other in zip(before.every_cell, after.every_cell, strict=True):
            for edit in difference(cell.source, other.source):
                yield replace(edit, cell=cell.number)
    else:
        yield from difference(before.text, after.text)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
