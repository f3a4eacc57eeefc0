"""Notebooks in an editor: what is told, fixed and explained cell by cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import Editor, cell_text, edited, notebook_cell
from tests.server.test_server import COMMANDS, codes, quick_fix, show_ranks

TITLE = "# Training"
SETUP = 'import torch.distributed as dist\n\ndist.init_process_group("gloo")'
BUG = "%matplotlib inline\nif dist.get_rank() == 0:\n    dist.barrier()"
CLEAN = "dist.barrier()"
UNUSED = "x = 1  # distlint: ignore[DST101]"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.ipynb"


def changes(edit: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The edits of each text."""
    return {each["textDocument"]["uri"]: each["edits"] for each in edit["documentChanges"]}


def test_findings_are_told_by_cell(path: Path) -> None:
    with Editor(path.parent) as editor:
        title, setup, bug, broken = editor.open_notebook(path, TITLE, SETUP, BUG, "x = (")
        found = editor.cell_diagnostics(4)
        assert (found[title], found[setup]) == ([], [])
        assert codes(found[broken]) == ["DST000"]
        (told,) = found[bug]
        assert told["code"] == "DST101"
        assert told["range"]["start"] == {"line": 1, "character": 0}
        related = {each["message"]: each["location"] for each in told["relatedInformation"]}
        barrier = related["rank 0: barrier: dist.barrier()"]
        assert (barrier["uri"], barrier["range"]["start"]["line"]) == (bug, 2)


def test_the_page_of_the_ranks_shows_the_cells(path: Path) -> None:
    with Editor(path.parent, capabilities=COMMANDS) as editor:
        _, _, bug = editor.open_notebook(path, TITLE, SETUP, BUG)
        page = show_ranks(editor, bug, editor.cell_diagnostics(3)[bug])
        assert "train.ipynb:cell 3" in page
        assert "ranks diverge" in page


def test_edits_of_cells(path: Path) -> None:
    with Editor(path.parent) as editor:
        _, bug = editor.open_notebook(path, SETUP, BUG)
        assert codes(editor.cell_diagnostics(2)[bug]) == ["DST101"]
        part = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 4}}
        content = {"document": {"uri": bug, "version": 2}, "changes": [{"range": part, "text": ""}]}
        editor.change_notebook(path, textContent=[content])
        assert editor.cell_diagnostics(2)[bug] == []
        content["changes"] = [{"text": BUG}]
        editor.change_notebook(path, textContent=[content])
        assert codes(editor.cell_diagnostics(2)[bug]) == ["DST101"]


def test_cells_come_move_and_go(path: Path) -> None:
    with Editor(path.parent) as editor:
        setup, bug = editor.open_notebook(path, SETUP, BUG)
        editor.cell_diagnostics(2)
        more = f"{setup}-more"
        cells = [notebook_cell(more, "y = 1"), notebook_cell(bug, BUG)]
        editor.change_notebook(
            path,
            structure={
                "array": {"start": 1, "deleteCount": 1, "cells": cells},
                "didOpen": [cell_text(more, "y = 1")],
            },
        )
        found = editor.cell_diagnostics(3)
        assert codes(found[bug]) == ["DST101"]
        assert "cell 3, line 2" in editor.hover(bug, 1, 4)
        editor.change_notebook(
            path,
            structure={"array": {"start": 2, "deleteCount": 1}, "didClose": [{"uri": bug}]},
        )
        assert editor.cell_diagnostics(3) == {setup: [], more: [], bug: []}


def test_the_json_may_be_shown_beside_the_notebook(path: Path) -> None:
    with Editor(path.parent) as editor:
        _, bug = editor.open_notebook(path, SETUP, BUG)
        editor.cell_diagnostics(2)
        text = {"uri": path.as_uri(), "languageId": "json", "version": 1, "text": "{}"}
        editor.notify("textDocument/didOpen", textDocument=text)
        editor.change(path, "{ }")
        editor.notify("textDocument/didClose", textDocument={"uri": path.as_uri()})
        assert "DST101" in editor.hover(bug, 1, 4)


def test_closing_clears_the_cells(path: Path) -> None:
    with Editor(path.parent) as editor:
        cells = editor.open_notebook(path, SETUP, BUG)
        editor.cell_diagnostics(2)
        editor.notify(
            "notebookDocument/didClose",
            notebookDocument={"uri": path.as_uri()},
            cellTextDocuments=[{"uri": uri} for uri in cells],
        )
        assert editor.cell_diagnostics(2) == {uri: [] for uri in cells}


def test_the_quick_fix_and_the_comment_are_edits_of_the_cell(path: Path) -> None:
    with Editor(path.parent) as editor:
        _, _, bug = editor.open_notebook(path, TITLE, SETUP, BUG)
        diagnostics = editor.cell_diagnostics(3)[bug]
        actions = editor.actions(bug, diagnostics)
        edits = changes(quick_fix(actions, "Call `barrier`")["edit"])
        assert set(edits) == {bug}
        assert edited(BUG, edits[bug]) == "%matplotlib inline\ndist.barrier()"
        (ignored,) = changes(quick_fix(actions, "Ignore")["edit"]).items()
        assert ignored[0] == bug
        line = "if dist.get_rank() == 0:  # distlint: ignore[DST101]"
        assert edited(BUG, ignored[1]).split("\n")[1] == line


