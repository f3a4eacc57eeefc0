"""Fixes are applied to a fixed point, proven, and taken back where they do not prove right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from distlint.analyzer.project.project import Project
from distlint.engine.fix import Repairs, repair
from distlint.engine.run import check_paths
from distlint.engine.settings import Resolver
from distlint.rules.found import Found
from distlint.source.document import Document
from distlint.source.finding import Edit, Fix, Span
from tests.engine.conftest import finding, marked

Analysis = Callable[[Callable[..., Found]], None]
Make = Callable[[Document, int], tuple[str, Sequence[Edit]]]


def fixing(make: Make, *, applicability: str = "safe") -> Callable[..., Found]:
    """The findings that conftest describes, each with the fix that ``make`` gives for its row."""

    def analyse(document: Document, project: Project) -> Found:
        found = []
        for item in marked(document, project).findings:
            message, edits = make(document, item.place.span.row)
            fix = Fix(applicability, message, tuple(edits))  # type: ignore[arg-type]
            found.append(replace(item, fix=fix))
        return Found(findings=found)

    return analyse


def line(row: int, text: str, document: Document) -> Edit:
    return Edit(Span(row, 1, row, len(document.lines[row - 1]) + 1), text)


def without_mark(document: Document, row: int) -> tuple[str, list[Edit]]:
    return "Remove it", [line(row, "fine = 1", document)]


def run(path: Path, *, unsafe: bool | None = None, write: bool = True) -> Repairs:
    resolver = Resolver(cwd=path.parent)
    return repair(check_paths([path], resolver), resolver, unsafe=unsafe, write=write)


def test_all_findings_are_fixed(analysis: Analysis, project: Path) -> None:
    analysis(fixing(without_mark))
    path = project / "a.py"
    path.write_bytes(b"BUG = 1\r\nkept = 2\nBUG2 = 3")
    (fixed,) = run(path).files
    assert path.read_bytes() == b"fine = 1\r\nkept = 2\nfine = 1"
    assert [code for code, _ in fixed.applied] == ["DST101", "DST102"]
    assert run(path).files == []


def test_many_findings_take_few_rounds(analysis: Analysis, project: Path) -> None:
    asked = []

    def counting(document: Document, project: Project) -> Found:
        asked.append(document.text)
        return fixing(without_mark)(document, project)

    analysis(counting)
    path = project / "a.py"
    path.write_text("BUG = 1\n" * 60)
    run(path)
    assert path.read_text() == "fine = 1\n" * 60
    assert len(asked) < 20


def test_unsafe_ones_are_for_those_who_ask(analysis: Analysis, project: Path) -> None:
    analysis(fixing(without_mark, applicability="unsafe"))
    path = project / "a.py"
    path.write_text("BUG = 1\n")
    assert run(path).files == []
    (project / "distlint.toml").write_text("unsafe-fixes = true")
    assert run(path, unsafe=False).files == []
    assert len(run(path, write=False).files) == 1
    assert path.read_text() == "BUG = 1\n"
    assert len(run(path).files) == 1
    assert path.read_text() == "fine = 1\n"


def test_only_shown(analysis: Analysis, project: Path) -> None:
    analysis(fixing(without_mark, applicability="displayonly"))
    path = project / "a.py"
    path.write_text("BUG = 1\n")
    assert run(path, unsafe=True).files == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("BUG = 2", "it would leave DST101 (line 2)"),
        ("BUG2 = 2", "it would introduce DST102 (line 2)"),
        ("fine = (", "the result is not valid Python"),
        ("nonlocal fine", "the result is not valid Python"),
    ],
)
def test_what_does_not_prove_right_is_taken_back(
    analysis: Analysis, project: Path, text: str, problem: str
) -> None:
    def make(document: Document, row: int) -> tuple[str, list[Edit]]:
        good = "first" in document.lines[row - 1]
        return "Try", [line(row, "fine = 1" if good else text, document)]

    analysis(fixing(make))
    path = project / "a.py"
    path.write_text("BUG = 'first'\nBUG = 1\n")
    repairs = run(path)
    assert path.read_text() == "fine = 1\nBUG = 1\n"
    message = f"fix of DST101 (line 2) not applied: {problem}"
    assert [notice.message for notice in repairs.notices] == [message]


def test_a_fix_that_is_no_longer_offered_after_it_was_refused_is_named(
    analysis: Analysis, project: Path
) -> None:
    def make(document: Document, row: int) -> tuple[str, list[Edit]]:
        return "Try", [line(row, "BUG2 = 1" if row == 1 else "fine = 1", document)]

    def analyse(document: Document, project: Project) -> Found:
        found = fixing(make)(document, project).findings
        is_alone = len(found) == 1
        return Found(findings=[replace(each, fix=None) if is_alone else each for each in found])

    analysis(analyse)
    path = project / "a.py"
    path.write_text("BUG = 1\nBUG = 2\n")
    repairs = run(path)
    assert path.read_text() == "BUG = 1\nfine = 1\n"
    (notice,) = repairs.notices
    assert (
        notice.message == "fix of DST101 (line 1) not applied: it would introduce DST102 (line 1)"
    )


def test_a_fix_that_shows_another_finding_and_is_not_analysed_to_the_end_names_the_finding(
    analysis: Analysis, project: Path
) -> None:
    def make(document: Document, row: int) -> tuple[str, list[Edit]]:
        return "Try", [line(row, "BUG2 = 1", document)]

    def analyse(document: Document, project: Project) -> Found:
        found = fixing(make)(document, project).findings
        return Found(findings=found, over_budget="BUG2" in document.text)

    analysis(analyse)
    path = project / "a.py"
    path.write_text("BUG = 1\n")
    (notice,) = run(path).notices
    assert (
        notice.message == "fix of DST101 (line 1) not applied: it would introduce DST102 (line 1)"
    )


def test_what_another_fix_makes_possible_is_tried_again(analysis: Analysis, project: Path) -> None:
    def analyse(document: Document, project: Project) -> Found:
        found = fixing(without_mark)(document, project)
        if document.lines[0] == "fine = 1" and document.lines[1].startswith("BUG"):
            found.findings.append(finding(document.path, code="DST102", row=1))
        return found

    analysis(analyse)
    path = project / "a.py"
    path.write_text("BUG = 1\nBUG = 2\n")
    repairs = run(path)
    assert path.read_text() == "fine = 1\nfine = 1\n"
    assert repairs.notices == []


def test_what_cannot_be_written_in_the_encoding(analysis: Analysis, project: Path) -> None:
    def make(document: Document, row: int) -> tuple[str, list[Edit]]:
        return "Try", [line(row, "fine = '€'", document)]

    analysis(fixing(make))
    path = project / "a.py"
    path.write_bytes("# coding: latin-1\nBUG = 'é'\n".encode("latin-1"))
    (notice,) = run(path).notices
    assert notice.message.endswith("'€' cannot be encoded as iso-8859-1")
    assert path.read_bytes() == "# coding: latin-1\nBUG = 'é'\n".encode("latin-1")


def test_a_byte_order_mark_and_a_cookie_stay(analysis: Analysis, project: Path) -> None:
    analysis(fixing(without_mark))
    for data in (b"\xef\xbb\xbfBUG = 1\n", b"# coding: latin-1\nBUG = 1  \nx = '\xe9'"):
        path = project / "a.py"
        path.write_bytes(data)
        run(path)
        after = data.replace(b"BUG = 1  ", b"fine = 1").replace(b"BUG = 1", b"fine = 1")
        assert path.read_bytes() == after


@pytest.mark.parametrize("shared", [True, False])
def test_an_edit_of_many_fixes_is_made_once_and_others_wait(
    analysis: Analysis, project: Path, shared: bool
) -> None:
    def make(document: Document, row: int) -> tuple[str, list[Edit]]:
        name = "lib" if shared else f"lib{document.lines[row - 1].removeprefix('BUG = ')}"
        top = Edit(Span(1, 1, 1, 1), f"import {name}\n")
        return "Import", [top, line(row, "fine = 1", document)]

    analysis(fixing(make))
    path = project / "a.py"
    path.write_text("".join(f"BUG = {number}\n" for number in range(12)))
    run(path)
    assert path.read_text().count("import") == (1 if shared else 12)
    assert path.read_text().endswith("fine = 1\n" * 12)


def test_a_fix_that_never_ends(analysis: Analysis, project: Path) -> None:
    def analyse(document: Document, project: Project) -> Found:
        plain = finding(document.path)
        fix = Fix("safe", "Grow", (Edit(Span(1, 1, 1, 1), "#"),))
        message = "x" * len(document.text)
        return Found(findings=[replace(plain, fix=fix, message=message)])

    analysis(analyse)
    path = project / "a.py"
    path.write_text("a = 1\n")
    repairs = run(path)
    assert path.read_text() == "a = 1\n"
    assert repairs.notices


def test_a_comment_that_another_file_needs_stays(analysis: Analysis, project: Path) -> None:
    def analyse(document: Document, project: Project) -> Found:
        if document.path.name != "train.py":
            return Found()
        return Found(findings=[finding(document.path.with_name("model.py"), row=1)])

    analysis(analyse)
    (project / "model.py").write_text("x = 1  # distlint: ignore[DST101]\n")
    (project / "train.py").write_text("import model\n")
    resolver = Resolver(cwd=project)
    assert repair(check_paths([project], resolver), resolver, unsafe=None, write=True).files == []
    resolver = Resolver(cwd=project)
    alone = check_paths([project / "model.py"], resolver)
    assert len(repair(alone, resolver, unsafe=None, write=True).files) == 1
    assert (project / "model.py").read_text() == "x = 1\n"


def harming_train(name: str) -> Callable[[Document, Project], Found]:
    """An analysis in which the fix of a file of this name brings a finding to train.py."""

    def analyse(document: Document, project: Project) -> Found:
        if document.path.name != "train.py":
            return fixing(without_mark)(document, project)
        other = project.by_key(str(document.path.with_name(name)))
        assert other is not None
        fixed = "fine" in other.definitions
        return Found(findings=[finding(document.path, 1, "DST102")] if fixed else [])

    return analyse


def test_a_fix_that_harms_an_importer_is_taken_back(analysis: Analysis, project: Path) -> None:
    analysis(harming_train("library.py"))
    (project / "train.py").write_text("import library\n")
    (project / "library.py").write_text("BUG = 1\n")
    (project / "other.py").write_text("BUG = 1\n")
    resolver = Resolver(cwd=project)
    repairs = repair(check_paths([project], resolver), resolver, unsafe=None, write=True)
    assert [fixed.path.name for fixed in repairs.files] == ["other.py"]
    assert (project / "library.py").read_text() == "BUG = 1\n"
    (notice,) = repairs.notices
    expected = "fix of DST101 (line 1) not applied: it would introduce DST102 in train.py, line 1"
    assert notice.message == expected


def test_a_fix_that_harms_what_imports_an_importer_does_not_hold_up_the_others(
    analysis: Analysis, project: Path
) -> None:
    analysis(harming_train("deep.py"))
    (project / "train.py").write_text("import library\n")
    (project / "library.py").write_text("import deep\nBUG = 1\n")
    (project / "deep.py").write_text("BUG = 1\n")
    resolver = Resolver(cwd=project)
    repairs = repair(check_paths([project], resolver), resolver, unsafe=None, write=True)
    assert [fixed.path.name for fixed in repairs.files] == ["library.py"]
    (notice,) = repairs.notices
    expected = "fix of DST101 (line 1) not applied: it would introduce DST102 in train.py, line 1"
    assert (notice.path, notice.message) == (project / "deep.py", expected)


def test_a_fix_that_harms_an_importer_does_not_hold_up_the_others(
    analysis: Analysis, project: Path
) -> None:
    def analyse(document: Document, project: Project) -> Found:
        if document.path.name != "train.py":
            return fixing(make)(document, project)
        library = project.by_key(str(document.path.with_name("library.py")))
        assert library is not None
        harmed = "harmful" in library.definitions
        return Found(findings=[finding(document.path, 1, "DST102")] if harmed else [])

    def make(document: Document, row: int) -> tuple[str, list[Edit]]:
        harms = document.lines[row - 1].endswith("'harms'")
        return "Try", [line(row, "harmful = 1" if harms else "fine = 1", document)]

    analysis(analyse)
    (project / "train.py").write_text("import library\n")
    (project / "library.py").write_text("BUG = 1\nBUG = 'harms'\nBUG = 3\n")
    resolver = Resolver(cwd=project)
    repairs = repair(check_paths([project], resolver), resolver, unsafe=None, write=True)
    assert (project / "library.py").read_text() == "fine = 1\nBUG = 'harms'\nfine = 1\n"
    (notice,) = repairs.notices
    expected = "fix of DST101 (line 2) not applied: it would introduce DST102 in train.py, line 1"
    assert notice.message == expected
