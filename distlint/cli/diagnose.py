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
            raise ConfigError(f"no such file or folder: {error.filename}") from None
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
        raise ConfigError("name a log or a folder, or pipe one in")
    return [STDIN]


def parser() -> Parser:
    parser = Parser(
        "distlint diagnose",
        description="Say what failed first in a job, who is missing, and what messages mean.",
        epilog="Exit status: 0 nothing found, 1 an error or a warning, 2 the run itself failed.",
    )
    parser.add_argument(
        "logs",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="logs, flight-recorder dumps, and folders of them such as torchrun's --log-dir; "
        "gzip, bz2 and xz are unpacked; - is standard input (default, if it is no terminal)",
    )
    parser.add_argument(
        "--script",
        type=Path,
        metavar="FILE",
        help="what the ranks ran: the rules in question look at it",
    )
    parser.add_argument(
        "--world-size",
        type=options.count,
        metavar="N",
        help="how many ranks there were (default: as many as the logs tell)",
    )
    group = parser.add_argument_group("output")
    group.add_argument("--output-format", choices=("full", "json"), default="full")
    group.add_argument(
        "--json", action="store_const", const="json", dest="output_format", help="the same as JSON"
    )
    group.add_argument("-o", "--output-file", type=Path, metavar="FILE", help="write it there")
    options.add_configuration(parser)
    options.add_display(parser)
    return parser
