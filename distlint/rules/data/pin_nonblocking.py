"""DST208: pinned memory, and copies that wait; or the reverse."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import calls
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import Made, loaders
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_HOST = frozenset({"cpu", "numpy", "mps"})
"""Words of copies that stay in the memory of the host: no transfer runs beside the computation."""


class PinNonblocking(SourceRule):
    """A loader uses pinned memory, but its batches are copied to the GPU synchronously.

    ```python
    loader = DataLoader(data, batch_size=32, pin_memory=True)
    for images, labels in loader:
        images = images.to("cuda")
    ```

    ## Use instead

    ```python
    loader = DataLoader(data, batch_size=32, pin_memory=True)
    for images, labels in loader:
        images = images.to("cuda", non_blocking=True)
    ```

    Never use `non_blocking=True` for copies from the GPU to the host: the values may be read before
    they have arrived.

    ## Why is this bad?

    Pinned memory allows the copy to overlap with computation. Without `non_blocking=True`, the
    process waits for the copy anyway.

    ## What is reported

    `.to(device)` or `.cuda()` without `non_blocking=True` on the batches of a `DataLoader` with
    `pin_memory=True`. In preview: the 78 findings in 58 repositories are such copies, but what the
    wait costs was not measured.

    ## What is not reported

    - The batch is not the variable of the loop over the loader.
    - The copy is to the CPU.

    ## Fix safety

    Unsafe: `non_blocking=True` is added.

    ## References

    - [Pinned memory and non_blocking](https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html)
    - [CUDA semantics](https://docs.pytorch.org/docs/stable/notes/cuda.html)
    """

    code = "DST208"
    name = "pin-nonblocking"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Pinned memory and a non-blocking copy",
            ranks=1,
            code="""\
import torch
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
pinned = torch.cuda.is_available()
loader = DataLoader(TensorDataset(torch.ones(8, 2)), batch_size=4, pin_memory=pinned)
weight = torch.ones(2, requires_grad=True, device=device)
for (x,) in loader:
    x = x.to(device, non_blocking=True)
    (x * weight).sum().backward()
""",
        ),
    )

    bad = (
        Example(
            title="Pinned memory and a blocking copy",
            effect="static",
            why_static="it shows in the time of a step, on a GPU",
            code="""\
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.ones(8, 2)), batch_size=4, pin_memory=True)
weight = torch.ones(2, requires_grad=True, device="cuda")
for (x,) in loader:
    x = x.to("cuda")  # expect: DST208
    (x * weight).sum().backward()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "pin_memory" not in module.tokens or "DataLoader" not in module.words:
            return
        objects = objects_across(module, catalogue)
        pinned = [
            loader for loader in loaders(objects) if loader.constant("pin_memory", False) is True
        ]
        if not pinned:
            return
        locator = locators.of(module.key)
        for loader in pinned:
            for site in _copies(objects, loader):
                yield self.finding(
                    message="synchronous copy from pinned memory",
                    severity=Severity.INFO,
                    place=locator.place(site.call.site),
                    related=(
                        Related("memory pinned here", locator.place(loader.options.call.site)),
                    ),
                    effect="the copy does not overlap with computation",
                    help="Pass `non_blocking=True`",
                    fix=partial(_fix, site, Draft(locator, module, catalogue)),
                )


def _copies(objects: Objects, loader: Made) -> Iterator[CallSite]:
    """The copies of a loader's batches to a device, with a wait."""
    for loop in objects.uses.iterated_by(loader.call):
        statement = loop.statement
        if not isinstance(statement, ir.For):
            continue
        names = ir.names_bound(statement.target)
        for site in objects.calls({"to", "cuda"}):
            func = site.call.func
            if (
                isinstance(func, ir.Attribute)
                and isinstance(func.value, ir.Name)
                and func.value.id in names
                and any(here.owner is statement for here in site.point.around)
                and all(a.keyword != "non_blocking" and not a.star for a in site.call.args)
                and _HOST.isdisjoint(ir.tokens_of(site.call))
            ):
                yield site


def _fix(site: CallSite, draft: Draft) -> Fix:
    calls.set_keyword(draft, draft.node(site.call.site, cst.Call), "non_blocking", "True")
    return draft.fix("unsafe", "Pass `non_blocking=True`")
