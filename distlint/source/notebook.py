"""A notebook as a document: its cells as one program, and the way back from that to its bytes.

Cells that write a Python file are no part of that: each file is a program of its own. A row without
anything in it follows each cell, so that an insertion belongs either to the end of one cell or to
the beginning of the next.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from distlint.source import magics
from distlint.source.document import NEWLINE, Document, DocumentError
from distlint.source.edits import Lines, changed_lines
from distlint.source.finding import Edit, Finding, Place, Span
from distlint.source.report import Frame

SUFFIX = ".ipynb"
PYTHON = "python"

T = TypeVar("T")

_BETWEEN = "\n\n"
_LINE = re.compile(r"\bline (\d+)\b")
_CODE = re.compile(r"(`[^`]*`)")


class NotInCells(Exception):
    """Why an edit of the program cannot be made in the cells."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of Python: its number among all cells from 1, its first row in the program.

    ``python`` is the source with all masked that is none. ``start`` and ``end`` are where the
    source stands in the JSON; ``problem`` says why it is no Python, with the place in the cell.
    """

    number: int
    source: str
    python: str
    row: int = 1
    start: int = 0
    end: int = 0
    problem: DocumentError | None = None

    @property
    def rows(self) -> int:
        return len(NEWLINE.findall(self.source)) + 1

    @property
    def is_blank(self) -> bool:
        """Was its code left out?"""
        return self.python == magics.blank(self.source)


@dataclass(frozen=True)
class Notebook(Document):
    """A program of a notebook; rows and columns are those of its cells, one after the other.

    ``groups`` are the cells of each program: first of the one that the kernel runs, then of each
    Python file that cells write. This one is that with the index ``number``.
    """

    cells: tuple[Cell, ...] = ()
    language: str = PYTHON
    groups: tuple[tuple[Cell, ...], ...] = ((),)
    number: int = 0

    @classmethod
    def from_bytes(cls, data: bytes, path: Path) -> Notebook:
        """The notebook in a file.

        Raises:
            DocumentError: if it is none.
        """
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            row = data.count(b"\n", 0, error.start) + 1
            raise DocumentError(f"byte 0x{data[error.start]:02x} is not valid UTF-8", row) from None
        from distlint.source.notebook_file import parsed

        language, found = parsed(text)
        cells = (Cell(item.number, item.source, "", 1, item.start, item.end) for item in found)
        return _made(path, data, _grouped(cells), language)

    @classmethod
    def of_cells(cls, path: Path, sources: Iterable[tuple[int, str]]) -> Notebook:
        """The notebook that an editor shows: the numbers of its code cells, and their sources."""
        return _made(path, b"", _grouped(Cell(number, source, "") for number, source in sources))

    @property
    def code(self) -> bytes:
        return self.text.encode("utf-8", "replace")

    @cached_property
    def _rows(self) -> list[int]:
        return [cell.row for cell in self.cells]

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)

    def cell_at(self, row: int) -> Cell:
        """The cell that a row of the program lies in."""
        return self.cells[max(0, bisect_right(self._rows, row) - 1)]

    def where(self, row: int) -> str:
        cell = self.cell_at(row)
        return f"cell {cell.number}, line {row - cell.row + 1}"

    def within(self, rows: range) -> range:
        cell = self.cell_at(rows.start)
        return range(rows.start, min(rows.stop, cell.row + cell.rows))

    def with_groups(self, groups: Iterable[Iterable[Cell]]) -> Notebook:
        """The same notebook with other things masked in its cells."""
        return _made(self.path, self.data, groups, self.language, self.number)

    @property
    def every_cell(self) -> list[Cell]:
        """The cells of all programs."""
        return sorted((c for group in self.groups for c in group), key=lambda cell: cell.number)

    @property
    def programs(self) -> list[Notebook]:
        return [self.program(number) for number in range(len(self.groups))]

    def program(self, number: int) -> Notebook:
        return _made(self.path, self.data, self.groups, self.language, number)

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the cells of this program."""
        return frozenset(cell.number for cell in self.cells)

    def program_with(self, cell: int) -> Notebook | None:
        """The program that a cell belongs to; None for one that is no Python."""
        for number, group in enumerate(self.groups):
            if any(each.number == cell for each in group):
                return self.program(number)
        return None

    def lines_of(self, number: int) -> list[str]:
        """The lines of a cell, without their ends."""
        return NEWLINE.split(next((c.source for c in self.every_cell if c.number == number), ""))

    # ---- from the program to the cells

    def located(self, value: T) -> T:
        """A finding, a trace or the like with its places where the cells have them."""
        return cast(T, self._located(value))

    def program_row(self, place: Place) -> int:
        """The row of the program at which a place in a cell lies."""
        return self.first_row(place.cell) + place.span.row - 1

    def first_row(self, number: int) -> int:
        """The row of the program at which a cell begins; 1 for what is none."""
        return next((cell.row for cell in self.cells if cell.number == number), 1)

    def _located(self, value: Any) -> Any:
        if isinstance(value, Place):
            if value.path != self.path or value.cell or not self.cells:
                return value
            cell = self.cell_at(value.span.row)
            return replace(value, span=_span_in(cell, value.span), cell=cell.number)
        if isinstance(value, Edit):
            return self._edit(value)
        if isinstance(value, tuple):
            return tuple(self._located(item) for item in value)
        if is_dataclass(value) and not isinstance(value, (type, Document)):
            names = {field.name for field in fields(value)}
            if isinstance(value, Finding) and value.place.path != self.path:
                names.discard("fix")  # it is for that file
            changed = {name: self._located(getattr(value, name)) for name in names}
            if isinstance(value, Finding) and "fix" in names:
                changed["message"] = self._said(value.message)
            return replace(value, **changed)
        return value

    def _said(self, message: str) -> str:
        """A message with the rows in it where the cells have them; code is left as it is."""
        parts = _CODE.split(message)
        parts[::2] = [
            _LINE.sub(lambda match: self.where(int(match[1])), part) for part in parts[::2]
        ]
        return "".join(parts)

    def frame(self, row: int, first: int, last: int) -> Frame:
        """The lines of a cell, as they are, from and to a row of the program around ``row``."""
        cell = self.cell_at(row)
        lines = NEWLINE.split(cell.source)
        begin = max(first - cell.row, 0)
        return Frame(begin + 1, tuple(lines[begin : last - cell.row + 1]))

    # ---- edits

    def takes(self, edits: Iterable[Edit]) -> bool:
        """Can all of these be made, each in its cell?"""
        try:
            self.sources_with(edits)
        except NotInCells:
            return False
        return True

    def sources_with(self, edits: Iterable[Edit]) -> dict[int, str]:
        """The sources that edits of the program make of cells, by number.

        Raises:
            NotInCells: if one touches what is no Python, or more than one cell.
        """
        by_cell: dict[int, list[tuple[int, int, str]]] = {}
        cells = {}
        at = 0
        for edit in sorted(edits, key=lambda edit: edit.span):
            begin, until = self._lines.bounds(edit)
            if begin < at:
                raise NotInCells("two edits overlap")
            at = until
            cell, start, end, content = self._in_cell(edit)
            cells[cell.number] = cell
            by_cell.setdefault(cell.number, []).append((start, end, content))
        return {number: _edited(cells[number].source, by_cell[number]) for number in sorted(cells)}

    def edited(self, edits: Iterable[Edit]) -> Notebook:
        """The notebook with edits of its program; of its bytes, only these sources change.

        Raises:
            NotInCells: if one touches what is no Python, or more than one cell.
        """
        sources = self.sources_with(edits)
        if self.data:
            from distlint.source.notebook_file import rewritten

            wanted = [
                (cell.start, cell.end, sources[cell.number])
                for cell in self.cells
                if cell.number in sources
            ]
            after = Notebook.from_bytes(rewritten(self.data, wanted), self.path)
        else:
            cells = ((cell.number, cell.source) for cell in self.every_cell)
            after = Notebook.of_cells(
                self.path, ((number, sources.get(number, source)) for number, source in cells)
            )
        return after.program(self.number)

    def changed_lines(self, edits: Iterable[Edit], context: int) -> Iterator[str]:
        """The lines of a diff of each cell that edits touch; its header names the cell."""
        before = {cell.number: cell.source for cell in self.cells}
        for number, after in self.sources_with(edits).items():
            for line in changed_lines(before[number], after, context):
                yield f"{line} cell {number}" if line.startswith("@@") else line

    def _edit(self, edit: Edit) -> Edit:
        cell, start, end, content = self._in_cell(edit)
        starts = Lines(cell.source).starts
        first, last = bisect_right(starts, start), bisect_right(starts, end)
        span = Span(first, start - starts[first - 1] + 1, last, end - starts[last - 1] + 1)
        return Edit(span, content, cell.number)

    def _in_cell(self, edit: Edit) -> tuple[Cell, int, int, str]:
        """The cell of an edit, the offsets in it, and what to put there."""
        if not self.cells:
            raise NotInCells("the cell has no code")
        cell = self.cell_at(edit.span.row)
        begin = self._lines.starts[cell.row - 1]
        start, end = (offset - begin for offset in self._lines.bounds(edit))
        size = len(cell.source)
        if end > size + 1:
            raise NotInCells("it would change another cell")
        content = edit.content
        is_python = cell.python[start:end] == cell.source[start:end] and not cell.is_blank
        if not is_python or magics.MASK in cell.python[max(0, start - 1) : start] + content:
            raise NotInCells("it would change text that is not Python")
        if start == 0 and magics.is_cell_magic(cell.source):
            raise NotInCells("it would insert code above the cell magic")
        if end <= size:
            return cell, start, end, content
        # The newline behind the last line is none of the cell: the one before takes its part.
        if content.endswith("\n"):
            content = content[:-1]
            if start > size:
                return cell, size, size, f"\n{content}"
            return cell, start, size, content
        if not content and start > size:
            return cell, size, size, ""  # nothing, behind the last line
        if not content and start and cell.source[start - 1] == "\n":
            return cell, start - 1, size, ""
        raise NotInCells("it would join two cells")


