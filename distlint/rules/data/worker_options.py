"""DST206: options for worker processes of a loader that has none."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import calls
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import Made, loaders
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_OFF: dict[str, tuple[object, ...]] = {
    "prefetch_factor": (None, 2),  # 2 was the default before torch 2.0
    "persistent_workers": (False, None),
    "multiprocessing_context": (None,),
}
"""Options that want workers, and the values with which they want nothing."""


class WorkerOptions(SourceRule):
    """A `DataLoader` without workers gets options for workers.

    ```python
    loader = DataLoader(data, batch_size=32, persistent_workers=True)
    ```

    ## Use instead

    ```python
    loader = DataLoader(data, batch_size=32, num_workers=4, persistent_workers=True)
    ```

    Or remove the option.

    ## Why is this bad?

    The constructor raises a `ValueError`: without workers, there is nothing to prefetch, keep alive
    or start.

    ## What is reported

    `prefetch_factor=`, `persistent_workers=True` or `multiprocessing_context=` in a
    `torch.utils.data.DataLoader` whose `num_workers` is 0 or not passed.

    ## What is not reported

    - `num_workers` or the option itself is not a constant, or is an attribute of a class that the
      file does not instantiate: other files may set it.
    - The option has its default value.

    ## Fix safety

    Safe: the option is removed. With it, the call raises an error in any case.

    ## References

    - [DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
    """

    code = "DST206"
    name = "worker-options"
    severity = Severity.ERROR

    good = (
        Example(
            title="Computed from the number of workers",
            code="""\
import os
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
workers = int(os.environ.get("WORKERS", 0))
data = TensorDataset(torch.arange(8.0))
loader = DataLoader(
    data,
    batch_size=2,
    sampler=DistributedSampler(data),
    num_workers=workers,
    persistent_workers=workers > 0,
    prefetch_factor=4 if workers else None,
)
print("batches =", len(loader))
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="persistent_workers without workers",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(8.0))
sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler, persistent_workers=True)  # expect: DST206
print("batches =", len(loader))
""",
        ),
        Example(
            title="prefetch_factor without workers",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(8.0))
options = {"batch_size": 2, "num_workers": 0, "prefetch_factor": 4}
loader = DataLoader(data, sampler=DistributedSampler(data), **options)  # expect: DST206
print("batches =", len(loader))
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "DataLoader" not in module.words or module.tokens.isdisjoint(_OFF):
            return
        for loader in loaders(objects_across(module, catalogue)):
            wanted = [name for name in _OFF if _wants_workers(loader, name)]
            if wanted and loader.constant("num_workers", 0) == 0 and not _is_default(loader):
                draft = Draft(locators.of(module.key), module, catalogue)
                yield self.finding(
                    message=f"`{wanted[0]}` requires `num_workers > 0`",
                    severity=Severity.ERROR,
                    place=locators.of(module.key).place(loader.options.call.site),
                    effect="`DataLoader` raises a `ValueError`",
                    help=f"Set `num_workers` above 0, or remove `{wanted[0]}`",
                    fix=partial(_without, wanted, loader, draft),
                )


def _is_default(loader: Made) -> bool:
    """Is the number of workers an attribute that starts with 0, of a class for other files?

    They may set it, or derive from the class: nothing here makes one.
    """
    given = loader.option("num_workers").value
    path = path_of(given) if given is not None else None
    function = loader.options.point.scope.function
    return (
        path is not None
        and path[0] == "self"
        and function is not None
        and not any(loader.objects.calls({function.owner}))
    )


def _without(options: list[str], loader: Made, draft: Draft) -> Fix:
    if len(options) > 1:
        raise CannotFix("there are several such options")
    calls.remove_keyword(draft, draft.node(loader.options.call.site, cst.Call), options[0])
    return draft.fix("safe", f"Remove `{options[0]}`")


def _wants_workers(loader: Made, name: str) -> bool:
    value = loader.constant(name)
    return value is not ... and value not in _OFF[name]
