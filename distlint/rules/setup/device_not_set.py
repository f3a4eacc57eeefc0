"""DST502: every process of a node works on GPU 0."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.arguments import with_called
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import imports, names, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._device_settings import (
    SETTERS,
    binds,
    enters_device,
    is_option_passed,
    is_set_by_framework,
    is_spawned,
    may_be_nccl,
    shows_one_gpu,
)
from distlint.rules.setup._order import (
    inits,
    is_reached,
    surely_ran,
    torch_collectives,
)
from distlint.rules.setup._unset import is_bare, settings_for_others, uses_by_callers
from distlint.rules.training import DDP
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


_INDEX = re.compile(r"rank|gpu|device", re.IGNORECASE)


class DeviceNotSet(SourceRule):
    """NCCL is initialized, but the process does not select its GPU with `torch.cuda.set_device`.

    ```python
    dist.init_process_group("nccl")  # bad: the current device of every process is GPU 0
    model = DDP(Net().cuda())
    loss = model(batch.cuda()).mean()
    ```

    ## Use instead

    ```python
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    loss = model(batch.cuda()).mean()
    ```

    ## Why is this bad?

    The current device of each process is GPU 0 until it is changed. `"cuda"`, `.cuda()`,
    `barrier()` and the object collectives all use the current device. The processes of a node pile
    up on GPU 0, which holds a CUDA context of each of them and runs out of memory, or NCCL raises
    "Duplicate GPU detected".

    torchrun does not select the device for the script: it sets `LOCAL_RANK`, and unless it is
    started with `--virtual-local-rank`, it leaves `CUDA_VISIBLE_DEVICES` unchanged. Advice to leave
    the device to the launcher is therefore wrong.

    ## What is reported

    - `init_process_group("nccl")` in a file that uses CUDA, if neither the file nor a project file
      that it imports calls `torch.cuda.set_device` or passes `device_id=`. The backend may be
      chosen by a condition, and the processes be started by another file.
    - The same if the calls of `set_device` are not for the process that joins the group: they stand
      in the other branch, or in the function that starts the processes with `mp.spawn`.
    - `init_process_group("nccl")` in a function for other files, none of which sets a device or
      has files near it that do, but which use `"cuda"` or `.cuda()` without an index.
    - Work on the device `"cuda"`, without an index, `barrier()` or a collective of objects before
      all calls of `set_device` in the file: in the same function, or in functions that are called
      in this order.

    ## What is not reported

    - The device is set or `CUDA_VISIBLE_DEVICES` is written, in the file or in one that it imports;
      or the file enters a block `with torch.cuda.device(...)`.
    - Accelerate, DeepSpeed, Lightning and the `Trainer` of transformers, which set the device; Ray,
      which shows each process its own GPU only; tests (`test_*.py`).
    - The process group has one process, or the program ends unless it sees one GPU only:
      `assert torch.cuda.device_count() == 1`.
    - A function of the project is called that has `device` in its name: it may set the device.
    - The file does not use CUDA otherwise, or uses another backend.
    - A function for other files initializes the process group, and it neither reads a rank nor is
      given one (its callers have set the device), or it returns the device for its callers to set;
      and the callers work on GPUs by their numbers only.

    ## Fix safety

    Unsafe: inserts `torch.cuda.set_device` with `LOCAL_RANK` before `init_process_group`, if the
    script already reads `LOCAL_RANK`. The script must be started with torchrun.

    ## References

    - [torch.cuda.set_device](https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_device.html)
    - [torchrun: environment variables](https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables)
    """

    code = "DST502"
    name = "device-not-set"
    severity = Severity.WARNING

    good = (
        Example(
            title="Device set before `init_process_group`",
            effect="static",
            why_static="it needs a GPU for each process",
            code="""\
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
model = torch.nn.Linear(2, 2).cuda()
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Device passed to `init_process_group`",
            effect="static",
            why_static="it needs a GPU for each process",
            code="""\
import os

import torch
import torch.distributed as dist

device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl", device_id=device)
model = torch.nn.Linear(2, 2).to(device)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The gloo backend",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="All tensors on GPU 0",
            effect="static",
            why_static="it shows with several GPUs only: NCCL rejects two ranks on one GPU",
            code="""\
import os

import torch
import torch.distributed as dist


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl")  # expect: DST502
    total = torch.full((1,), float(local_rank), device="cuda")
    dist.all_reduce(total)
    dist.destroy_process_group()


