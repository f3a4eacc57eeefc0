"""DST401: the state dict of a wrapper is saved, with a prefix before each name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.objects import objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._prefix_fits import fits, fits_beside
from distlint.rules.checkpoints._wrapped import Wrapper, wrapper_of
from distlint.rules.training import is_bare_arm
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_SAVES = frozenset({"torch.save", "accelerate.Accelerator.save", "xm.save"})
_STATE = "state_dict"
_STRIPS = frozenset({"consume_prefix_in_state_dict_if_present", "strip_prefixes"})


class DdpPrefixSave(SourceRule):
    """The state dict of a wrapped model is saved, with the wrapper's prefix in each key.

    ```python
    model = DDP(Net().to(device), device_ids=[local_rank])
    train(model, loader)
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "model.pt")  # keys are "module.fc.weight", ...
    ```

    ## Use instead

    ```python
    model = DDP(Net().to(device), device_ids=[local_rank])
    train(model, loader)
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "model.pt")  # keys are "fc.weight", ...
    ```

    With Accelerate, save `accelerator.unwrap_model(model).state_dict()`; for a compiled model, save
    `model._orig_mod.state_dict()` or keep a reference to the model from before `torch.compile`. To
    load files that already have the prefix, use
    `torch.nn.modules.utils.consume_prefix_in_state_dict_if_present` or
    `distlint.runtime.strip_prefixes`.

    ## Why is this bad?

    The wrapper holds the model as `module` (`torch.compile` as `_orig_mod`), so each key in the
    file begins with `module.`. The unwrapped model cannot load this file: it raises an error or,
    with `strict=False`, silently loads nothing and starts from random weights.

    ## What is reported

    `torch.save` of `model.state_dict()`, alone or in a dict, where `model` is a
    `DistributedDataParallel`, a `DataParallel`, the result of `torch.compile`, or a model returned
    by `accelerator.prepare`. The model may be an item of a dict or a list.

    ## What is not reported

    - The same module loads the file into the wrapper again, or removes the prefix. This includes
      passing the wrapper to a function named `load_...`, `resume_...` or `restore_...`, and a
      script in the same directory that loads a file of this name into a wrapper.
    - The model is unwrapped first, also with `hasattr(model, "module")`, by a function, or in the
      other branch of a condition: `model.module` if it is wrapped, `model` if not.
    - FSDP models and DeepSpeed engines: their keys have no such prefix.
    - Models of unknown origin, which may or may not be wrapped.

    ## Fix safety

    Unsafe: the state dict of the model inside is saved. Existing files, and code elsewhere that
    loads them into the wrapper, still use the prefix. Offered only if the model is wrapped on every
    path that leads to the save.

    ## References

    - [DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    - [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html)
    """

    code = "DST401"
    name = "ddp-prefix-save"
    severity = Severity.WARNING

    good = (
        Example(
            title="The state dict of the model inside",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2))
if dist.get_rank() == 0:
    torch.save({"model": model.module.state_dict()}, "model.pt")
dist.barrier()
fresh = torch.nn.Linear(2, 2)
fresh.load_state_dict(torch.load("model.pt", map_location="cpu", weights_only=True)["model"])
dist.destroy_process_group()
""",
        ),
        Example(
            title="Resumed into the wrapper",
            code="""\
import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2))
if os.path.exists("last.pt"):
    model.load_state_dict(torch.load("last.pt", map_location="cpu", weights_only=True))
dist.barrier()
if dist.get_rank() == 0:
    torch.save(model.state_dict(), "last.pt")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Resumed into the wrapper by a helper function",
            code="""\
import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def resume_from(path, **parts):
    if os.path.exists(path):
        state = torch.load(path, map_location="cpu", weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(state[name])


dist.init_process_group("gloo")
head = DDP(torch.nn.Linear(2, 2))
resume_from("head.pt", head=head)
dist.barrier()
if dist.get_rank() == 0:
    torch.save({"head": head.state_dict()}, "head.pt")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Unwrapped if there is a wrapper",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def bare(model):
    return model.module if hasattr(model, "module") else model


dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2))
if dist.get_rank() == 0:
    torch.save(bare(model).state_dict(), "model.pt")
