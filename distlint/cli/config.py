"""``distlint config``: what can be configured."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence

from distlint.cli import OK, options
from distlint.cli.parser import Parser
from distlint.engine.errors import ConfigError, did_you_mean
from distlint.engine.keys import KEYS, Key, schema

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    if chosen.schema:
        print(json.dumps(schema(), indent=2))
        return OK
    shown = [_find(chosen.key)] if chosen.key else list(KEYS)
    if chosen.output_format == "json":
        entries = [_entry(key) for key in shown]
        print(json.dumps(entries[0] if chosen.key else entries, indent=2))
    elif chosen.key:
        _explain(shown[0], chosen)
    else:
        _list(chosen)
    return OK


def parser() -> Parser:
    parser = Parser(
        "distlint config",
        description="List all configuration keys, or explain one.",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("key", nargs="?", metavar="KEY", help="configuration key to explain")
    what.add_argument(
        "--schema", action="store_true", help="print the JSON schema of the configuration"
    )
    options.add_output_format(parser)
    options.add_display(parser)
    return parser


def _find(name: str) -> Key:
    for key in KEYS:
        if key.name == name:
            return key
    hint = did_you_mean(name, [key.name for key in KEYS])
    raise ConfigError(f"unknown key `{name}`{hint}")


def _list(chosen: argparse.Namespace) -> None:
    from distlint.output.style import printer
    from distlint.output.table import Row, table

    out = printer(sys.stdout, color=options.colored(chosen.color, sys.stdout))
    for parts in table([Row(key.name, _plain(key.meaning)) for key in KEYS], options.width()):
        out.line(*parts)


def _explain(key: Key, chosen: argparse.Namespace) -> None:
    from distlint.output.style import printer
    from distlint.output.table import Row, table

    out = printer(sys.stdout, color=options.colored(chosen.color, sys.stdout))
    out.line((key.name, "bold"))
    rows = [
        Row("meaning", _plain(key.meaning)),
        Row("default", _plain(key.default) or "none"),
        Row("example", f"{key.name} = {key.example}"),
    ]
    for parts in table(rows, options.width()):
        out.line(*parts)


def _entry(key: Key) -> dict[str, object]:
    return {
        "key": key.name,
        "meaning": _plain(key.meaning),
        "default": _plain(key.default) or None,
        "example": f"{key.name} = {key.example}",
        "schema": key.schema,
    }


def _plain(markdown: str) -> str:
    return _LINK.sub(r"\1", markdown).replace("`", "")
