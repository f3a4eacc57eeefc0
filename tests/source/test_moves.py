"""What was found in a text is found again in a later one, unless it lies in what has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.source.document import Document
from distlint.source.finding import (
    Decision,
    Edit,
    Explanation,
    Finding,
    Fix,
    Lane,
    Place,
    Related,
    Severity,
    Span,
    Step,
)
from distlint.source.moves import Moves

FILE, OTHER = Path("/a.py"), Path("/b.py")
BEFORE = "one\ntwo\nthree\nfour\nfive\n"


def moved(after: str, *rows: int, path: Path = FILE) -> list[int | None]:
    """The rows in which places that begin in these rows lie afterwards."""
    moves = Moves(Document.of_text(BEFORE, FILE), Document.of_text(after, FILE))
    places = [moves.place(Place(path, Span(row, 1, row, 2))) for row in rows]
    return [place.span.row if place else None for place in places]


@pytest.mark.parametrize(
    ("after", "rows"),
    [
        (BEFORE, [1, 2, 3, 4, 5]),
        ("new\n" + BEFORE, [2, 3, 4, 5, 6]),
        (BEFORE + "new\n", [1, 2, 3, 4, 5]),
        ("one\ntwo\nnew\nthree\nfour\nfive\n", [1, 2, 4, 5, 6]),
        ("one\ntwo\nfour\nfive\n", [1, 2, None, 3, 4]),
        ("one\nTWO\nthree\nfour\nfive\n", [1, None, 3, 4, 5]),
        ("one\nTWO\nnew\nthree\nFOUR\nfive\n", [1, None, None, None, 6]),
        ("", [None] * 5),
    ],
)
def test_rows(after: str, rows: list[int | None]) -> None:
    assert moved(after, 1, 2, 3, 4, 5) == rows


def test_other_files_stay() -> None:
    assert moved("new\n" + BEFORE, 3, path=OTHER) == [3]


def test_lines_that_are_all_alike() -> None:
    moves = Moves(Document.of_text("a\na\na\n", FILE), Document.of_text("a\na\n", FILE))
    assert [moves._row(row) for row in (1, 2)] == [1, 2]


def test_a_stretch_that_something_is_put_into_grows() -> None:
    moves = Moves(Document.of_text(BEFORE, FILE), Document.of_text("one\nnew\n" + BEFORE[4:], FILE))
    place = moves.place(Place(FILE, Span(1, 1, 3, 5)))
    assert place is not None
    assert place.span == Span(1, 1, 4, 5)


def test_all_of_a_finding_moves_but_its_fix() -> None:
    def place(row: int) -> Place:
        return Place(FILE, Span(row, 1, row, 2))

    finding = Finding(
        code="DST101",
        name="collective-in-rank-branch",
        message="ranks part",
        severity=Severity.ERROR,
        place=place(3),
        related=(Related("here", place(1)), Related("there", place(5))),
        explanation=Explanation(
            common=Step("barrier", place(1)),
            lanes=(Lane("rank 0", (Step("broadcast", place(5)), Step("ends"))),),
            decisions=(Decision("rank == 0", "true", "rank predicate", place(4)),),
            effect="a hang",
            help="none",
        ),
        fix=Fix("safe", "mend", (Edit(Span(3, 1, 3, 2), "x"),)),
    )
    after = Document.of_text("ONE\nnew\n" + BEFORE[4:], FILE)
    (found,) = Moves(Document.of_text(BEFORE, FILE), after).findings([finding])
    assert found.place == place(4)
    assert found.related == (Related("there", place(6)),)
    assert found.explanation == Explanation(
        common=Step("barrier"),
        lanes=(Lane("rank 0", (Step("broadcast", place(6)), Step("ends"))),),
        decisions=(Decision("rank == 0", "true", "rank predicate", place(5)),),
        effect="a hang",
        help="none",
    )
    assert found.fix is None


def test_a_finding_in_what_has_changed_is_gone() -> None:
    finding = Finding("DST101", "n", "m", Severity.ERROR, Place(FILE, Span(1, 1, 1, 2)))
    after = Document.of_text("ONE" + BEFORE[3:], FILE)
    assert list(Moves(Document.of_text(BEFORE, FILE), after).findings([finding])) == []
