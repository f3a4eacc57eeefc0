"""Has the watch said what it must about a scenario?"""

from __future__ import annotations

import re

from benchmarks.watch_scenarios.scenarios import Scenario
from benchmarks.watch_scenarios.script import tables, texts
from distlint.harness.cluster import Outcome

KILLED = (-9, -6, 3)  # by the scenario itself; -6 is gloo, which aborts where sizes differ


def problems(scenario: Scenario, mode: str, outcome: Outcome) -> list[str]:
    """What is wrong with the tables of a run under ``watch`` or ``strict``."""
    found = [
        f"rank {number} fails with {rank.exit}"
        for number, rank in enumerate(outcome.ranks)
        if scenario.correct and rank.exit != 0
    ]
    printed = [table for rank in outcome.ranks for table in tables(rank.err)]
    if len(printed) != (not scenario.correct):
        found.append(f"the ranks print {len(printed)} tables")
    lacks = [text for text in texts(scenario, mode) if text not in "".join(printed)]
    found += [f"the table does not say: {text}" for text in lacks]
    if mode == "strict" and scenario.says and scenario.error:
        raised = {
            match[1]
            for rank in outcome.ranks
            if (match := re.search(r"collective_watch\.errors\.(\w+): ", rank.err))
        }
        if raised != {scenario.error}:
            found.append(f"raised {sorted(raised) or 'nothing'}, not {scenario.error}")
    return found


_NAMED = re.compile(
    r"Detected mismatch between collectives on ranks|Cannot apply desired operation"
)
_RANK = re.compile(r"failed to pass monitoredBarrier", re.IGNORECASE)
_REMOTE = re.compile(r"Connection closed|Connection reset|Broken pipe|Read error|Write error")
_LATE = re.compile(r"Timed out|timeout", re.IGNORECASE)


def of_others(scenario: Scenario, outcome: Outcome | None) -> str:
    """What a user learns from a run without the watch, in a few words."""
    if outcome is None:
        return "not run"
    codes = [rank.exit for rank in outcome.ranks]
    if all(code == 0 for code in codes):
        return "silent" if scenario.says else "runs"
    if scenario.correct:
        return "**stops it**"
    return _message(scenario, outcome, codes)


def _message(scenario: Scenario, outcome: Outcome, codes: list[int | None]) -> str:
    said = "\n".join(rank.err for rank in outcome.ranks)
    own = [rank for rank in outcome.ranks if rank.exit not in (0, None)]
    if _NAMED.search(said):
        return "operation and rank"
    if _RANK.search(said):
        return "rank only"
    if -6 in codes and scenario.kind != "early exit":
        return "abort: sizes differ"
    if any(_LATE.search(rank.err) for rank in own):
        return "timeout"
    if any(_REMOTE.search(rank.err) for rank in own):
        return "connection lost"
    return "hangs" if None in codes else "an error"


def of_watch(scenario: Scenario, mode: str, outcome: Outcome) -> str:
    """What the watch has said, in a few words."""
    if problems(scenario, mode, outcome):
        return "**wrong**"
    if scenario.correct:
        return "runs"
    if mode == "strict" and scenario.error:
        return f"all, `{scenario.error}`"
    return "all"