dist.destroy_process_group()
""",
        ),
        Example(
            title="One branch for each case",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
several = dist.get_world_size() > 1
model = torch.nn.Linear(2, 2)
if several:
    model = DDP(model)
weights = model.state_dict() if not several else model.module.state_dict()
if dist.get_rank() == 0:
    torch.save({"model": weights}, "model.pt")
    if several:
        torch.save(model.module.state_dict(), "last.pt")
    else:
        torch.save(model.state_dict(), "last.pt")
dist.destroy_process_group()
""",
        ),
        Example(
            title="A separate name for the compiled model",
            code="""\
import torch

net = torch.nn.Linear(2, 2)
fast = torch.compile(net, backend="eager")
fast(torch.ones(2)).sum().backward()
torch.save(net.state_dict(), "model.pt")
""",
            ranks=1,
        ),
        Example(
            title="Unwrapped with unwrap_model",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
model = accelerator.prepare(torch.nn.Linear(2, 2))
accelerator.save(accelerator.unwrap_model(model).state_dict(), "model.pt")
accelerator.wait_for_everyone()
""",
        ),
    )

    bad = (
        Example(
            title="The keys do not match the unwrapped model",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2))
if dist.get_rank() == 0:
    torch.save(model.state_dict(), "model.pt")  # expect: DST401
dist.barrier()
fresh = torch.nn.Linear(2, 2)
fresh.load_state_dict(torch.load("model.pt", map_location="cpu", weights_only=True))
""",
        ),
        Example(
            title="In a dict, saved by a trainer class",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net):
        self.model = DDP(net)

    def save(self, epoch, path):
        state = {"epoch": epoch, "model": self.model.state_dict()}  # expect: DST401
        if dist.get_rank() == 0:
            torch.save(state, path)
        dist.barrier()


