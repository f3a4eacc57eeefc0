"""The answer as text for people, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from distlint.diagnose.diagnosis import Cause, Diagnosis, Doing, Quote, Seen
from distlint.diagnose.events import Frame
from distlint.diagnose.lines import Time, ranks_text
from distlint.diagnose.recorder import Group
from distlint.diagnose.run import Answer, Checked, named_rules
from distlint.output.style import Printer, visible
from distlint.output.table import DIM, Row, table
from distlint.rules.table import RESERVED
from distlint.source.paths import display

FORMAT = 1
_FEW = 6
_LONGEST = 240  # characters of a message
_STYLE = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}


def write(answer: Answer, out: Printer, width: int, *, verbose: bool, quiet: bool) -> None:
    """The answer for people; ``verbose`` shows every message and every rank."""
    diagnosis = answer.diagnosis
    if diagnosis.cause is not None:
        cause = diagnosis.cause
        _headline(out, cause.level, cause.title, "" if cause.sure else " (likely)")
        _rows(out, list(_cause_rows(answer, verbose)), width)
        out.line()
    for each in diagnosis.also:
        _seen(out, "also", each, width)
    for group in answer.groups:
        _group(out, group, width, verbose)
    if diagnosis.cause is not None:
        _consequences(out, diagnosis, width, verbose)
    for each in diagnosis.notices:
        if verbose or each.level != "info" or diagnosis.level == "info":
            _seen(out, each.level, each, width)
    for each in diagnosis.invented:
        _invented(out, each, width)
    if answer.checked is not None:
        _checked(out, answer.checked, width)
    if not quiet:
        _close(out, answer, verbose)


def _headline(out: Printer, level: str, title: str, end: str = "") -> None:
    out.line((f"{level}: ", _STYLE.get(level, "bold")), (visible(title), "bold"), end)


def _rows(out: Printer, rows: Sequence[Row], width: int) -> None:
    for parts in table(rows, width):
        out.line(*parts)


def _cause_rows(answer: Answer, verbose: bool) -> Iterator[Row]:
    diagnosis = answer.diagnosis
    cause = diagnosis.cause
    assert cause is not None
    for quote in cause.quotes:
        yield Row("message", _short(quote.text))
        yield Row("in", _where(quote))
    if cause.ranks and str(cause.ranks[0]) not in cause.title:
        yield Row("on", ranks_text(list(cause.ranks)))
    if cause.place is not None:
        yield Row("at", _code(cause.place), _place(cause.place))
    for waiting in diagnosis.waiting:
        text = waiting.what + (f" in group {waiting.group}" if waiting.group else "")
        verb = "waits" if len(waiting.ranks) == 1 else "wait"
        yield Row(ranks_text(list(waiting.ranks)), f"{verb} in {text}", _place(waiting.place))
    for doing in diagnosis.doing[: None if verbose else _FEW]:
        yield from _doing(doing)
    if cause.meaning:
        yield Row("meaning", cause.meaning)
    if cause.help:
        yield Row("help", cause.help)
    yield from _next(answer, cause)


def _next(answer: Answer, cause: Cause) -> Iterator[Row]:
    codes = named_rules(answer.diagnosis)
    if codes:
        yield Row("rules", ", ".join(f"{code} {RESERVED[code]}" for code in codes))
        yield Row("rule page", f"distlint rule {codes[0]}")
    if cause.utilities:
        names = ", ".join(f"distlint.runtime.{name}" for name in cause.utilities)
        yield Row("utilities", names)
    if cause.checks:
        yield Row("environment", f"distlint doctor ({', '.join(cause.checks)})")
    if codes and answer.checked is None:
        place = cause.place
        script = place.file if place is not None else "train.py"
        yield Row("next", f"distlint check {script} --select {','.join(codes)}")


def _doing(doing: Doing) -> Iterator[Row]:
    label = f"rank {doing.rank}"
    if doing.place is not None:
        yield Row(label, f"was at {_code(doing.place)}", _place(doing.place))
        label = ""
    if doing.last is not None:
        when = f" ({_clock(doing.time)})" if doing.time else ""
        yield Row(label, f"last output: {doing.last.text}{when}", _where(doing.last))
        label = ""
    if doing.said:
        yield Row(label, doing.said)


def _consequences(out: Printer, diagnosis: Diagnosis, width: int, verbose: bool) -> None:
    rows = []
    for each in diagnosis.consequences[: None if verbose else _FEW]:
        ranks = ranks_text(list(each.ranks)) if each.ranks else "launcher"
        rows.append(Row(ranks, each.title, _where(each.quote)))
    if verbose:
        rows += [Row(f"rank {rank}", words) for rank, words in diagnosis.exits]
    if rows:
        out.line(("Consequences:", "bold"))
        _rows(out, rows, width)
        out.line()


def _seen(out: Printer, level: str, each: Seen, width: int) -> None:
    _headline(out, level, each.title)
    rows = [Row("message", _short(each.quote.text)), Row("in", _where(each.quote))]
    if each.ranks:
        rows.append(Row("on", ranks_text(list(each.ranks))))
    if each.meaning:
        rows.append(Row("meaning", each.meaning))
    if each.help:
        rows.append(Row("help", each.help))
    _rows(out, rows, width)
    out.line()


def _invented(out: Printer, each: Seen, width: int) -> None:
    _headline(out, "info", f"{each.title}: this message does not come from the software")
    rows = [Row("message", _short(each.quote.text)), Row("in", _where(each.quote))]
    rows.append(Row("instead", each.meaning))
    if each.instead:
        rows.append(Row("look for", ", ".join(each.instead)))
    _rows(out, rows, width)
    out.line()


def _group(out: Printer, group: Group, width: int, verbose: bool) -> None:
    size = len(group.ranks)
    out.line((f"Flight Recorder, {group.name} ({size} ranks): ", "bold"), visible(group.verdict))
    rows = list(group.rows)
    if not verbose and len(rows) > 16:
        odd = [row for row in rows if row.odd]
        rows = sorted([*odd[:12], *[row for row in rows if not row.odd][:4]], key=lambda r: r.rank)
    lines = []
    for row in rows:
        number = "" if row.number is None else f"#{row.number} "
        text = f"{number}{row.what}{', ' if row.what and row.state else ''}{row.state}"
        lines.append(Row(f"rank {row.rank}" + (" !" if row.odd else ""), text, _place(row.place)))
        if row.place is not None:
            lines.append(Row("", f"  {_code(row.place)}", style=DIM))
    if group.without:
        lines.append(Row(ranks_text(list(group.without)), "no dump"))
    _rows(out, lines, width)
    if len(rows) < len(group.rows):
        out.line(f"  {len(group.rows) - len(rows)} more ranks (use --verbose to show them)")
    out.line()


def _checked(out: Printer, checked: Checked, width: int) -> None:
    from distlint.output import headline

    name = display(checked.script)
    if not checked.rules:
        out.line(f"No rule detects this; {name} was not checked.")
    elif not checked.findings:
        out.line(f"{name}: no findings ({', '.join(checked.rules)}).")
    else:
        out.line((f"Findings in {name}:", "bold"))
        for finding, at in checked.findings:
            mark = " <- line appears in the logs" if at else ""
            out.line("  ", *headline.line(finding), mark)
    out.line()


def _close(out: Printer, answer: Answer, verbose: bool) -> None:
    diagnosis = answer.diagnosis
    for note in diagnosis.notes[: None if verbose else 20]:
        out.line(("note: ", "bold"), visible(note))
    names = diagnosis.names
    read = f"{len(names)} file{'s' if len(names) != 1 else ''}"
    if diagnosis.bytes:
        read += f", {diagnosis.lines:,} lines, {_size(diagnosis.bytes)}"
    if diagnosis.size:
        read += f", {diagnosis.size} rank{'s' if diagnosis.size != 1 else ''}"
    nothing = not diagnosis.level and not any(group.culprits for group in answer.groups)
    out.line(f"{'No known problem found. ' if nothing else ''}Read {read}.")


def _size(count: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:,} {unit}" if unit == "bytes" else f"{count:.0f} {unit}"
        count = count // 1000 if unit != "MB" else count
    return f"{count / 1000:.1f} GB"


def _code(frame: Frame) -> str:
    """The line of source, else where it is."""
    return frame.code or (
        f"in {frame.function}" if frame.function != "<module>" else "module level"
    )


def _place(frame: Frame | None) -> str:
    return f"{frame.file}:{frame.line}" if frame is not None else ""


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _where(quote: Quote) -> str:
    return f"{quote.source}:{quote.line}"


def _clock(time: Time | None) -> str:
    if time is None:
        return ""
    return f"{time[2]:02}:{time[3]:02}:{int(time[4]):02}"


# -- JSON --------------------------------------------------------------------------------------


def as_json(answer: Answer) -> str:
    """The answer as a document; docs/diagnose.md describes it."""
    diagnosis = answer.diagnosis
    cause = diagnosis.cause
    document = {
        "format": FORMAT,
        "level": diagnosis.level or None,
        "cause": None if cause is None else _cause_json(cause, answer),
        "waiting": [
            {
                "ranks": list(each.ranks),
                "collective": each.what,
                "number": each.number,
                "group": each.group or None,
                "at": _frame_json(each.place),
            }
            for each in diagnosis.waiting
        ],
        "doing": [
            {
                "rank": each.rank,
                "last": _quote_json(each.last),
                "at": _frame_json(each.place),
                "said": each.said or None,
            }
            for each in diagnosis.doing
        ],
        "also": [_seen_json(each) for each in diagnosis.also],
        "consequences": [_seen_json(each) for each in diagnosis.consequences],
        "notices": [_seen_json(each) for each in diagnosis.notices],
        "invented": [_seen_json(each) for each in diagnosis.invented],
        "exits": [{"rank": rank, "how": words} for rank, words in diagnosis.exits],
        "recorder": [_group_json(each) for each in answer.groups],
        "script": None if answer.checked is None else _checked_json(answer.checked),
        "read": {
            "files": list(diagnosis.names),
            "lines": diagnosis.lines,
            "bytes": diagnosis.bytes,
            "ranks": diagnosis.size or None,
            "notes": list(diagnosis.notes),
        },
    }
    return json.dumps(document, indent=2)


def _cause_json(cause: Cause, answer: Answer) -> dict[str, Any]:
    return {
        "id": cause.id,
        "title": cause.title,
        "sure": cause.sure,
        "ranks": list(cause.ranks),
        "meaning": cause.meaning,
        "help": cause.help,
        "messages": [_quote_json(quote) for quote in cause.quotes],
        "at": _frame_json(cause.place),
        "rules": list(named_rules(answer.diagnosis)),
        "utilities": list(cause.utilities),
        "checks": list(cause.checks),
    }


def _quote_json(quote: Quote | None) -> dict[str, Any] | None:
    if quote is None:
        return None
    return {"text": quote.text, "file": quote.source, "line": quote.line, "rank": quote.rank}


def _frame_json(frame: Frame | None) -> dict[str, Any] | None:
    if frame is None:
        return None
    return {
        "file": frame.file,
        "line": frame.line,
        "function": frame.function,
        "code": frame.code or None,
    }


def _seen_json(each: Seen) -> dict[str, Any]:
    return {
        "id": each.id,
        "title": each.title,
        "level": each.level,
        "ranks": list(each.ranks),
        "count": each.count,
        "meaning": each.meaning,
        "help": each.help,
        "message": _quote_json(each.quote),
        "instead": list(each.instead),
    }


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "group": group.name,
        "ranks": list(group.ranks),
        "verdict": group.verdict,
        "culprits": list(group.culprits),
        "number": group.number,
        "without_dump": list(group.without),
        "rows": [
            {
                "rank": row.rank,
                "number": row.number,
                "collective": row.what or None,
                "state": row.state or None,
                "at": _frame_json(row.place),
                "odd": row.odd,
            }
            for row in group.rows
        ],
    }


def _checked_json(checked: Checked) -> dict[str, Any]:
    return {
        "file": str(checked.script),
        "rules": list(checked.rules),
        "findings": [
            {
                "code": finding.code,
                "name": finding.name,
                "message": finding.message,
                "filename": str(finding.place.path),
                "row": finding.place.span.row,
                "named": at,
            }
            for finding, at in checked.findings
        ],
    }
