"""DST505: a distributed script picks its GPUs itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.environment import environment_writes
from distlint.analyzer.static.guards.process_groups import is_distributed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._cuda_start import starts_cuda
from distlint.rules.setup._order import surely_before, surely_ran
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.environment import Written
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_VARIABLE = "CUDA_VISIBLE_DEVICES"
_STARTS = frozenset({"spawn", "Popen", "Process", "start_processes", "launch", "subprocess"})


class VisibleDevicesInCode(SourceRule):
    """A script sets `CUDA_VISIBLE_DEVICES` itself, too late or against its launcher.

    ```python
    os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"  # bad: overrides what the scheduler has set
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    ```

    ## Use instead

    ```bash
    CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc-per-node=2 train.py
    ```

    Set the variable on the command line of the launcher, and select the GPU of each process with
    `torch.cuda.set_device(local_rank)`. The two do not conflict: torchrun passes the variable on
    unchanged.

    ## Why is this bad?

    The variable is read once, when CUDA is initialized. Setting it later is silently ignored. A
    constant overrides what the scheduler has assigned to the job: the job runs on the GPUs of
    another user, or `LOCAL_RANK` exceeds the list, and CUDA raises "invalid device ordinal".

    ## What is reported

    - `os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"` with a constant (warning in a distributed script,
      otherwise info).
    - Any value, if CUDA has been used before in the same function, at the top level of the file, or
      in functions of the file that are called in this order (warning).
    - `str(rank)` if the same function then asks for GPU number `rank`, such as with
      `torch.cuda.set_device(rank)`: the process sees one GPU, number 0 (warning).

    ## What is not reported

    - The value is not a constant, and CUDA has not been used before.
    - `os.environ.setdefault`, which keeps the choice of the launcher.
    - The file starts other processes, which inherit the variable, or is a test (`test_*.py`).
    - The value is empty (or `-1`), to run on the CPU.

    ## Fix safety

    None: the file does not say where else the GPUs are selected.

    ## References

    - [CUDA environment variables](https://docs.pytorch.org/docs/stable/cuda_environment_variables.html)
    - [torch.cuda.set_device](https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_device.html)
    """

    code = "DST505"
    name = "visible-devices-in-code"
    words = ("CUDA_VISIBLE_DEVICES",)

    good = (
        Example(
            title="A default that the launcher may override",
            code="""\
import os

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0,1")

import torch.distributed as dist

dist.init_process_group("gloo")
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="An empty list, to run on the CPU",
            code="""\
import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch.distributed as dist

dist.init_process_group("gloo")
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A constant list of GPUs",
            effect="static",
            why_static="it shows on a machine with GPUs only",
            code="""\
import os

os.environ["CUDA_VISIBLE_DEVICES"] = "6,7"  # expect: DST505

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Set after CUDA is initialized",
            effect="static",
            why_static="it needs CUDA",
            code="""\
import os

import torch


def main(args):
    device = torch.device("cuda")
    model = torch.nn.Linear(2, 2).cuda()
    os.environ["CUDA_VISIBLE_DEVICES"] = args.gpus  # expect: DST505
    model = torch.nn.DataParallel(model)
    model(torch.ones(2, 2, device=device)).sum().backward()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _VARIABLE not in module.tokens or document.is_test:
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        others = not _STARTS.isdisjoint(module.words)
        uses_torch = "torch" in module.imported_roots
        distributed = is_distributed(module)
        for written in environment_writes(objects):
            if written.name != _VARIABLE or written.default:
                continue
            used = _cuda_before(objects, written, others=others)
            if used is not None:
                yield self.finding(
                    message=f"`{_VARIABLE}` is set after CUDA was initialized",
                    severity=Severity.WARNING,
                    place=locator.place(written.point.statement.site),
                    related=(Related("CUDA is initialized here", locator.place(used.site)),),
                    effect="the setting is ignored, and all GPUs stay visible to the process",
                    help="Set it for the launcher, or before anything uses CUDA",
                )
                continue
            asked = _number_asked_for(objects, written)
            if asked is not None:
                yield self.finding(
                    message="a GPU is asked for by its number, but only one is visible",
                    severity=Severity.WARNING,
                    place=locator.place(written.point.statement.site),
                    related=(Related("asked for here", locator.place(asked.site)),),
                    effect='"invalid device ordinal" in every process but the first',
                    help="Use GPU 0 there, or do not set the variable",
                )
            elif not others and uses_torch and _is_list(objects, written):
                yield self.finding(
                    message=f"this overrides the `{_VARIABLE}` of the job",
                    severity=Severity.WARNING if distributed else Severity.INFO,
                    place=locator.place(written.point.statement.site),
                    effect="the job runs on GPUs of other jobs, or on fewer GPUs than processes",
                    help="Set it on the command line of the launcher",
                )


def _is_list(objects: Objects, written: Written) -> bool:
    if any(isinstance(here.owner, ir.If) for here in written.point.around):
        return False
    value = [origin.constant for origin in objects.origins(written.value, written.point)]
    return bool(value) and all(isinstance(each, str) and each not in ("", "-1") for each in value)


def _cuda_before(objects: Objects, written: Written, *, others: bool) -> ir.Call | None:
    """A call that has started CUDA before the variable is set.

    It is in the same function where the file starts other processes, which read the variable.
    """
    for call, point in objects.nodes(ir.Call):
        if starts_cuda(objects, CallSite(call, point)):
            if surely_before(point, written.point) or (
                not others and surely_ran(objects, point, written.point)
            ):
                return call
    return None


def _number_asked_for(objects: Objects, written: Written) -> ir.Call | None:
    """Where a process asks for a GPU by the number that is the only one it has made visible."""
    number = _number(written.value)
    if number is None:
        return None
    scope = written.point.scope
    bound = [each for each in objects.points_in(scope) if number in ir.bound_by(each.statement)]
    if any(each.statement.site > written.point.statement.site for each in bound):
        return None
    for call, point in objects.nodes(ir.Call):
        if point.scope is scope and surely_before(written.point, point):
            is_use = ir.last_name(call.func) in ("set_device", "cuda")
            if is_use and any(path_of(each.value) == (number,) for each in call.args):
                return call
    return None


def _number(value: ir.Expr) -> str | None:
    """``rank`` of ``str(rank)`` and ``f"{rank}"``."""
    part: ir.Expr | None = None
    if isinstance(value, ir.Call) and ir.last_name(value.func) == "str" and len(value.args) == 1:
        part = value.args[0].value
    elif isinstance(value, ir.Format) and len(value.parts) == 1:
        part = value.parts[0]
    return part.id if isinstance(part, ir.Name) else None
