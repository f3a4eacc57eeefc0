"""``distlint check --add-ignores``: a suppression comment for every finding."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from distlint.cli import FINDINGS, check, options
from distlint.cli.fix import show


def add(chosen: argparse.Namespace) -> int:
    from distlint.engine.ignores import add_ignores

    resolver = options.resolver(chosen, runs_rules=True)
    report = check.without_known(check.check(chosen, resolver), resolver)
    added = add_ignores(report, resolver, chosen.add_ignores, write=not chosen.diff)
    report = replace(report, notices=(*report.notices, *added.notices))
    if chosen.diff:
        show(added.files, sys.stdout, chosen)
        check.tell_notices(report, chosen)
        return max(check.status(report, chosen), FINDINGS if added.files else 0)
    if added.files:
        left = check.without_known(check.check(chosen, resolver), resolver)
        report = replace(left, notices=(*left.notices, *added.notices))
    check.tell(report, chosen, resolver)
    if not chosen.quiet:
        from distlint.output.summary import counted

        findings, files = counted(added.count, "finding"), counted(len(added.files), "file")
        print(f"Suppressed {findings} in {files}.", file=sys.stderr)
    return check.status(report, chosen)
