"""DST313: re-entrant activation checkpointing in a script that wraps with DDP."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import calls
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_CHECKPOINTS = {
    "torch.utils.checkpoint.checkpoint": "checkpoint",
    "torch.utils.checkpoint.checkpoint_sequential": "checkpoint_sequential",
}
_WRAPS = frozenset({"DistributedDataParallel", "DDP"})
_OPTIONS = "accelerate.utils.DistributedDataParallelKwargs"
_ENABLES = "gradient_checkpointing_enable"
"""The method of transformers; that of diffusers has another name, and is not re-entrant."""
_UNUSED = "find_unused_parameters"
_STATIC = frozenset({"static_graph", "_set_static_graph"})


class CheckpointReentrant(SourceRule):
    """Reentrant activation checkpointing is used with DDP and `find_unused_parameters`.

    ```python
    class Net(nn.Module):
        def forward(self, x):
            return checkpoint(self.block, x)  # bad: reentrant by default


    model = DDP(Net(), find_unused_parameters=args.find_unused)
    ```

    ## Use instead

    ```python
    class Net(nn.Module):
        def forward(self, x):
            return checkpoint(self.block, x, use_reentrant=False)


    model = DDP(Net(), find_unused_parameters=args.find_unused)
    ```

    For models of transformers, pass `gradient_checkpointing_kwargs={"use_reentrant": False}` to
    `model.gradient_checkpointing_enable()`.

    ## Why is this bad?

    The reentrant variant, the default so far, runs a backward pass inside the backward pass. Its
    parameters look unused to DDP, which marks them ready at once, and again when their gradients
    arrive: "Expected to mark a variable ready only once". It also computes no gradients at all if
    no input requires one. torch warns if the argument is omitted.

    ## What is reported

    `torch.utils.checkpoint.checkpoint` or `checkpoint_sequential` with `use_reentrant=True`, or
    without that argument, in a script that wraps its model in `DistributedDataParallel` with
    `find_unused_parameters`, or has Accelerate do so with `DistributedDataParallelKwargs`.

    In preview, as an info: `model.gradient_checkpointing_enable()` of transformers without
    arguments in such a script. Versions before 5 use the reentrant variant, later ones do not.

    ## What is not reported

    - `use_reentrant=False`, or a value that is not known.
    - DDP with `static_graph=True`, which works with both variants.
    - DDP without `find_unused_parameters`, and files that do not wrap a model in DDP.

    ## Fix safety

    Unsafe: `use_reentrant=False` is passed. The memory that is saved and what is recomputed can
    differ a little, and old versions of torch do not have the argument.

    ## References

    - [PyTorch: torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
    """

    code = "DST313"
    name = "checkpoint-reentrant"
    severity = Severity.WARNING
    exceptions = (Severity.INFO,)

    good = (
        Example(
            title="use_reentrant=False",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.checkpoint import checkpoint


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        for _ in range(2):
            x = checkpoint(self.layer, x, use_reentrant=False)
        return x


dist.init_process_group("gloo")
model = DDP(Net())
model(torch.ones(1, 2)).sum().backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Without DDP",
            ranks=1,
            code="""\
import torch
from torch.utils.checkpoint import checkpoint

layer = torch.nn.Linear(2, 2)
x = torch.ones(1, 2, requires_grad=True)
checkpoint(layer, x, use_reentrant=True).sum().backward()
""",
        ),
    )

    bad = (
        Example(
            title="A model of transformers, wrapped by Accelerate",
            effect="static",
            why_static="transformers 5 checkpoints in the other way",
            code="""\
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs
from transformers import AutoModelForCausalLM


def prepared(name):
    unused = DistributedDataParallelKwargs(find_unused_parameters=True)
    accelerator = Accelerator(kwargs_handlers=[unused])
    model = AutoModelForCausalLM.from_pretrained(name)
    model.gradient_checkpointing_enable()  # expect: DST313
    return accelerator.prepare(model)
""",
        ),
        Example(
            title="The default, with find_unused_parameters",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.checkpoint import checkpoint


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 2)
        self.second = torch.nn.Linear(2, 2)

    def forward(self, x):
        x = checkpoint(self.first, x)  # expect: DST313
        return self.second(x)


dist.init_process_group("gloo")
model = DDP(Net(), find_unused_parameters=True)
model(torch.ones(1, 2, requires_grad=True)).sum().backward()
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if _UNUSED not in words or not _STATIC.isdisjoint(words):
            return
        if {"checkpoint", _ENABLES}.isdisjoint(words):
            return
        objects = objects_across(module, catalogue)
        if not _wraps(objects):
            return
        for site in objects.calls({_ENABLES}):
            if isinstance(site.call.func, ir.Attribute) and not site.call.args:
                draft = Draft(locators.of(module.key), module, catalogue)
                finding = self.finding(
                    message="transformers before 5 uses reentrant checkpointing here",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect='backward raises "Expected to mark a variable ready only once"',
                    help='Pass `gradient_checkpointing_kwargs={"use_reentrant": False}`',
                    fix=partial(_not_reentrant, site, draft),
                )
                yield replace(finding, preview=True)
        for site in objects.calls(_CHECKPOINTS.values()):
            if objects.called(site) not in _CHECKPOINTS:
                continue
            given = objects.argument(site, "use_reentrant")
            if objects.constant(given, site.point, default=True) is True:
                yield self.finding(
                    message="reentrant checkpoint with DDP and `find_unused_parameters`",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(site.call.site),
                    effect='backward raises "Expected to mark a variable ready only once"',
                    help="Pass `use_reentrant=False`",
                    fix=partial(_fix, site, Draft(locators.of(module.key), module, catalogue)),
                )


def _wraps(objects: Objects) -> bool:
    """Is a model wrapped in DDP that looks for unused parameters?"""
    return any(
        (
            objects.called(site).endswith(".DistributedDataParallel")
            or objects.called(site) in (_OPTIONS, _OPTIONS.replace(".utils", ""))
        )
        and objects.constant(objects.argument(site, _UNUSED), site.point, default=False)
        is not False
        for site in objects.calls(_WRAPS | {_OPTIONS.rpartition(".")[2]})
    )


def _fix(site: CallSite, draft: Draft) -> Fix:
    calls.set_keyword(draft, draft.node(site.call.site, cst.Call), "use_reentrant", "False")
    return draft.fix("unsafe", "Pass `use_reentrant=False`")


def _not_reentrant(site: CallSite, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    calls.set_keyword(draft, call, "gradient_checkpointing_kwargs", '{"use_reentrant": False}')
    return draft.fix("unsafe", "Pass `use_reentrant=False`")
