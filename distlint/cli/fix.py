"""``distlint fix``: repair what can be repaired, and report what is left."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import IO

from distlint.catalogue import RUNTIME
from distlint.cli import FINDINGS, OK, check, options
from distlint.cli.parser import Parser
from distlint.engine.settings import Resolver
from distlint.source.paths import STDIN, display
from distlint.source.report import Fixed, Report


def run(arguments: Sequence[str]) -> int:
    return repair(parser().read(arguments))


def parser() -> Parser:
    return check.parser_of(
        "fix",
        "Fix findings. Each fix is verified by re-analysis, and reverted if it does not "
        "remove the finding or introduces another.",
        "Exit status: 0 no findings remain at or above --fail-on, 1 findings remain (with --diff: "
        "files would change or findings would remain), 2 distlint itself failed.",
    )


def repair(chosen: argparse.Namespace) -> int:
    """What both ``fix`` and ``check --fix`` do."""
    resolver = options.resolver(chosen, runs_rules=True)
    if STDIN in chosen.paths:
        return _repair_stdin(chosen, resolver)
    from distlint.engine import fix

    report = check.check(chosen, resolver)
    repairs = fix.repair(report, resolver, unsafe=chosen.unsafe_fixes, write=not chosen.diff)
    if chosen.diff:
        show(repairs.files, sys.stdout, chosen)
    elif repairs.files:
        report = check.check(chosen, resolver)
    report = check.without_known(report, resolver)
    report = replace(report, notices=(*report.notices, *repairs.notices))
    if chosen.diff:
        check.tell_notices(report, chosen)
    else:
        check.tell(report, chosen, resolver, tried=True)
    if report.checked or not report.failed:
        _say(report, repairs.files, chosen, resolver)
    return _status(report, repairs.files, chosen)


def _repair_stdin(chosen: argparse.Namespace, resolver: Resolver) -> int:
    """The repaired text on standard output, everything else on standard error."""
    from distlint.engine import fix
    from distlint.engine.run import check_stdin, stdin_path

    data = check.read_stdin(chosen)
    name, force = chosen.stdin_filename, chosen.force_exclude
    report = check_stdin(data, name, resolver, force_exclude=force)
    after, repairs = fix.repair_bytes(
        data, stdin_path(name), report, resolver, unsafe=chosen.unsafe_fixes
    )
    if chosen.diff:
        show(repairs.files, sys.stdout, chosen)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(after)
        if repairs.files:
            report = check_stdin(after, name, resolver, force_exclude=force)
    report = check.without_known(report, resolver)
    report = replace(report, notices=(*report.notices, *repairs.notices))
    if chosen.diff:
        check.tell_notices(report, chosen)
    else:
        check.tell(report, chosen, resolver, sys.stderr, tried=True)
    if report.checked or not report.failed:
        _say(report, repairs.files, chosen, resolver)
    return _status(report, repairs.files, chosen)


def show(files: Sequence[Fixed], stream: IO[str], chosen: argparse.Namespace) -> None:
    from distlint.output.diff import patch

    for fixed in files:
        patch(fixed, stream, color=options.colored(chosen.color, stream))


def _say(
    report: Report, files: Sequence[Fixed], chosen: argparse.Namespace, resolver: Resolver
) -> None:
    """How much was fixed; on standard error, where something else may read the output."""
    if chosen.quiet:
        return
    from distlint.output.summary import fixed

    plain = chosen.diff or STDIN in chosen.paths or chosen.output_format != "full"
    stream = sys.stderr if plain else sys.stdout
    risky = _left_out(report, resolver) if chosen.diff and chosen.unsafe_fixes is None else 0
    print(fixed(files, would=chosen.diff, risky=risky), file=stream)
    importing = [file for file in files if RUNTIME in file.after and RUNTIME not in file.before]
    if importing:
        print(_needed(importing, would=chosen.diff), file=stream)


def _needed(importing: Sequence[Fixed], *, would: bool) -> str:
    """What is needed where the fixed files run."""
    one = len(importing) == 1
    path = importing[0].path
    name = "the output" if path == STDIN else display(path)
    which = name if one else f"{len(importing):,} files"
    verb = "would import" if would else "now imports" if one else "now import"
    return (
        f"{which} {verb} {RUNTIME}: install distlint where the training runs, or copy "
        "the runtime into the project with `distlint vendor`."
    )


def _left_out(report: Report, resolver: Resolver) -> int:
    """How many findings have a fix that the configuration does not allow."""
    return sum(
        finding.fix is not None
        and finding.fix.applicability == "unsafe"
        and not resolver.of_file(finding.place.path).unsafe_fixes
        for finding in report.findings
    )


def _status(report: Report, files: Sequence[Fixed], chosen: argparse.Namespace) -> int:
    status = check.status(report, chosen)
    if status == OK and files and (chosen.diff or chosen.exit_non_zero_on_fix):
        return FINDINGS
    return status
