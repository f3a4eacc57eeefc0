"""DST201: a last batch that is smaller, where that matters."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.fixers import calls
from distlint.fixers.draft import Applicability, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._full_batches import are_all_full
from distlint.rules.training import (
    Made,
    draws_from,
    evaluates,
    is_evaluation,
    loaders,
    names_of,
    samplers,
)
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_GRAPHS = frozenset({"reduce-overhead", "max-autotune"})
_CONFIGURATIONS = ("accelerate.utils.DataLoaderConfiguration", "accelerate.Accelerator")
_EVENED = frozenset({"join_uneven_inputs", "Join", "join"})


class MissingDropLast(SourceRule):
    """The last batch of a training loader may be smaller, which can cause a hang or recompilation.

    ```python
    model = torch.compile(model, dynamic=False)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    for batch in loader:
        model(batch).mean().backward()
    ```

    ## Use instead

    ```python
    model = torch.compile(model, dynamic=False)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler, drop_last=True)
    for batch in loader:
        model(batch).mean().backward()
    ```

    Do not drop the last batch in evaluation: this changes the result.

    ## Why is this bad?

    With `even_batches=False`, one process may have one batch more than the others and hang in its
    last backward pass. A compiled model is recompiled, or its CUDA graph is recorded again, for the
    one smaller batch. With BatchNorm, a last batch of one sample raises an error.

    ## What is reported

    A `DataLoader` for training without `drop_last=True`, if one of these applies:

    - It is prepared by Accelerate with `even_batches=False`.
    - A model is compiled with `mode="reduce-overhead"`, `mode="max-autotune"` or `dynamic=False`.

    A `DistributedSampler` alone is no problem: it gives all ranks the same number of samples, and
    the last batch is equally small on all of them. This is reported only in preview, with severity
    info. `drop_last` does not help either if ranks shard the data themselves into shards of
    different lengths; see [DST113](uneven-inputs.md).

    ## What is not reported

    - `drop_last` is passed, or batches are formed elsewhere (`batch_sampler`, `batch_size=None`).
    - The loader is for evaluation.
    - The loop runs inside `join()`.
    - All batches have one size: the `collate_fn` fills short ones up, the loop skips them, or the
      dataset is cut to a multiple of the batch size.

    ## Fix safety

    Unsafe: `drop_last=True` is added. Some samples are then left out of each epoch, and a dataset
    that is smaller than one batch becomes empty.

    If a `DistributedSampler` is the only reason, the fix is only shown and never applied.

    ## References

    - [DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
    - [torch.compile](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)
    """

    code = "DST201"
    name = "missing-drop-last"
    severity = Severity.WARNING
    exceptions = (Severity.INFO,)

    good = (
        Example(
            title="A sampler that pads the data",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.randn(5, 2))
train_loader = DataLoader(data, batch_size=2, sampler=DistributedSampler(data), drop_last=False)
model = DDP(torch.nn.Linear(2, 1))
for (batch,) in train_loader:
    model(batch).mean().backward()
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Dropped for a compiled model with one shape",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
model = torch.compile(torch.nn.Linear(2, 1), backend="eager", dynamic=False)
data = TensorDataset(torch.randn(10, 2))
loader = DataLoader(data, batch_size=3, sampler=DistributedSampler(data), drop_last=True)
for (batch,) in loader:
    model(batch).mean().backward()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A compiled model with one shape",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
shapes = []


def record(graph, inputs):
    shapes.append(tuple(inputs[-1].shape))
    return graph.forward


model = torch.nn.Linear(2, 1)
model = torch.compile(model, backend=record, dynamic=False)
data = TensorDataset(torch.randn(10, 2))
loader = DataLoader(data, batch_size=3, sampler=DistributedSampler(data))  # expect: DST201
for (batch,) in loader:
    model(batch).mean().backward()
assert len(shapes) == 1, f"compiled once for each of {shapes}"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "DataLoader" not in module.words or "backward" not in module.tokens:
            return
        objects = objects_of(module, catalogue)
        for loader in loaders(objects):
            if _has_remainder(loader) and _is_for_training(loader):
                why = _reason(objects, loader)
                if why is not None:
                    draft = Draft(locators.of(module.key), module, catalogue)
                    yield self._finding(loader, *why, draft)

    def _finding(self, loader: Made, reason: str, effect: str, draft: Draft) -> Finding:
        plain = not effect
        finding = self.finding(
            message=reason,
            severity=Severity.INFO if plain else Severity.WARNING,
            place=draft.locator.place(loader.options.call.site),
            effect=effect or "all ranks have the same number of batches; only the shape differs",
            help="Set `drop_last=True` in loaders for training",
            fix=partial(_dropping, loader, draft, "displayonly" if plain else "unsafe"),
        )
        return replace(finding, preview=plain)


def _dropping(loader: Made, draft: Draft, applicability: Applicability) -> Fix:
    call = draft.node(loader.options.call.site, cst.Call)
    calls.set_keyword(draft, call, "drop_last", "True", loader.params.index("drop_last"))
    return draft.fix(applicability, "Set `drop_last=True`")


def _has_remainder(loader: Made) -> bool:
    return (
        loader.constant("drop_last", False) is False
        and loader.option("drop_last").value is None
        and loader.option("batch_sampler").absent
        and loader.constant("batch_size", 1) not in (None, 1)
    )


def _is_for_training(loader: Made) -> bool:
    names = names_of(loader.site)
    if any(is_evaluation(name) for name in names) or evaluates(loader.site.point):
        return False
    return (
        loader.constant("shuffle", False) is True
        or not loader.option("sampler").absent
        or any("train" in name.lower() for name in names)
    )


def _reason(objects: Objects, loader: Made) -> tuple[str, str] | None:
    """Why a smaller batch matters, and what it does; no effect where it seldom does."""
    if _EVENED.isdisjoint(objects.module.tokens):
        if _may_be_uneven(objects) and _is_prepared(objects, loader):
            return (
                "batch counts may differ between ranks (`even_batches=False`)",
                "the rank with one more batch hangs in its last backward pass",
            )
    if are_all_full(loader):
        return None
    if _is_compiled(objects):
        return (
            "last batch may be smaller than the compiled shape",
            "the model is recompiled, or its CUDA graph recorded again, for that batch",
        )
    if any(draws_from(loader, sampler) for sampler in samplers(objects)):
        return "last batch may be smaller (`drop_last` is not set)", ""
    return None


def _may_be_uneven(objects: Objects) -> bool:
    return "even_batches" in objects.module.tokens and any(
        objects.constant(objects.argument(site, "even_batches"), site.point, True) is False
        for site in objects.calls_to(*_CONFIGURATIONS)
    )


def _is_prepared(objects: Objects, loader: Made) -> bool:
    return any(
        objects.called(site).startswith("accelerate.Accelerator.prepare")
        for site, _ in objects.uses.passed_to(loader.call)
    )


def _is_compiled(objects: Objects) -> bool:
    """Is something compiled in a way that fixes the shapes of its inputs?"""
    for site in objects.calls_to("torch.compile"):
        if any(ir.last_name(each.value) == "step" for each in site.call.args[:1]):
            continue  # that of an optimizer, which gets no batch
        mode = objects.constant(objects.argument(site, "mode"), site.point)
        dynamic = objects.constant(objects.argument(site, "dynamic"), site.point)
        if mode in _GRAPHS or dynamic is False:
            return True
    return False
