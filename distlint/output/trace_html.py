"""Traces as one page: a lane for each group of ranks, and the source beside."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from distlint.output import web
from distlint.output.places import in_repository, source_lines
from distlint.output.table import where
from distlint.output.web import inline, text
from distlint.source.finding import Decision, Place, Step
from distlint.source.notebook import SUFFIX
from distlint.source.trace import Trace

CONTEXT = 6
"""Lines around those that matter; the others are folded."""

FEW = 4
"""Fewer lines than these are not worth a fold."""

_STYLE = """
:root { --step: light-dark(#1f5fae, #8ab8ff); --step-ground: light-dark(#e4eefb, #1b3150);
  --keyword: light-dark(#8a2190, #d49bf0); --string: light-dark(#1d6b2b, #92cf8f);
  --number: light-dark(#9a3f00, #f0ab7a); --gap: 1.5rem; }
body { max-width: 110rem; }
main { display: grid; gap: 2.5rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 72rem) {
  main { grid-template-columns: minmax(0, 6fr) minmax(0, 5fr); }
  .sources { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow: auto; }
}
.verdict { border-radius: 4px; padding: .1rem .5rem; font-size: .85rem; font-weight: 600; }
.diverged .verdict { color: var(--error); background: var(--error-ground); }
.aligned .verdict { color: var(--add); background: var(--add-ground); }
.trace + .trace { margin-top: 3rem; }
.trace h2 { margin: 0 0 1rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; padding: 3px; }
.lanes { position: relative; min-width: calc(var(--lanes) * 10rem); }
.tracks, .row { display: grid; grid-template-columns: repeat(var(--lanes), minmax(0, 1fr));
  column-gap: var(--gap); }
.tracks { position: absolute; inset: 2rem 0 0; }
.tracks i { justify-self: center; width: 2px; background: var(--line); }
.heads { position: relative; font-weight: 600; text-align: center; margin-bottom: .6rem; }
.heads span { background: var(--raised); border: 1px solid var(--line); border-radius: 6px;
  padding: .15rem .5rem; }
.lanes ol { position: relative; list-style: none; margin: 0; padding: 0; }
.row { align-items: stretch; margin-bottom: .45rem; }
.wire { grid-row: 1; align-self: center; height: 4px; background: var(--step); }
.box { grid-row: 1; display: block; border-radius: 6px; padding: .25rem .6rem; color: inherit;
  background: var(--step-ground); border: 1px solid var(--step); text-decoration: none;
  overflow-wrap: anywhere; }
a.box:hover, .why:hover { text-decoration: underline; }
.box small, .why small { display: block; color: var(--quiet); }
.why { display: block; margin: .9rem 0 .45rem; padding: .35rem .7rem; border-radius: 6px;
  color: inherit; text-decoration: none; background: var(--warning-ground);
  border: 1px solid var(--warning); overflow-wrap: anywhere; }
.why b { color: var(--warning); }
.part { display: flex; align-items: center; gap: .6rem; margin: .7rem 0 .45rem;
  background: var(--ground); color: var(--error); font-weight: 600; }
.part::after { content: ""; flex: 1; border-top: 2px dashed var(--error); }
.stuck .box { background: var(--error-ground); border: 2px solid var(--error); }
.stuck .box b { color: var(--error); } .stuck .over { border-style: dashed; }
.effect { margin: .8rem 0 0; color: var(--error); font-weight: 600; }
.sources h2 { margin: 0 0 .5rem; font-size: .95rem; }
.source { background: var(--raised); border-radius: 6px; padding: .6rem 0; margin: 0 0 1.5rem;
  overflow-x: auto; font: .87em/1.5 var(--mono); }
.line { display: block; padding: 0 .8rem 0 0; border-left: 4px solid transparent;
  scroll-margin: 30vh; white-space: pre; width: max-content; min-width: 100%; }
.line .no { display: inline-block; width: 4.5ch; margin-right: 1.5ch; text-align: right;
  color: var(--quiet); user-select: none; }
.line .who { position: sticky; right: .6rem; margin-left: 2ch; padding: 0 .4rem;
  border-radius: 4px; background: var(--error-ground); font: 600 .75rem system-ui, sans-serif;
  user-select: none; }
.source summary { padding-left: 6.5ch; color: var(--quiet); cursor: pointer; }
.line.step { border-color: var(--step); } .line.why-line { border-color: var(--warning);
  background: var(--warning-ground); } .line.diverged { border-color: var(--error);
  background: var(--error-ground); } .line.diverged .who { color: var(--error); }
.line:target { outline: 2px solid var(--link); outline-offset: -2px; }
.keyword { color: var(--keyword); } .string { color: var(--string); }
.comment { color: var(--quiet); font-style: italic; } .number { color: var(--number); }
.scroll:focus-visible, .source:focus-visible, .sources:focus-visible { outline-offset: -2px; }
@media (forced-colors: active) { .wire, .tracks i { background: CanvasText; } }
@media print {
  main { display: block; }
  .sources { position: static; max-height: none; overflow: visible; margin-top: 2rem; }
  .scroll, .source { overflow: visible; } .lanes { min-width: 0; }
  .line { white-space: pre-wrap; width: auto; overflow-wrap: anywhere; padding-left: 6ch;
    text-indent: -6ch; }
  .line .who { position: static; } .source summary { display: none; }
  .row, .why, .line { break-inside: avoid; } .part { break-after: avoid; }
}
"""

_CLASSES = {
    tokenize.COMMENT: "comment",
    tokenize.STRING: "string",
    tokenize.NUMBER: "number",
    **{
        getattr(tokenize, name): "string"
        for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
        if hasattr(tokenize, name)  # from Python 3.12 on
    },
}

Part = tuple[Path, int]
"""A file, and the number of a cell if it is a notebook, else 0."""

Marks = dict[int, tuple[str, list[str]]]
"""What is said about the rows of a file: a class, and which ranks are there."""

Read = Callable[[Path, int], Sequence[str]]
"""The lines of a file, or of a cell of a notebook."""


def render(traces: Sequence[Trace], read: Read = source_lines) -> str:
    """The page of all traces; ``read`` has the lines of the files."""
    files = _files(traces)
    body = "\n".join(
        [
            web.skip("source", "Skip to the source"),
            "<header><h1>distlint trace</h1>",
            '<p class="quiet">What each group of ranks does, from top to bottom. A bar is a '
            "collective; it joins the ranks that meet in it. Each bar leads to its line.</p>",
            "</header><main><div>",
            *(_trace(trace, files) for trace in traces),
            *([] if traces else ["<p>No collectives to trace.</p>"]),
            '</div><section class="sources" id="source" tabindex="0" aria-label="Source">',
            *(
                _source(part, number, _marks(traces, part), read(*part))
                for part, number in files.items()
            ),
            "</section></main>",
        ]
    )
    names = ", ".join(_name(trace) for trace in traces[:1]) + (", ..." if len(traces) > 1 else "")
    title = ": ".join(filter(None, ("distlint trace", names)))
    return web.written(web.document(title, body, _STYLE))


def _name(trace: Trace) -> str:
    return in_repository(trace.path) + (f"::{trace.function}" if trace.function else "")


def _files(traces: Iterable[Trace]) -> dict[Part, int]:
    """The files that traces lead through, and the cells of notebooks, numbered."""
    parts: dict[Part, None] = {}
    for trace in traces:
        if trace.path.suffix.lower() != SUFFIX:
            parts[trace.path, 0] = None
        for place in _places(trace):
            parts[place.path, place.cell] = None
    return {part: number for number, part in enumerate(parts)}


def _places(trace: Trace) -> Iterator[Place]:
    steps = [step.place for row in trace.rows for step in row if step is not None]
    decisions = [decision.place for decision in trace.decisions]
    yield from (place for place in (*steps, *decisions) if place is not None)


def _trace(trace: Trace, files: dict[Part, int]) -> str:
    kind, verdict = "aligned", "all ranks issue the same collectives"
    if not trace.aligned:
        kind, verdict = "diverged", "ranks diverge"
    tracks = "<i></i>" * len(trace.lanes)
    heads = "".join(f"<span>{text(name)}</span>" for name in trace.lanes)
    name = text(_name(trace))
    parts = [
        f'<section class="trace {kind}"><h2><code>{name}</code> '
        f'<span class="verdict">{verdict}</span></h2>',
        f'<div class="scroll" tabindex="0" role="group" aria-label="Lanes of {name}">',
        f'<div class="lanes" style="--lanes: {max(1, len(trace.lanes))}">',
        f'<div class="tracks" aria-hidden="true">{tracks}</div>',
        f'<div class="row heads" aria-hidden="true">{heads}</div><ol>',
    ]
    for number, row in enumerate(trace.rows):
        if number == trace.divergence:
            parts += [_decision(decision, trace, files) for decision in trace.decisions]
            parts.append('<li class="part">\N{MULTIPLICATION X} divergence</li>')
            parts.append(_divergence(row, trace, files))
        else:
            parts.append(_meeting(row, trace, files))
    parts.append("</ol></div></div>")
    if trace.effect:
        parts.append(f'<p class="effect">{inline(trace.effect)}</p>')
    if not trace.complete:
        reasons = "; ".join(reason.text for reason in trace.incomplete)
        parts.append(f'<p class="quiet">The analysis is incomplete: {reasons}.</p>')
    return "\n".join([*parts, "</section>"])


def _meeting(row: Sequence[Step | None], trace: Trace, files: dict[Part, int]) -> str:
    """A collective: one bar where neighbours issue it at the same place, a wire across the rest."""
    members = [lane for lane, step in enumerate(row) if step is not None]
    if not members:
        return ""
    wire = f'<span class="wire" style="grid-column: {members[0] + 1} / {members[-1] + 2}"></span>'
    boxes = []
    start = 0
    while start < len(row):
        end = start + 1
        while end < len(row) and row[end] == row[start]:
            end += 1
        step = row[start]
        if step is not None:
            boxes.append(_box(step, start, end, trace, files))
        start = end
    return f'<li class="row">{wire}{"".join(boxes)}</li>'


def _divergence(row: Sequence[Step | None], trace: Trace, files: dict[Part, int]) -> str:
    boxes = [
        _box(step, lane, lane + 1, trace, files, waits=True)
        for lane, step in enumerate(row)
        if step is not None
    ]
    return f'<li class="row stuck">{"".join(boxes)}</li>'


def _box(
    step: Step, start: int, end: int, trace: Trace, files: dict[Part, int], *, waits: bool = False
) -> str:
    style = f'style="grid-column: {start + 1} / {end + 1}"'
    place = where(step.place, trace.path)
    ranks = f'<span class="spoken">{text(", ".join(trace.lanes[start:end]))}: </span>'
    said = f"{ranks}<code>{_breakable(text(step.text))}</code>"
    if step.place is None:
        return f'<span class="box over" {style}>{said}</span>'
    note = f"<b>waits here</b>, {text(place)}" if waits else text(place)
    address = _address(step.place, files)
    return f'<a class="box" {style} href="#{address}">{said} <small>{note}</small></a>'


def _breakable(code: str) -> str:
    """Code that may be broken where a reader would."""
    return code.replace("(", "(<wbr>").replace(".", "<wbr>.")


def _decision(decision: Decision, trace: Trace, files: dict[Part, int]) -> str:
    place = where(decision.place, trace.path)
    content = (
        f"<b>\N{BLACK DIAMOND} decides</b> <code>{text(decision.text)}</code>"
        f"<small>{text(decision.outcome)} [{text(decision.kind)}] {text(place)}</small>"
    )
    if decision.place is None:
        return f'<li><span class="why">{content}</span></li>'
    return f'<li><a class="why" href="#{_address(decision.place, files)}">{content}</a></li>'


def _address(place: Place, files: dict[Part, int]) -> str:
    return f"f{files[place.path, place.cell]}-{place.span.row}"


def _marks(traces: Iterable[Trace], part: Part) -> Marks:
    """The rows of a file that traces lead through: where ranks diverge before the rest."""
    kinds: dict[int, str] = {}
    ranks: defaultdict[int, list[str]] = defaultdict(list)
    for trace in traces:
        for number, row in enumerate(trace.rows):
            divergence = number == trace.divergence
            for lane, step in zip(trace.lanes, row, strict=True):
                if step is None or step.place is None or not _is_in(step.place, part):
                    continue
                place = step.place.span.row
                if divergence:
                    kinds[place] = "diverged"
                    if lane not in ranks[place]:
                        ranks[place].append(lane)
                else:
                    kinds.setdefault(place, "step")
        for decision in trace.decisions:
            if decision.place is not None and _is_in(decision.place, part):
                row_of = decision.place.span.row
                kinds[row_of] = "diverged" if kinds.get(row_of) == "diverged" else "why-line"
    return {row: (kind, ranks[row]) for row, kind in kinds.items()}


def _is_in(place: Place, part: Part) -> bool:
    return (place.path, place.cell) == part


def _source(part: Part, number: int, marks: Marks, text_lines: Sequence[str]) -> str:
    """A file, folded where no rank of a trace comes by."""
    path, cell = part
    code = _coloured(text_lines)
    if code and not code[-1]:  # what follows the last newline
        code.pop()
    lines = [_line(row, code[row - 1], number, marks.get(row)) for row in range(1, len(code) + 1)]
    parts = []
    near = {row + offset for row in marks for offset in range(-CONTEXT, CONTEXT + 1)}
    for is_near, rows in groupby(range(1, len(lines) + 1), key=lambda row: row in near):
        stretch = list(rows)
        content = "".join(lines[row - 1] for row in stretch)
        if not is_near and len(stretch) >= FEW:
            title = f"lines {stretch[0]} to {stretch[-1]}"
            content = f"<details><summary>{title}</summary>{content}</details>"
        parts.append(content)
    name = text(in_repository(path) + (f":cell {cell}" if cell else ""))
    return (
        f'<h2><code>{name}</code></h2><div class="source" role="group" tabindex="0" '
        f'aria-label="{name}">{"".join(parts)}</div>'
    )


def _line(row: int, code: str, number: int, mark: tuple[str, list[str]] | None) -> str:
    kind, ranks = mark or ("", [])
    who = f'<span class="who">{text("; ".join(ranks))}</span>' if ranks else ""
    return (
        f'<span class="{f"line {kind}".rstrip()}" id="f{number}-{row}">'
        f'<span class="no">{row}</span>{code}{who}</span>'
    )


def _coloured(lines: Sequence[str]) -> list[str]:
    """The lines with their keywords, strings and comments marked."""
    spans: defaultdict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for token in _tokens(lines):
        kind = _CLASSES.get(token.type, "")
        if token.type == tokenize.NAME and keyword.iskeyword(token.string):
            kind = "keyword"
        (row, start), (last, end) = token.start, token.end
        for each in range(row, last + 1) if kind else ():
            begin = start if each == row else 0
            stop = end if each == last else len(lines[each - 1])
            spans[each].append((begin, stop, kind))
    return [_marked(line, spans[row]) for row, line in enumerate(lines, 1)]


def _marked(line: str, spans: Iterable[tuple[int, int, str]]) -> str:
    parts = []
    at = 0
    for start, end, kind in spans:
        parts.append(text(line[at:start]))
        parts.append(f'<span class="{kind}">{text(line[start:end])}</span>')
        at = end
    return "".join([*parts, text(line[at:])])


def _tokens(lines: Sequence[str]) -> Iterator[tokenize.TokenInfo]:
    source = io.StringIO("\n".join(lines) + "\n")
    try:
        yield from tokenize.generate_tokens(source.readline)
    except (tokenize.TokenError, SyntaxError):
        return
