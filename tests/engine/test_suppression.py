"""Comments that switch rules off: where they count, and what is said about useless ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distlint.engine.check import Session
from distlint.engine.results import FileResult
from distlint.engine.run import check_stdin
from distlint.engine.settings import Overrides, Resolver
from distlint.rules.found import Found
from distlint.source.document import Document
from distlint.source.finding import Finding
from tests.engine.conftest import finding, write

pytestmark = pytest.mark.usefixtures("analysis")


def reported(text: str, name: str = "train.py") -> list[tuple[int, str]]:
    report = check_stdin(text.encode(), Path(name), Resolver())
    assert not report.failed
    return [(finding.place.span.row, finding.code) for finding in report.findings]


def complaints(text: str) -> list[Finding]:
    report = check_stdin(text.encode(), Path("train.py"), Resolver())
    return [finding for finding in report.findings if finding.code == "DST001"]


def mended(text: str) -> str:
    """The text after the fixes of all complaints."""
    document = Document.from_bytes(text.encode(), Path("train.py"))
    edits = [edit for finding in complaints(text) if finding.fix for edit in finding.fix.edits]
    lines = document.text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:row])) for row in range(len(lines) + 1)]
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        start = starts[edit.span.row - 1] + edit.span.column - 1
        end = starts[edit.span.end_row - 1] + edit.span.end_column - 1
        text = text[:start] + edit.content + text[end:]
    return text


def test_without_a_comment(project: Path) -> None:
    assert reported("BUG\n") == [(1, "DST101")]


@pytest.mark.parametrize(
    "text",
    [
        "BUG  # distlint: ignore[DST101]\n",
        "BUG  # distlint: ignore[collective-in-rank-branch]\n",
        "BUG  # distlint: ignore[DST101] -- the job is meant to hang, see #12\n",
        "BUG  # distlint:ignore[ DST101 ,]\n",
        "BUG  # type: ignore  # distlint: ignore[DST101]  # pragma: no cover\n",
        "BUG  # noqa: DST101\n",
        "BUG  # NOQA:E501,DST101 because\n",
        "# distlint: ignore[DST101]\nBUG\n",
        "# distlint: ignore[DST101]\n\n# Something else.\nBUG\n",
        "# distlint: ignore[DST101]\nf(\n    1,\n    BUG,\n)\n",
        "f(\n    1,  # distlint: ignore[DST101]\n    BUG,\n)\n",
        "f(\n    # distlint: ignore[DST101]\n    BUG,\n)\n",
        "f(\n    BUG,\n)  # distlint: ignore[DST101]\n",
        "x = '''\nBUG\n'''  # distlint: ignore[DST101]\n",
        "# distlint: ignore[DST101]\n@decorated\ndef BUG():\n    pass\n",
        "# distlint: file-ignore[DST101]\nx = 1\nBUG\nBUG\n",
        "x = 1\nBUG\n# distlint: file-ignore[collective-in-rank-branch]\n",
        "BUG\nRELATED  # distlint: ignore[DST101]\n",
        "# distlint: ignore[DST101]\nRELATED\nBUG\n",
        "BUG; BUG2  # distlint: ignore[DST101, unsynced-break]\n",
        "if x:  # distlint: ignore[DST102]\n    BUG  # distlint: ignore[DST101]\nBUG2; RELATED\n"
        "# distlint: file-ignore[DST102]\n",
    ],
)
def test_suppressed(project: Path, text: str) -> None:
    codes = {code for _, code in reported(text)}
    assert "DST101" not in codes


@pytest.mark.parametrize(
    "text",
    [
        "BUG\n# distlint: ignore[DST101]\n",
        "x = '# distlint: ignore[DST101]'; BUG\n",
        "if x:  # distlint: ignore[DST101]\n    BUG\n",
        "# distlint: ignore[DST101]\nif x:\n    BUG\n",
        "BUG  # distlint: ignore[DST102]\n",
        "BUG  # distlint: ignore\n",
        "BUG  # distlint: ignore[]\n",
        "BUG  # noqa\n",
        "BUG  # noqa: E501\n",
        "BUG  # noqa: collective-in-rank-branch\n",
        "# ruff: noqa\nBUG\n",
        "BUG  # DST101\n",
    ],
)
def test_not_suppressed(project: Path, text: str) -> None:
    assert any(code == "DST101" for _, code in reported(text))


@pytest.mark.parametrize(
    ("text", "message", "after"),
    [
        ("x  # distlint: ignore[DST101]\n", "DST101 reports nothing here", "x\n"),
        ("x  # distlint: ignore[DST101] -- why\n", "DST101 reports nothing here", "x\n"),
        ("x  # noqa: DST101\n", "DST101 reports nothing here", "x\n"),
        ("x  # noqa: DST101 because\n", "DST101 reports nothing here", "x\n"),
        ("x  # noqa: E501, DST101\n", "DST101 reports nothing here", "x  # noqa: E501\n"),
        ("x  # noqa: DST101, E501\n", "DST101 reports nothing here", "x  # noqa: E501\n"),
        ("    # distlint: ignore[DST101]\nx\n", "DST101 reports nothing here", "x\n"),
        ("x\n# distlint: ignore[DST101]", "DST101 reports nothing here", "x\n"),
        ("x\n# distlint: file-ignore[DST101]\n", "DST101 reports nothing in this file", "x\n"),
        (
            "x  # distlint: ignore[DST101]  # type: ignore\n",
            "DST101 reports nothing here",
            "x  # type: ignore\n",
        ),
        (
            "BUG  # distlint: ignore[DST102, DST101, DST103]\n",
            "DST102, DST103 report nothing here",
            "BUG  # distlint: ignore[DST101]\n",
        ),
        (
            "BUG\nBUG2\n# distlint: file-ignore[DST101, DST103, DST102]\n",
            "DST103 reports nothing in this file",
            "BUG\nBUG2\n# distlint: file-ignore[DST101, DST102]\n",
        ),
        (
            "BUG  # distlint: ignore[colective-in-rank-branch]\n",
            "unknown rule `colective-in-rank-branch`; did you mean `collective-in-rank-branch`?",
            "BUG  # distlint: ignore[collective-in-rank-branch]\n",
        ),
        (
            "BUG  # distlint: ingore[DST101]\n",
            "unknown directive `ingore`; did you mean `ignore`?",
            "BUG  # distlint: ignore[DST101]\n",
        ),
        (
            "BUG  # distlint: disable=DST101\n",
            "unknown directive `disable`; use `ignore[...]` or `file-ignore[...]`",
            None,
        ),
        ("BUG  # distlint: ignore\n", "`ignore` without a rule; write", None),
        ("BUG  # distlint: file-ignore[\n", "`file-ignore` without a rule; write", None),
        ("BUG  # noqa: DST999\n", "unknown rule `DST999`", None),
    ],
)
def test_useless_comments_are_reported_and_can_be_mended(
    project: Path, text: str, message: str, after: str | None
) -> None:
    found = complaints(text)
    assert len(found) == 1
    assert found[0].name == "unused-suppression"
    assert found[0].message.startswith(message)
    assert mended(text) == (after if after is not None else text)


@pytest.mark.parametrize(
    "text",
    [
        "x  # noqa\n",
        "x  # noqa: E501\n",
        "x  # see distlint: it finds hangs\n",
        "x  # as in `# distlint: ignore`\n",
        "x  # distlint finds hangs\n",
        "x = 'distlint: ignore[DST999]'\n",
        "x  # distlint: ignore[DST306]\n",
        "x  # distlint: ignore[DST001]\n",
        "x  # distlint: ignore[DST101, DST001]\n",
    ],
)
def test_not_complained_about(project: Path, text: str) -> None:
    assert complaints(text) == []


def test_a_comment_for_a_rule_that_is_off_is_left_alone(project: Path) -> None:
    write(project, {"distlint.toml": 'ignore = ["DST101"]'})
    assert reported("BUG  # distlint: ignore[DST101]\n") == []
    write(project, {"distlint.toml": 'per-file-ignores = {"t*" = ["DST101"]}'})
    assert reported("BUG  # distlint: ignore[DST101]\n") == []


def test_unused_suppressions_can_be_switched_off(project: Path) -> None:
    write(project, {"distlint.toml": 'ignore = ["unused-suppression"]'})
    assert reported("x  # distlint: ignore[DST101]\n") == []


def test_an_incomplete_analysis_proves_no_comment_useless(
    project: Path, analysis: Callable[[Callable[..., Found]], None]
) -> None:
    analysis(lambda document, project: Found(over_budget=1))
    assert reported("x  # distlint: ignore[DST101]\n") == []
    assert reported("x  # distlint: ignore[DST999]\n") == [(1, "DST001")]


def test_a_comment_that_another_file_needs_is_used(project: Path) -> None:
    """A helper's bug shows only in the analysis of the script that calls it."""
    from distlint.engine.discovery import Discovered
    from distlint.engine.run import combined, merge, part

    text = "x  # distlint: ignore[DST101]\n"
    write(project, {"helper.py": text, "train.py": "import helper\n"})
    session = Session(Resolver())
    helper = session.check_bytes(
        text.encode(), project / "helper.py", session.resolver.of_folder(project)
    )
    assert len(merge([helper], Discovered()).findings) == 1
    train = FileResult(project / "train.py", used=frozenset({(project / "helper.py", 1, 23)}))
    assert merge([helper, train], Discovered()).findings == ()
    parts = [part([helper], Discovered()), part([train], Discovered())]
    assert [each.findings for each in parts] == [(), ()]
    assert combined(parts).findings == ()
    assert len(combined([parts[0]]).findings) == 1


