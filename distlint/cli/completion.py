"""``distlint completion``: scripts that let a shell complete commands, options and values."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib import import_module

from distlint.cli import COMMANDS, OK
from distlint.cli.parser import Parser
from distlint.engine.keys import KEYS
from distlint.engine.selection import ALL
from distlint.rules.table import FAMILIES, RESERVED

FILES = "files"
FOLDERS = "directories"

_WORDS = {
    "RULES": (ALL, *FAMILIES, *RESERVED, *RESERVED.values()),
    "CODE|NAME": (ALL, *FAMILIES, *RESERVED, *RESERVED.values()),
    "PATH|CODE|NAME": (*RESERVED, *RESERVED.values()),
    "KEY": tuple(key.name for key in KEYS),
}
_PATHS = {"FILE": FILES, "PATH": FILES, "FILE[::FUNCTION]": FILES, "DIR": FOLDERS}


@dataclass(frozen=True, slots=True)
class Argument:
    """An option, or what stands without one; ``values`` are words, FILES, FOLDERS or nothing."""

    options: tuple[str, ...]
    help: str
    takes_value: bool
    values: tuple[str, ...] | str
    several: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    help: str
    arguments: tuple[Argument, ...]

    @property
    def options(self) -> tuple[Argument, ...]:
        return tuple(each for each in self.arguments if each.options)

    @property
    def positional(self) -> Argument | None:
        return next((each for each in self.arguments if not each.options), None)


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    print(_SCRIPTS[chosen.shell](tuple(_commands())), end="")
    return OK


def parser() -> Parser:
    parser = Parser(
        "distlint completion",
        description="Print a shell script that completes commands, options and values.",
        epilog='bash: eval "$(distlint completion bash)" in ~/.bashrc. '
        'zsh: eval "$(distlint completion zsh)" in ~/.zshrc, after compinit. '
        "fish: distlint completion fish > ~/.config/fish/completions/distlint.fish",
    )
    parser.add_argument("shell", choices=("bash", "fish", "zsh"), help="shell to complete in")
    return parser


def _commands() -> Iterator[Command]:
    for name, text in COMMANDS.items():
        module = import_module(f"distlint.cli.{name.replace('-', '_')}")
        actions = module.parser()._actions  # argparse has no other way to look at a parser
        yield Command(name, text, tuple(map(_argument, actions)))


def _argument(action: argparse.Action) -> Argument:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    values: tuple[str, ...] | str = _WORDS.get(metavar) or _PATHS.get(metavar, "")
    if action.choices is not None:
        values = tuple(str(c.value if isinstance(c, Enum) else c) for c in action.choices)
    help_ = "" if action.help is None else action.help
    takes_value = action.nargs not in (0, "?")  # what may follow, follows behind a `=`
    return Argument(tuple(action.option_strings), help_, takes_value, values, metavar == "RULES")


def _bash(commands: Sequence[Command]) -> str:
    cases = "\n".join(_bash_command(command) for command in commands)
    return f"""\