dist.init_process_group("gloo")
Trainer(torch.nn.Linear(2, 2)).save(1, "last.pt")
state = torch.load("last.pt", map_location="cpu", weights_only=True)
torch.nn.Linear(2, 2).load_state_dict(state["model"])
""",
        ),
        Example(
            title="Added to a dict later",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2))
state = {"epoch": 1}
state["model"] = model.state_dict()  # expect: DST401
if dist.get_rank() == 0:
    torch.save(state, "last.pt")
dist.barrier()
state = torch.load("last.pt", map_location="cpu", weights_only=True)
torch.nn.Linear(2, 2).load_state_dict(state["model"])
""",
        ),
        Example(
            title="A compiled model",
            effect="fail",
            code="""\
import torch

model = torch.nn.Linear(2, 2)
model = torch.compile(model, backend="eager")
torch.save(model.state_dict(), "model.pt")  # expect: DST401
torch.nn.Linear(2, 2).load_state_dict(torch.load("model.pt", weights_only=True))
""",
            ranks=1,
        ),
        Example(
            title="A compiled model inside DDP",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.compile(torch.nn.Linear(2, 2), backend="eager")
model = DDP(net)
if dist.get_rank() == 0:
    torch.save(model.module.state_dict(), "model.pt")  # expect: DST401
dist.barrier()
fresh = torch.nn.Linear(2, 2)
fresh.load_state_dict(torch.load("model.pt", map_location="cpu", weights_only=True))
""",
        ),
        Example(
            title="A model prepared by Accelerate",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
accelerator.save(model.state_dict(), "model.pt")  # expect: DST401
accelerator.wait_for_everyone()
state = torch.load("model.pt", map_location="cpu", weights_only=True)
torch.nn.Linear(2, 2).load_state_dict(state)
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if _STATE not in words or "save" not in words or not _STRIPS.isdisjoint(words):
            return
        objects = objects_of(module, catalogue)
        told = set()
        for save in objects.calls({"save"}):
            if objects.called(save) not in _SAVES or not save.call.args:
                continue
            for state in _states(objects, save.call.args[0].value, save.point):
                func = state.call.func
                assert isinstance(func, ir.Attribute)
                wrapper = wrapper_of(objects, func.value, state.point)
                if wrapper is None or state.call.site in told or fits(objects, wrapper):
                    continue
                if is_bare_arm(state.point, func.value, state.call):
                    continue
                if fits_beside(objects, save, wrapper, document.path):
                    continue
                told.add(state.call.site)
                draft = Draft(locators.of(module.key), module, catalogue)
                yield self._finding(state, wrapper, module, locators, draft)

    def _finding(
        self, state: CallSite, wrapper: Wrapper, module: Module, locators: Locators, draft: Draft
    ) -> Finding:
        locator = locators.of(module.key)
        related: tuple[Related, ...] = ()
        if wrapper.made is not None and wrapper.made_in is not None:
            there = locators.of(wrapper.made_in.module.key)
            related = (Related("wrapped here", there.place(wrapper.made.site)),)
        inner = {
            "torch.compile": "model._orig_mod.state_dict()",
            "Accelerator.prepare": "accelerator.unwrap_model(model).state_dict()",
        }
        return self.finding(
            message=f"checkpoint keys are prefixed with `{wrapper.prefix}`",
            severity=Severity.WARNING,
            place=locator.place(state.call.site),
            related=related,
            effect="loading into an unwrapped model fails, or with `strict=False` silently loads "
            "nothing",
            fix=partial(_fix, state, wrapper, draft),
            help=f"Save `{inner.get(wrapper.what, 'model.module.state_dict()')}`, the state dict "
            f"of the model inside `{wrapper.what}`",
        )


def _fix(state: CallSite, wrapper: Wrapper, draft: Draft) -> Fix:
    if not wrapper.certain or wrapper.made is None:
        raise CannotFix("the model is wrapped on some ways only")
    func = draft.node(state.call.site, cst.Call).func
    if not isinstance(func, cst.Attribute):
        raise CannotFix("no method of an object")
    model = draft.text(func.value)
    if wrapper.what == "Accelerator.prepare":
        prepare = draft.node(wrapper.made.site, cst.Call).func
        if not isinstance(prepare, cst.Attribute) or not isinstance(prepare.value, cst.Name):
            raise CannotFix("the accelerator has no plain name")
        if not names.available(draft, prepare.value.value, func):
            raise CannotFix("the accelerator is not known here")
        draft.replace(func.value, f"{prepare.value.value}.unwrap_model({model})")
    else:
        draft.replace(func.value, f"{model}.{wrapper.prefix.rstrip('.')}")
    return draft.fix("unsafe", "Save the state dict of the model inside")


def _states(objects: Objects, node: ir.Expr, point: Point) -> Iterator[CallSite]:
    """The calls of ``state_dict`` whose results are in a value, as it is or in a dict."""
    yield from _put_in(objects, node, point)
    for origin in objects.origins(node, point):
        if not isinstance(origin.node, ir.Expr) or origin.attributes:
            continue
        for item in expressions_in(origin.node):
            if isinstance(item, ir.Call) and _is_state(item):
                yield CallSite(item, origin.point)
            elif isinstance(item, ir.Name) and isinstance(origin.node, ir.DictDisplay):
                for inner in objects.origins(item, origin.point):
                    if inner.call is not None and _is_state(inner.call):
                        yield CallSite(inner.call, inner.point)


def _put_in(objects: Objects, node: ir.Expr, point: Point) -> Iterator[CallSite]:
    """The calls of ``state_dict`` whose results are put into a dict: ``found["model"] = ...``."""
    path = path_of(node)
    if path is None:
        return
    for here in objects.points_in(point.scope):
        put = here.statement
        if isinstance(put, ir.Assign) and any(
            isinstance(target, ir.Subscript) and path_of(target.value) == path
            for target in put.targets
        ):
            made = (each.site for each in objects.origins(put.value, here))
            yield from (each for each in made if each is not None and _is_state(each.call))


def _is_state(call: ir.Call) -> bool:
    return isinstance(call.func, ir.Attribute) and call.func.attr == _STATE and not call.args