main()
""",
        ),
        Example(
            title="The model is on its GPU, but the current device is not set",
            effect="static",
            why_static="it shows with several GPUs only: GPU 0 holds a context of each process",
            code="""\
import os

import torch
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, model):
        self.gpu = int(os.environ["LOCAL_RANK"])
        self.model = DDP(model.to(self.gpu), device_ids=[self.gpu])


def start(model):
    init_process_group(backend="nccl")  # expect: DST502
    Trainer(model)
    destroy_process_group()


if __name__ == "__main__":
    start(torch.nn.Linear(2, 2))
""",
        ),
        Example(
            title="Device set too late",
            effect="static",
            why_static="it shows with several GPUs only: GPU 0 holds a context of each process",
            code="""\
import os

import torch
import torch.distributed as dist

warm = torch.ones(8, 8, device="cuda")  # expect: DST502
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "init_process_group" not in module.words or is_set_by_framework(module):
            return
        objects = objects_across(module, catalogue)
        guards = guards_of(module, catalogue)
        found = [
            init
            for init in inits(objects)
            if may_be_nccl(objects, init) and not guards.world_size.makes_group_of_one(init)
        ]
        if not found or document.is_test:
            return
        locator = locators.of(module.key)
        for_others = {init: settings_for_others(guards, init) for init in found}
        if not SETTERS.isdisjoint(module.tokens) and not all(for_others.values()):
            for early, setting in _before_set(objects):
                kind = "a collective" if _is_on_current_device(objects, early) else "CUDA"
                yield self.finding(
                    message=f"{kind} is used before `set_device`: this runs on GPU 0",
                    severity=Severity.WARNING,
                    place=locator.place(early.call.site),
                    related=(Related("device set here", locator.place(setting.call.site)),),
                    effect="GPU 0 holds a CUDA context of every process on the node",
                    help="Call `set_device` before anything uses CUDA",
                )
            return
        if _may_be_set_elsewhere(objects) or enters_device(objects) or shows_one_gpu(objects):
            return
        everything = with_called(objects, objects.points)
        others = {each.scope.module for each in everything} - {module}
        if any(binds(each) or is_set_by_framework(each) for each in others):
            return
        for init in found:
            here = with_called(objects, objects.points_in(init.point.scope))
            reached = is_reached(objects, init.point) or is_spawned(guards, init.point)
            wraps = "LOCAL_RANK" in module.tokens and any(True for _ in objects.calls_to(*DDP))
            uses = set(_uses_of_cuda(everything if reached or wraps else here))
            related = [
                Related("only set where it does not join the group", locator.place(each.call.site))
                for each in for_others[init][:1]
            ]
            if not (reached or wraps):
                if not uses or _is_for_callers(objects, init.point, here):
                    by_callers = uses_by_callers(objects, init.point)
                    uses = {_BARE_USE for _ in by_callers[:1]}
                    related += [
                        Related("GPU 0 is used here", locators.of(where.module.key).place(use.site))
                        for where, use in by_callers[:1]
                    ]
            if not uses:
                continue
            yield self.finding(
                message="no device is set: the current device of each rank is GPU 0",
                severity=Severity.WARNING,
                place=locator.place(init.call.site),
                related=tuple(related),
                effect='all processes of a node use GPU 0, or NCCL raises "Duplicate GPU detected"'
                if _BARE_USE in uses
                else "`barrier()` and object collectives create a context of each process on GPU 0",
                help='Call `torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))` first',
                fix=partial(_fix, init, Draft(locator, module, catalogue)),
            )


def _before_set(objects: Objects) -> Iterator[tuple[CallSite, CallSite]]:
    """The calls that use the current device before anything in the file sets it."""
    settings = list(objects.calls_to("torch.cuda.set_device"))
    for early in _uses_current(objects) if settings else ():
        if all(surely_ran(objects, early.point, setting.point) for setting in settings):
            yield early, settings[0]


def _uses_current(objects: Objects) -> Iterator[CallSite]:
    """Allocations on the bare device, and collectives on the device that is current."""
    for point in objects.points:
        for node in nodes_of(point.statement):
            if isinstance(node, ir.Call) and is_bare(node):
                yield CallSite(node, point)
    if _may_be_set_elsewhere(objects):
        return
    for site, _ in torch_collectives(objects):
        if _is_on_current_device(objects, site):
            yield site


def _may_be_set_elsewhere(objects: Objects) -> bool:
    """May the group be given the device, or a function of the project set it?"""
    return (
        is_option_passed(objects.module)
        or any(True for _ in _own_calls(objects))
        or any(map(binds, objects.module.imports))
    )


