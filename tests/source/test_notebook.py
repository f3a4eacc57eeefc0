"""Notebooks: cells as one program, places told by cell, and edits that change nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from distlint.source.document import DocumentError
from distlint.source.edits import apply, changed_lines
from distlint.source.finding import Edit, Finding, Fix, Place, Severity, Span
from distlint.source.notebook import Notebook, NotInCells
from distlint.source.notebook_file import rows_in_file
from tests.notebooks import code, markdown, notebook, sources

PATH = Path("/nowhere/train.ipynb")


def read(text: str) -> Notebook:
    return Notebook.from_bytes(text.encode(), PATH)


def edit(row: int, column: int, end_row: int, end_column: int, content: str) -> Edit:
    return Edit(Span(row, column, end_row, end_column), content)


class TestReading:
    def test_code_cells_become_one_program_with_a_row_between(self) -> None:
        found = read(notebook("a = 1\nb = 2", markdown("# c"), "%%bash\nls", "", "d = 4\n"))
        assert found.text == "a = 1\nb = 2\n\n\n\nd = 4\n\n\n"
        assert [(cell.number, cell.row) for cell in found.cells] == [(1, 1), (4, 4), (5, 6)]

    def test_a_source_may_be_one_string_or_lines_in_pieces(self) -> None:
        one = code("", source="a = 1\nb = 2")
        pieces = code("", source=["a ", "= 1\nb", " = 2"])
        assert read(notebook(one)).text == read(notebook(pieces)).text == "a = 1\nb = 2\n\n"

    def test_format_3(self) -> None:
        cells = [
            {"cell_type": "markdown", "source": ["x"]},
            {"cell_type": "code", "language": "python", "input": ["a = 1"], "outputs": []},
            {"cell_type": "code", "language": "ruby", "input": ["puts 1"], "outputs": []},
        ]
        content = {"nbformat": 3, "worksheets": [{"cells": cells}, {"cells": cells[1:2]}]}
        found = read(json.dumps(content))
        assert found.text == "a = 1\n\na = 1\n\n"
        assert [cell.number for cell in found.cells] == [2, 4]
        after = found.edited([edit(1, 5, 1, 6, "7")])
        assert json.loads(after.data)["worksheets"][0]["cells"][1]["input"] == ["a = 7"]

    def test_a_byte_order_mark_stays(self) -> None:
        data = b"\xef\xbb\xbf" + notebook("a = 1").encode()
        found = Notebook.from_bytes(data, PATH)
        assert found.edited([edit(1, 5, 1, 6, "2")]).data == data.replace(b"a = 1", b"a = 2")

    @pytest.mark.parametrize(
        ("metadata", "language"),
        [
            ({}, "python"),
            ({"kernelspec": {"language": "julia"}}, "julia"),
            ({"language_info": {"name": "R"}}, "r"),
            ({"language_info": {"name": "python", "version": "2.7.1"}}, "python 2"),
            ({"kernelspec": {"name": "python3", "display_name": "Python 3"}}, "python"),
            ("nonsense", "python"),
        ],
    )
    def test_languages(self, metadata: object, language: str) -> None:
        content = {"cells": [code("x")], "metadata": metadata, "nbformat": 4}
        found = read(json.dumps(content))
        assert found.language == language
        assert bool(found.cells) == (language == "python")

    def test_a_cell_of_another_language_among_those_of_python(self) -> None:
        other = code("SELECT 1", metadata={"vscode": {"languageId": "sql"}})
        assert read(notebook(other, "x = 1")).text == "x = 1\n\n"

    @pytest.mark.parametrize(
        ("text", "row", "message"),
        [
            ("cells", 1, "not a notebook: Expecting value"),
            ('{\n"cells": [}', 2, "not a notebook: Expecting value"),
            ("[]", 1, "not a notebook"),
            ("{}", 1, "not a notebook: it has no cells"),
            ('{"nbformat": 2}', 1, "not a notebook: it has no cells"),
            ('{"cells": 3}', 1, "not a notebook: it has no cells"),
            ("[" * 100_000, 1, "not a notebook: invalid JSON"),
        ],
    )
    def test_what_is_no_notebook(self, text: str, row: int, message: str) -> None:
        with pytest.raises(DocumentError) as caught:
            read(text)
        assert (caught.value.message, caught.value.row) == (message, row)

    @pytest.mark.parametrize("text", ["", "\n", "\ufeff"])
    def test_one_that_an_editor_has_only_created(self, text: str) -> None:
        assert read(text).cells == ()

    def test_bytes_that_are_no_text(self) -> None:
        with pytest.raises(DocumentError, match="byte 0xff is not valid UTF-8") as caught:
            Notebook.from_bytes(b"{\n\xff}", PATH)
        assert caught.value.row == 2

    def test_strange_cells_are_passed_over(self) -> None:
        strange = [None, 3, {}, {"cell_type": "code"}, code("", source=[1]), code("", source=3)]
        found = read(json.dumps({"cells": [*strange, code("x = 1")]}))
        assert [cell.number for cell in found.cells] == [7]


class TestPlaces:
    def test_what_is_found_is_told_by_cell(self) -> None:
        found = read(notebook(markdown("# x"), "a\nb", "c\nd"))
        fix = Fix("safe", "f", (edit(1, 1, 1, 2, "A"), edit(5, 1, 5, 2, "D")))
        place = Place(PATH, Span(5, 1, 5, 2))
        finding = Finding("DST101", "x", "see line 4 and `line 4`", Severity.ERROR, place, fix=fix)
        told = found.located(finding)
        assert told.place == Place(PATH, Span(2, 1, 2, 2), 3)
        assert told.message == "see cell 3, line 1 and `line 4`"
        assert told.fix is not None
        assert [(each.cell, each.span.row) for each in told.fix.edits] == [(2, 1), (3, 2)]
        assert found.program_row(told.place) == 5

    def test_places_in_other_files_stay(self) -> None:
        place = Place(Path("/nowhere/utils.py"), Span(9, 1, 9, 2))
        fix = Fix("safe", "f", (edit(9, 1, 9, 2, ""),))
        finding = Finding("DST101", "x", "line 9", Severity.ERROR, place, fix=fix)
        assert read(notebook("a", "b")).located(finding) == finding

    def test_a_frame_shows_the_cell_as_it_is_and_no_other(self) -> None:
        found = read(notebook("a\nb", "%time x = 1\nd\n!ls"))
        frame = found.frame(5, 3, 7)
        assert (frame.first_row, frame.lines) == (1, ("%time x = 1", "d", "!ls"))

    def test_rows_of_the_file(self) -> None:
        text = notebook("a = 1\nb = '''\n\n'''", markdown("# x"), code("", source="c\nd"))
        rows = rows_in_file(text.encode())
        lines = text.split("\n")
        assert '"a = 1' in lines[rows[1, 1] - 1]
        assert [rows[1, row] - rows[1, 1] for row in (1, 2, 3, 4)] == [0, 1, 2, 3]
        assert rows[3, 1] == rows[3, 2]
        assert "c\\nd" in lines[rows[3, 1] - 1]


class TestEdits:
    CELLS = ("import os\nx = 1", "%%time\nif x:\n    !ls\ny = 2\nz = 3", "pass")

    @pytest.mark.parametrize("indent", [None, 1, 2, 4])
    def test_only_the_lines_of_the_edit_change(self, indent: int | None) -> None:
        before = notebook(markdown("ä"), *self.CELLS, indent=indent)
        after = read(before).edited([edit(7, 5, 7, 6, "22")]).data.decode()
        assert after == before.replace("y = 2", "y = 22")

    def test_a_line_more_is_laid_out_like_the_others(self) -> None:
        before = notebook(*self.CELLS)
        found = read(before).edited([edit(2, 1, 2, 1, "import re\n")]).data.decode()
        (added,) = [line for line in changed_lines(before, found, 0) if line[0] in "+-"]
        assert added == '+    "import re\\n",\n'

    def test_a_cell_of_one_line_gets_another(self) -> None:
        text = notebook("x = 1", indent=1)
        found = read(text).edited([edit(1, 1, 1, 1, "import os\n")]).data.decode()
        assert found == text.replace('    "x = 1"', '    "import os\\n",\n    "x = 1"')
        compact = notebook("x = 1", indent=None)
        found = read(compact).edited([edit(1, 1, 1, 1, "import os\n")]).data.decode()
        assert found == compact.replace('["x = 1"]', '["import os\\n", "x = 1"]')

    def test_escapes_of_lines_that_stay(self) -> None:
        text = notebook("a = '\u00e9'\nb = 1").replace("é", "\\u00e9").replace("größe", "x")
        found = read(text).edited([edit(2, 5, 2, 6, "'ü'")]).data.decode()
        assert found == text.replace("b = 1", "b = '\\u00fc'")

    def test_newlines_of_the_file_stay(self) -> None:
        text = notebook(*self.CELLS).replace("\n", "\r\n")
        found = read(text).edited([edit(2, 5, 2, 6, "2")]).data.decode()
        assert found == text.replace("x = 1", "x = 2")

    def test_the_last_line_of_a_cell_can_go_and_lines_can_follow_it(self) -> None:
        found = read(notebook(*self.CELLS))
        assert sources(found.edited([edit(2, 1, 3, 1, "")]).data.decode())[0] == "import os"
        more = found.edited([edit(3, 1, 3, 1, "y = 2\n")])
        assert sources(more.data.decode())[0] == "import os\nx = 1\ny = 2"
        assert more.text == apply(found.text, [edit(3, 1, 3, 1, "y = 2\n")])
        told = found.located(edit(2, 1, 3, 1, ""))
        assert (told.cell, told.span) == (1, Span(1, 10, 2, 6))

    def test_a_cell_may_become_empty(self) -> None:
        found = read(notebook("# a", "b"))
        after = found.edited([edit(1, 1, 1, 4, "")])
        assert sources(after.data.decode()) == ["", "b"]
        assert after.text == apply(found.text, [edit(1, 1, 1, 4, "")])

    def test_the_program_of_the_result_is_the_edited_program(self) -> None:
        found = read(notebook(*self.CELLS))
        edits = [edit(1, 1, 1, 1, "# a\n"), edit(8, 5, 8, 6, "4"), edit(10, 1, 10, 5, "w = 1")]
        assert found.edited(edits).text == apply(found.text, edits)

    @pytest.mark.parametrize(
        ("wrong", "why"),
        [
            (edit(2, 1, 4, 1, ""), "another cell"),
            (edit(4, 1, 4, 1, "import re\n"), "above the cell magic"),
            (edit(6, 1, 6, 6, "ls()"), "not Python"),
            (edit(5, 1, 7, 1, "\n"), "not Python"),
            (edit(2, 1, 3, 1, "x"), "join two cells"),
        ],
    )
    def test_what_cannot_be_done_cell_by_cell(self, wrong: Edit, why: str) -> None:
        found = read(notebook(*self.CELLS))
        assert not found.takes([wrong])
        with pytest.raises(NotInCells, match=why):
            found.edited([wrong])

    def test_a_masked_line_is_not_copied(self) -> None:
        found = read(notebook(*self.CELLS))
        masked = found.lines[5] + "\n"
        assert not found.takes([edit(7, 1, 7, 1, masked)])

    def test_cells_of_an_editor(self) -> None:
        found = Notebook.of_cells(PATH, [(2, "a = 1"), (5, "b = 2")])
        after = found.edited([edit(3, 5, 3, 6, "3")])
        assert [(cell.number, cell.source) for cell in after.cells] == [(2, "a = 1"), (5, "b = 3")]


LINES = st.sampled_from(
    [
        "x = 1",
        "",
        "    y",
        "!ls -l",
        "%time f()",
        "s = !ls",
        "'''",
        "# ä",
        "f(",
        ")",
        "%%time",
        "%%writefile a.py",
        "%%writefile -a a.py",
        "é?",
    ]
)
SOURCES = st.lists(LINES, max_size=4).map("\n".join)
POINTS = st.tuples(st.integers(1, 12), st.integers(1, 9))
CONTENTS = st.sampled_from(["", "z", "z\n", "\n", "    z\n", "ü\nz", "z\nz\n"])


@example(["x = 1"], [((3, 1), (3, 1), "")], None, False)  # nothing, between two cells
@given(
    st.lists(SOURCES, min_size=1, max_size=4),
    st.lists(st.tuples(POINTS, POINTS, CONTENTS), max_size=3),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
)
@example(["x = 1\nx = 1"], [((3, 1), (3, 1), "")], None, False)
@example(  # two that overlap in the newline behind the cell
    ["x = 1\nx = 1\nx = 1\nx = 1"],
    [((1, 1), (1, 1), ""), ((1, 1), (5, 1), "z\n"), ((4, 6), (5, 1), "z\n")],
    None,
    False,
)
@example(["'''\n%%writefile a.py"], [((1, 1), (1, 4), "")], None, False)  # no magic before
def test_an_edit_is_made_as_it_says_or_not_at_all(
    cells: list[str],
    wanted: list[tuple[tuple[int, int], tuple[int, int], str]],
    indent: int | None,
    strings: bool,
) -> None:
    shown = [code("", source=cell) if strings else cell for cell in cells]
    found = read(notebook(*shown, indent=indent)).programs[-1]
    edits = []
    for one, other, content in wanted:
        start, end = (_inside(found, point) for point in sorted([one, other]))
        edits.append(edit(*start, *end, content))
    try:
        after = found.edited(edits)
    except NotInCells:
        return
    assert [cell.number for cell in after.cells] == [cell.number for cell in found.cells]
    if not any(line[:1] in "%!" for cell in cells for line in cell.split("\n")):
        assert _unmasked(after) == apply(_unmasked(found), edits)
    before, now = json.loads(found.data), json.loads(after.data)
    told = {each.cell for each in map(found.located, edits)}
    for number, (old, new) in enumerate(zip(before["cells"], now["cells"], strict=True), 1):
        assert old == new or number in told
        assert {**old, "source": ""} == {**new, "source": ""}
    for key in ("metadata", "nbformat", "nbformat_minor"):
        assert before[key] == now[key]


def _inside(found: Notebook, point: tuple[int, int]) -> tuple[int, int]:
    """A place of the program near to a point."""
    row = min(point[0], len(found.lines))
    return row, min(point[1], len(found.lines[row - 1]) + 1)


def _unmasked(found: Notebook) -> str:
    return "".join(cell.source + "\n\n" for cell in found.cells)