_distlint() {{
    local cur prev words options='' values='' kind=''
    COMPREPLY=()
    cur="${{COMP_WORDS[COMP_CWORD]}}"
    prev="${{COMP_WORDS[COMP_CWORD-1]}}"
    if [[ "$cur" == "=" ]]; then
        cur=""
    elif [[ "$prev" == "=" ]]; then
        prev="${{COMP_WORDS[COMP_CWORD-2]}}"
    fi
    if [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W "{" ".join(c.name for c in commands)} --help --version" -- "$cur"))
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{cases}
    *) return ;;
    esac
    if [[ "$kind" != list && "$cur" == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    elif [[ "$kind" == list ]]; then
        local done=""
        [[ "$cur" == *,* ]] && done="${{cur%,*}},"
        COMPREPLY=($(compgen -P "$done" -W "$values" -- "${{cur##*,}}"))
        compopt -o nospace 2> /dev/null
    elif [[ "$kind" == files ]]; then
        local IFS=$'\\n'
        compopt -o filenames 2> /dev/null
        COMPREPLY=($(compgen -f -- "$cur"))
    elif [[ "$kind" == directories ]]; then
        local IFS=$'\\n'
        compopt -o filenames 2> /dev/null
        COMPREPLY=($(compgen -d -- "$cur"))
    else
        COMPREPLY=($(compgen -W "$values" -- "$cur"))
    fi
}}
complete -F _distlint distlint
"""


def _bash_command(command: Command) -> str:
    options = " ".join(name for each in command.options for name in each.options)
    lines = [f"    {command.name})", f"        options='{options}'", '        case "$prev" in']
    lines += [
        f"        {'|'.join(each.options)}) {_bash_values(each)} ;;"
        for each in command.options
        if each.takes_value
    ]
    lines.append(f"        *) {_bash_values(command.positional)} ;;")
    return "\n".join([*lines, "        esac", "        ;;"])


def _bash_values(argument: Argument | None) -> str:
    if argument is None or not argument.values:
        return "kind=words"
    if isinstance(argument.values, str):
        return f"kind={argument.values}"
    kind = "list" if argument.several else "words"
    return f"kind={kind}; values='{' '.join(argument.values)}'"


def _fish(commands: Sequence[Command]) -> str:
    first = "complete -c distlint -n __fish_use_subcommand"
    lines = [
        "complete -c distlint -f",
        *(f"{first} -a {command.name} -d {_quoted(command.help)}" for command in commands),
        f"{first} -s h -l help -d 'show help'",
        f"{first} -s V -l version -d 'show the version'",
    ]
    for command in commands:
        inside = f"complete -c distlint -n '__fish_seen_subcommand_from {command.name}'"
        for each in command.options:
            names = " ".join(_fish_name(name) for name in each.options)
            value = f" -r{_fish_values(each)}" if each.takes_value else ""
            lines.append(f"{inside} {names}{value} -d {_quoted(each.help)}")
        if command.positional is not None:
            lines.append(f"{inside}{_fish_values(command.positional)}")
    return "\n".join(lines) + "\n"


def _fish_name(option: str) -> str:
    return f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"


def _fish_values(argument: Argument) -> str:
    if argument.values == FILES:
        return " -F"
    if argument.values == FOLDERS:
        return " -a '(__fish_complete_directories)'"
    if argument.several:
        return f" -a '(__fish_append , {' '.join(argument.values)})'"
    return f" -a '{' '.join(argument.values)}'" if argument.values else ""


def _zsh(commands: Sequence[Command]) -> str:
    described = "\n".join(f"        {_quoted(f'{each.name}:{each.help}')}" for each in commands)
    cases = "\n".join(_zsh_command(each) for each in commands)
    return f"""\
#compdef distlint
_distlint() {{
    local -a commands
    commands=(
{described}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        _arguments '--help[show help]' '--version[show the version]'
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{cases}
    esac
}}
compdef _distlint distlint
"""


def _zsh_command(command: Command) -> str:
    specs = []
    for each in command.options:
        for name in each.options:
            value = f":value:{_zsh_values(each)}" if each.takes_value else ""
            sign = "=" if each.takes_value and name.startswith("--") else ""
            specs.append(_quoted(f"*{name}{sign}[{_zsh_text(each.help)}]{value}"))
    if command.positional is not None:
        specs.append(_quoted(f"*:value:{_zsh_values(command.positional)}"))
    arguments = " \\\n            ".join(specs)
    return f"    {command.name})\n        _arguments \\\n            {arguments}\n        ;;"


def _zsh_values(argument: Argument) -> str:
    if argument.values == FILES:
        return "_files"
    if argument.values == FOLDERS:
        return "_files -/"
    words = " ".join(argument.values)
    return f"_values -s , value {words}" if argument.several else f"({words})" if words else " "


def _zsh_text(text: str) -> str:
    return text.replace("[", "(").replace("]", ")").replace(":", r"\:")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


_SCRIPTS = {"bash": _bash, "fish": _fish, "zsh": _zsh}