def _is_on_current_device(objects: Objects, site: CallSite) -> bool:
    """``barrier()`` or a collective of objects, in the default group and without a device."""
    if site.name != "barrier" and "object" not in site.name:
        return False
    entry = objects.names.entry(site.call.func, site.point.scope)
    known = entry.collective if entry is not None else None
    if known is None or known.group is None:
        return False
    given = objects.argument(site, known.group, known.position(known.group))
    return given.absent and not any(a.keyword in ("device_ids", "device") for a in site.call.args)


def _own_calls(objects: Objects) -> Iterator[str]:
    """The names of what the file calls that is not torch's: it may set the device."""
    for name in objects.called_names:
        for site in objects.calls({name}) if "device" in name.lower() else ():
            if not objects.called(site).startswith("torch."):
                yield name


_BARE_USE, _NUMBERED_USE = "the current GPU", "a GPU by its number"


def _uses_of_cuda(points: Iterable[Point]) -> Iterator[str]:
    """How statements put anything on a GPU."""
    for point in points:
        nodes = list(nodes_of(point.statement))
        asked = [side for node in nodes if isinstance(node, ir.Compare) for side in _sides(node)]
        numbered = [
            node.args[0].value  # torch.device("cuda", rank)
            for node in nodes
            if isinstance(node, ir.Call)
            and ir.last_name(node.func) == "device"
            and len(node.args) == 2
        ]
        for node in nodes:
            if isinstance(node, ir.Literal) and isinstance(node.value, str):
                if any(each is node for each in numbered):
                    yield _NUMBERED_USE
                elif node.value == "cuda" and not any(each is node for each in asked):
                    yield _BARE_USE
                elif node.value.startswith("cuda:"):
                    yield _NUMBERED_USE
            elif isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
                if node.func.attr == "cuda":
                    yield _NUMBERED_USE if node.args else _BARE_USE
                elif any(
                    each.keyword == "device_ids"
                    or (node.func.attr == "to" and _is_index(each.value))
                    for each in node.args
                ):
                    yield _NUMBERED_USE


def _sides(node: ir.Compare) -> Iterator[ir.Expr]:
    """What a comparison compares: ``args.device == "cuda"`` puts nothing anywhere."""
    for side in (node.left, *node.rights):
        yield from side.items if isinstance(side, ir.Display) else (side,)


def _is_for_callers(objects: Objects, point: Point, points: Sequence[Point]) -> bool:
    """Is the device for those to set who call a function from other files?"""
    function = point.scope.function
    functions = {each.scope.function for each in points} - {None}
    knows = (
        function is None
        or any(not {"RANK", "LOCAL_RANK"}.isdisjoint(each.tokens) for each in functions if each)
        or any(_INDEX.search(param.name) for param in function.params)
    )
    return not knows or _hands_on_device(objects, objects.points_in(point.scope))


def _hands_on_device(objects: Objects, points: Iterable[Point]) -> bool:
    """Does a function give its callers, in other files, the device that they are to set?

    Or the local rank, which is its number.
    """
    for point in points:
        value = point.statement.value if isinstance(point.statement, ir.Return) else None
        for part in value.items if isinstance(value, ir.Display) else (value,):
            for origin in objects.origins(part, point) if part is not None else ():
                if origin.site is not None and objects.called(origin.site) == "torch.device":
                    return True
                if "LOCAL_RANK" in ir.tokens_of(origin.node):
                    return True
    return False


def _is_index(node: ir.Expr) -> bool:
    return any(
        (isinstance(part, (ir.Name, ir.Attribute)) and _INDEX.search(ir.last_name(part)))
        or (isinstance(part, ir.Literal) and part.value == "LOCAL_RANK")
        for part in expressions_in(node)
    )


def _fix(init: CallSite, draft: Draft) -> Fix:
    if "LOCAL_RANK" not in draft.names.module.tokens:
        raise CannotFix("it may not be started with torchrun")
    call = draft.node(init.call.site, cst.Call)
    statement = statements.statement_of(draft, call)
    if "torch" in names.taken_names(draft) and names.available(draft, "torch", call):
        torch = "torch."
        text = f"{torch}cuda.set_device"
    else:
        text = imports.imported(draft, "torch.cuda", "set_device", call)
    environ = imports.imported(draft, "os", "environ", call)
    statements.insert_before(draft, statement, f'{text}(int({environ}["LOCAL_RANK"]))')
    return draft.fix("unsafe", "Call `torch.cuda.set_device` first")
