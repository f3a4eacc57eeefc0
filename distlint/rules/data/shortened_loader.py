"""DST217: a loader that lacks its first batches for one epoch, and is used for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.base import Example, SourceRule, related
from distlint.rules.data._shortened import Shortened, shortened
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_WORDS = frozenset({"skip_first_batches", "islice"})


class ShortenedLoader(SourceRule):
    """A loader that skips the batches before a checkpoint is used in all later epochs as well.

    ```python
    if args.resume:
        loader = accelerator.skip_first_batches(loader, resume_step)  # bad: for all epochs
    for epoch in range(first_epoch, args.epochs):
        for batch in loader:
            train(batch)
    ```

    ## Use instead

    ```python
    for epoch in range(first_epoch, args.epochs):
        active = loader
        if args.resume and epoch == first_epoch:
            active = accelerator.skip_first_batches(loader, resume_step)
        for batch in active:
            train(batch)
    ```

    ## Why is this bad?

    `skip_first_batches` makes a loader that skips as many batches in each epoch. Only the epoch in
    which the run goes on has to skip those that it has seen. All later epochs lack their first n
    batches: with a run that stopped late in an epoch, nearly all of the data. The epochs are
    shorter, so that schedules by their length are wrong too. Nothing fails. An
    `itertools.islice` of a loader is at its end after the first epoch, and the others are empty.

    ## What is reported

    The result of `accelerator.skip_first_batches(...)`, `accelerate.skip_first_batches(...)` or
    `itertools.islice(loader, n, None)`, if each iteration of a loop over epochs goes through it, or
    passes it to a function that does: made before the loop, or bound in the loop to the name of
    the whole loader.

    ## What is not reported

    - A name that is bound again in the loop, such as `active_dataloader` in the examples of
      Accelerate, and uses under a test of the epoch.
    - `islice(loader, n)`, which limits each epoch, and a `Subset` of a dataset, which may be the
      one to train on.

    ## Fix safety

    None: what the first epoch is has to be known.

    ## References

    - [Accelerate: skip_first_batches](https://huggingface.co/docs/accelerate/usage_guides/checkpoint)
    """

    code = "DST217"
    name = "shortened-loader-reused"
    severity = Severity.WARNING

    good = (
        Example(
            title="For the first epoch only",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

accelerator = Accelerator(cpu=True)
loader = accelerator.prepare(DataLoader(torch.arange(16.0), batch_size=2))
first_epoch, resume_step = 0, 2
counts = []
for epoch in range(first_epoch, 3):
    active = loader
    if epoch == first_epoch:
        active = accelerator.skip_first_batches(loader, resume_step)
    counts.append(sum(1 for _ in active))
assert counts == [2, 4, 4], counts
""",
        ),
        Example(
            title="Back to the whole loader",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

accelerator = Accelerator(cpu=True)
whole = accelerator.prepare(DataLoader(torch.arange(16.0), batch_size=2))
loader = accelerator.skip_first_batches(whole, 2)
counts = []
for epoch in range(3):
    counts.append(0)
    for batch in loader:
        counts[-1] += 1
    loader = whole
assert counts == [2, 4, 4], counts
""",
        ),
    )

    bad = (
        Example(
            title="For all epochs",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

accelerator = Accelerator(cpu=True)
loader = accelerator.prepare(DataLoader(torch.arange(16.0), batch_size=2))
loader = accelerator.skip_first_batches(loader, 2)  # expect: DST217
counts = []
for epoch in range(3):
    counts.append(0)
    for batch in loader:
        counts[-1] += 1
assert counts == [2, 4, 4], counts
""",
        ),
        Example(
            title="An islice",
            effect="fail",
            code="""\
import itertools
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

dist.init_process_group("gloo")
data = torch.arange(16.0)
sampler = DistributedSampler(data, shuffle=False)
loader = DataLoader(data, batch_size=2, sampler=sampler)
rest = itertools.islice(loader, 2, None)  # expect: DST217
counts = []
for epoch in range(3):
    counts.append(0)
    for batch in rest:
        counts[-1] += 1
assert counts == [2, 4, 4], counts
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = frozenset[str]().union(module.words, *(each.tokens for each in module.imports))
        if document.is_test or _WORDS.isdisjoint(words):
            return
        for each in _of_file(objects_across(module, catalogue)):
            made = related("shortened here", each.made, locators)
            there = locators.of(each.use.scope.module.key)
            use = Related("used in each epoch", there.place(each.use.statement.site))
            first, second = (made, use) if _is_in(each.made, module) else (use, made)
            yield self.finding(
                message=f"shortened loader is used for all epochs: later ones {_lack(each)}",
                severity=Severity.WARNING,
                place=first.place,
                related=(second,),
                effect="nothing is trained after the first epoch"
                if each.is_iterator
                else "each later epoch is shorter and trains on a part of the data only",
                help="Use it for the first epoch only, under another name",
            )


def _of_file(objects: Objects) -> Iterator[Shortened]:
    """What a file shortens, or uses where the file that shortens it does not know of the use.

    A file that gives a shortened loader to a function of another one says so itself.
    """
    module = objects.module
    seen: set[int] = set()
    uses = [objects]
    if not _WORDS.isdisjoint(module.words):
        uses += [objects.in_file(each) for each in module.imports]
    for where in uses:
        for each in shortened(where):
            is_own = _is_in(each.made, module)
            if id(each.made.call) not in seen and (is_own or where is objects):
                seen.add(id(each.made.call))
                if is_own or module not in each.made.point.scope.module.imports:
                    yield each


def _is_in(site: CallSite, module: Module) -> bool:
    return site.point.scope.module is module


def _lack(each: Shortened) -> str:
    return "are empty" if each.is_iterator else "lack their first batches too"