def relative(document: Document, value: T) -> T:
    """A finding, or what holds some, with its places as the user knows them."""
    return document.located(value) if isinstance(document, Notebook) else value


def _edited(source: str, edits: Iterable[tuple[int, int, str]]) -> str:
    parts = []
    at = 0
    for start, end, content in edits:
        parts += [source[at:start], content]
        at = end
    after = "".join([*parts, source[at:]])
    if magics.is_cell_magic(after) and not magics.is_cell_magic(source):
        raise NotInCells("it would turn another line into the cell magic")
    return after


def _span_in(cell: Cell, span: Span) -> Span:
    above = cell.row - 1
    end_row, end_column = span.end_row - above, span.end_column
    if end_row > cell.rows:
        end_row, end_column = cell.rows, len(NEWLINE.split(cell.source)[-1]) + 1
    return Span(min(span.row - above, cell.rows), span.column, end_row, end_column)


def _grouped(cells: Iterable[Cell]) -> list[list[Cell]]:
    """The cells of each program; their sources are read here."""
    groups: list[list[Cell]] = [[]]
    files: dict[str, int] = {}
    for cell in cells:
        written = magics.written_by(cell.source)
        if written is not None:
            if not written.appends or written.name not in files:
                files[written.name] = len(groups)
                groups.append([])
            groups[files[written.name]].append(replace(cell, python=written.python))
            continue
        python = magics.python_of(cell.source)
        if python is not None:
            groups[0].append(replace(cell, python=python))
    return groups


def _made(
    path: Path,
    data: bytes,
    groups: Iterable[Iterable[Cell]],
    language: str = PYTHON,
    number: int = 0,
) -> Notebook:
    placed = tuple(tuple(_placed(group)) for group in groups)
    cells = placed[number]
    text = "".join(cell.python + _BETWEEN for cell in cells)
    first = NEWLINE.search(text)
    newline = first.group() if first else "\n"
    return Notebook(path, data, text, "utf-8", newline, cells, language, placed, number)


def _placed(cells: Iterable[Cell]) -> Iterator[Cell]:
    row = 1
    for cell in cells:
        yield replace(cell, row=row)
        row += cell.rows + 1
