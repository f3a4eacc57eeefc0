"""Who uses a keyboard, a screen reader or paper can use the pages, too."""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest

from distlint.output import formats, trace_html, web
from distlint.output.formats import html
from distlint.source.finding import Decision, Severity, Step
from distlint.source.report import Notice, RuleText
from distlint.source.trace import Trace
from scripts.check_accessibility import chromium, violations
from tests.output.browser import parsed
from tests.output.conftest import place, report, reported

SHEET = web.STYLE + html._STYLE + trace_html._STYLE
NAMED_WITHOUT_A_ROLE = {"a", "button", "input", "section", "table"}
"""Elements that have a role, so that ``aria-label`` names them."""

RULE = (
    "What it finds.\n\n```python\nif rank == 0:\n    dist.barrier()\n```\n\n## Why\n\n"
    "- [Collectives](https://pytorch.org/a)\n- [Groups](https://pytorch.org/b)\n"
)


def findings(path: Path) -> str:
    """A page with all that a report can have."""
    item = replace(reported(path), proposed=("@@ -4 +4 @@\n", "-    old\n", "+new\n"))
    warning = replace(item, finding=replace(item.finding, severity=Severity.WARNING))
    notices = (Notice("skipped", "too large", path),)
    whole = replace(report(item, warning, notices=notices), noted=(item, item))
    stream = io.StringIO()
    explain = formats.Page(stream, explain=lambda code: RuleText(code, "name", "What.", RULE))
    formats.load("html").write(whole, explain)
    return stream.getvalue()


def nothing(_path: Path) -> str:
    stream = io.StringIO()
    formats.load("html").write(report(), formats.Page(stream))
    return stream.getvalue()


def traces(path: Path) -> str:
    """A page with two traces: lanes that diverge, and one file more."""
    path.write_text("\n".join(f"line_{row} = {row}  # 'text'" for row in range(1, 101)))
    start, some = (Step(f"call_{row}(x)", place(path, row)) for row in (3, 40))
    lanes = ("rank 0", "rank 1", "rank 2")
    stuck = (Step("barrier()", place(path, 50)), Step("ends"), Step("a < b & c", place(path, 60)))
    decision = Decision("rank == 0", "rank 0: true", "rank predicate", place(path, 48))
    rows = ((start, start, start), (some, None, some), stuck)
    first = Trace(path, "train", lanes, rows, 2, (decision,), effect="rank 0 waits")
    return trace_html.render([first, replace(first, function="second")])


@pytest.fixture(params=[findings, nothing, traces], ids=lambda each: str(each.__name__))
def page(request: pytest.FixtureRequest, path: Path) -> str:
    content: str = request.param(path)
    return content


