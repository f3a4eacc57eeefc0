"""Workflow commands of GitHub Actions: each finding becomes an annotation at its line."""

from __future__ import annotations

from distlint.output import summary
from distlint.output.formats import Page
from distlint.output.places import file_rows, filename, place_name
from distlint.output.style import encodable
from distlint.source.finding import Finding, Severity
from distlint.source.paths import display
from distlint.source.report import Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def write(report: Report, page: Page) -> None:
    encoding = getattr(page.stream, "encoding", None) or "utf-8"
    for finding in report.findings:
        page.stream.write(encodable(_command(finding), encoding) + "\n")
    note = summary.incomplete(report, verbose=page.verbose)
    if note:  # one for all: GitHub shows ten annotations of a kind for each step
        page.stream.write(encodable(f"::notice title=distlint::{_data(note)}", encoding) + "\n")


def _command(finding: Finding) -> str:
    place = finding.place
    rows = file_rows(place)
    first, last = rows or (place.span.row, place.span.end_row)
    properties = {
        "title": f"distlint ({finding.code} {finding.name})",
        "file": filename(place.path),
        "line": first,
        "endLine": last,
    }
    if rows is None and first == last:  # columns count within one line only
        properties |= {"col": place.span.column, "endColumn": place.span.end_column}
    settings = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {settings}::{_data(_message(finding))}"


def _message(finding: Finding) -> str:
    place = finding.place
    where = f"{display(place.path)}:{place_name(place)}"
    lines = [f"{where}: {finding.code} {finding.title}"]
    if finding.explanation is not None:
        lines += [finding.explanation.effect, finding.explanation.help]
    return "\n".join(line for line in lines if line)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
