"""``distlint doctor``: is this machine fit for distributed training?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.cli import FINDINGS, OK, options
from distlint.cli.parser import Parser
from distlint.engine.errors import ConfigError
from distlint.source.paths import display

if TYPE_CHECKING:
    from distlint.doctor.machine import Check, Machine


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    if chosen.hostfile is not None and not chosen.hostfile.is_file():
        raise ConfigError(f"no such file: {display(chosen.hostfile)}")
    from distlint.doctor import report
    from distlint.doctor.machine import Machine

    machine = Machine()
    if chosen.ranks:
        from distlint.doctor import jobs

        found = jobs.ranks(machine, chosen.timeout)
        if found is None:  # what rank 0 says, it says for all
            return OK
        rows = found
    else:
        rows = _rows(machine, chosen)
    if chosen.report:
        with options.output(chosen.report, sys.stdout) as stream:
            stream.write(report.bundle(rows, machine))
    if chosen.output_format == "json":
        print(report.as_json(rows))
    else:
        from distlint.output.style import printer

        out = printer(sys.stdout, color=options.colored(chosen.color, sys.stdout))
        verbose, quiet = chosen.verbose, chosen.quiet
        report.write(rows, out, options.width(), verbose=verbose, quiet=quiet)
        if chosen.report and not quiet:
            out.line(f"Report written to {display(chosen.report)}. Review it before you share it.")
    return FINDINGS if report.failed(rows) else OK


def _rows(machine: Machine, chosen: argparse.Namespace) -> list[Check]:
    from distlint.doctor import checks, network

    rows = checks.checks(machine)
    rows += network.connections(chosen.connect)
    if chosen.hostfile:
        rows += network.hosts(machine, chosen.hostfile)
    for path in chosen.data:
        rows += checks.data(machine, path)
    for path in chosen.checkpoint:
        rows += checks.checkpoint(machine, path)
    if chosen.smoke or chosen.bench:
        from distlint.doctor import jobs

        rows += jobs.smoke(machine, chosen.nproc, chosen.timeout, bench=chosen.bench)
    return rows


def parser() -> Parser:
    parser = Parser(
        "distlint doctor",
        description="Check the environment for distributed training. Nothing is changed, no "
        "process is terminated that the command did not start itself, and no other machine is "
        "contacted unless you name it.",
        epilog="Exit status: 0 no problems, 1 a warning or an error, 2 distlint itself failed.",
    )
    group = parser.add_argument_group("additional checks")
    group.add_argument(
        "--smoke",
        action="store_true",
        help="run an all_reduce on real processes, with a time limit",
    )
    group.add_argument(
        "--bench", action="store_true", help="like --smoke, and measure the bandwidth of all_reduce"
    )
    group.add_argument(
        "-n",
        "--nproc",
        type=options.count,
        default=2,
        metavar="N",
        help="number of processes for --smoke and --bench (default: 2)",
    )
    group.add_argument(
        "--timeout",
        type=options.seconds,
        default=30.0,
        metavar="SECONDS",
        help="how long processes wait for each other (default: 30)",
    )
    group.add_argument(
        "--ranks",
        action="store_true",
        help="compare versions and environment variables across ranks; launch it as a job: "
        "torchrun ... -m distlint doctor --ranks",
    )
    group.add_argument(
        "--connect",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="test a TCP connection to this address",
    )
    group.add_argument(
        "--hostfile", type=Path, metavar="FILE", help="test ssh to these hosts, and check MPI"
    )
    group.add_argument(
        "--data",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="check the filesystem of this dataset",
    )
    group.add_argument(
        "--checkpoint",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="check that this checkpoint is complete",
    )
    group = parser.add_argument_group("output")
    options.add_output_format(group, shortcut=True)
    group.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write a report for a bug tracker to this file, with secrets masked",
    )
    options.add_display(parser)
    return parser
