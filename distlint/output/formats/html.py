"""The findings of a whole repository as one page to send to a colleague."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from distlint.output import web
from distlint.output.formats import Page
from distlint.output.places import in_repository
from distlint.output.snippet import columns
from distlint.output.summary import closing, incomplete
from distlint.output.table import where
from distlint.output.web import inline, text
from distlint.source.finding import Decision, Explanation, Finding, Severity, Span, Step
from distlint.source.paths import printable
from distlint.source.report import Frame, Notice, Report, Reported, RuleText

FEW = 8
"""Up to so many findings are shown open."""

_STYLE = """
body { max-width: 78rem; }
.bar { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem 1.2rem;
  align-items: center; padding: .6rem 0; background: var(--ground);
  border-bottom: 1px solid var(--line); }
.bar input[type=search] { flex: 1 1 14rem; font: inherit; padding: .25rem .5rem; color: inherit;
  background: var(--raised); border: 1px solid var(--quiet); border-radius: 6px; }
.bar ::placeholder { color: var(--quiet); opacity: 1; } .bar [role=status]:empty { display: none; }
.bar button { font: inherit; padding: .25rem .7rem; color: inherit; background: var(--raised);
  border: 1px solid var(--quiet); border-radius: 6px; cursor: pointer; }
.bar [role=status] { margin: 0; }
@media (max-width: 40rem), (max-height: 30rem) { .bar { position: static; } }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .15rem 1.2rem .15rem 0;
  text-align: left; } td:first-child { text-align: right; font-variant-numeric: tabular-nums; }
.finding { border: 1px solid var(--line); border-left: 4px solid var(--tone); border-radius: 6px;
  margin: .6rem 0; } .error { --tone: var(--error); --tone-ground: var(--error-ground); }
.warning { --tone: var(--warning); --tone-ground: var(--warning-ground); }
.info { --tone: var(--info); --tone-ground: var(--info-ground); }
.finding > summary { padding: .5rem .8rem; cursor: pointer; overflow-wrap: anywhere; }
.finding > :not(summary) { margin: 0 .8rem .8rem; }
.badge { color: var(--tone); background: var(--tone-ground); border-radius: 4px;
  padding: .05rem .4rem; font: 600 .8rem var(--mono); white-space: nowrap; }
.frame, .change { background: var(--raised); border-radius: 6px; padding: .5rem .8rem; }
.frame .row { color: var(--quiet); user-select: none; }
mark { color: inherit; background: var(--tone-ground); border-bottom: 2px solid var(--tone); }
.lanes { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: .6rem; }
.lanes > div { border: 1px solid var(--line); border-radius: 6px; padding: .5rem .8rem; }
.lanes h3, .facts dt, .rule h3 { margin: 0; font-size: .85rem; color: var(--quiet);
  font-weight: 600; }
