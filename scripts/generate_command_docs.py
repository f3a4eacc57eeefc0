"""Write docs/commands.md from the argument parsers. With --check, say whether it is up to date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from distlint.cli import COMMANDS

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"

HEAD = """\
# Commands

Generated from the command line parsers; `distlint COMMAND --help` shows the same text. For the
meaning of exit statuses, see [output and exit status](output.md#exit-status).
"""


def page() -> str:
    """The reference of all commands, as Markdown."""
    rows = [f"| [`{name}`](#distlint-{name}) | {what} |" for name, what in COMMANDS.items()]
    parts = [HEAD, "\n".join(["| command | description |", "| --- | --- |", *rows]) + "\n"]
    for name in COMMANDS:
        parser = import_module(f"distlint.cli.{name.replace('-', '_')}").parser()
        parts.append("\n".join(_section(name, parser)))
    return "\n".join(parts)


def _section(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## distlint {name}\n"
    yield f"{_text(parser.description)}\n"
    yield f"```text\n{_usage(parser)}\n```\n"
    for group in parser._action_groups:
        actions = [each for each in group._group_actions if each.help is not argparse.SUPPRESS]
        actions = [each for each in actions if not isinstance(each, argparse._HelpAction)]
        if actions:
            title = (group.title or "").replace("positional ", "")
            note = f" ({group.description})" if group.description else ""
            yield f"| {title}{note} | |\n| --- | --- |"
            yield from (f"| {_names(each)} | {_help(each)} |" for each in actions)
            yield ""
    if parser.epilog:
        yield f"{_text(parser.epilog)}\n"


def _usage(parser: argparse.ArgumentParser) -> str:
    """How it is called, options by their groups: a long list of them is in the tables."""
    positional = [_shown(action, parser) for action in parser._actions if not action.option_strings]
    return " ".join([f"{parser.prog} [options]", *positional]).rstrip()


def _shown(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    formatter = parser._get_formatter()
    return formatter._format_args(action, formatter._get_default_metavar_for_positional(action))


def _names(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{_metavar(action)}`"
    value = "" if action.nargs == 0 else _metavar(action)
    joint = "" if value.startswith("=") else " "
    names = ", ".join(f"`{name}`" for name in action.option_strings[:-1])
    last = f"`{action.option_strings[-1]}{joint + value if value else ''}`"
    return f"{names}, {last}" if names else last


def _metavar(action: argparse.Action) -> str:
    if action.choices is not None and action.metavar is None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    metavar = action.metavar or action.dest.upper()
    return metavar if isinstance(metavar, str) else " ".join(metavar)


def _help(action: argparse.Action) -> str:
    text = action.help or ""
    if isinstance(action, argparse.BooleanOptionalAction):
        text = text.removesuffix(" (default: %(default)s)")  # what Python 3.10 puts there
    return _text(text.replace("%%", "%").replace("%(default)s", str(action.default)))


def _text(text: str | None) -> str:
    """On one line, and safe in a table."""
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "\\<")


def main() -> int:
    wanted = page()
    fresh = PAGE.exists() and PAGE.read_text(encoding="utf-8") == wanted
    if "--check" in sys.argv[1:]:
        print("up to date" if fresh else f"{PAGE} is out of date")
        return 0 if fresh else 1
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
