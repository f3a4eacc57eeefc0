"""``distlint diagnose``: what failed first in a job, from its logs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from distlint.cli import FINDINGS, OK, options
from distlint.cli.parser import Parser
from distlint.cli.progress import progress_bar
from distlint.engine.errors import ConfigError
from distlint.source.paths import STDIN, display


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    paths = chosen.logs or _standard_input()
    script: Path | None = chosen.script
    if script is not None and not script.is_file():
        raise ConfigError(f"no such script: {display(script)}")
    from distlint.diagnose.run import diagnose

    with progress_bar(wanted=not chosen.quiet, what="reading", size=True) as bar:
        try:
            answer = diagnose(
                paths,
                size=chosen.world_size or 0,
                script=script,
                overrides=options.overrides(chosen),
                progress=bar,
            )
        except FileNotFoundError as error:
            raise ConfigError(f"no such file or directory: {error.filename}") from None
    from distlint.diagnose import report

    with options.output(chosen.output_file, sys.stdout) as stream:
        if chosen.output_format == "json":
            stream.write(report.as_json(answer) + "\n")
        else:
            from distlint.output.style import printer

            out = printer(stream, color=options.colored(chosen.color, stream))
            verbose, quiet = chosen.verbose, chosen.quiet
            report.write(answer, out, options.width(), verbose=verbose, quiet=quiet)
    failed = answer.diagnosis.level in ("error", "warning")
    return FINDINGS if failed else OK


def _standard_input() -> list[Path]:
    """What is read when nothing is named.

    Raises:
        ConfigError: if that is a terminal, where it would look like a hang.
    """
    if sys.stdin.isatty():
        raise ConfigError("no input: give a log file or a directory, or pipe in a log")
    return [STDIN]


def parser() -> Parser:
    parser = Parser(
        "distlint diagnose",
        description="Find the first failure of a job in its logs, report missing ranks and explain "
        "error messages.",
        epilog="Exit status: 0 nothing found, 1 an error or a warning, 2 distlint itself failed.",
    )
    parser.add_argument(
        "logs",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="logs, Flight Recorder dumps, or directories of them, such as torchrun's --log-dir; "
        "gzip, bz2 and xz files are decompressed; - is standard input (default, unless it is a "
        "terminal)",
    )
    parser.add_argument(
        "--script",
        type=Path,
        metavar="FILE",
        help="script that the ranks ran; check it with the rules for the failure",
    )
    parser.add_argument(
        "--world-size",
        type=options.count,
        metavar="N",
        help="world size of the job (default: inferred from the logs)",
    )
    group = parser.add_argument_group("output")
    options.add_output_format(group, shortcut=True)
    group.add_argument(
        "-o",
        "--output-file",
        type=Path,
        metavar="FILE",
        help="write the output to this file instead of standard output",
    )
    options.add_configuration(parser)
    options.add_display(parser)
    return parser
