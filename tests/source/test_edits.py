"""Edits that make one text another."""

from __future__ import annotations

import pytest

from distlint.source.edits import apply, difference

TEXTS = ("", "a", "a\n", "a\nb", "a\n\x0cb\n", "a\r\nb\r\n", "b\nc\na\n", "\n\n")


@pytest.mark.parametrize("before", TEXTS)
@pytest.mark.parametrize("after", TEXTS)
def test_the_difference_of_two_texts_makes_one_the_other(before: str, after: str) -> None:
    assert apply(before, difference(before, after)) == after


def test_lines_that_stay_are_left_alone() -> None:
    (edit,) = difference("a\nb\nc\n", "a\nB\nc\n")
    assert (edit.span.row, edit.span.end_row, edit.content) == (2, 3, "B\n")
