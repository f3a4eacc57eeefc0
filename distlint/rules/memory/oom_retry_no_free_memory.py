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
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.memory._retry import Retried
    from distlint.source.document import Document

_FREES = frozenset({"free_memory", "clear", "release_memory"})


class OomRetryNoFreeMemory(SourceRule):
    """A retried function prepares objects with an accelerator from outside, and never frees them.

    ## What it finds

    A function under `find_executable_batch_size` that calls `prepare` of an `Accelerator` made
    outside, without `free_memory()`.

    ## Why it matters

    The accelerator keeps a reference to everything that it has prepared. After an attempt that ran
    out of memory the old model and optimizer are still there beside the new ones, so that the
    smaller batch does not fit either, down to "No executable batch size found". `save_state` writes
    all of them.

    ## What to do

    `accelerator.free_memory()` as the first statement of the function. `nonlocal` is not needed
    for that.

    ## Fix

    Safe: `free_memory()` becomes the first statement of the function. At the first attempt there is
    nothing to free, unless objects were prepared before; then DST301 is about them.

    ## When it is silent

    - `free_memory()`, `clear()` or `release_memory(...)` is called in the function.
    - The accelerator is made inside.
    - Nothing is prepared inside.
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
            title="An accelerator of its own",
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
                    message=f"`{name}` keeps what it prepared in an attempt that failed: nothing "
                    "frees it here",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(retry.function.site),
                    effect="the models of all attempts are in memory together",
                    advice=f"begin the function with {name}.free_memory()",
                    fix=partial(
                        _fix, retry, name, Draft(locators.of(module.key), module, catalogue)
                    ),
                )
                break


def _fix(retry: Retried, name: str, draft: Draft) -> Fix:
    function = draft.node(retry.function.site, cst.FunctionDef)
    statements.insert_at_start(draft, function, f"{name}.free_memory()")
    return draft.fix("safe", f"Begin with {name}.free_memory()")


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
