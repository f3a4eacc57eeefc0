"""Has the watch said what it must about a scenario?"""

from __future__ import annotations

import re

from benchmarks.watch_scenarios.scenarios import Scenario
from benchmarks.watch_scenarios.script import tables, texts
from tests.executed.cluster import Outcome

KILLED = (-9, -6, 3)  # by the scenario itself; -6 is gloo, which aborts where sizes differ


def problems(scenario: Scenario, mode: str, outcome: Outcome) -> list[str]:
    """What is wrong with the tables of a run under ``watch`` or ``strict``."""
    found = []
    for number, rank in enumerate(outcome.ranks):
        printed = tables(rank.err)
        if scenario.correct:
            if printed or rank.exit != 0:
                found.append(f"rank {number} is not silent or fails with {rank.exit}")
        elif rank.exit not in KILLED:
            if len(printed) != 1:
                found.append(f"rank {number} prints {len(printed)} tables")
            lacks = [text for text in texts(scenario, mode) if text not in "".join(printed)]
            found += [f"rank {number} does not say: {text}" for text in lacks]
    if mode == "strict" and scenario.says and scenario.error:
        raised = {
            match[1]
            for rank in outcome.ranks
            if (match := re.search(r"collective_watch\.errors\.(\w+): ", rank.err))
        }
        if raised != {scenario.error}:
            found.append(f"raised {sorted(raised) or 'nothing'}, not {scenario.error}")
    return found