def said(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def body(page: str) -> Element:
    found = parsed(page).find("body")
    assert found is not None
    return found


def focusable(page: str) -> Iterator[Element]:
    for each in parsed(page).iter():
        if each.tag in ("a", "button", "input", "summary") or each.get("tabindex") == "0":
            yield each


def test_the_language_and_what_it_is_about(page: str) -> None:
    assert parsed(page).get("lang") == "en"
    (title,) = parsed(page).iter("title")
    assert said(title).startswith("distlint")
    assert len(said(title)) > len("distlint trace")


def test_headings_are_an_outline(page: str) -> None:
    levels = [int(each.tag[1]) for each in body(page).iter() if re.fullmatch(r"h\d", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_all_content_is_in_a_landmark(page: str) -> None:
    assert len(list(parsed(page).iter("main"))) == 1
    for each in body(page):
        is_landmark = each.tag in ("header", "main", "footer") or each.get("role") == "search"
        assert is_landmark or each.tag == "script" or each.get("class") == "skip"


def test_landmarks_of_one_kind_have_different_names(page: str) -> None:
    names = [each.get("aria-label") for each in parsed(page).iter() if each.get("role") == "region"]
    names += [e.get("aria-label") for e in parsed(page).iter("section") if "aria-label" in e.attrib]
    assert len(names) == len(set(names))


def test_identifiers_are_unique_and_links_lead_somewhere(page: str) -> None:
    names = Counter(each.get("id") for each in parsed(page).iter() if "id" in each.attrib)
    assert set(names.values()) <= {1}
    for link in parsed(page).iter("a"):
        target = link.get("href", "")
        assert target.startswith("https://") or target[1:] in names


def test_the_first_thing_the_keyboard_reaches_skips_the_rest(path: Path) -> None:
    for page in (findings(path), traces(path)):
        first = next(focusable(page))
        assert first.get("class") == "skip"
        (target,) = [e for e in parsed(page).iter() if e.get("id") == first.get("href", "")[1:]]
        assert target.get("tabindex") in ("-1", "0")


def test_all_that_has_the_focus_has_a_name(page: str) -> None:
    labelled = {
        box.get("id"): said(e) for e in parsed(page).iter("label") for box in e.iter("input")
    }
    for each in focusable(page):
        assert each.get("aria-label") or said(each) or labelled.get(each.get("id"))


def test_names_are_given_to_what_can_have_one(page: str) -> None:
    for each in parsed(page).iter():
        if "aria-label" in each.attrib:
            assert each.get("role") or each.tag in NAMED_WITHOUT_A_ROLE, each.tag


def test_links_and_buttons_are_called_what_they_show(page: str) -> None:
    """Who speaks to the computer says what is there to read."""
    for each in parsed(page).iter():
        if each.tag in ("a", "button", "summary"):
            assert "aria-label" not in each.attrib


def test_the_keyboard_scrolls_what_is_too_wide(page: str) -> None:
    scrolled = set(re.findall(r"\.(\w+) \{[^}]*overflow(?:-x)?: auto", SHEET))
    assert scrolled == {"scroll", "source", "sources"}
    for each in body(page).iter():
        if each.tag == "pre" or scrolled & set(each.get("class", "").split()):
            assert each.get("tabindex") == "0"
            assert each.get("aria-label")


def test_folds_and_controls_are_those_of_html(page: str) -> None:
    """So that Enter and Space press them, and a screen reader says whether they are open."""
    for each in body(page).iter():
        assert not any(name.startswith("on") for name in each.attrib)
        if each.tag == "details":
            assert each[0].tag == "summary"
            assert not list(each[0].iter("a"))


def test_how_many_findings_the_search_leaves_is_said(path: Path) -> None:
    (status,) = [e for e in parsed(findings(path)).iter() if e.get("role") == "status"]
    assert f"#{status.get('id')}" in html._SCRIPT


def test_the_ranks_of_a_bar_are_said(path: Path) -> None:
    """The heads of the lanes are far above for who cannot see the columns."""
    boxes = [e for e in parsed(traces(path)).iter() if "box" in e.get("class", "").split()]
    assert [said(each) for each in boxes[:6]] == [
        "rank 0, rank 1, rank 2: call_3(x) line 3",
        "rank 0: call_40(x) line 40",
        "rank 2: call_40(x) line 40",
        "rank 0: barrier() waits here, line 50",
        "rank 1: ends",
        "rank 2: a < b & c waits here, line 60",
    ]


def test_each_place_of_an_incomplete_analysis_is_an_item(path: Path) -> None:
    (folded,) = [
        e for e in parsed(findings(path)).iter("details") if "incomplete" in e.get("class", "")
    ]
    assert said(folded[0]).startswith("note: the analysis of 2 entry points is incomplete")
    assert len(list(folded.iter("li"))) == 2
    assert "?" not in said(folded)


def test_paper_shows_what_is_folded_or_scrolled() -> None:
    printed = " ".join(re.findall(r"@media print \{(.*?)\n\}", SHEET, re.DOTALL))
    for wanted in (
        "details::details-content { display: block; content-visibility: visible; }",
        ":root { color-scheme: light; }",
        "pre { white-space: pre-wrap; overflow: visible;",
        ".sources { position: static; max-height: none; overflow: visible;",
        ".scroll, .source { overflow: visible; }",
        ".line { white-space: pre-wrap; width: auto;",
    ):
        assert wanted in printed


def test_the_focus_is_seen() -> None:
    assert ":focus-visible { outline: 2px solid var(--link)" in SHEET
    assert not re.search(r"outline: (none|0)", SHEET)


@pytest.mark.campaign
@pytest.mark.skipif(not os.environ.get("DISTLINT_TEST_AXE"), reason="takes axe-core, from npm")
def test_axe_finds_nothing(page: str, path: Path) -> None:
    if chromium() is None:
        pytest.skip("Chromium is not installed")
    file = path.with_name("page.html")
    file.write_text(page)
    assert list(violations(file, Path(os.environ["DISTLINT_TEST_AXE"]))) == []
