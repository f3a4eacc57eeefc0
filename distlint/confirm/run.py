"""Running the scripts under gloo, and what each rank was seen to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from distlint.confirm.reproducers import Reproducer
from distlint.confirm.script import Script
from distlint.harness.cluster import Cluster, Effect, Outcome, RankOutcome

Verdict = Literal["confirmed", "not confirmed"]
Verdicts = Mapping[Effect, tuple[str, str]]

VERDICTS: dict[Effect, tuple[Verdict, str]] = {
    "hang": ("confirmed", "the ranks wait for each other"),
    "wrong data": ("confirmed", "the ranks exchange data that do not belong together"),
    "fail": ("not confirmed", "the script fails"),
    "finishes": ("not confirmed", "the script finishes"),
}
"""What the end of a script says about the finding."""

AFTER_FIX: dict[Effect, tuple[Literal["fixed", "not fixed"], str]] = {
    **{effect: ("not fixed", what) for effect, (_, what) in VERDICTS.items()},
    "finishes": ("fixed", "all ranks finish"),
}
"""What the end of a script of the fixed source says about the fix."""


@dataclass(frozen=True)
class Confirmation:
    """What became of the script for a finding."""

    reproducer: Reproducer
    effect: Effect | None = None
    """None where there is no script."""
    ends: tuple[tuple[str, str], ...] = ()
    """Groups of ranks, and where each group was in the end."""

    @property
    def is_confirmed(self) -> bool:
        return self.effect is not None and VERDICTS[self.effect][0] == "confirmed"


def confirmed(reproducers: Sequence[Reproducer]) -> Iterator[Confirmation]:
    """Run all scripts, and say of each how it ended, in their order."""
    with Cluster() as cluster:
        jobs = [
            None
            if each.script is None
            else cluster.submit(each.script.source, ranks=each.script.ranks)
            for each in reproducers
        ]
        for reproducer, job in zip(reproducers, jobs, strict=True):
            if reproducer.script is None or job is None:
                yield Confirmation(reproducer)
            else:
                outcome = job.result()
                ends = tuple(_ends(reproducer.script, outcome))
                yield Confirmation(reproducer, outcome.effect, ends)


def _ends(script: Script, outcome: Outcome) -> Iterator[tuple[str, str]]:
    ends = [_end(script, rank) for rank in outcome.ranks]
    for end in dict.fromkeys(ends):
        numbers = [rank for rank, own in enumerate(ends) if own == end]
        name = "rank" if len(numbers) == 1 else "ranks"
        yield f"{name} {', '.join(map(str, numbers))}", end


def _end(script: Script, rank: RankOutcome) -> str:
    """Where a rank was in the end, with the line of the source."""
    if rank.events and not rank.events[-1].done:
        last = rank.events[-1]
        return f"stuck in {last.op} ({script.notes.get(last.line, f'line {last.line}')})"
    if rank.exit == 0:
        return "finished"
    return (rank.err.strip().splitlines() or ["ended"])[-1]
