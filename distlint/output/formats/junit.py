"""JUnit's XML: a suite for each file, a test case for each finding in it, or for none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from distlint.output.formats import Page
from distlint.output.places import file_rows, in_repository
from distlint.source.finding import Finding
from distlint.source.paths import printable
from distlint.source.report import Notice, Report, Reported

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(report: Report, page: Page) -> None:
    text = "\n".join(_document(report))
    # Character references hold in whatever encoding the stream has.
    page.stream.write(text.encode("ascii", "xmlcharrefreplace").decode("ascii") + "\n")


def _document(report: Report) -> Iterator[str]:
    by_file: dict[Path, list[Reported]] = {path: [] for path in report.files}
    for item in report.listed:
        by_file.setdefault(item.finding.place.path, []).append(item)
    failed = [notice for notice in report.notices if notice.kind == "failed"]
    suites = [_suite(path, by_file[path]) for path in sorted(by_file)]
    tests = sum(max(1, len(items)) for items in by_file.values()) + len(failed)
    failures = sum(item.fails for item in report.reported)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield (
        f'<testsuites name="distlint" tests="{tests}" failures="{failures}" '
        f'errors="{len(failed)}" time="0">'
    )
    for suite in suites:
        yield from suite
    if failed:
        yield from _errors(failed)
    yield "</testsuites>"


def _suite(path: Path, items: Iterable[Reported]) -> Iterator[str]:
    items = list(items)
    name = in_repository(path)
    failures = sum(item.fails for item in items)
    yield (
        f'  <testsuite name={_attribute(name)} tests="{max(1, len(items))}" '
        f'failures="{failures}" errors="0" skipped="0" time="0">'
    )
    for item in items:
        yield from _case(item, name)
    if not items:
        yield f'    <testcase name="no findings" classname={_attribute(name)} time="0"/>'
    yield "  </testsuite>"


def _case(item: Reported, name: str) -> Iterator[str]:
    """A finding below --fail-on passes, and says what it says as output."""
    finding = item.finding
    place = finding.place
    row, column = (file_rows(place) or [place.span.row])[0], place.span.column
    where = f"cell {place.cell}, line {place.span.row}" if place.cell else f"line {row}"
    title = f"{finding.code} {finding.name} ({where}, column {column})"
    yield (
        f"    <testcase name={_attribute(title)} classname={_attribute(name)} "
        f'file={_attribute(name)} line="{row}" time="0">'
    )
    text = escape(_clean(_text(finding, name)))
    if item.fails:
        yield (
            f"      <failure message={_attribute(finding.title)} "
            f"type={_attribute(finding.severity.value)}>{text}</failure>"
        )
    else:
        yield f"      <system-out>{text}</system-out>"
    yield "    </testcase>"


def _text(finding: Finding, name: str) -> str:
    place = finding.place
    cell = f"cell {place.cell}:" if place.cell else ""
    lines = [f"{name}:{cell}{place.span.row}: {finding.title}"]
    if finding.explanation is not None:
        lines += [finding.explanation.effect, finding.explanation.help]
    return "\n".join(line for line in lines if line)


def _errors(notices: Iterable[Notice]) -> Iterator[str]:
    notices = list(notices)
    count = len(notices)
    yield f'  <testsuite name="distlint" tests="{count}" failures="0" errors="{count}" time="0">'
    for notice in notices:
        name = _attribute(in_repository(notice.path) if notice.path else "the run")
        yield f'    <testcase name={name} classname="distlint" time="0">'
        yield f"      <error message={_attribute(notice.message)}/>"
        yield "    </testcase>"
    yield "  </testsuite>"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub(lambda match: printable(match[0]), text)
