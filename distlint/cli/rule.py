"""``distlint rule``: explain a rule, or list those of a family."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from distlint.cli import OK, options
from distlint.cli.parser import Parser
from distlint.engine.selection import exact, expand
from distlint.engine.settings import Resolver, Settings
from distlint.rules.table import RESERVED

if TYPE_CHECKING:
    from distlint.rules.base import Rule


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    from distlint.rules.registry import rules

    if chosen.all:
        _show([*rules().values(), *_settings(chosen).own_rules().values()], chosen)
        return OK
    code = exact(chosen.rule)
    if code is None:
        _look_further(chosen)
    elif code in rules():
        _show([rules()[code]], chosen)
    else:
        print(f"{code} ({RESERVED[code]}) is reserved: this version does not have the rule yet.")
    return OK


def _look_further(chosen: argparse.Namespace) -> None:
    """A rule of the user's own, for which code of theirs is run, or the rules of a prefix."""
    from distlint.rules.registry import rules

    settings = _settings(chosen)
    own = settings.own_rules()
    code = exact(chosen.rule, settings.known)
    if code is not None:
        _show([own[code]], chosen)
        return
    known = {**rules(), **own}
    _list(
        [known[code] for code in sorted(expand(chosen.rule, settings.known) & known.keys())], chosen
    )


def _settings(chosen: argparse.Namespace) -> Settings:
    resolver = Resolver(options.overrides(chosen))
    return resolver.of_folder(resolver.cwd)


def parser() -> Parser:
    parser = Parser(
        "distlint rule",
        description="Explain a rule, or list the rules of a family.",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "rule",
        nargs="?",
        metavar="CODE|NAME",
        help="such as DST101; a prefix such as DST1, or ALL, lists rules",
    )
    which.add_argument("--all", action="store_true", help="explain all of them")
    parser.add_argument("--output-format", choices=("full", "json"), default="full")
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

    text = "\n".join(page(rule) for rule in shown)
    if not options.colored(chosen.color, sys.stdout):
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(force_terminal=True, width=options.width()).print(Markdown(text))


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
