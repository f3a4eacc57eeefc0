"""CPU seconds of a check by phase, within one process.

    python -m benchmarks.phases [--files] FOLDER [FOLDER ...]

A phase does not contain those that it calls for. ``--files`` also prints the files that took
longest, and what was done for them; ``benchmarks.cost`` prints the phases beside a bare parse.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

PARSE, LOWER, SLICES, WALK, REPLAY = "parse", "lower", "slices", "walk", "replay"
RULES, POSITIONS, REST = "source rules", "positions", "rest"
PHASES = (PARSE, LOWER, SLICES, WALK, REPLAY, RULES, POSITIONS, REST)

SAMPLED = frozenset({SLICES})
INTERVAL = 0.002
"""CPU seconds between two samples."""

SHOWN = 25


@dataclass
class Meter:
    """What each phase has taken so far; the phase at hand is the one that was entered last."""

    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    files: dict[str, dict[str, float]] = field(default_factory=dict)
    _entered: list[str] = field(default_factory=lambda: [REST])
    _since: float = 0.0

    def start(self) -> None:
        """Begin to look every now and then which phase is at hand."""
        signal.signal(signal.SIGPROF, lambda *_: self.note())
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.note()

    def note(self) -> None:
        """Add what has passed to the phase at hand."""
        now = time.process_time()
        self.spent[self._entered[-1]] += now - self._since
        self._since = now

    @property
    def total(self) -> float:
        return sum(self.spent.values())

    def timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function; its time is that of a phase."""
        if phase in SAMPLED:
            return self.sampled(phase, function)

        @functools.wraps(function)
        def wrapped(*args: Any, **keywords: Any) -> Any:
            self.note()
            self._entered.append(phase)
            try:
                return function(*args, **keywords)
            finally:
                self.note()
                self._entered.pop()

        return wrapped

    def sampled(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same for what is called too often to ask for the time at each call."""
        entered = self._entered

        @functools.wraps(function)
        def wrapped(*args: Any, **keywords: Any) -> Any:
            if entered[-1] == phase:
                return function(*args, **keywords)
            entered.append(phase)
            try:
                return function(*args, **keywords)
            finally:
                entered.pop()

        return wrapped

    def by_file(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The check of one file, whose phases are kept."""

        @functools.wraps(function)
        def wrapped(session: Any, target: Any) -> Any:
            self.note()
            before = dict(self.spent)
            try:
                return function(session, target)
            finally:
                self.note()
                after = self.spent.items()
                self.files[str(target.path)] = {name: now - before[name] for name, now in after}

        return wrapped


def instrument(meter: Meter) -> None:
    """Time the phases of the analysis, wherever they are entered."""
    from distlint.analyzer.ir import lower as lowering
    from distlint.analyzer.ir import positions
    from distlint.analyzer.project import project
    from distlint.analyzer.static.callgraph import CallGraph
    from distlint.analyzer.static.effects import Effects
    from distlint.analyzer.static.import_graph import ImportGraph
    from distlint.analyzer.static.taint import TaintAnalysis
    from distlint.analyzer.symbolic import entry_points
    from distlint.analyzer.symbolic.proofs import Prover
    from distlint.engine.check import Session
    from distlint.rules.find import Search

    places: list[tuple[str, Any, tuple[str, ...]]] = [
        (PARSE, lowering, ("_tree_of", "parse")),
        (LOWER, project, ("lower", "by_libcst")),
        (SLICES, entry_points, ("effects_of",)),
        (SLICES, TaintAnalysis, ("leaks", "flow")),
        (SLICES, CallGraph, ("changes", "runs_given", "names_in", "of_block")),
        (SLICES, ImportGraph, ("imported",)),
        (WALK, entry_points.EntryPointAnalysis, ("run",)),
        (REPLAY, Prover, ("prove", "probe", "look_into")),
    ]
    slices = ("slicer", "matters", "may_matter", "may_diverge", "block_signs", "signs", "seeds")
    places.append((SLICES, Effects, slices))
    for phase, owner, names in places:
        for name in names:
            setattr(owner, name, meter.timed(phase, getattr(owner, name)))
    for phase, owner, name in (
        (RULES, Search, "in_source"),
        (POSITIONS, positions.Locator, "_lowered"),
        (POSITIONS, positions.Locator, "_ranges"),
    ):
        cached = owner.__dict__[name]
        cached.func = meter.timed(phase, cached.func)
    Session.check_file = meter.by_file(Session.check_file)  # type: ignore[method-assign]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--files", action="store_true", help="also the files that took longest")
    parser.add_argument("--parse", type=float, help="CPU seconds of a bare parse, for the ratio")
    options = parser.parse_args()
    from distlint import cli

    meter = Meter()
    instrument(meter)
    meter.start()
    command = ["check", "--no-cache", "--jobs", "1", "--exit-zero", "--quiet"]
    with contextlib.redirect_stdout(io.StringIO()):
        cli.main([*command, *options.folders])
    meter.stop()
    for phase, spent in (*((each, meter.spent[each]) for each in PHASES), ("all", meter.total)):
        ratio = f"{spent / options.parse:8.2f} parses" if options.parse else ""
        print(f"{phase:14}{spent:8.3f} CPU s{ratio}")
    if options.files:
        tell_files(meter)
    return 0


def tell_files(meter: Meter) -> None:
    """The files that took longest."""
    longest = sorted(meter.files.items(), key=lambda item: -sum(item[1].values()))
    for path, spent in longest[:SHOWN]:
        phases = ", ".join(f"{phase} {spent[phase]:.2f}" for phase in PHASES if spent[phase] > 0.05)
        print(f"{sum(spent.values()):8.2f}  {os.path.relpath(path)}  ({phases})")


if __name__ == "__main__":
    sys.exit(main())
