"""DST703: CUDA graphs for shapes that change."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import calls
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.throughput._compiled import COMPILE
from distlint.rules.training import Made, is_named_for_evaluation, loaders
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_MODES = frozenset({"reduce-overhead", "max-autotune"})


class DynamicShapeCudagraph(SourceRule):
    """A model is compiled with CUDA graphs, but gets batches of different sizes.

    ```python
    loader = DataLoader(dataset, batch_size=64, shuffle=True)
    model = torch.compile(net, mode="reduce-overhead")  # bad: the last batch is smaller
    for batch in loader:
        model(batch).mean().backward()
    ```

    ## Use instead

    ```python
    loader = DataLoader(dataset, batch_size=64, shuffle=True, drop_last=True)
    model = torch.compile(net, mode="reduce-overhead")
    for batch in loader:
        model(batch).mean().backward()
    ```

    Alternatively, use the default mode, or pad inputs to a few shapes.

    ## Why is this bad?

    A CUDA graph is valid for one shape. Each new shape is recorded again and holds additional
    memory; the last batch of an epoch has such a shape. The step that records it takes seconds, on
    one rank or on all, and the other ranks wait.

    ## What is reported

    `torch.compile(mode="reduce-overhead")` or `"max-autotune"` with `dynamic=True`, or in a file
    whose training loader has no `drop_last=True`.

    ## What is not reported

    - Loaders for evaluation, judging by their names, and loaders without `shuffle` or a sampler.
    - Loaders with a `batch_sampler`.
    - Loaders that are given `drop_last`, with any value.

    ## Fix safety

    Unsafe: `drop_last=True` is added; the remaining samples are not used in that epoch.

    ## References

    - [PyTorch: torch.compile](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)
    """

    code = "DST703"
    name = "dynamic-shape-cudagraph"
    severity = Severity.WARNING
    words = ("torch.compile(",)

    good = (
        Example(
            title="All batches have the same size",
            effect="static",
            why_static="CUDA graphs need a GPU",
            code="""\
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.ones(10, 2)), batch_size=4, drop_last=True)
val_loader = DataLoader(TensorDataset(torch.ones(10, 2)), batch_size=4)
model = torch.compile(torch.nn.Linear(2, 1), mode="reduce-overhead")
for (x,) in loader:
    model(x).sum().backward()
""",
        ),
    )

    bad = (
        Example(
            title="The last batch is smaller",
            effect="static",
            why_static="CUDA graphs need a GPU",
            code="""\
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.ones(10, 2)), batch_size=4, shuffle=True)
model = torch.compile(torch.nn.Linear(2, 1), mode="reduce-overhead")  # expect: DST703
for (x,) in loader:
    model(x).sum().backward()
""",
        ),
        Example(
            title="Explicitly dynamic shapes",
            effect="static",
            why_static="CUDA graphs need a GPU",
            code="""\
import torch

net = torch.nn.Linear(2, 1)
model = torch.compile(net, dynamic=True, mode="max-autotune")  # expect: DST703
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _MODES.isdisjoint(module.tokens) or "compile" not in module.words:
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for site in objects.calls_to(COMPILE):
            mode = objects.constant(objects.argument(site, "mode"), site.point)
            if not isinstance(mode, str) or mode not in _MODES:
                continue
            dynamic = objects.constant(objects.argument(site, "dynamic"), site.point)
            loader = None if dynamic is True else _uneven(objects)
            if dynamic is not True and loader is None:
                continue
            related: tuple[Related, ...] = ()
            fix = None
            if loader is not None:
                made = loader.options
                related = (Related("the last batch may be smaller", locator.place(made.call.site)),)
                fix = partial(_fix, made, Draft(locator, module, catalogue))
            yield self.finding(
                message=f"`{mode}` is used with varying input shapes",
                severity=Severity.WARNING,
                place=locator.place(site.call.site),
                related=related,
                effect="each new shape records another CUDA graph, which takes time and memory",
                help="Use the default mode, or pad inputs to a few shapes"
                if loader is None
                else "Drop the last batch, or use the default mode",
                fix=fix,
            )


def _uneven(objects: Objects) -> Made | None:
    """A loader for training whose last batch may be smaller."""
    for loader in loaders(objects):
        shuffled = loader.option("shuffle").value or loader.option("sampler").value
        if (
            loader.option("drop_last").absent
            and loader.option("batch_sampler").absent
            and loader.option("batch_size").value is not None
            and shuffled is not None
            and loader.constant("shuffle", None) is not False
            and not is_named_for_evaluation(loader.site)
        ):
            return loader
    return None


def _fix(loader: CallSite, draft: Draft) -> Fix:
    calls.set_keyword(draft, draft.node(loader.call.site, cst.Call), "drop_last", "True")
    return draft.fix("unsafe", "Drop the last batch")
