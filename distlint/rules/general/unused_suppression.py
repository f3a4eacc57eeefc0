"""DST001: a comment that suppresses nothing."""

from __future__ import annotations

from distlint.rules.base import Example, Rule
from distlint.source.finding import Severity


class UnusedSuppression(Rule):
    """A suppression comment names a rule that reports nothing there, or that does not exist.

    ## What to do

    Delete the comment, or correct the code or name of the rule.

    ## Why is this bad?

    A stale comment hides the next bug on its line. A misspelled comment suppresses nothing,
    although its author believes that it does.

    ## What is reported

    - `# distlint: ignore[...]`, `# distlint: file-ignore[...]` and `# noqa: DST...` comments whose
      rule reports nothing at that place.
    - Codes and names that do not exist, and misspelled directives.

    ## What is not reported

    - Comments for a rule that is disabled.
    - Comments in a file that could not be analysed in full.
    - `# noqa` without codes, and codes of other tools.
    """

    code = "DST001"
    name = "unused-suppression"
    severity = Severity.WARNING

    good = (
        Example(
            title="The comment suppresses a finding",
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
