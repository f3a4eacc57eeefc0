"""``distlint check``: find the places where ranks part ways."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO

from distlint.cli import FAILED, FINDINGS, OK, options
from distlint.cli.parser import Parser
from distlint.cli.progress import progress_bar
from distlint.engine.errors import ConfigError
from distlint.engine.explain import rule_text
from distlint.engine.settings import Resolver
from distlint.output import formats
from distlint.source.numbers import whole_number
from distlint.source.paths import STDIN, display
from distlint.source.report import Notice, Report

FOR_PEOPLE = ("concise", "full")


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(_spelled_out(arguments))
    _refuse_what_does_not_go_together(chosen)
    if chosen.watch:
        from distlint.cli import watch

        return watch.watch(chosen, arguments)
    if chosen.show_files or chosen.show_settings:
        from distlint.cli import settings

        return settings.show(chosen)
    if chosen.add_ignores is not None:
        from distlint.cli import ignores

        return ignores.add(chosen)
    if chosen.fix or chosen.diff:
        from distlint.cli import fix

        return fix.repair(chosen)
    resolver = options.resolver(chosen, runs_rules=True)
    report = check(chosen, resolver)
    if chosen.confirm:
        report = _confirmed(report, resolver)
    if chosen.update_baseline:
        return _update_baseline(report, chosen, resolver)
    if chosen.output_format != "report":  # which `distlint merge` compares with the baseline
        report = without_known(report, resolver)
    tell(report, chosen, resolver)
    return status(report, chosen)


def _spelled_out(arguments: Sequence[str]) -> list[str]:
    """``--add-ignores`` without a reason must not take the next path for one."""
    return ["--add-ignores=" if each == "--add-ignores" else each for each in arguments]


def _refuse_what_does_not_go_together(chosen: argparse.Namespace) -> None:
    if chosen.confirm and (chosen.watch or chosen.add_ignores is not None):
        other = "--watch" if chosen.watch else "--add-ignores"
        raise ConfigError(f"--confirm cannot be combined with {other}")
    for option, given in (
        ("--update-baseline", chosen.update_baseline),
        ("--add-ignores", chosen.add_ignores is not None),
        ("--shard", chosen.shard is not None),
        ("--watch", chosen.watch),
        ("--confirm", chosen.confirm),
    ):
        if given and (chosen.fix or STDIN in chosen.paths):
            raise ConfigError(f"{option} cannot be combined with --fix or standard input")


def parser() -> Parser:
    return parser_of(
        "check",
        "Report where ranks diverge, and other bugs in distributed training scripts and their "
        "configuration.",
        "Exit status: 0 no findings at or above --fail-on, 1 findings, 2 distlint itself failed.",
    )


def parser_of(command: str, description: str, epilog: str) -> Parser:
    """The options of ``check``, most of which are those of ``fix`` as well."""
    parser = Parser(
        f"distlint {command}",
        description=description,
        epilog=epilog,
    )
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="files and directories to check, or - for standard input (default: current directory)",
    )
    options.add_selection(parser)
    options.add_files(parser)
    options.add_configuration(parser)
    if command == "check":
        _add_showing(parser)
    _add_fixing(parser, always=command == "fix")
    add_baseline(parser, update=command == "check")
    _add_run(parser, command)
    add_output(parser)
    options.add_display(parser)
    return parser


def _add_showing(parser: argparse.ArgumentParser) -> None:
    titled = parser.add_argument_group("inspection (nothing is checked)")
    group = titled.add_mutually_exclusive_group()
    group.add_argument(
        "--show-files", action="store_true", help="list the files that would be checked"
    )
    group.add_argument(
        "--show-settings", action="store_true", help="print the resolved settings as TOML"
    )


def _add_fixing(parser: argparse.ArgumentParser, *, always: bool) -> None:
    group = parser.add_argument_group("fixing")
    if always:
        parser.set_defaults(fix=True)
    else:
        group.add_argument(
            "--fix", action="store_true", help="fix findings and verify each fix by re-analysis"
        )
    group.add_argument(
        "--diff", action="store_true", help="show a diff of the changes without writing any file"
    )
    if not always:
        group.add_argument(
            "--add-ignores",
            nargs="?",
            metavar="=REASON",
            help="add a suppression comment (with REASON) to every finding",
        )
    options.add_unsafe_fixes(group)
    group.add_argument(
        "--exit-non-zero-on-fix",
        action="store_true",
        help="exit with status 1 if anything was fixed, even if no findings remain",
    )


def add_baseline(parser: argparse.ArgumentParser, *, update: bool = False) -> None:
    group = parser.add_argument_group("baseline")
    group.add_argument(
        "--baseline", type=Path, metavar="FILE", help="ignore findings recorded in this baseline"
    )
    if update:
        group.add_argument(
            "--update-baseline",
            action="store_true",
            help="record all current findings in the baseline and report none",
        )


def _add_run(parser: argparse.ArgumentParser, command: str) -> None:
    group = parser.add_argument_group("running")
    group.add_argument(
        "-j",
        "--jobs",
        type=_count,
        metavar="N",
        help="number of processes; 0 means all cores (default: all cores for 32 or more files, "
        "else 1)",
    )
    if command == "check":
        group.add_argument(
            "--shard",
            type=_shard,
            metavar="I/N",
            help="check the I-th of N shards of the files; merge their reports with "
            "`distlint merge`",
        )
        group.add_argument(
            "--confirm",
            action="store_true",
            help="run a script for each reported hang, and mark those that it confirms "
            "(needs torch)",
        )
        group.add_argument(
            "--watch", action="store_true", help="check again whenever a file changes"
        )
    else:
        parser.set_defaults(shard=None, confirm=False)
    group.add_argument(
        "--no-cache",
        action="store_true",
        default=os.environ.get("DISTLINT_NO_CACHE", "") not in ("", "0", "false"),
        help="disable the cache (environment: DISTLINT_NO_CACHE)",
    )
    options.add_cache_dir(group)
    group.add_argument(
        "--stdin-filename",
        type=Path,
        metavar="FILE",
        help="file name to assume for standard input",
    )
    add_exit_zero(group)


def add_exit_zero(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--exit-zero", action="store_true", help="exit with status 0 even if there are findings"
    )


def add_output(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output-format",
        choices=formats.names(),
        default="full",
        help="output format (default: full)",
    )
    group.add_argument(
        "-o",
        "--output-file",
        type=Path,
        metavar="FILE",
        help="write the report to this file instead of standard output",
    )
    group.add_argument(
        "--statistics", action="store_true", help="show the number of findings per rule instead"
    )
    return group


def _count(text: str) -> int:
    found = whole_number(text) if text.isdecimal() else None
    if found is None:
        raise argparse.ArgumentTypeError(f"invalid number of processes: {text[:40]}")
    return found


def _shard(text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    part, parts = whole_number(number), whole_number(count)
    if part is None or parts is None or not 1 <= part <= parts:
        raise argparse.ArgumentTypeError(f"invalid shard (expected, for example, 1/4): {text[:40]}")
    return part, parts


def check(chosen: argparse.Namespace, resolver: Resolver) -> Report:
    from distlint.engine.run import check_paths, check_stdin

    if STDIN in chosen.paths:
        data = read_stdin(chosen)
        return check_stdin(
            data, chosen.stdin_filename, resolver, force_exclude=chosen.force_exclude
        )
    with progress_bar(wanted=not chosen.quiet) as bar:
        return check_paths(
            chosen.paths or [Path()],
            resolver,
            jobs=chosen.jobs,
            force_exclude=chosen.force_exclude,
            respect_gitignore=chosen.respect_gitignore,
            progress=bar,
            shard=chosen.shard,
            caching=not chosen.no_cache,
        )


def _confirmed(report: Report, resolver: Resolver) -> Report:
    """The report with a mark on each hang; without torch as it was, and a line that says so."""
    from distlint.harness.cluster import missing

    lacking = missing()
    if lacking is not None:
        why = f"--confirm executes scripts under gloo: {lacking}"
        return replace(report, notices=(*report.notices, Notice("warning", why)))
    from distlint.confirm.marks import marked

    return marked(report, resolver)


def read_stdin(chosen: argparse.Namespace) -> bytes:
    """The text to check.

    Raises:
        ConfigError: if other paths were named beside it.
    """
    if len(chosen.paths) > 1:
        raise ConfigError("`-` cannot be combined with other paths")
    return sys.stdin.buffer.read()


def without_known(report: Report, resolver: Resolver) -> Report:
    """The report without the findings of its baseline."""
    if not resolver.has_baseline():
        return report
    from distlint.engine.baseline import applied

    return applied(report, resolver)


def _update_baseline(report: Report, chosen: argparse.Namespace, resolver: Resolver) -> int:
    from distlint.engine.baseline import update

    for file, count in update(report, resolver).items():
        if not chosen.quiet:
            what = "1 finding" if count == 1 else f"{count:,} findings"
            print(f"{display(file)} now contains {what}.")
    tell_notices(report, chosen)
    return FAILED if report.failed else OK


def status(report: Report, chosen: argparse.Namespace) -> int:
    if report.failed:
        return FAILED
    return FINDINGS if report.fails and not chosen.exit_zero else OK


def tell(
    report: Report,
    chosen: argparse.Namespace,
    resolver: Resolver,
    default: IO[str] | None = None,
    *,
    tried: bool = False,
) -> None:
    """Write the report to where the user wants it, by default to standard output."""
    try:
        with options.output(chosen.output_file, default or sys.stdout) as stream:
            _write(report, chosen, resolver, stream, tried=tried)
            stream.flush()
    except BrokenPipeError:  # whoever read our output has seen enough; the verdict stands
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    tell_notices(report, chosen)


def _write(
    report: Report,
    chosen: argparse.Namespace,
    resolver: Resolver,
    stream: IO[str],
    *,
    tried: bool,
) -> None:
    color = options.colored(chosen.color, stream)
    if chosen.statistics and chosen.output_format in FOR_PEOPLE:
        from distlint.output import summary
        from distlint.output.style import printer

        summary.statistics(report, printer(stream, color=color))
        return
    page = formats.Page(
        stream,
        explain=partial(rule_text, resolver=resolver),
        color=color,
        width=options.width(),
        quiet=chosen.quiet,
        unsafe=bool(chosen.unsafe_fixes),
        verbose=chosen.verbose,
        tried=tried,
    )
    formats.load(chosen.output_format).write(report, page)


def tell_notices(report: Report, chosen: argparse.Namespace) -> None:
    """What does not belong to the findings, on standard error."""
    notices = report.notices
    if chosen.quiet:
        notices = tuple(notice for notice in notices if notice.kind == "failed")
    counted = chosen.statistics and chosen.output_format not in FOR_PEOPLE
    if not notices and not counted:
        return
    from distlint.output import summary
    from distlint.output.style import printer

    out = printer(sys.stderr, color=options.colored(chosen.color, sys.stderr))
    summary.notices(notices, out, verbose=chosen.verbose)
    if counted:
        summary.statistics(report, out)