@pytest.mark.parametrize("resolves", [True, False])
def test_fix_all_is_for_the_notebook_and_not_for_one_cell(path: Path, resolves: bool) -> None:
    support = {"resolveSupport": {"properties": ["edit"]}} if resolves else {}
    capabilities = {
        "textDocument": {"codeAction": support},
        "workspace": {"workspaceEdit": {"documentChanges": True}},
    }
    with Editor(path.parent, capabilities=capabilities) as editor:
        setup, first, second = editor.open_notebook(path, SETUP, f"\n{UNUSED}\ny = 2", UNUSED)
        editor.cell_diagnostics(3)
        assert editor.actions(setup, [], "source.fixAll") == []
        (action,) = editor.actions(setup, [], "notebook.source.fixAll")
        assert action["kind"] == "notebook.source.fixAll.distlint"
        if resolves:
            action = editor.request("codeAction/resolve", **action)
        edits = changes(action["edit"])
        assert edited(f"\n{UNUSED}\ny = 2", edits[first]) == "\nx = 1\ny = 2"
        assert edited(UNUSED, edits[second]) == "x = 1"
        assert setup not in edits


def test_hover_and_hints_in_a_cell(path: Path) -> None:
    collective = "x = 1\ndist.all_reduce(x)  # größe \N{PILE OF POO}"
    options = {"inlayHints": True}
    with Editor(path.parent, options=options) as editor:
        _, cell, _ = editor.open_notebook(path, SETUP, collective, CLEAN)
        editor.cell_diagnostics(3)
        assert "`dist.all_reduce` is reached by **all ranks**" in editor.hover(cell, 1, 8)
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
        hints = editor.request("textDocument/inlayHint", textDocument={"uri": cell}, range=whole)
        assert [(each["label"], each["position"]["line"]) for each in hints] == [("all ranks", 1)]


def test_an_editor_that_asks_for_diagnostics_is_told_of_those_of_cells(path: Path) -> None:
    """VS Code asks for those of files alone."""
    with Editor(path.parent, capabilities={"textDocument": {"diagnostic": {}}}) as editor:
        _, bug = editor.open_notebook(path, SETUP, BUG)
        assert codes(editor.cell_diagnostics(2)[bug]) == ["DST101"]
        report = editor.request("textDocument/diagnostic", textDocument={"uri": bug})
        assert report["items"] == []


def test_an_unsaved_import_counts_in_a_notebook(path: Path) -> None:
    helper = path.with_name("helper.py")
    body = "import torch.distributed as dist\n\ndef meet():\n    {}\n"
    helper.write_text(body.format("dist.barrier()"))
    use = "from helper import meet\nif dist.get_rank() == 0:\n    meet()\ndist.all_reduce(x)"
    with Editor(path.parent) as editor:
        _, cell = editor.open_notebook(path, SETUP, use)
        assert codes(editor.cell_diagnostics(2)[cell]) == ["DST101"]
        editor.open(helper, body.format("pass"))
        found = {}
        while found.get(cell, [1]):
            found |= editor.cell_diagnostics(1)
        assert found[cell] == []


def test_notebooks_are_asked_for(path: Path) -> None:
    with Editor(path.parent, capabilities={"notebookDocument": {"synchronization": {}}}) as editor:
        (selector,) = editor.server["notebookDocumentSync"]["notebookSelector"]
        assert selector == {"notebook": "jupyter-notebook", "cells": [{"language": "*"}]}
        assert json.dumps(editor.server["codeActionProvider"]).count("notebook.source.fixAll") == 1


WRITTEN = f"%%writefile train.py\n{SETUP}\n{BUG.partition(chr(10))[2]}\n{UNUSED}\n"


def test_a_file_that_a_cell_writes_is_a_program_of_its_own(path: Path) -> None:
    with Editor(path.parent, options={"inlayHints": True}) as editor:
        _, cell, shell = editor.open_notebook(path, SETUP, WRITTEN, f"%%bash\n{WRITTEN}\n" * 9)
        diagnostics = editor.cell_diagnostics(3)[cell]
        assert codes(diagnostics) == ["DST101", "DST001"]
        assert "reached by **rank 0, not ranks 1-3**" in editor.hover(cell, 5, 10)
        for line in (0, 5, 40):
            assert editor.hover(shell, line, 10) == ""
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
        hints = editor.request("textDocument/inlayHint", textDocument={"uri": cell}, range=whole)
        assert [each["position"]["line"] for each in hints] == [5]
        ignored = changes(quick_fix(editor.actions(cell, diagnostics), "Ignore")["edit"])
        assert "0:  # distlint: ignore[DST101]\n" in edited(WRITTEN, ignored[cell])
        (action,) = editor.actions(cell, [], "notebook.source.fixAll")
        edits = changes(editor.request("codeAction/resolve", **action)["edit"])
        assert set(edits) == {cell}
        assert edited(WRITTEN, edits[cell]) == WRITTEN.replace(UNUSED, "x = 1")


def test_a_change_in_a_written_file_is_seen(path: Path) -> None:
    with Editor(path.parent) as editor:
        _, cell = editor.open_notebook(path, SETUP, WRITTEN)
        for text, expected in ((WRITTEN.replace("== 0", ">= 0"), 0), (WRITTEN, 1)) * 2:
            content = {"document": {"uri": cell, "version": 2}, "changes": [{"text": text}]}
            editor.change_notebook(path, textContent=[content])
            found = ["DST101"] * (1 - expected)
            while found.count("DST101") != expected:
                found = [str(code) for code in codes(editor.cell_diagnostics(2)[cell])]
