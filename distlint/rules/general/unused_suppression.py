"""DST001: a comment that suppresses nothing."""

from __future__ import annotations

from distlint.rules.base import Example, Rule
from distlint.source.finding import Severity


class UnusedSuppression(Rule):
    """A suppression comment names a rule that reports nothing there, or no rule at all.

    ## What it finds

    - `# distlint: ignore[...]`, `# distlint: file-ignore[...]` and `# noqa: DST...` comments whose
      rule has nothing to report at that place.
    - Codes and names that do not exist, and misspelt directives.

    A comment for a rule that is switched off is left alone, and so are the comments of a file that
    could not be analysed in full. A `# noqa` without codes, and codes of other tools, are not ours.

    ## Why it matters

    A stale comment hides the next bug on its line. A misspelt one hides nothing, against what its
    author believes.

    ## What to do

    Delete the comment, or write the code that was meant.
    """

    code = "DST001"
    name = "unused-suppression"
    severity = Severity.WARNING

    good = (
        Example(
            title="The comment is needed",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    dist.all_reduce(torch.ones(1))  # distlint: ignore[DST101] -- shown in a talk
""",
            effect="static",
            why_static="a comment does not change what a script does",
        ),
    )

    bad = (
        Example(
            title="Nothing is reported here",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))  # distlint: ignore[DST101]  # expect: DST001
""",
            effect="static",
            why_static="a comment does not change what a script does",
        ),
    )
