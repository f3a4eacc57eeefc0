"""Language features: the requests about a document, and how each is answered."""

from __future__ import annotations

import asyncio
from functools import partial

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from distlint.server import hover
from distlint.server.client import Client
from distlint.server.code_actions import FIX_ALL, FIX_ALL_CELLS, CodeActions
from distlint.server.documents import Documents
from distlint.server.open_files import Analysis
from distlint.server.options import FolderOptions
from distlint.server.publisher import Publisher
from distlint.server.questions import Questions
from distlint.server.results import Results
from distlint.server.trace_pages import SHOW_RANKS, TracePages
from distlint.server.translate import SOURCE, lines_of


def register_diagnostics(
    server: LanguageServer, documents: Documents, questions: Questions, publisher: Publisher
) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=False, identifier=SOURCE
        ),
    )
    async def diagnostic(
        params: types.DocumentDiagnosticParams,
    ) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
        uri = params.text_document.uri
        analysis = None if uri in documents.cells else await questions.at_once(uri)
        if analysis is None:  # what is in cells is pushed
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        result = str(analysis.serial)
        if result == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result)
        return types.RelatedFullDocumentDiagnosticReport(
            items=publisher.diagnostics(analysis), result_id=result
        )


def register_hover(
    server: LanguageServer, client: Client, documents: Documents, questions: Questions
) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri

        def where(analysis: Analysis) -> tuple[int, int, int]:
            cell = documents.cell_of(uri)
            lines = lines_of(analysis.document, cell)
            row, column = client.columns.place(lines, params.position)
            return cell, row, column

        try:
            text = await questions.answer(
                uri, lambda found: partial(hover.answer, where=where(found))
            )
        except asyncio.TimeoutError:
            found = questions.glanced(uri)
            text = hover.so_far(found, *where(found)) if found else hover.UNFINISHED
        if text is None:
            return None
        markup = types.MarkupContent(types.MarkupKind.Markdown, text)
        return types.Hover(markup) if text else None


def register_inlay_hints(
    server: LanguageServer,
    client: Client,
    documents: Documents,
    options: FolderOptions,
    questions: Questions,
    results: Results,
) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        uri = params.text_document.uri
        path, cell = documents.path_of(uri), documents.cell_of(uri)
        await options.known.wait()
        if path is None or not options.of(path).inlay_hints:
            return None
        try:
            reached = await questions.answer(uri, lambda _: partial(hover.hints, cell=cell))
        except asyncio.TimeoutError:  # the editor is asked to come back
            return None
        analysis = results.analyses.get(path)
        if reached is None or analysis is None:
            return None
        lines = lines_of(analysis.document, cell)
        columns = client.columns
        first, last = params.range.start.line + 1, params.range.end.line + 1
        return [
            types.InlayHint(
                columns.position(lines, span.end_row, span.end_column), who, padding_left=True
            )
            for span, who in sorted(reached.items())
            if first <= span.end_row <= last
        ]


def register_commands(server: LanguageServer, pages: TracePages) -> None:
    @server.command(SHOW_RANKS)
    async def show_ranks(*arguments: object) -> None:
        for where in arguments:
            await pages.show(where)


def register_code_actions(server: LanguageServer, actions: CodeActions) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(
            code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL, FIX_ALL_CELLS],
            resolve_provider=True,
        ),
    )
    async def act(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        return await actions.asked(params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return await actions.resolved(action)
