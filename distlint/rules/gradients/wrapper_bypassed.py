"""DST613: training goes past the wrapper, so that gradients are not averaged."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._bare_modules import (
    PREPARES,
    Wrapper,
)
from distlint.rules.gradients._bypassing import Bypasses, taken_out
from distlint.rules.gradients._own_average import calls_for_average, reduces_gradients
from distlint.rules.gradients._steps import Backward, backwards, passed_backward
from distlint.rules.training import WRAPPERS, evaluates
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locator, Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_INNER = "module"
_NAMES = frozenset(name.rpartition(".")[2] for name in (*WRAPPERS, *PREPARES)) | {_INNER}


class WrapperBypassed(SourceRule):
    """A training step calls `model.module` instead of the wrapper that averages gradients.

    ```python
    model = DDP(net)
    for batch in loader:
        loss = model.module(batch).mean()  # bad: gradients are not averaged
        loss.backward()
        optimizer.step()
    ```

    ## Use instead

    ```python
    model = DDP(net)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
    ```

    If training needs a method other than `forward`, let `forward` select it:

    ```python
    def forward(self, batch, mode="loss"):
        return self.loss(batch) if mode == "loss" else self.predict(batch)
    ```

    ## Why is this bad?

    DDP averages gradients in hooks that the forward pass of the *wrapper* prepares. If the wrapper
    is bypassed, the hooks do nothing: each rank steps with its local gradients, and the replicas
    diverge. Nothing hangs and nothing is printed. The checkpoint of rank 0 was trained on its share
    of the data only.

    ## What is reported

    A call whose result reaches `backward()`, in a function that never calls the wrapper, or in one
    of the file that returns the loss to it, of

    - `model.module(...)`, a method of `model.module`, or `accelerator.unwrap_model(model)`, also
      where the wrapper was compiled by `torch.compile`, or other files of the project pass it to
      the function;
    - the module itself, by the name that it had before `DDP(net)` or `accelerator.prepare(net)`,
      or as `torch.compile(net)`, where nothing in the file calls the wrapper or is given it.

    ## What is not reported

    - Functions that also call the wrapper, whose forward pass prepares the hooks, or that give it
      to a function whose result reaches `backward()`.
    - Calls without gradients: evaluation, generation, and `no_grad`, also around the code that uses
      the result.
    - The module is used for its state or attributes: `state_dict()`, `config`.
    - Calls where it is not certain which object is called.
    - Files that reduce gradients themselves, and functions that call one of the project that does.

    ## Fix safety

    Unsafe: `model.module(...)` becomes `model(...)`. All ranks then communicate in the backward
    pass, which they did not before: if one rank skips a step, the others wait for it. Calls of
    other methods are not fixed automatically.

    ## References

    - [PyTorch: Distributed Data Parallel](https://docs.pytorch.org/docs/stable/notes/ddp.html)
    """

    code = "DST613"
    name = "wrapper-bypassed"
    severity = Severity.ERROR

    good = (
        Example(
            title="The wrapper is called, and the module is used for its state",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1, bias=False))
model(torch.ones(1, 2) * dist.get_rank()).sum().backward()
print("grad =", model.module.weight.grad.tolist())
state = model.module.state_dict()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The bare module computes the loss of the wrapper's output",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1, bias=False)

    def forward(self, x):
        return self.layer(x)

    def loss(self, output):
        return output.sum()


dist.init_process_group("gloo")
model = DDP(Net())
output = model(torch.ones(1, 2) * dist.get_rank())
model.module.loss(output).backward()
print("grad =", model.module.layer.weight.grad.tolist())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Predictions without gradients",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2, bias=False))
student = DDP(torch.nn.Linear(2, 2, bias=False))
with torch.no_grad():
    target = model.module(torch.ones(1, 2))
loss = (student(torch.ones(1, 2) * dist.get_rank()) - target).pow(2).sum()
loss.backward()
print("grad =", student.module.weight.grad.tolist())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The forward pass in a separate block",
            effect="fail",
            code="""\
import contextlib
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.full((1, 2), float(dist.get_rank()))
for step in range(2):
    with contextlib.nullcontext():
        output = model.module(inputs)  # expect: DST613
    loss = output.mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
weights = [torch.zeros(1, 2) for _ in range(dist.get_world_size())]
dist.all_gather(weights, model.module.weight.data)
assert torch.equal(*weights), "the replicas have drifted apart"
""",
        ),
        Example(
            title="Through .module",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1, bias=False))
for step in range(2):
    output = model.module(torch.ones(1, 2) * dist.get_rank())  # expect: DST613
    loss = output.sum()
    loss.backward()
print("grad =", model.module.weight.grad.tolist())
dist.barrier()
""",
        ),
        Example(
            title="A property returns the bare module",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1, bias=False)

    def loss(self, x):
        return self.layer(x).sum()


class Runner:
    def __init__(self, net):
        self.net = DDP(net)

    @property
    def core(self):
        return self.net.module

    def step(self, batch):
        self.core.loss(batch).backward()  # expect: DST613


dist.init_process_group("gloo")
runner = Runner(Net())
runner.step(torch.ones(1, 2) * dist.get_rank())
print("grad =", runner.core.layer.weight.grad.tolist())
dist.barrier()
""",
        ),
        Example(
            title="Unwrapped before the loop",
            effect="wrong data",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
net = torch.nn.Linear(2, 1, bias=False)
net = accelerator.prepare(net)
net = accelerator.unwrap_model(net)
for step in range(2):
    loss = net(torch.ones(1, 2) * accelerator.process_index).sum()  # expect: DST613
    accelerator.backward(loss)
print("grad =", net.weight.grad.tolist())
accelerator.wait_for_everyone()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _NAMES.isdisjoint(module.words | module.tokens):
            return
        objects = objects_across(module, catalogue)
        passes = [*backwards(objects), *(backward for backward, _ in passed_backward(objects))]
        if not passes or reduces_gradients(objects):
            return
        bypasses, told = Bypasses(objects), set[Wrapper]()
        for backward in passes:
            if evaluates(backward.site.point):
                continue
            for call, wrapper in bypasses.of(backward):
                if wrapper in told or calls_for_average(objects, backward.site.point.scope):
                    continue
                told.add(wrapper)
                draft = Draft(locators.of(module.key), module, catalogue)
                taken = [(locators.of(p.scope.module.key), p) for p in taken_out(objects, call)]
                yield self._finding(call, backward, taken, draft)

    def _finding(
        self, call: CallSite, backward: Backward, taken: list[tuple[Locator, Point]], draft: Draft
    ) -> Finding:
        locator = draft.locator
        there = locator.place(backward.site.call.site)
        unwrapped = [
            Related("unwrapped here", each.place(point.statement.site)) for each, point in taken
        ]
        return self.finding(
            message=f"wrapper is bypassed: gradients of line {there.span.row} are not averaged",
            severity=Severity.ERROR,
            place=locator.place(call.call.site),
            related=(Related("backward pass", there), *unwrapped),
            effect="each rank trains with its local gradients, and the replicas silently diverge",
            help="Call the wrapper; let `forward` select other methods",
            fix=partial(_through_wrapper, call, draft),
        )


def _through_wrapper(call: CallSite, draft: Draft) -> Fix:
    func = draft.node(call.call.site, cst.Call).func
    if not isinstance(func, cst.Attribute) or func.attr.value != _INNER:
        raise CannotFix("it is no call of the module itself that is written down here")
    draft.replace(func, draft.text(func.value))
    return draft.fix("unsafe", "Call the wrapper")
