"""DST303: a retried function is given the batch size that the decorator gives it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.fixers import calls
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.memory._retry import calls_to, retried
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class OomRetryBatchSizePassed(SourceRule):
    """A function under `find_executable_batch_size` is called with a batch size.

    ```python
    @find_executable_batch_size(starting_batch_size=64)
    def train(batch_size):
        ...


    train(64)  # bad: raises TypeError
    ```

    ## Use instead

    ```python
    @find_executable_batch_size(starting_batch_size=64)
    def train(batch_size):
        ...


    train()
    ```

    The first batch size to try is `starting_batch_size`.

    ## Why is this bad?

    The decorator itself passes the batch size as the first argument. The call raises a `TypeError`
    before anything is tried.

    ## What is reported

    A call of the decorated function with as many positional arguments as it has parameters, or with
    the first parameter passed by keyword.

    ## What is not reported

    - The call leaves room for the batch size: only other arguments are passed.
    - The function takes `*args` or `**kwargs`.
    - A test expects the error.

    ## Fix safety

    Safe: the argument is removed. The call would raise in any case.

    ## References

    - [Accelerate: Utilities](https://huggingface.co/docs/accelerate/package_reference/utilities)
    """

    code = "DST303"
    name = "oom-retry-batch-size-passed"
    severity = Severity.ERROR

    good = (
        Example(
            title="Other arguments are passed on",
            needs=("accelerate",),
            ranks=1,
            code="""\
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size, steps):
    return batch_size * steps


print(train(3))
""",
        ),
    )

    bad = (
        Example(
            title="The batch size is passed",
            effect="fail",
            needs=("accelerate",),
            ranks=1,
            code="""\
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size):
    return batch_size


train(8)  # expect: DST303
""",
        ),
        Example(
            title="The batch size is passed by keyword",
            effect="fail",
            needs=("accelerate",),
            ranks=1,
            code="""\
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size, steps=3):
    return batch_size * steps


train(batch_size=8)  # expect: DST303
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        for retry, objects in retried(module, catalogue):
            params = retry.function.params
            if not params or any(param.star for param in params):
                continue
            draft_of = partial(Draft, locators.of(module.key), module, catalogue)
            for site in calls_to(retry, objects):
                args = site.call.args
                if any(argument.star for argument in args) or _is_expected(site):
                    continue
                named = any(argument.keyword == params[0].name for argument in args)
                positional = sum(argument.keyword is None for argument in args)
                if named or positional >= len(params):
                    yield self.finding(
                        message=f"the decorator already passes `{params[0].name}` to "
                        f"`{retry.function.name}`",
                        severity=Severity.ERROR,
                        place=locators.of(module.key).place(site.call.site),
                        effect="the call raises a `TypeError` before anything is tried",
                        help="Remove the batch size from the call",
                        fix=partial(_fix, site, params[0].name, len(params), draft_of()),
                    )


def _fix(site: CallSite, name: str, count: int, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    given = calls.argument(call, name, 0)
    if given is None or len(call.args) > count:
        raise CannotFix("which argument is the batch size is not certain")
    calls.remove_argument(draft, call, given)
    return draft.fix("safe", "Remove the batch size from the call")


def _is_expected(site: CallSite) -> bool:
    """Does the call stand in a block that wants it to raise?"""
    return any(
        isinstance(here.owner, ir.With)
        and not {"assertRaises", "raises"}.isdisjoint(ir.tokens_of(here.owner.context))
        for here in site.point.around
    )
