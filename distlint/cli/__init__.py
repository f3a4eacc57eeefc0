"""The command line: finds the command by its name and imports nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from distlint import __version__

COMMANDS = {
    "check": "report where ranks diverge, and other distributed training bugs",
    "fix": "fix findings and verify each fix by re-analysis",
    "trace": "compare the collectives of ranks side by side",
    "confirm": "write a script that shows a reported hang, and run it",
    "rule": "explain a rule, or list rules",
    "test-rule": "test custom rules against their examples",
    "merge": "merge shard reports",
    "config": "list configuration keys, or explain one",
    "init": "create a configuration file",
    "clean": "clear caches",
    "server": "run the language server",
    "completion": "print shell completion",
    "vendor": "copy the runtime library into a project as a single file",
    "doctor": "check the environment for distributed training",
    "diagnose": "find the first failure of a job in its logs",
    "run": "launch a script on several processes, optionally monitoring collectives",
}

SYNONYMS = {
    synonym: command
    for command, synonyms in {
        "check": "analyse analyze lint scan",
        "check --watch": "watch",
        "fix": "repair",
        "trace": "simulate",
        "confirm": "reproduce reproducer",
        "rule": "describe doc docs explain info show",
        "rule ALL": "list rules",
        "config": "configuration options settings",
        "init": "new setup",
        "clean": "cache clear",
        "server": "language-server lsp",
        "completion": "complete completions",
        "vendor": "bundle",
        "doctor": "env environment",
        "diagnose": "debug log logs",
        "run": "launch torchrun",
        "run --watch": "run-watch",
        "--version": "version",
    }.items()
    for synonym in synonyms.split()
}
"""What other programs call these commands; names a hint and nothing else."""

USAGE = """\
usage: distlint <command> [options]

Find, explain and fix bugs in distributed training scripts.

commands:
{commands}

options:
  -h, --help     show this help
  -V, --version  show the version

Run `distlint <command> --help` for the options of a command.
"""

OK, FINDINGS, FAILED, INTERRUPTED = 0, 1, 2, 130
_SOON = 0.01  # seconds, in which a callback has come to its end


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the result is the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    usual, sys.unraisablehook = sys.unraisablehook, _ask_again
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        return _crashed(error, verbose="--verbose" in arguments or "-v" in arguments)
    finally:
        sys.unraisablehook = usual


def _ask_again(lost: sys.UnraisableHookArgs) -> None:
    """A Ctrl-C that came in a callback, where Python ignores it, is sent once more."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    import threading

    threading.Timer(_SOON, _interrupt).start()


def _interrupt() -> None:
    import signal
    import threading

    if sys.platform == "win32":
        import _thread

        _thread.interrupt_main()
    else:  # which ends a system call as well
        main_thread = threading.main_thread().ident
        assert main_thread is not None
        signal.pthread_kill(main_thread, signal.SIGINT)


def _dispatch(arguments: list[str]) -> int:
    first = arguments[0] if arguments else ""
    if first in ("-V", "--version"):
        print(f"distlint {__version__}")
        return OK
    if first == "help" and arguments[1:] and arguments[1] in COMMANDS:
        return _dispatch([arguments[1], "--help"])
    if first in ("-h", "--help", "help"):
        print(_usage(), end="")
        return OK
    if first not in COMMANDS:
        return _no_command(first)
    from importlib import import_module

    status: int = import_module(f"{__name__}.{first.replace('-', '_')}").run(arguments[1:])
    return status


def _usage() -> str:
    width = max(map(len, COMMANDS))
    return USAGE.format(
        commands="\n".join(f"  {name:<{width}}  {what}" for name, what in COMMANDS.items())
    )


def _no_command(word: str) -> int:
    if not word:
        print(_usage(), end="", file=sys.stderr)
        return FAILED
    what = "option" if word.startswith("-") else "command"
    print(f"distlint: unknown {what} `{word}`{_hint(word)}", file=sys.stderr)
    return FAILED


def _hint(word: str) -> str:
    """What was probably meant by a word that is no command."""
    if os.path.exists(word):
        return f"; did you mean `distlint check {word}`?"
    if word.startswith("-"):
        from distlint.cli.parser import command_with

        option = word.partition("=")[0]
        command = command_with(option)
        return f"; did you mean `distlint {command} {option}`?" if command else ""
    if word.lower() in SYNONYMS:
        return f"; did you mean `distlint {SYNONYMS[word.lower()]}`?"
    from distlint.cli.rule import is_rule
    from distlint.engine.errors import did_you_mean

    if is_rule(word):
        return f"; did you mean `distlint rule {word}`?"
    return did_you_mean(word, COMMANDS)


def _crashed(error: Exception, *, verbose: bool) -> int:
    from distlint.engine.errors import ConfigError

    if isinstance(error, ConfigError):
        print(f"distlint: {error}", file=sys.stderr)
    elif isinstance(error, OSError) and error.filename is None:
        print(f"distlint: cannot write: {error.strerror}", file=sys.stderr)
    else:
        if verbose:
            import traceback

            traceback.print_exception(error)
        hint = "" if verbose else " (use --verbose for the traceback)"
        print(f"distlint: internal error: {type(error).__name__}: {error}{hint}", file=sys.stderr)
    return FAILED
