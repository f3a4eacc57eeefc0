"""DST000: a file that cannot be read."""

from __future__ import annotations

from distlint.rules.base import Example, Rule
from distlint.source.finding import Severity


class InvalidSyntax(Rule):
    """A file cannot be read as what it is, so nothing in it was checked.

    ## What it finds

    - Text that neither the running Python nor the newest grammar that distlint knows can parse.
    - Bytes that do not decode in the encoding that the file declares (PEP 263), or in UTF-8.
    - Binary content.
    - Python with a statement that a parser cannot read in reasonable time and memory: hundreds of
      brackets or operators nested in each other, more than 1,000 branches, or more than 20,000
      tokens. Such code is generated or hostile. Long lists and dicts of literals are read.
    - JSON and YAML that cannot be read, in files that were named or that look like a configuration
      of DeepSpeed or Accelerate. What DeepSpeed's own reader allows in JSON (comments, trailing
      commas) is no mistake, and templates (`{{ name }}`, `${NAME}`) are left alone.

    The other files of the run are checked all the same.

    ## Why it matters

    Silence about a file that was not analysed would read as "nothing wrong here".

    ## What to do

    Mend the file, or leave it out with `exclude` or `per-file-ignores` when it is a template or
    Python 2.
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
