"""What reads the options of a command, and says what was probably meant."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from distlint.cli import COMMANDS, FAILED


class Parser(argparse.ArgumentParser):
    """argparse, but for what it says of mistakes: what was meant, in place of all that there is."""

    def __init__(self, prog: str, *, description: str, epilog: str | None = None) -> None:
        super().__init__(prog, description=description, epilog=epilog, allow_abbrev=False)
        self.suggest_on_error = False  # which Python does from 3.15 on, and would be said twice

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The options that these arguments set; ends the program where they cannot be read."""
        chosen, unknown = self.parse_known_args(arguments)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown[0])}")
        return chosen

    def error(self, message: str) -> NoReturn:
        self.exit(FAILED, f"{self.prog}: {message}\nRun `{self.prog} --help` for usage.\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            from distlint.engine.errors import did_you_mean

            hint = did_you_mean(str(value), map(str, action.choices or ()))
            raise argparse.ArgumentError(action, error.message + hint) from None

    def _meant(self, word: str) -> str:
        """The command or the key of the configuration with this name, or a similar option."""
        option = word.partition("=")[0]
        if not option.startswith("-"):
            return ""
        if option in ("-V", "--version"):
            return "; it is an option of `distlint`"
        command = command_with(option)
        if command is not None:
            return f"; it is an option of `distlint {command}`"
        from distlint.engine.config_file import KEYS
        from distlint.engine.errors import nearest

        keys = {f"--{key}": key for key in KEYS} if "--config" in self._options else {}
        meant = nearest(option, [*keys, *self._options])
        if meant is None:
            return ""
        if meant in self._options:
            return f"; did you mean `{meant}`?"
        return f"; `{keys[meant]}` is a configuration key: see `distlint config {keys[meant]}`"

    @property
    def _options(self) -> Iterable[str]:
        return self._option_string_actions


def command_with(option: str) -> str | None:
    """The first command that has this option."""
    return next((command for command in COMMANDS if option in _options_of(command)), None)


def _options_of(command: str) -> Iterable[str]:
    from importlib import import_module

    found: Parser = import_module(f"distlint.cli.{command.replace('-', '_')}").parser()
    return found._option_string_actions  # argparse has no other way to look at a parser
