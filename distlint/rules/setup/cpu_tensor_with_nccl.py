"""DST511: a collective of NCCL gets a tensor that is on the CPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import calls
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import backend_of, inits, is_nccl_on_gpus
from distlint.rules.setup._placement import (
    FACTORIES,
    MOVES,
    is_class_on_cpu,
    is_given_moved,
    model_on_cpu,
    tensor_on_cpu,
)
from distlint.rules.training import DDP
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_PAYLOAD: dict[str, int] = {
    "all_reduce": 0, "broadcast": 0, "reduce": 0, "all_gather_into_tensor": 1, "all_gather": 1,
    "reduce_scatter_tensor": 1, "gather": 0,
}  # fmt: skip
_CALLS = frozenset({*_PAYLOAD, *(name.rpartition(".")[2] for name in DDP)})
_MOST = 8
"""Files that are looked at for what imports one."""

_NAMES = ("tensor", "input_tensor", "input")
_MOVED = frozenset(
    {
        "set_default_device", "set_default_tensor_type", "DeviceContext", "gloo",
    }
)  # fmt: skip


class CpuTensorWithNccl(SourceRule):
    """A CPU tensor is passed to a collective of the NCCL backend.

    ```python
    dist.init_process_group("nccl")
    count = torch.tensor([len(batch)])
    dist.all_reduce(count)  # bad: `count` is on the CPU
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl")
    count = torch.tensor([len(batch)], device="cuda")
    dist.all_reduce(count)
    ```

    With `init_process_group("cpu:gloo,cuda:nccl")`, the process group accepts both CPU and CUDA
    tensors.

    ## Why is this bad?

    NCCL moves data between GPUs only. torch raises "No backend type associated with device type
    cpu", or in older versions "Tensors must be CUDA and dense".

    ## What is reported

    - A tensor that is created with `torch.tensor(...)`, `torch.zeros(...)` or the like, without
      `device=` (or with the CPU as device), or moved there with `.cpu()`, and passed to a
      collective. `torch.tensor(x)` counts where `x` is a number, a list or an array for certain,
      such as `loss_sum / len(loader)` of values of `.item()`. The device may be in a variable, an
      attribute or a configuration, and the tensor may come from a function or a caller, also in
      other files.
    - `DDP(model)` with a model that nothing moves to a GPU.

    The file, or if it makes no process group the files that it imports or that import it, use
    `"nccl"` only, or `"nccl" if torch.cuda.is_available() else "gloo"`.

    ## What is not reported

    - The model wraps a module that has been moved already: `DDP(Wrapper(encoder))`.
    - The tensor is moved, or may be another one. An attribute that another function of the file
      assigns as well counts as moved if what that assigns may be on a GPU.
    - A model of a class that is not in sight, or that was passed to a function that is not.
    - The collective is given a `group`, or the file uses another backend or sets a default device.

    ## Fix safety

    Unsafe: adds `device="cuda"`, the current device of the process, to a call that has no `device`.

    ## References

    - [torch.distributed: backends](https://docs.pytorch.org/docs/stable/distributed.html#backends)
    - [DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "DST511"
    name = "cpu-tensor-with-nccl"
    severity = Severity.ERROR

    good = (
        Example(
            title="A tensor on the GPU",
            effect="static",
            why_static="it needs a GPU for each process",
            code="""\
import os

import torch
import torch.distributed as dist

device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl", device_id=device)
total = torch.tensor([1.0], device=device)
dist.all_reduce(total)
count = torch.tensor([1.0])
count = count.to(device)
dist.all_reduce(count)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The gloo backend",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([1.0])
dist.all_reduce(total)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A length without `device`",
            effect="static",
            why_static="NCCL needs a GPU for each process",
            code="""\
import os

import torch
import torch.distributed as dist


def sync_length(tokens):
    length = torch.tensor([len(tokens)], dtype=torch.int)
    dist.broadcast(length, src=0)  # expect: DST511
    return int(length.item())


torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
sync_length([1])
dist.destroy_process_group()
""",
        ),
        Example(
            title='`device="cpu"`',
            effect="static",
            why_static="NCCL needs a GPU for each process",
            code="""\
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group(backend="nccl")
dist.all_reduce(torch.ones(1, device="cpu"))  # expect: DST511
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _CALLS.isdisjoint(module.words):
            return
        objects = objects_across(module, catalogue)
        if not _uses_nccl(objects):
            return
        locator = locators.of(module.key)
        for site in _unmoved(objects):
            yield self.finding(
                message="the model is on the CPU, but NCCL needs it on a GPU",
                severity=Severity.ERROR,
                place=locator.place(site.call.site),
                effect="DDP raises an error when it is constructed",
                help="Move the model first: `DDP(model.to(device), ...)`",
            )
        for site in objects.calls(_PAYLOAD):
            if not objects.called(site).startswith("torch.distributed."):
                continue
            if not _is_default_group(objects, site):
                continue
            value = _payload(objects, site)
            made = tensor_on_cpu(objects, value, site.point) if value is not None else None
            if made is not None:
                place = locators.of(made.point.scope.module.key).place(made.call.site)
                here = made.point.scope.module is module
                yield self.finding(
                    message=f"a CPU tensor is passed to `{site.name}` with NCCL",
                    severity=Severity.ERROR,
                    place=locator.place(site.call.site),
                    related=(Related("on the CPU from here on", place),),
                    effect='torch raises "No backend type associated with device type cpu"',
                    help="Create the tensor on the GPU of this process",
                    fix=partial(_fix, made.call, Draft(locator, module, catalogue))
                    if here
                    else None,
                )


def _is_default_group(objects: Objects, site: CallSite) -> bool:
    """Is no group named, or only a parameter that is None if nothing else is said?"""
    given = objects.argument(site, "group")
    if given.absent or not isinstance(given.value, ir.Name):
        return given.absent
    function = site.point.scope.function
    return function is not None and any(
        param.name == given.value.id
        and isinstance(param.default, ir.Literal)
        and param.default.value is None
        and not objects.callers(function)
        for param in function.params
    )


def _unmoved(objects: Objects) -> Iterator[CallSite]:
    """``DDP(Net(), device_ids=[...])``: a model that nothing moves to a GPU."""
    if "meta" in objects.module.tokens:
        return
    for site in objects.calls_to(*DDP):
        model = objects.argument(site, "module", 0).value
        if model is not None and (
            _is_made_here(objects, model, site) or model_on_cpu(objects, model, site.point)
        ):
            yield site


def _is_made_here(objects: Objects, model: ir.Expr, site: CallSite) -> bool:
    """Is it ``DDP(Net(), device_ids=[rank])``, also of a class that is not in sight?"""
    devices = objects.argument(site, "device_ids", 1).value
    if (
        not isinstance(model, ir.Call)
        or not isinstance(devices, ir.Display)
        or not devices.items
        or not ir.last_name(model.func)[:1].isupper()
        or not MOVES.isdisjoint(ir.tokens_of(model))
        or is_given_moved(objects, model, site.point)
        or any(isinstance(here.owner, ir.With) for here in site.point.around)
    ):
        return False
    return is_class_on_cpu(objects, CallSite(model, site.point), otherwise=True)


def _uses_nccl(objects: Objects) -> bool:
    """Is NCCL the backend of each group that the file makes, or else of those of files around it?

    These are the files that it imports or that import it, and what those import.
    """
    module = objects.module
    own = [(objects, init) for init in inits(objects)]
    around = [] if own else list(_around(module))
    found = own or [
        (where, init)
        for where in (objects_in(each) for each in around if "init_process_group" in each.words)
        for init in inits(where)
    ]
    chosen = any(is_nccl_on_gpus(where, init) for where, init in found)
    moves = _MOVED - {"gloo"} if chosen else _MOVED
    return (
        bool(found)
        and all(moves.isdisjoint(each.tokens) for each in (module, *around))
        and all(
            backend_of(where, init) == "nccl" or is_nccl_on_gpus(where, init)
            for where, init in found
        )
    )


def _around(module: Module) -> Iterator[Module]:
    project = module.project
    if project is None:
        return
    importers = (project.by_key(path) for path in list(project.importers(module.path))[:_MOST])
    near = [*module.imports, *(each for each in importers if each is not None)]
    beyond = [other for each in near for other in each.imports]
    yield from dict.fromkeys(each for each in (*near, *beyond) if each is not module)


def _payload(objects: Objects, site: CallSite) -> ir.Expr | None:
    for name in _NAMES:
        value = objects.argument(site, name).value
        if value is not None:
            return value
    index = _PAYLOAD.get(site.name)
    args = site.call.args
    if index is not None and index < len(args) and not args[index].keyword:
        return args[index].value
    return None


def _fix(made: ir.Call, draft: Draft) -> Fix:
    call = draft.node(made.site, cst.Call)
    if calls.argument(call, "device") is not None:
        raise CannotFix("a device is given")
    if ir.last_name(made.func) not in FACTORIES:
        raise CannotFix("it takes no device")
    calls.set_keyword(draft, call, "device", '"cuda"')
    return draft.fix("unsafe", "Create the tensor on the GPU")
