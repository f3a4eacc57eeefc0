"""DST304: a retried function that has no place for the batch size."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.rules.base import Example, SourceRule
from distlint.rules.memory._retry import retried
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_SIZE = re.compile(r"batch|bs$|size", re.IGNORECASE)


class OomRetrySignature(SourceRule):
    """A function under `find_executable_batch_size` does not take the batch size first.

    ```python
    @find_executable_batch_size(starting_batch_size=64)
    def train(model, batch_size):  # bad: `model` gets the batch size
        ...
    ```

    ## Use instead

    ```python
    @find_executable_batch_size(starting_batch_size=64)
    def train(batch_size, model):
        ...
    ```

    ## Why is this bad?

    The decorator calls `function(batch_size, ...)`. If there is no parameter, this raises a
    `TypeError`. If another parameter comes first, it silently gets the number.

    ## What is reported

    A decorated function without parameters, or whose batch size is not the first parameter.

    ## What is not reported

    - The first parameter is a batch size judging by its name, or no other parameter is.
    - The function takes `*args`.

    ## Fix safety

    None: adding a parameter would not make the function use the batch size that is tried.

    ## References

    - [Accelerate: Utilities](https://huggingface.co/docs/accelerate/package_reference/utilities)
    """

    code = "DST304"
    name = "oom-retry-signature"
    severity = Severity.ERROR

    good = (
        Example(
            title="The batch size comes first",
            needs=("accelerate",),
            ranks=1,
            code="""\
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size, epochs):
    return batch_size * epochs


print(train(2))
""",
        ),
        Example(
            title="Another name for the batch size",
            needs=("accelerate",),
            ranks=1,
            code="""\
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train(n):
    return n


print(train())
""",
        ),
    )

    bad = (
        Example(
            title="No parameter",
            effect="fail",
            needs=("accelerate",),
            ranks=1,
            code="""\
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train():  # expect: DST304
    return 8


train()
""",
        ),
        Example(
            title="Another parameter comes first",
            effect="fail",
            needs=("accelerate",),
            ranks=1,
            code="""\
import torch
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train(model, batch_size=4):  # expect: DST304
    return model(torch.ones(batch_size, 2))


train()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        for retry, _ in retried(module, catalogue):
            params = retry.function.params
            first = next((param for param in params if param.name not in ("self", "cls")), None)
            if first is not None and (first.star or _SIZE.search(first.name)):
                continue
            late = [param.name for param in params if "batch_size" in param.name]
            if first is not None and not late:
                continue
            found = f"`{first.name}` comes first" if first is not None else "there is no parameter"
            yield self.finding(
                message=f"batch size is passed first, but {found}",
                severity=Severity.ERROR,
                place=locators.of(module.key).place(retry.function.site),
                effect="the call raises a `TypeError`, or another parameter gets the number",
                help="Make the batch size the first parameter",
            )
