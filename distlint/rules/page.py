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
    "hang": "it hangs",
    "fail": "it fails",
    "wrong data": "it computes with wrong data",
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
        "## Switching it off",
        f"`# distlint: ignore[{rule.code}]` at the end of the line or on a line above, or "
        f'`ignore = ["{rule.code}"]` in the configuration.',
    ]
    if examples:
        parts += _section("Reported", rule.bad)
        parts += _section("Not reported", rule.good)
    return "\n\n".join(part.strip() for part in parts) + "\n"


def severity(rule: type[Rule]) -> str:
    """In a sentence, what severity the findings have."""
    text = (
        f"Always {rule.severity.value}."
        if rule.severity is not None
        else "As said above, by what was found."
        if not issubclass(rule, WitnessRule)
        else "Error when tests of the rank alone separate the ranks; warning when it takes a value "
        "that may differ between ranks, such as a local loss; info when the collective runs only "
        "under strategies that the script may or may not use, or when it takes a failure."
    )
    return f"{text} It is in preview: off unless asked for." if rule.preview else text


def file_name(rule: type[Rule]) -> str:
    return f"{rule.name}.md"


def index() -> str:
    """The table of all codes and names, with links to the pages of those that exist."""
    lines = [
        "# Rules",
        "",
        "A code or a name works everywhere: in `--select`, in the configuration, in comments, and "
        "with `distlint rule`. Codes and names keep their meaning for good; those without a link "
        "are reserved for rules to come.",
    ]
    for prefix, title in FAMILIES.items():
        heading = "distlint itself" if prefix == "DST0" else f"{prefix}xx: {title}"
        lines += ["", f"## {heading}", "", "| code | name | finds |", "| --- | --- | --- |"]
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
