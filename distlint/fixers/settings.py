"""Edits in configurations and launch files, which leave everything outside of them as it is."""

from __future__ import annotations

from typing import Literal

from distlint.source.finding import Edit, Fix
from distlint.source.settings.sheet import Sheet
from distlint.source.settings.shell import Setting
from distlint.source.settings.values import Entry, Mapping

Applicability = Literal["safe", "unsafe", "displayonly"]


def replaced(
    sheet: Sheet, applicability: Applicability, message: str, *edits: tuple[int, int, str]
) -> Fix:
    """A fix that puts texts in the place of stretches."""
    made = sorted(edits)
    return Fix(
        applicability,
        message,
        tuple(Edit(sheet.span(start, end), text) for start, end, text in made),
    )


def renamed(
    sheet: Sheet, applicability: Applicability, entry: Entry, new: str, message: str = ""
) -> Fix:
    """Another name for a key, in the quotes that it stands in."""
    written = sheet.document.text[entry.start : entry.end]
    quote = written[:1] if written[:1] in "\"'" else ""
    text = f"{quote}{new}{quote}"
    return replaced(
        sheet, applicability, message or f"Rename to `{new}`", (entry.start, entry.end, text)
    )


def without(
    sheet: Sheet, applicability: Applicability, mapping: Mapping, entry: Entry
) -> Fix | None:
    """The mapping without an entry; None where a comment would go with it."""
    bounds = _entry_bounds(sheet, mapping, entry)
    if bounds is None:
        return None
    edits = [(start, end, "") for start, end in bounds]
    return replaced(sheet, applicability, f"Remove `{entry.key}`", *edits)


def _entry_bounds(sheet: Sheet, mapping: Mapping, entry: Entry) -> list[tuple[int, int]] | None:
    text = sheet.document.text
    own = [each for each in mapping.entries if not each.merged]
    index = own.index(entry)
    end = entry.start + len(text[entry.start : entry.value.end].rstrip())
    if len(own) == 1 and sheet.kind == "yaml":
        return None  # an empty mapping would be null
    if sheet.kind == "yaml" and text[mapping.start] != "{":
        stretch = (sheet.line_start(entry.start), sheet.next_line(end))
        alone = not text[stretch[0] : entry.start].strip()
        return [stretch] if alone and "#" not in text[end : stretch[1]] else None
    after = end
    while after < len(text) and text[after] in " \t":
        after += 1
    comma = text[after : after + 1] == ","
    after += comma
    line = (sheet.line_start(entry.start), sheet.next_line(end))
    alone = not text[line[0] : entry.start].strip() and not text[after : line[1]].strip()
    cuts: list[tuple[int, int]] = []
    if index == len(own) - 1 and index > 0 and not comma:  # the comma before goes as well
        before = own[index - 1].value.end
        between = text[before : entry.start]
        if between.strip() != ",":
            return None
        at = before + between.index(",")
        cuts.append((at, at + 1))
    if alone:
        cuts.append(line)
    elif index + 1 < len(own) and comma:
        following = own[index + 1].start
        if text[after:following].strip():
            return None
        cuts.append((entry.start, following))
    else:
        start = entry.start
        while text[start - 1 : start] in (" ", "\t") and index > 0:
            start -= 1
        cuts.append((start, after))
    return cuts


def set_value(
    sheet: Sheet, applicability: Applicability, entry: Entry, text: str, message: str = ""
) -> Fix:
    """Another value for a key."""
    start, end = entry.value.start, entry.value.end
    return replaced(
        sheet, applicability, message or f"Set `{entry.key}: {text}`", (start, end, text)
    )


def setting_named(sheet: Sheet, applicability: Applicability, setting: Setting, new: str) -> Fix:
    """Another name for a variable that is set."""
    start, end = setting.name_start, setting.name_end
    written = sheet.document.text[start:end]
    text = written.replace(setting.name, new)
    return replaced(sheet, applicability, f"Rename to `{new}`", (start, end, text))


def setting_valued(sheet: Sheet, applicability: Applicability, setting: Setting, value: str) -> Fix:
    """Another value for a variable that is set, in the quotes that it stands in."""
    start, end = setting.value_start, setting.value_end
    written = sheet.document.text[start:end]
    quote = written[0] if written[:1] in ("'", '"') else ""
    return replaced(
        sheet, applicability, f"Set to `{value}`", (start, end, f"{quote}{value}{quote}")
    )


def unset(sheet: Sheet, applicability: Applicability, setting: Setting) -> Fix | None:
    """Without a variable that is set; None where more stands in the statement or on its line."""
    start, end = setting.statement
    text = sheet.document.text
    message = f"Remove `{setting.name}`"
    if setting.form == "prefix":
        stop = setting.end
        while text[stop : stop + 1] in (" ", "\t"):
            stop += 1
        return replaced(sheet, applicability, message, (setting.start, stop, ""))
    if end <= start or not setting.always or sheet.kind not in ("shell", "dockerfile", "yaml"):
        return None
    line_start, following = sheet.line_start(start), sheet.next_line(end)
    if text[line_start:start].strip() or text[end:following].strip():
        return None
    if sheet.kind == "yaml":
        neighbours = text[following:].splitlines()[:1], text[:line_start].splitlines()[-1:]
        indent = start - line_start
        beside = [
            line
            for lines in neighbours
            for line in lines
            if len(line) - len(line.lstrip()) == indent and ":" in line
        ]
        if not beside:  # it would leave an `env:` with nothing in it
            return None
    return replaced(sheet, applicability, message, (line_start, following, ""))
