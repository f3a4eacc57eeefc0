"""DST511: a collective of NCCL gets a tensor that is on the CPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import placed
from distlint.analyzer.static.objects.objects import objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import calls
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import backend_of, inits
from distlint.rules.training import DDP
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_FACTORIES = frozenset(
    {"tensor", "zeros", "ones", "empty", "full", "as_tensor", "arange", "rand", "randn"}
)
_PAYLOAD: dict[str, int] = {
    "all_reduce": 0, "broadcast": 0, "reduce": 0, "all_gather_into_tensor": 1, "all_gather": 1,
    "reduce_scatter_tensor": 1, "gather": 0,
}  # fmt: skip
_MOVES = frozenset({"to", "cuda", "device", "to_device"})
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
      `device=` (or with `device="cpu"`), and passed unchanged to a collective, in a file that
      initializes its process group with `"nccl"`.
    - `DDP(Net(), device_ids=[rank])` with a model that is not moved to a GPU.

    ## What is not reported

    - The model wraps a module that has been moved already: `DDP(Wrapper(encoder))`.
    - The variable is assigned again anywhere in the function, or the tensor is moved.
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
        if "init_process_group" not in module.words or not _MOVED.isdisjoint(module.tokens):
            return
        objects = objects_of(module, catalogue)
        found = list(inits(objects))
        if not found or any(backend_of(objects, init) != "nccl" for init in found):
            return
        locator = locators.of(module.key)
        for site in _unmoved(objects):
            yield self.finding(
                message="the model is on the CPU, but `device_ids` names a GPU",
                severity=Severity.ERROR,
                place=locator.place(site.call.site),
                effect="DDP raises an error: the module must be on the GPU in `device_ids`",
                help="Move the model first: `DDP(model.to(device), ...)`",
            )
        for site in objects.calls(_PAYLOAD):
            if not objects.called(site).startswith("torch.distributed."):
                continue
            if not _is_default_group(objects, site):
                continue
            value = _payload(objects, site)
            made = _made_on_cpu(objects, value, site) if value is not None else None
            if made is not None:
                yield self.finding(
                    message=f"a CPU tensor is passed to `{site.name}` with NCCL",
                    severity=Severity.ERROR,
                    place=locator.place(site.call.site),
                    related=(Related("created on the CPU here", locator.place(made.site)),),
                    effect='torch raises "No backend type associated with device type cpu"',
                    help="Create the tensor on the GPU of this process",
                    fix=partial(_fix, made, Draft(locator, module, catalogue)),
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
    """``DDP(Net(), device_ids=[...])``: a model that is made there and put nowhere."""
    if "meta" in objects.module.tokens:
        return
    for site in objects.calls_to(*DDP):
        model = objects.argument(site, "module", 0).value
        devices = objects.argument(site, "device_ids", 1).value
        if (
            isinstance(model, ir.Call)
            and isinstance(devices, ir.Display)
            and devices.items
            and ir.last_name(model.func)[:1].isupper()
            and _MOVES.isdisjoint(ir.tokens_of(model))
            and not _is_given_moved(objects, model, site.point)
            and not any(isinstance(here.owner, ir.With) for here in site.point.around)
        ):
            cls = objects.callee(CallSite(model, site.point))
            if not isinstance(cls, ir.Class) or not any(
                not _MOVES.isdisjoint(method.tokens) for method in cls.methods.values()
            ):
                yield site


def _is_given_moved(objects: Objects, model: ir.Call, point: Point) -> bool:
    """Is a model made around a part that is on a GPU already: ``Wrapper(encoder)``?"""
    parts = {each.value.id for each in model.args if isinstance(each.value, ir.Name)}
    return any(
        not parts.isdisjoint(ir.tokens_of(each.statement))
        and not _MOVES.isdisjoint(ir.tokens_of(each.statement))
        for each in objects.points_in(point.scope)
        if isinstance(each.statement, (ir.Assign, ir.Evaluate))
    )


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


def _made_on_cpu(objects: Objects, node: ir.Expr, site: CallSite) -> ir.Call | None:
    """The call that makes a tensor on the CPU, and nothing that moves it."""
    if isinstance(node, ir.Name):
        function = site.point.scope.function
        if function is not None and any(p.name == node.id for p in function.params):
            return None
        values: list[ir.Expr] = []
        for statement, _ in placed(site.point.scope.body):
            if node.id in ir.bound_by(statement):
                if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
                    return None
                if not isinstance(statement.targets[0], ir.Name):
                    return None
                values.append(statement.value)
        if len(values) != 1:
            return None
        node = values[0]
    if isinstance(node, ir.Call) and _is_factory(objects, node, site):
        return node
    return None


def _is_factory(objects: Objects, call: ir.Call, site: CallSite) -> bool:
    if ir.last_name(call.func) not in _FACTORIES:
        return False
    if objects.names.dotted(call.func, site.point.scope) != f"torch.{ir.last_name(call.func)}":
        return False
    if any(argument.star for argument in call.args):
        return False
    devices = [a.value for a in call.args if a.keyword == "device"]
    if devices:
        return isinstance(devices[0], ir.Literal) and devices[0].value == "cpu"
    if ir.last_name(call.func) == "as_tensor":
        return False
    # torch.tensor(x) of a tensor on the GPU is one on the GPU
    return ir.last_name(call.func) != "tensor" or isinstance(
        call.args[0].value if call.args else None, (ir.Display, ir.Literal, ir.Comprehension)
    )


def _fix(made: ir.Call, draft: Draft) -> Fix:
    call = draft.node(made.site, cst.Call)
    if calls.argument(call, "device") is not None:
        raise CannotFix("a device is given")
    calls.set_keyword(draft, call, "device", '"cuda"')
    return draft.fix("unsafe", "Create the tensor on the GPU")
