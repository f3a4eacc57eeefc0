"""The page of all findings."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from distlint.output import formats, trace_html, web
from distlint.output.formats import html
from distlint.output.web import markdown
from distlint.source.finding import Severity
from distlint.source.report import Notice, Report, RuleText
from tests.output.browser import opened, parsed, stands_alone
from tests.output.conftest import report, reported

TONES = ("text", "quiet", "link", "error", "warning", "info", "add")
GROUNDS = ("error", "warning", "info", "step")
CODE = ("keyword", "string", "number")
LINES = ("error-ground", "warning-ground")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> \x1b[31m\u202e & \"'"


def explained(code: str) -> RuleText:
    return RuleText(code, "some-name", "What `it` finds.", "What it finds.\n\n## Why\n\nBecause.")


def written(report: Report) -> str:
    stream = io.StringIO()
    formats.load("html").write(report, formats.Page(stream, explain=explained))
    return stream.getvalue()


def shown(page: str) -> str:
    return " ".join("".join(parsed(page).itertext()).split())


def test_the_whole_story(path: Path) -> None:
    item = replace(reported(path), proposed=("@@ -4 +4 @@", "-    old\n", "+new\n"))
    page = written(report(item, notices=(Notice("skipped", "too large", path),)))
    assert stands_alone(page)
    text = shown(page)
    for part in (
        "Found 1 error in 1 file (checked 3 files).",
        "train.py: too large (skipped)",
        "error DST101 line 4: all_reduce on rank 0 only",
        "4 if dist.get_rank() == 0:",
        "rank 0 init: dist.init_process_group() line 3 all_reduce: dist.all_reduce(loss) line 5",
        "ranks 1-3 init: dist.init_process_group() line 3 barrier: dist.barrier() utils.py:12",
        "true on rank 0, false on the other ranks [rank predicate] line 4",
        "rank 0 waits in all_reduce until the timeout",
        "Hoist the call (unsafe)",
        "- old +new",
        "DST101 collective-in-rank-branch: What it finds.",
    ):
        assert part in text


def test_what_is_flagged_is_marked(path: Path) -> None:
    (mark,) = parsed(written(report(reported(path)))).iter("mark")
    assert mark.text == "dist.get_rank() == 0"


def test_text_stays_text(path: Path) -> None:
    item = reported(path)
    finding = replace(item.finding, message=HOSTILE, name=HOSTILE)
    assert item.frame is not None
    frame = replace(item.frame, lines=tuple(HOSTILE for _ in item.frame.lines))
    notices = (Notice("failed", HOSTILE, path.parent / HOSTILE),)
    page = written(report(replace(item, finding=finding, frame=frame), notices=notices))
    assert len(list(parsed(page).iter("script"))) == 1
    assert not list(parsed(page).iter("img"))
    assert "\x1b" not in page


def test_nothing_found(path: Path) -> None:
    page = written(report())
    assert shown(page).startswith("distlint")
    assert "No findings (checked 3 files)." in page
    assert not list(parsed(page).iter("script"))


def test_many_findings_are_closed_and_can_be_sifted(path: Path) -> None:
    items = [reported(path) for _ in range(20)]
    info = [replace(i, finding=replace(i.finding, severity=Severity.INFO)) for i in items]
    page = written(report(*items, *info))
    details = [each for each in parsed(page).iter("details") if "finding" in each.get("class", "")]
    assert len(details) == 40
    assert not any("open" in each.attrib for each in details)
    boxes = [each.get("id") for each in parsed(page).iter("input")]
    assert boxes == ["show-error", "show-info", "search"]


def test_the_script_runs_under_the_policy_of_the_page(path: Path) -> None:
    """A link to a rule opens what the rule says."""
    file = path.with_name("findings.html")
    file.write_text(written(report(reported(path))))
    rules = [each for each in opened(file).split("<details") if 'id="DST101"' in each]
    assert " open" not in rules[0].split(">")[0]
    rules = [each for each in opened(file, "#DST101").split("<details") if 'id="DST101"' in each]
    assert " open" in rules[0].split(">")[0]


def test_markdown() -> None:
    source = (
        "Text `a<b`\nmore.\n\n## Fix\n\n- one\n  goes on\n- [two](https://x.org/?a&b) [x](y.md)\n\n"
        "```python\nif x:\n\n    y()\n```\n"
    )
    assert markdown(source) == (
        "<p>Text <code>a&lt;b</code> more.</p>\n<h3>Fix</h3>\n"
        '<ul><li>one   goes on</li><li><a href="https://x.org/?a&amp;b">two</a> x</li></ul>\n'
        '<pre role="group" tabindex="0" aria-label="Code">if x:\n\n    y()</pre>\n'
    )


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def palette(scheme: int) -> dict[str, str]:
    found = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", web.STYLE + trace_html._STYLE)
    return {name: pair[scheme] for name, *pair in found}


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_its_ground(scheme: int) -> None:
    """The contrast that the WCAG ask for, 4.5 to 1."""
    colours = palette(scheme)
    pairs = [(tone, ground) for tone in TONES for ground in ("ground", "raised")]
    pairs += [(tone, f"{tone}-ground") for tone in ("error", "warning", "info", "add")]
    pairs += [(tone, f"{ground}-ground") for tone in ("text", "quiet") for ground in GROUNDS]
    pairs += [(tone, ground) for tone in CODE for ground in ("raised", *LINES)]
    for tone, ground in pairs:
        assert contrast(colours[tone], colours[ground]) >= 4.5, (tone, ground)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_what_can_be_pressed_stands_out(scheme: int) -> None:
    """The contrast that the WCAG ask for borders of controls and bars, 3 to 1."""
    colours = palette(scheme)
    pairs = [(edge, ground) for edge in ("quiet", "link") for ground in ("ground", "raised")]
    pairs += [(edge, "ground") for edge in ("step", "error", "warning")]
    for edge, ground in pairs:
        assert contrast(colours[edge], colours[ground]) >= 3, (edge, ground)
    controls = re.findall(
        r"\.bar (?:input|button)[^}]*border: 1px solid var\(--(\w+)\)", html._STYLE
    )
    assert controls == ["quiet", "quiet"]