def test_suppressed_findings_are_counted(project: Path) -> None:
    report = check_stdin(b"BUG  # noqa: DST101\nBUG\n", None, Resolver())
    assert report.suppressed == 1


def test_findings_in_preview_are_not_counted_as_suppressed(
    project: Path, analysis: Callable[[Callable[..., Found]], None]
) -> None:
    analysis(lambda document, _: Found([replace(finding(document.path), preview=True)]))
    for text in (b"BUG\n", b"BUG  # noqa: DST101\n"):
        report = check_stdin(text, None, Resolver())
        assert (report.findings, report.suppressed) == ((), 0)
    preview = Resolver(Overrides(preview=True))
    assert len(check_stdin(b"BUG\n", None, preview).findings) == 1
    assert check_stdin(b"BUG  # noqa: DST101\n", None, preview).suppressed == 1


LINES = [
    "x = 1",
    "BUG",
    "BUG2",
    "if x:\n    BUG",
    "f(\n    BUG,  {}\n)",
    "@f\ndef g():\n    pass",
    "x = '''\n# distlint: ignore[DST101]\n'''",
    "",
]
COMMENTS = [
    "",
    "# distlint: ignore[DST101]",
    "# distlint: ignore[DST102, DST101] -- why, see #12",
    "# distlint: ignore[DST103, unsynced-break , DST101]",
    "# distlint: file-ignore[DST104,DST101]",
    "# noqa: E501, DST101 because",
    "# noqa: DST103 DST102",
    "# type: ignore  # distlint: ignore[DST103]  # pragma: no cover",
]


@given(st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(COMMENTS)), max_size=8))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mending_leaves_nothing_to_mend_and_uncovers_nothing(
    project: Path, lines: list[tuple[str, str]]
) -> None:
    text = "".join(
        f"{line.format(comment)}\n" if "{}" in line else f"{line}  {comment}\n"
        for line, comment in lines
    )
    after = mended(text)
    assert complaints(after) == []
    bugs = [code for _, code in reported(text) if code != "DST001"]
    assert [code for _, code in reported(after)] == bugs
