"""DST002: an entry point that was not analysed in full."""

from __future__ import annotations

from distlint.rules.base import Example, Rule
from distlint.source.finding import Explanation, Finding, Severity
from distlint.source.incomplete import Incomplete

_DEPTH = 14
_NESTED = """\
import torch
import torch.distributed as dist

"""
_NESTED += "".join(
    f"""
def level_{depth}(x):
    level_{depth + 1}(x)

"""
    for depth in range(_DEPTH)
)
_NESTED += f"""
def level_{_DEPTH}(x):
    dist.all_reduce(x)


dist.init_process_group("gloo")  # expect: DST002
level_0(torch.ones(1))
if dist.get_rank() == 0:
    print("done")
"""


class IncompleteAnalysis(Rule):
    """The ranks were not compared on all paths of an entry point: hangs may be missed.

    ## What it finds

    A function or module body in which the comparison of ranks (rules DST1xx) was cut off somewhere
    that a divergence could hide. The message says why:

    - There are too many paths through it to compare all of them, or too many different states meet
      at one statement. Then only the simplest paths were looked at.
    - It was not analysed, because other functions of the file used up the budget of the file.
    - Calls that may communicate are nested too deeply and were not followed.
    - What follows a loop with many iterations was not reached.
    - A possible divergence could be neither confirmed nor ruled out.
    - It has so many divergences that the rest was not looked at.
    - A module that it uses is larger than 1 MB or could not be parsed.
    - It needs more ranks than are simulated.

    What is bounded by design is no reason: two iterations stand for a loop whose iterations are
    alike, and one rank for all that do the same.

    ## Why it matters

    Silence about a function that was not analysed in full would read as "no hang here".

    ## What to do

    Run `distlint trace FILE::FUNCTION` to see what was compared. Splitting a long function, or
    moving the set-up out of the training loop, usually makes the analysis complete.

    ## Where it is shown

    A report for people does not list these findings. It ends with one note that counts and names
    the entry points (`--verbose` names all of them). `--select DST002` or `extend-select` lists
    them like other findings. Formats for programs always hold them, except `github`, which has one
    notice for all, and editors show them as hints. They never change the exit status unless
    DST002 is selected by its code or name and `--fail-on` is `info`.
    """

    code = "DST002"
    name = "incomplete-analysis"
    severity = Severity.INFO

    good = (
        Example(
            title="All paths are compared",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
for epoch in range(1000):
    dist.barrier()
""",
        ),
    )

    bad = (
        Example(
            title="Calls that are nested too deeply to be followed",
            code=_NESTED,
            effect="static",
            why_static="the script is correct: only its analysis ends early",
        ),
    )


def told(incomplete: Incomplete) -> Finding:
    """The finding at an entry point."""
    reasons = "; ".join(reason.text for reason in incomplete.reasons)
    return Finding(
        code=IncompleteAnalysis.code,
        name=IncompleteAnalysis.name,
        message=f"the analysis of {incomplete.name} is incomplete: {reasons}",
        severity=Severity.INFO,
        place=incomplete.place,
        related=(),
        explanation=Explanation(
            common=None,
            lanes=(),
            decisions=(),
            effect="A hang on a path that was not compared is not reported.",
            advice="`distlint trace` shows what was compared.",
        ),
    )
