"""What is said about a run as a whole: the last line, the statistics, the notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from distlint.output.formats import Page
from distlint.output.snippet import place_text
from distlint.output.style import Part, Printer, width_of, wrapped
from distlint.source.finding import Severity
from distlint.source.paths import display, printable
from distlint.source.report import Fixed, Notice, Report, Reported

_PREFIX: dict[str, Part] = {
    "failed": ("error: ", "bold red"),
    "warning": ("warning: ", "bold yellow"),
    "skipped": ("skipped: ", "bold yellow"),
    "nothing": "",
}


_NOTE = "note: "
NAMED = 3
"""Entry points that the note about an incomplete analysis names."""


def counted(count: int, singular: str, plural: str | None = None) -> str:
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def closing(report: Report) -> str:
    """One line: how much was found, in how many files."""
    checked = f"checked {counted(report.checked, 'file')}"
    if report.tolerated:
        checked += f"; {report.tolerated:,} in the baseline"
    if not report.reported:
        what = "No new findings" if report.tolerated else "No findings"
        return f"{what} ({checked})." if report.checked else "No files were checked."
    severities = report.by_severity()
    found = ", ".join(
        counted(severities[severity], severity.value, "info" if severity is Severity.INFO else None)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)
        if severities[severity]
    )
    files = len({finding.place.path for finding in report.findings})
    return f"Found {found} in {counted(files, 'file')} ({checked})."


def close(report: Report, out: Printer, page: Page, *, width: int | None = None) -> None:
    """The last lines of a report for people, wrapped if there is a width."""
    if page.quiet:
        return
    for text in filter(
        None, [closing(report), fixable(report, unsafe=page.unsafe, tried=page.tried)]
    ):
        for line in wrapped(text, width) if width else [text]:
            out.line(line)
    note = incomplete(report, verbose=page.verbose)
    if note:
        first, *rest = _lines_of(f"{_NOTE}{note}", width)
        out.line((_NOTE, "bold"), first.removeprefix(_NOTE))
        for line in rest:
            out.line(line)


def _lines_of(note: str, width: int | None) -> Iterator[str]:
    """The lines of a note, those that continue another indented a little more."""
    for text in note.split("\n"):
        if not width or width_of(text) <= width:
            yield text
            continue
        indent = " " * (len(text) - len(text.lstrip()) + len(_NOTE))
        first, *rest = wrapped(text, width - len(indent), cut=True)
        yield indent[len(_NOTE) :] + first
        yield from (indent + line for line in rest)


def incomplete(report: Report, *, verbose: bool) -> str:
    """Which entry points were not analysed in full, with the reasons if asked for."""
    items = report.noted
    if not items:
        return ""
    what = f"the analysis of {counted(len(items), 'entry point')} is incomplete"
    if verbose:
        places = (f"  {_where(item)}: {item.finding.message}" for item in items)
        return "\n".join([f"{what}; hangs may be missed there:", *places])
    if len(items) > NAMED:
        return f"{what}; hangs may be missed there (`--verbose` lists them)"
    named = ", ".join(f"{item.entry_point} ({_where(item)})" for item in items)
    return f"{what}: {named}; hangs may be missed there (`--verbose` says why)"


def _where(item: Reported) -> str:
    return place_text(item.finding.place)


def fixable(report: Report, *, unsafe: bool, tried: bool = False) -> str:
    """How many findings could be fixed, and how; empty when none, or when those were tried.

    Whether a fix passes is known when the result is analysed, which a check does not do.
    """
    safe, risky = report.fixable("safe"), report.fixable("unsafe")
    if unsafe:
        safe, risky = safe + risky, 0
    if tried:
        safe = 0
    if safe and risky:
        more = f"{risky:,} more with `--unsafe-fixes`"
        return f"{safe:,} fixable with `distlint fix` if verified ({more})."
    if safe:
        return f"{safe:,} fixable with `distlint fix` if verified."
    return f"{risky:,} fixable with `distlint fix --unsafe-fixes` if verified." if risky else ""


def fixed(files: Iterable[Fixed], *, would: bool, risky: int = 0) -> str:
    """How much was fixed, or would be; ``risky`` more could be by unsafe fixes."""
    files = list(files)
    verb = "Would fix" if would else "Fixed"
    more = f" ({risky:,} more with `--unsafe-fixes`)" if risky else ""
    if not files:
        return f"{verb} nothing{more}."
    count = counted(sum(len(file.applied) for file in files), "finding")
    return f"{verb} {count} in {counted(len(files), 'file')}{more}."


def statistics(report: Report, out: Printer) -> None:
    """How often each rule spoke, and what the run left out."""
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    width = len(f"{max(counts.values(), default=0):,}")
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        out.line(f"{count:>{width},}  ", (code, "bold"), f"  {name}")
    if counts:
        out.line()
    for text in _totals(report):
        out.line(text)


def _totals(report: Report) -> Iterator[str]:
    yield f"{counted(report.checked, 'file')} checked, {report.skipped:,} skipped"
    yield f"{counted(report.roots, 'entry point')} analysed, {report.over_budget:,} over budget"
    if report.noted:
        yield f"{counted(len(report.noted), 'entry point')} not analysed in full"
    yield f"{counted(report.suppressed, 'finding')} suppressed by comments"
    if report.tolerated:
        yield f"{counted(report.tolerated, 'finding')} in the baseline"


def notices(items: tuple[Notice, ...], out: Printer, *, verbose: bool) -> None:
    """A line for each path that was not checked, with the details when asked for."""
    for notice in items:
        where = f"{display(notice.path)}: " if notice.path else ""
        out.line(_PREFIX[notice.kind], where, printable(notice.message))
        if verbose and notice.detail:
            for line in notice.detail.rstrip().splitlines():
                out.line("  ", printable(line))