.lanes ol { margin: .3rem 0 0; padding-left: 1.2rem; } .lanes li { overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.change ins { color: var(--add); background: var(--add-ground); text-decoration: none; }
.change del { color: var(--error); background: var(--error-ground); text-decoration: none; }
.rule { border-top: 1px solid var(--line); padding: .5rem 0; } .rule summary { cursor: pointer; }
.rule h3 { margin-top: .8rem; } .rule pre { background: var(--raised); padding: .5rem .8rem; }
.rule p, .rule ul { max-width: 46rem; } .rule li { padding: .15rem 0; }
.incomplete { margin-top: 1rem; } .incomplete summary { cursor: pointer; }
body:has(#show-error:not(:checked)) .finding.error,
body:has(#show-warning:not(:checked)) .finding.warning,
body:has(#show-info:not(:checked)) .finding.info, [hidden] { display: none; }
@media print {
  .bar { display: none; } .frame, .change, .rule pre { border: 1px solid var(--line); }
  .lanes > div, .facts, .frame, .change { break-inside: avoid; }
}
"""

_SCRIPT = """
const findings = [...document.querySelectorAll('.finding')];
const search = document.querySelector('#search');
const boxes = [...document.querySelectorAll('.bar [type=checkbox]')];
const sift = () => {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const off = boxes.filter(each => !each.checked).map(each => each.id.replace('show-', ''));
  for (const each of findings) {
    const content = each.textContent.toLowerCase();
    each.hidden = !words.every(word => content.includes(word))
      || off.some(kind => each.classList.contains(kind));
  }
  for (const file of document.querySelectorAll('.file'))
    file.hidden = !file.querySelector('.finding:not([hidden])');
  const count = findings.filter(each => !each.hidden).length;
  document.querySelector('#shown').textContent = `${count} of ${findings.length} shown`;
};
search.addEventListener('input', sift);
for (const each of boxes) each.addEventListener('change', sift);
const toggle = document.querySelector('#toggle');
toggle.addEventListener('click', () => {
  const open = findings.some(each => !each.open);
  for (const each of findings) each.open = open;
});
const openTarget = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target) target.open = true;
};
addEventListener('hashchange', openTarget);
openTarget();
"""


def write(report: Report, page: Page) -> None:
    body = "\n".join(_body(report, page))
    script = _SCRIPT if report.reported else ""
    title = f"distlint: {closing(report)}"
    page.stream.write(web.written(web.document(title, body, _STYLE, script)))


def _body(report: Report, page: Page) -> Iterator[str]:
    if report.reported:
        yield web.skip("findings", "Skip to the findings")
    yield "<header><h1>distlint</h1>"
    yield f'<p class="quiet">{text(closing(report))}</p></header>'
    if report.reported:
        yield from _bar(report)
    yield "<main>"
    yield from _incomplete(report)
    yield from _notices(report.notices)
    yield from _table(report.findings)
    yield from _files(report)
    yield from _rules(report.findings, page)
    yield "</main>"


def _incomplete(report: Report) -> Iterator[str]:
    """Where hangs may be missed: folded, because a large tree has many such places."""
    what, *places = incomplete(report, verbose=True).splitlines() or [""]
    if places:
        items = "".join(f"<li>{text(place.strip())}</li>" for place in places)
        yield f'<details class="incomplete quiet"><summary>note: {text(what.rstrip(":"))}</summary>'
        yield f"<ul>{items}</ul></details>"


def _files(report: Report) -> Iterator[str]:
    if not report.reported:
        return
    yield '<div id="findings" tabindex="-1">'
    by_file = groupby(report.reported, key=lambda item: item.finding.place.path)
    is_open = len(report.reported) <= FEW
    for path, items in by_file:
        yield f'<section class="file"><h2><code>{text(in_repository(path))}</code></h2>'
        for item in items:
            yield from _finding(item, is_open=is_open)
        yield "</section>"
    yield "</div>"


def _bar(report: Report) -> Iterator[str]:
    yield '<div class="bar" role="search" aria-label="Filter findings">'
    counts = report.by_severity()
    for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO):
        if counts[severity]:
            name = severity.value
            yield (
                f'<label class="{name}"><input type="checkbox" id="show-{name}" checked> '
                f'<span class="badge">{name} {counts[severity]:,}</span></label>'
            )
    yield '<input type="search" id="search" aria-label="Search" placeholder="Search findings">'
    yield '<button type="button" id="toggle">Open or close all</button>'
    yield '<p id="shown" role="status" class="quiet"></p></div>'


def _notices(notices: Iterable[Notice]) -> Iterator[str]:
    told = [notice for notice in notices if notice.kind != "nothing"]
    if told:
        yield '<h2>Not checked, or worth knowing</h2><ul class="quiet">'
        for notice in told:
            path = f"<code>{text(in_repository(notice.path))}</code>: " if notice.path else ""
            yield f"<li>{path}{text(printable(notice.message))} ({notice.kind})</li>"
        yield "</ul>"


def _table(findings: Sequence[Finding]) -> Iterator[str]:
    counts = Counter((finding.code, finding.name) for finding in findings)
    if not counts:
        return
    yield '<table><caption class="spoken">Findings of each rule</caption>'
    yield '<thead><tr><th scope="col">findings</th><th scope="col">rule</th></tr></thead>'
    for (code, name), count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
        yield f"<tr><td>{count:,}</td><td>{_rule_link(code, name)}</td></tr>"
    yield "</table>"


def _rule_link(code: str, name: str) -> str:
    return f'<a href="#{text(code)}">{text(code)}</a> {text(name)}'


def _finding(item: Reported, *, is_open: bool) -> Iterator[str]:
    finding = item.finding
    span = finding.place.span
    kind = finding.severity.value
    yield f'<details class="finding {kind}"{" open" if is_open else ""}><summary>'
    yield f'<span class="badge">{kind} {text(finding.code)}</span> '
    place = where(finding.place, finding.place.path)
    yield f"{text(place)}: {inline(' '.join(finding.title.split()))}</summary>"
    if item.frame is not None:
        yield _frame(item.frame, span)
    if finding.explanation is not None:
        yield from _lanes(finding.explanation, finding)
    yield from _facts(finding)
    if item.proposed:
        yield web.scrolled(_change(item.proposed), "The fix", "change")
    yield "</details>"


def _frame(frame: Frame, span: Span) -> str:
    digits = len(str(frame.first_row + len(frame.lines) - 1))
    lines = []
    for row, line in enumerate(frame.lines, frame.first_row):
        start, end = columns(row, line, span)
        code = text(line)
        if end > start:
            code = f"{text(line[:start])}<mark>{text(line[start:end])}</mark>{text(line[end:])}"
        lines.append(f'<span class="row">{row:>{digits}}  </span>{code}')
    return web.scrolled("\n".join(lines), f"Source from line {frame.first_row}", "frame")


def _lanes(explanation: Explanation, finding: Finding) -> Iterator[str]:
    if not explanation.lanes:
        return
    yield '<div class="lanes">'
    for lane in explanation.lanes:
        yield f"<div><h3>{text(lane.ranks)}</h3><ol>"
        common = explanation.common
        steps = ([common] if common else []) + list(lane.steps)
        for step in steps:
            quiet = ' class="quiet"' if step is common else ""
            yield f"<li{quiet}>{_step(step, finding)}</li>"
        yield "</ol></div>"
    yield "</div>"


def _step(step: Step, finding: Finding) -> str:
    place = where(step.place, finding.place.path)
    return f"<code>{text(step.text)}</code>" + f' <span class="quiet">{text(place)}</span>'


def _facts(finding: Finding) -> Iterator[str]:
    explanation = finding.explanation
    rows: list[tuple[str, str]] = []
    if finding.confirmation is not None:
        rows.append((finding.confirmation.verdict, inline(finding.confirmation.reason)))
    if explanation is not None:
        rows += [("diverges at", _decision(each, finding)) for each in explanation.decisions]
        rows += [("effect", inline(explanation.effect)), ("help", inline(explanation.help))]
    if not (explanation and explanation.lanes):
        path = finding.place.path
        rows += [
            ("see also", f"{inline(each.message)} ({text(where(each.place, path))})")
            for each in finding.related
        ]
    if finding.fix is not None:
        how = {"safe": "safe", "unsafe": "unsafe", "displayonly": "not applied"}
        rows.append(("fix", inline(f"{finding.fix.message} ({how[finding.fix.applicability]})")))
    rows.append(("rule", _rule_link(finding.code, finding.name)))
    items = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows if value)
    yield f'<dl class="facts">{items}</dl>'


def _decision(decision: Decision, finding: Finding) -> str:
    place = text(where(decision.place, finding.place.path))
    told = f"{text(decision.outcome)} [{decision.kind}] {place}"
    return f'<code>{text(decision.text)}</code><br><span class="quiet">{told}</span>'


def _change(lines: Iterable[str]) -> str:
    tags = {"+": "ins", "-": "del"}
    shown = []
    for line in lines:
        tag = tags.get(line[:1])
        content = text(line.rstrip("\r\n"))
        if line.startswith("@@"):
            content = f'<span class="quiet">{content}</span>'
        shown.append(f"<{tag}>{content}</{tag}>" if tag else content)
    return "\n".join(shown)


def _rules(findings: Iterable[Finding], page: Page) -> Iterator[str]:
    names = {finding.code: finding.name for finding in findings}
    if not names:
        return
    yield "<h2>Rules</h2>"
    for code, name in sorted(names.items()):
        rule = page.explain(code) or RuleText(code, name, "", "")
        yield f'<details class="rule" id="{text(code)}"><summary>{text(code)} {text(name)}: '
        yield f"{inline(rule.summary)}</summary>{web.markdown(rule.documentation)}</details>"
