"""DST302: an accelerator keeps what a failed attempt prepared."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of
from distlint.fixers import statements
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.memory._retry import inside, retried
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.memory._retry import Retried
    from distlint.source.document import Document

_FREES = frozenset({"free_memory", "clear", "release_memory"})


class OomRetryNoFreeMemory(SourceRule):
    """A retried function prepares objects with an outer `Accelerator` and never frees them.

    ```python
    accelerator = Accelerator()


    @find_executable_batch_size(starting_batch_size=64)
    def train(batch_size):  # bad: keeps the models of failed attempts
        model = accelerator.prepare(Net())
        fit(accelerator, model, batch_size)
    ```

    ## Use instead

    ```python
    accelerator = Accelerator()


    @find_executable_batch_size(starting_batch_size=64)
    def train(batch_size):
        accelerator.free_memory()
        model = accelerator.prepare(Net())
        fit(accelerator, model, batch_size)
    ```

    `nonlocal` is not needed for this.

    ## Why is this bad?

    The accelerator keeps a reference to everything that it prepared. After an attempt that ran out
    of memory, the old model and optimizer are still in memory next to the new ones, so the smaller
    batch does not fit either, until the retry ends with "No executable batch size found".
    `save_state` writes all of them.

    ## What is reported

    A function under `find_executable_batch_size` that calls `prepare` of an `Accelerator` that was
    created outside, without `free_memory()`.

    ## What is not reported

    - `free_memory()`, `clear()` or `release_memory(...)` is called in the function.
    - The accelerator is created inside.
    - Nothing is prepared inside.

    ## Fix safety

    Safe: `free_memory()` becomes the first statement of the function. In the first attempt there is
    nothing to free, unless objects were prepared before; DST301 reports those.

    ## References

    - [Accelerate: Utilities](https://huggingface.co/docs/accelerate/package_reference/utilities)
    """

    code = "DST302"
    name = "oom-retry-no-free-memory"
    severity = Severity.WARNING

    good = (
        Example(
            title="Freed first",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size

accelerator = Accelerator(cpu=True)


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size):
    accelerator.free_memory()
    model = accelerator.prepare(torch.nn.Linear(2, 1))
    if batch_size > 7:
        raise RuntimeError("CUDA out of memory.")
    accelerator.backward(model(torch.ones(batch_size, 2)).mean())


train()
""",
        ),
        Example(
            title="An accelerator that is created inside",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size):
    accelerator = Accelerator(cpu=True)
    model = accelerator.prepare(torch.nn.Linear(2, 1))
    accelerator.backward(model(torch.ones(batch_size, 2)).mean())


train()
""",
        ),
    )

    bad = (
        Example(
            title="The models of all attempts are kept",
            effect="fail",
            needs=("accelerate",),
            ranks=1,
            code="""\
import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size

accelerator = Accelerator(cpu=True)


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size):  # expect: DST302
    model = accelerator.prepare(torch.nn.Linear(2, 1))
    if batch_size > 7:
        raise RuntimeError("CUDA out of memory.")
    accelerator.backward(model(torch.ones(batch_size, 2)).mean())


train()
assert len(accelerator._models) == 1, f"{len(accelerator._models)} models are held"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        for retry, objects in retried(module, catalogue):
            if not _FREES.isdisjoint(retry.function.tokens):
                continue
            for name in _outer_accelerators(retry, objects):
                yield self.finding(
                    message=f"`{name}` keeps the objects of failed attempts",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(retry.function.site),
                    effect="the models of all attempts are in memory at the same time",
                    help=f"Call `{name}.free_memory()` at the start of the function",
                    fix=partial(
                        _fix, retry, name, Draft(locators.of(module.key), module, catalogue)
                    ),
                )
                break


def _fix(retry: Retried, name: str, draft: Draft) -> Fix:
    function = draft.node(retry.function.site, cst.FunctionDef)
    statements.insert_at_start(draft, function, f"{name}.free_memory()")
    return draft.fix("safe", f"Call `{name}.free_memory()` first")


def _outer_accelerators(retry: Retried, objects: Objects) -> Iterator[str]:
    """Accelerators from outside on which the function calls ``prepare``."""
    for statement, _ in inside(retry):
        for item in calls_of(statement):
            if isinstance(item.func, ir.Attribute):
                receiver = item.func.value
                if item.func.attr != "prepare" or not isinstance(receiver, ir.Name):
                    continue
                if receiver.id in retry.function.locals:
                    continue
                if objects.names.class_of(receiver, retry.scope) == "accelerate.Accelerator":
                    yield receiver.id
