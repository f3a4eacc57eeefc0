"""The line that names a finding."""

from __future__ import annotations

from distlint.output.style import Part, visible
from distlint.output.table import DIM, LABEL
from distlint.source.finding import Finding, Severity
from distlint.source.paths import display

STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFO: "bold cyan",
}


def headline(finding: Finding) -> list[Part]:
    """``path:row:column: severity[code] name: message``; in a notebook with ``cell 3:`` before."""
    place = finding.place
    cell = f":cell {place.cell}" if place.cell else ""
    return [
        (display(place.path), "bold"),
        (f"{cell}:{place.span.row}:{place.span.column}: ", DIM),
        (f"{finding.severity.value}[{finding.code}]", STYLES[finding.severity]),
        (f" {finding.name}: ", LABEL),
        visible(" ".join(finding.message.split())),
    ]
