"""``distlint test-rule``: hold rules against their own examples."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.cli import FINDINGS, OK, options
from distlint.cli.parser import Parser
from distlint.engine.errors import ConfigError
from distlint.engine.selection import exact, unknown_rule
from distlint.engine.settings import Resolver, Settings
from distlint.source.paths import display

if TYPE_CHECKING:
    from distlint.engine.check import Session
    from distlint.engine.trial import Trial
    from distlint.output.style import Printer
    from distlint.rules.base import Example, Rule

Execute = Callable[[str, "Example"], str]
"""Runs a script as its example says; the result is what became of it."""


def run(arguments: Sequence[str]) -> int:
    chosen = parser().read(arguments)
    from distlint.engine.check import Session
    from distlint.output.style import printer

    resolver = options.resolver(chosen, runs_rules=True)
    rules, settings = _rules(chosen.rule, resolver)
    out = printer(sys.stdout, color=options.colored(chosen.color, sys.stdout))
    with ExitStack() as stack:
        execute = _executor(stack) if chosen.run else None
        session = Session(resolver)
        failed = [rule for rule in rules if not _passes(rule, session, settings, execute, out)]
    count = "1 rule" if len(rules) == 1 else f"{len(rules)} rules"
    if failed:
        codes = ", ".join(rule.code for rule in failed)
        out.line(f"{count} tested; failed: {codes}.")
        return FINDINGS
    out.line(f"{count} tested; all examples passed.")
    return OK


def parser() -> Parser:
    parser = Parser(
        "distlint test-rule",
        description="Test rules against their examples: nothing may be reported in good examples, "
        "bad examples must be reported on the lines marked `# expect: CODE`, and fixes must remove "
        "the finding.",
        epilog="Exit status: 0 all examples passed, 1 some failed, 2 distlint itself failed.",
    )
    parser.add_argument("rule", metavar="PATH|CODE|NAME", help="file with rules, or a single rule")
    parser.add_argument(
        "--run",
        action="store_true",
        help="also run the examples on several processes (requires torch)",
    )
    options.add_configuration(parser)
    options.add_display(parser)
    return parser


def _rules(word: str, resolver: Resolver) -> tuple[list[type[Rule]], Settings]:
    """What is to be tested, and the settings under which it is."""
    from distlint.engine.trial import with_rules_of
    from distlint.rules.registry import rules

    file = Path(os.path.abspath(word))
    if word.endswith(".py") or file.is_file():
        if not file.is_file():
            raise ConfigError(f"no such file: {display(file)}")
        settings = with_rules_of(file, resolver.of_folder(file.parent))
        own = settings.own_rules().values()
        here = [rule for rule in own if sys.modules[rule.__module__].__file__ == str(file)]
        return here, settings
    settings = resolver.of_folder(resolver.cwd)
    code = exact(word, settings.known)
    rule = rules().get(code or "") or settings.own_rules().get(code or "")
    if rule is None:
        raise ConfigError(unknown_rule(word, settings.known))
    return [rule], settings


def _passes(
    rule: type[Rule],
    session: Session,
    settings: Settings,
    execute: Execute | None,
    out: Printer,
) -> bool:
    from distlint.engine.trial import trials, untruths

    out.line(f"{rule.code} {rule.name}")
    tried = []
    sound = True
    for trial in trials(rule, session, settings):
        tried.append(trial)
        problems = list(trial.problems)
        told = _told(trial)
        if execute is not None and not problems:
            ran, wrong = _executed(trial, execute)
            told += ran
            problems += wrong
        sound &= not problems
        kind = "bad " if trial.bad else "good"
        out.line(f"  {kind}  {trial.example.title}: ", "FAILED" if problems else "; ".join(told))
        for problem in problems:
            out.line(f"          {problem}")
    for problem in untruths(rule, tried):
        out.line(f"  FAILED: {problem}")
        sound = False
    return sound


def _told(trial: Trial) -> list[str]:
    if not trial.bad:
        return ["not reported"]
    rows = ", ".join(str(row) for row in trial.reported)
    told = [f"reported on line {rows}" if len(trial.reported) == 1 else f"reported on lines {rows}"]
    return [*told, "fixed"] if trial.repaired is not None else told


def _executed(trial: Trial, execute: Execute) -> tuple[list[str], list[str]]:
    """What running an example, and its repaired form, showed; and what was to be otherwise."""
    example = trial.example
    if example.effect == "static":
        return [f"not run: {example.why_static or 'static'}"], []
    shown = execute(example.code, example)
    if shown != example.effect:
        return [], [f"run on {example.ranks} processes: {shown}, expected: {example.effect}"]
    if trial.repaired is None or example.effect == "finishes":
        return [f"run: {shown}"], []
    after = execute(trial.repaired, example)
    if after != "finishes":
        return [], [
            f"run on {example.ranks} processes after its fixes: {after}, expected: finishes"
        ]
    return [f"run: {shown}, finishes after its fixes"], []


def _executor(stack: ExitStack) -> Execute:
    from distlint.harness.cluster import Cluster, missing

    reason = missing()
    if reason is not None:
        raise ConfigError(f"--run requires torch: {reason}")
    cluster = stack.enter_context(Cluster())

    def execute(source: str, example: Example) -> str:
        lacking = missing(example.needs)
        if lacking is not None:
            raise ConfigError(f"--run: example {example.title!r} requires {lacking}")
        outcome = cluster.run(source, ranks=example.ranks, needs=example.needs)
        if outcome.effect == "finishes" and outcome.crossed and example.effect == "wrong data":
            return "wrong data"
        return outcome.effect

    return execute
