"""A rule's page and the table of all rules, as Markdown, made from the rules themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from distlint.rules.base import Example, Rule, WitnessRule
from distlint.rules.registry import rules
from distlint.rules.table import FAMILIES, RESERVED
from distlint.source.settings.kinds import kind_of

_EXPECT = re.compile(r"[ \t]*# expect: .*$", re.MULTILINE)

_LANGUAGES = {"shell": "bash"}

_EFFECTS = {
    "hang": "hangs",
    "fail": "fails",
    "wrong data": "produces wrong data",
    "static": "",
    "finishes": "",
}


def page(rule: type[Rule], *, examples: bool = True) -> str:
    """Everything about a rule; the examples, which are long, come last."""
    parts = [
        f"# {rule.name} ({rule.code})",
        rule.documentation(),
        "## Severity",
        severity(rule),
        "## How to suppress",
        f"`# distlint: ignore[{rule.code}]` at the end of the line or on a line above, or "
        f'`ignore = ["{rule.code}"]` in the configuration.',
    ]
    if examples:
        parts += _section("Examples that are reported", rule.bad)
        parts += _section("Examples that are not reported", rule.good)
    return "\n\n".join(part.strip() for part in parts) + "\n"


def severity(rule: type[Rule]) -> str:
    """In a sentence, what severity the findings have."""
    others = " or ".join(each.value for each in rule.exceptions)
    text = (
        f"{rule.severity.value.capitalize()}, except where {others} is named above."
        if rule.severity is not None and others
        else f"Always {rule.severity.value}."
        if rule.severity is not None
        else "Depends on the finding, as described above."
        if not issubclass(rule, WitnessRule)
        else "Error if the ranks diverge on rank checks alone. Warning if they diverge on a value "
        "that may differ between ranks, such as a local loss. Info if the collective communicates "
        "only with strategies that the script may not use, or if the ranks diverge only after an "
        "exception on one rank (running out of memory is a warning) or on a value that seldom "
        "differs, such as a file that exists on one node only (the latter in preview)."
    )
    return f"{text} In preview: disabled by default." if rule.preview else text


def file_name(rule: type[Rule]) -> str:
    return f"{rule.name}.md"


def index() -> str:
    """The table of all codes and names, with links to the pages of those that exist."""
    lines = [
        "# Rules",
        "",
        "Rules can be referred to by code or by name: in `--select`, in the configuration, in "
        "comments, and with `distlint rule`. Codes and names keep their meaning in future "
        "versions. Those without a link are reserved.",
    ]
    for prefix, title in FAMILIES.items():
        heading = "distlint itself" if prefix == "DST0" else f"{prefix}xx: {title}"
        lines += ["", f"## {heading}", "", "| code | name | problem |", "| --- | --- | --- |"]
        lines += [_row(code) for code in sorted(RESERVED) if code.startswith(prefix)]
    return "\n".join(lines) + "\n"


def example_text(example: Example) -> str:
    """The code as a reader should see it, without the marks for the tests."""
    return _EXPECT.sub("", example.code).rstrip() + "\n"


def _row(code: str) -> str:
    rule = rules().get(code)
    if rule is None:
        return f"| {code} | {RESERVED[code]} | |"
    summary = rule.summary() + (" *(preview)*" if rule.preview else "")
    return f"| {code} | [{rule.name}]({file_name(rule)}) | {summary} |"


def _section(title: str, examples: tuple[Example, ...]) -> Iterator[str]:
    yield f"## {title}"
    for example in examples:
        effect = _EFFECTS[example.effect]
        on = f" on {example.ranks} processes" if effect else ""
        note = f" ({effect}{on})" if effect else ""
        yield f"{example.title}{note}:"
        yield f"```{_language(example)}\n{example_text(example)}```"


def _language(example: Example) -> str:
    kind = kind_of(Path(example.file)) or "python"
    return "jsonc" if kind == "json" and "//" in example.code else _LANGUAGES.get(kind, kind)
