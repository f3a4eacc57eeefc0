"""``distlint trace``: the collectives of each group of ranks side by side."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from distlint.cli import FINDINGS, OK, options
from distlint.cli.options import output
from distlint.cli.parser import Parser
from distlint.engine.errors import ConfigError
from distlint.source.numbers import whole_number
from distlint.source.trace import Trace


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    from distlint.engine.tracing import trace_file

    resolver = options.resolver(chosen, runs_rules=True)
    path, function = _target(chosen.target)
    traces = trace_file(path, function, chosen.ranks, resolver)
    with output(chosen.output_file, sys.stdout) as stream:
        _write(traces, chosen, stream)
    return OK if all(trace.aligned for trace in traces) else FINDINGS


def _write(traces: Sequence[Trace], chosen: argparse.Namespace, stream: IO[str]) -> None:
    from distlint.output import trace as text

    if chosen.output_format == "json":
        stream.write(text.render_json(traces) + "\n")
        return
    if chosen.output_format == "html":
        from distlint.output import trace_html

        stream.write(trace_html.render(traces))
        return
    from distlint.output.style import printer

    out = printer(stream, color=options.colored(chosen.color, stream))
    for trace in traces:
        text.render(trace, out, options.width())
    if not traces and not chosen.quiet:
        out.line("No collectives found.")


def parser() -> Parser:
    parser = Parser(
        "distlint trace",
        description="Compare the collectives of ranks side by side.",
        epilog="Exit status: 0 the ranks agree, 1 they diverge, 2 distlint itself failed.",
    )
    parser.add_argument(
        "target", metavar="FILE[::FUNCTION]", help="a script, or one of its functions"
    )
    parser.add_argument(
        "--ranks",
        type=_ranks,
        metavar="R,R,...",
        help="show these ranks (default: one of each group of ranks that behave the same)",
    )
    options.add_output_format(parser, "html")
    parser.add_argument(
        "-o",
        "--output-file",
        type=Path,
        metavar="FILE",
        help="write the output to this file instead of standard output",
    )
    options.add_configuration(parser)
    options.add_display(parser)
    return parser


def _target(text: str) -> tuple[Path, str | None]:
    """The file and, behind ``::``, the function; a file whose own name has ``::`` wins."""
    name, separator, function = text.rpartition("::")
    if not separator or os.path.exists(text):
        return Path(os.path.abspath(text)), None
    if not name or not function:
        raise ConfigError(f"`{text}` is not in the form FILE::FUNCTION")
    return Path(os.path.abspath(name)), function


def _ranks(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    ranks = [whole_number(part) for part in parts if part.isdecimal()]
    found = [rank for rank in ranks if rank is not None]
    if len(found) < len(parts):
        raise argparse.ArgumentTypeError(
            f"invalid list of ranks (expected, for example, 0,1): {text[:40]}"
        )
    return tuple(dict.fromkeys(found))
