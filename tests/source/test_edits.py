"""Edits that make one text another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from distlint.source.edits import apply, changed_lines, difference, preview
from distlint.source.finding import Span

TEXTS = ("", "a", "a\n", "a\nb", "a\n\x0cb\n", "a\r\nb\r\n", "b\nc\na\n", "\n\n")


@pytest.mark.parametrize("before", TEXTS)
@pytest.mark.parametrize("after", TEXTS)
def test_the_difference_of_two_texts_makes_one_the_other(before: str, after: str) -> None:
    assert apply(before, difference(before, after)) == after


def test_lines_that_stay_are_left_alone() -> None:
    (edit,) = difference("a\nb\nc\n", "a\nB\nc\n")
    assert (edit.span.row, edit.span.end_row, edit.content) == (2, 3, "B\n")


@pytest.mark.parametrize("before", TEXTS)
@pytest.mark.parametrize("after", TEXTS)
@pytest.mark.parametrize("context", [0, 1, 2])
@pytest.mark.parametrize("around", ["", "one\ntwo\r\nthree\n" * 3])
def test_a_preview_shows_the_lines_that_change(
    before: str, after: str, context: int, around: str
) -> None:
    edits = [
        replace(edit, span=moved(edit.span, around.count("\n")))
        for edit in difference(before, after)
    ]
    text = around + before + ("\n" + around if before and around else "")
    expected = changed_lines(text, apply(text, edits), context)
    assert list(preview(text, edits, context) if edits else ()) == list(expected)


def moved(span: Span, rows: int) -> Span:
    return replace(span, row=span.row + rows, end_row=span.end_row + rows)
