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
    """An entry point was not analysed in full, so hangs in it may have been missed.

    ## What to do

    Run `distlint trace FILE::FUNCTION` to see what was compared. Splitting a long function, or
    moving setup code out of the training loop, usually makes the analysis complete.

    ## Why is this bad?

    Without this finding, a function that was only partly analysed would look free of hangs.

    ## What is reported

    A function or module body in which the comparison of ranks (rules DST1xx) was cut short at a
    place where a divergence could be missed. The message gives the reason:

    - There are too many paths through it to compare all of them, or too many different states reach
      one statement. Only the simplest paths were analysed.
    - It was not analysed, because other functions in the file used up the analysis budget of the
      file.
    - Calls that may communicate are nested too deeply and were not followed.
    - Code after a loop with many iterations was not reached.
    - A possible divergence could be neither confirmed nor ruled out.
    - It has so many divergences that the rest was not analysed.
    - A module that it uses is larger than 1 MB or could not be parsed.
    - It needs more ranks than are simulated.

    ## Where it is shown

    Human-readable reports do not list these findings. They end with one note that counts and names
    the entry points (`--verbose` names all of them). `--select DST002` or `extend-select` lists
    them like other findings. Machine-readable formats always contain them, except `github`, which
    has one notice for all of them. Editors show them as hints. They do not change the exit status,
    unless DST002 is selected by its code or name and `--fail-on` is `info`.

    ## What is not reported

    - Limits that are part of the design: two iterations stand for a loop whose iterations are
      alike, and one rank stands for all ranks that do the same.
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
            title="Calls that are nested too deeply",
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
            effect="hangs on paths that were not compared are not reported",
            help="Run `distlint trace` to see what was compared",
        ),
    )
