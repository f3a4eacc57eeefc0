"""The line that names a finding."""

from __future__ import annotations

from distlint.output.snippet import place_text
from distlint.output.style import Part, visible
from distlint.source.finding import Finding, Severity

STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFO: "bold cyan",
}

_MARKS = {"safe": "[*]", "unsafe": "[!]"}


def kind(finding: Finding) -> tuple[str, str]:
    """``error[DST101]``"""
    return (f"{finding.severity.value}[{finding.code}]", STYLES[finding.severity])


def message(finding: Finding) -> str:
    """What is wrong, on one line."""
    return visible(" ".join(finding.title.split()))


def mark(finding: Finding, *, unsafe: bool, tried: bool = False) -> str:
    """``[*]`` where ``distlint fix`` tries a fix, ``[!]`` where that takes ``--unsafe-fixes``.

    Nothing where it was ``tried``, and did not pass.
    """
    if finding.fix is None or finding.fix.applicability == "displayonly":
        return ""
    if tried and (unsafe or finding.fix.applicability == "safe"):
        return ""
    return "[*]" if unsafe else _MARKS[finding.fix.applicability]


def line(finding: Finding, *, unsafe: bool = False, tried: bool = False) -> list[Part]:
    """``path:row:column: error[DST101] message [*]``"""
    fix = mark(finding, unsafe=unsafe, tried=tried)
    return [
        (place_text(finding.place), "bold"),
        ": ",
        kind(finding),
        f" {message(finding)}",
        f" {fix}" if fix else "",
    ]
