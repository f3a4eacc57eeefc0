"""``distlint rule``: explain a rule, or list those of a family."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from distlint.cli import OK, options
from distlint.cli.parser import Parser
from distlint.engine.errors import ConfigError
from distlint.engine.selection import exact, expand, unknown_rule
from distlint.engine.settings import Settings
from distlint.rules.table import RESERVED
from distlint.source.paths import display

if TYPE_CHECKING:
    from distlint.rules.base import Rule

_SHORTEST = 3
"""Letters of a word that is searched for in names and summaries."""


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    from distlint.rules.registry import rules

    if chosen.all:
        _show([*rules().values(), *_settings(chosen).described_rules().values()], chosen)
        return OK
    code = _code(chosen.rule)
    if code is None:
        _look_further(chosen)
    elif code in rules():
        _show([rules()[code]], chosen)
    else:
        print(f"{code} ({RESERVED[code]}) is reserved for a future rule.")
    return OK


def _look_further(chosen: argparse.Namespace) -> None:
    """A rule of the project, as far as its file declares it, or several rules.

    Nothing of the project is run to show what it says.
    """
    from distlint.rules.registry import rules

    settings = _settings(chosen)
    known = {**rules(), **settings.described_rules()}
    names = {**RESERVED, **{code: rule.name for code, rule in known.items()}}
    code = _code(chosen.rule, names)
    if code is not None:
        _show([known[code]], chosen)
        return
    try:
        codes = _several(chosen.rule, names, known)
    except ConfigError as error:
        raise ConfigError(f"{error}{_not_declared(settings)}") from None
    _list([known[code] for code in sorted(codes & known.keys())], chosen)


def _not_declared(settings: Settings) -> str:
    """What to say about rules of a configuration whose code is known only once they are run."""
    if not settings.rules and not settings.rule_packages:
        return ""
    named = ", ".join([*map(display, settings.rules), *settings.rule_packages])
    return f"; it may be defined in {named}, which only `distlint test-rule` runs"


def _code(word: str, known: Mapping[str, str] = RESERVED) -> str | None:
    """The code of the rule with this code or name, in whatever case."""
    return exact(word, known) or exact(word.upper(), known) or exact(word.lower(), known)


def _several(
    word: str, names: Mapping[str, str], known: Mapping[str, type[Rule]]
) -> frozenset[str]:
    """The codes under a prefix, else of the rules whose name or summary contains a word.

    Raises:
        ConfigError: if there are none.
    """
    try:
        return expand(word.upper(), names)
    except ConfigError:
        part = word.lower()
        named = [code for code, rule in known.items() if part in rule.name]
        found = named or [code for code, rule in known.items() if part in rule.summary().lower()]
        if not found or len(part) < _SHORTEST:
            raise ConfigError(unknown_rule(word, names)) from None
        return frozenset(found)


def is_rule(word: str) -> bool:
    """Is it the code or the name of one of our rules?"""
    return _code(word) is not None


def _settings(chosen: argparse.Namespace) -> Settings:
    resolver = options.resolver(chosen)
    return resolver.of_folder(resolver.cwd)


def parser() -> Parser:
    parser = Parser(
        "distlint rule",
        description="Explain a rule, or list the rules of a family or the rules whose name "
        "contains a word.",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "rule",
        nargs="?",
        metavar="CODE|NAME",
        help="rule to explain (DST101), or rules to list: a prefix (DST1), a word (sampler) or ALL",
    )
    which.add_argument("--all", action="store_true", help="explain all rules")
    parser.add_argument(
        "--examples",
        action="store_true",
        help="show complete scripts that the rule reports and does not report",
    )
    options.add_output_format(parser)
    options.add_configuration(parser)
    options.add_display(parser)
    return parser


def _show(shown: list[type[Rule]], chosen: argparse.Namespace) -> None:
    if chosen.output_format == "json":
        import json

        entries = [_entry(rule) for rule in shown]
        print(json.dumps(entries if chosen.all else entries[0], indent=2))
        return
    from distlint.rules.page import page

    text = "\n".join(page(rule, examples=chosen.examples) for rule in shown)
    if len(shown) == 1 and not chosen.examples:
        command = f"distlint rule {shown[0].code} --examples"
        text += f"\nFor complete scripts that are reported and not reported, run `{command}`.\n"
    color = options.colored(chosen.color, sys.stdout)
    if not color and not options.drawn(sys.stdout):
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(force_terminal=True, no_color=not color, width=options.width())
    console.print(Markdown(text))


def _list(listed: list[type[Rule]], chosen: argparse.Namespace) -> None:
    if chosen.output_format == "json":
        import json

        print(json.dumps([_entry(rule) for rule in listed], indent=2))
        return
    from distlint.output.style import printer
    from distlint.output.table import DIM, Row, table

    rows = [
        row
        for rule in listed
        for row in (
            Row(rule.code, f"{rule.name}{' (preview)' if rule.preview else ''}"),
            Row("", rule.summary(), style=DIM),
        )
    ]
    out = printer(sys.stdout, color=options.colored(chosen.color, sys.stdout))
    for parts in table(rows, options.width()):
        out.line(*parts)


def _entry(rule: type[Rule]) -> dict[str, object]:
    from distlint.rules.page import example_text

    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary(),
        "explanation": rule.documentation(),
        "preview": rule.preview,
        "severity": rule.severity.value if rule.severity else None,
        "good": [{"title": e.title, "code": example_text(e)} for e in rule.good],
        "bad": [{"title": e.title, "code": example_text(e)} for e in rule.bad],
    }
