"""The rules take a time that is linear in the length of a file."""

from __future__ import annotations

from cProfile import Profile

import pytest

from distlint.analyzer.project.project import Project
from distlint.rules.find import Search
from distlint.source.document import Document
from tests.large_files import SHAPES
from tests.support import SCRIPT

FEW, MANY = 424, 2_120


@pytest.mark.campaign
@pytest.mark.parametrize("shape", SHAPES)
def test_five_times_the_lines_take_five_times_the_work(shape: str) -> None:
    make = SHAPES[shape]
    work(make(100))  # what is read once for all files
    assert work(make(MANY)) < 1.2 * MANY / FEW * work(make(FEW))


def work(text: str) -> int:
    """Calls of functions while the rules about the source look at a text and compose fixes."""
    search = Search(Document.of_text(text, SCRIPT), Project(SCRIPT.parent))
    profile = Profile()
    assert profile.runcall(lambda: search.in_source).problems == []
    return sum(entry.callcount for entry in profile.getstats())
