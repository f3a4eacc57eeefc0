"""DST000: a file that cannot be read."""

from __future__ import annotations

from distlint.rules.base import Example, Rule
from distlint.source.finding import Severity


class InvalidSyntax(Rule):
    """The file cannot be parsed, so nothing in it was checked.

    ## What to do

    Fix the file. If it is Python 2, leave it out with `exclude`, or ignore this rule
    for it with `per-file-ignores`.

    ## Why is this bad?

    A file without findings looks correct, even if it was never analysed.

    ## What is reported

    - Text that neither the running Python nor the newest grammar that distlint supports can parse.
    - Bytes that cannot be decoded in the encoding that the file declares (PEP 263), or in UTF-8.
    - Binary content.
    - Python with a statement that a parser cannot read in reasonable time and memory: hundreds of
      nested brackets or operators, more than 1,000 branches, or more than 20,000 tokens. Such code
      is generated or malicious. Long lists and dicts of literals are supported.
    - JSON and YAML that cannot be parsed, in files that are named on the command line or that look
      like a configuration of DeepSpeed or Accelerate.

    The other files of the run are still checked.

    ## What is not reported

    - What DeepSpeed accepts in JSON: comments and trailing commas.
    - Templates in JSON and YAML (`{{ name }}`, `${NAME}`).
    - Templates of Python: a file below a directory, or with a name, that contains `{{`, and text
      that is Python once the holes (`{{ name }}`) are filled and the tags (`{% if x %}`) removed.
      A note says that it was skipped.
    """

    code = "DST000"
    name = "syntax-error"
    severity = Severity.ERROR

    good = (
        Example(
            title="Syntax newer than the Python that runs distlint",
            code="""\
type Pair[T] = tuple[T, T]
""",
            effect="static",
            why_static="it runs on Python 3.12 and later only",
        ),
    )

    bad = (
        Example(
            title="A bracket that is never closed",
            code="""\
import torch.distributed as dist

dist.all_reduce((1, 2  # expect: DST000
""",
            effect="static",
            why_static="it does not compile",
        ),
    )
