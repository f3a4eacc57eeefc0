"""DST613: training goes past the wrapper, so that gradients are not averaged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import Scope, calls_of, expressions_in, placed
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._bare_modules import (
    PREPARES,
    Wrapped,
    Wrapper,
    uncompiled,
    wrapped_before,
    wrapped_modules,
)
from distlint.rules.gradients._own_average import calls_for_average, reduces_gradients
from distlint.rules.gradients._steps import Backward, backwards, exclude
from distlint.rules.training import WRAPPERS, evaluates, leaves_no_gradient
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_UNWRAPS = frozenset({"unwrap_model", "extract_model_from_parallel"})
_INNER = "module"
_UNWRAPPING = re.compile(r"^module$|un_?wrap|extract_model|ddp", re.IGNORECASE)
"""Names of a file that may take a model out of its wrapper."""
_WORDS = frozenset(name.rpartition(".")[2] for name in (*WRAPPERS, *PREPARES))
_NO_FORWARD = frozenset(
    {
        "parameters", "named_parameters", "state_dict", "load_state_dict", "modules", "children",
        "named_modules", "named_children", "buffers", "zero_grad", "train", "eval", "to", "cuda",
        "register_forward_hook", "register_buffer", "requires_grad_", "save_pretrained", "apply",
        "get_input_embeddings", "set_input_embeddings", "enable_input_require_grads", "half",
        "gradient_checkpointing_enable", "configure_optimizers", "get_parameter", "type",
    }
)  # fmt: skip
"""Methods of a bare module that are no part of a forward pass."""
_TELLS = re.compile(r"^(get_)?(num|n|config|dtype|device)_|_(size|dim|dims|config|dtype)$")
"""Methods that tell something about the model."""


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

    A call whose result reaches `backward()`, in a function that never calls the wrapper, of

    - `model.module(...)`, a method of `model.module`, or `accelerator.unwrap_model(model)`, also
      where the wrapper was compiled by `torch.compile`;
    - the module itself, by the name that it had before `DDP(net)` or `accelerator.prepare(net)`,
      or as `torch.compile(net)`, where nothing in the file calls the wrapper or is given it.

    ## What is not reported

    - Functions that also call the wrapper, whose forward pass prepares the hooks.
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
        if "backward" not in module.tokens or module.words.isdisjoint(_WORDS):
            return
        objects = objects_of(module, catalogue)
        if reduces_gradients(objects):
            return
        wrapped = list(
            wrapped_modules(objects, lambda origin: _unwrapped(objects, origin) is not None)
        )
        told: set[Wrapper] = set()
        called: dict[int, list[tuple[CallSite, Wrapper, bool]]] = {}
        for backward in backwards(objects):
            scope = backward.site.point.scope
            if evaluates(backward.site.point):
                continue
            if id(scope) not in called:
                called[id(scope)] = list(_model_calls(objects, scope, wrapped))
            for call, wrapper in _bypasses(called[id(scope)], backward):
                if wrapper not in told and not calls_for_average(objects, scope):
                    told.add(wrapper)
                    draft = Draft(locators.of(module.key), module, catalogue)
                    unwrapped = list(_taken_out(objects, call))
                    yield self._finding(call, backward, unwrapped, draft)

    def _finding(
        self, call: CallSite, backward: Backward, unwrapped: Iterable[CallSite], draft: Draft
    ) -> Finding:
        locator = draft.locator
        there = locator.place(backward.site.call.site)
        taken = [Related("unwrapped here", locator.place(site.call.site)) for site in unwrapped]
        return self.finding(
            message=f"wrapper is bypassed: gradients of line {there.span.row} are not averaged",
            severity=Severity.ERROR,
            place=locator.place(call.call.site),
            related=(Related("backward pass", there), *taken),
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


def _bypasses(
    called: Iterable[tuple[CallSite, Wrapper, bool]], backward: Backward
) -> Iterator[tuple[CallSite, Wrapper]]:
    """The calls of bare modules that a loss comes from, where the wrapper is never called."""
    armed = {wrapper for _, wrapper, bare in called if not bare}
    for call, wrapper, bare in called:
        if (
            bare
            and wrapper not in armed
            and not evaluates(call.point)
            and not exclude(call.point, backward.site.point)
            and call.point.statement.site <= backward.site.point.statement.site
            and _reaches(call, backward)
        ):
            yield call, wrapper


def _model_calls(
    objects: Objects, scope: Scope, wrapped: Sequence[Wrapped]
) -> Iterator[tuple[CallSite, Wrapper, bool]]:
    """The calls of wrapped models in a function, and whether they go to the bare module."""
    for point in objects.points_in(scope):
        for node in calls_of(point.statement):
            name = ir.last_name(node.func)
            if name not in _NO_FORWARD and not _TELLS.search(name):
                found = _wrapper_of(objects, node.func, point)
                if found is not None:
                    yield CallSite(node, point), *found
                elif wrapped:
                    inner = wrapped_before(objects, CallSite(node, point), wrapped)
                    if inner is not None:
                        yield CallSite(node, point), inner.wrapper, True


def _wrapper_of(objects: Objects, func: ir.Expr, point: Point) -> tuple[Wrapper, bool] | None:
    """The wrapper that a callee belongs to, and whether it is the bare module or of it."""
    found: dict[Wrapper, bool] = {}
    for origin in uncompiled(objects, objects.origins(func, point)):
        unwrapped = _unwrapped(objects, origin)
        if unwrapped is not None:
            wrapper, bare = unwrapped
            known = found.setdefault(wrapper, bare)
            # of an attribute, it is not known which assignment was the last
            found[wrapper] = known or bare if isinstance(func, ir.Name) else known and bare
    return found.popitem() if len(found) == 1 else None


def _taken_out(objects: Objects, call: CallSite) -> Iterator[CallSite]:
    """The calls by which the module that is called here was taken out of its wrapper."""
    for origin in objects.origins(call.call.func, call.point):
        if isinstance(origin.node, ir.Call) and _inside(objects, origin) is not None:
            yield CallSite(origin.node, origin.point)


def _inside(objects: Objects, origin: Origin) -> ir.Expr | None:
    """What a call takes out of its wrapper: ``unwrap_model(model)``, a helper of the project."""
    call = origin.node
    if not isinstance(call, ir.Call) or len(call.args) == 0 or origin.attributes:
        return None
    given = call.args[0].value
    if ir.last_name(call.func) in _UNWRAPS:
        return given if origin.item is None else None
    path = path_of(call.func)
    if path is None or not _UNWRAPPING.search(path[-1]):
        return None  # a file is not read for a helper whose name says nothing
    found = objects.module.imported(*path)
    if found is None or len(found[1].params) != 1:
        return None
    several = _unwraps(found[1])
    if several is None or several != (origin.item is not None):
        return None
    if origin.item is None:
        return given
    items = given.items if isinstance(given, ir.Display) else ()
    return items[origin.item] if 0 <= origin.item < len(items) else None


def _unwraps(function: ir.Function) -> bool | None:
    """Does a function only give back the module in a wrapper, or (true) those of a list?"""
    if len(function.body) != 1 or not isinstance(function.body[0], ir.Return):
        return None
    value, name = function.body[0].value, function.params[0].name
    several = isinstance(value, ir.Comprehension) and len(value.clauses) == 1
    if isinstance(value, ir.Comprehension):
        target, iterable, _ = value.clauses[0]
        if not several or path_of(iterable) != (name,) or not isinstance(target, ir.Name):
            return None
        value, name = value.element, target.id
    if isinstance(value, ir.Conditional) and path_of(value.body) == (name, _INNER):
        return several if path_of(value.orelse) == (name,) else None
    return None


def _unwrapped(objects: Objects, origin: Origin) -> tuple[Wrapper, bool] | None:
    if not isinstance(origin.node, ir.Call):
        return None
    site = CallSite(origin.node, origin.point)
    held = _inside(objects, origin)
    if held is not None:
        for inner in objects.origins(held, origin.point):
            if isinstance(inner.node, ir.Call) and not inner.attributes:
                if _wraps(objects, CallSite(inner.node, inner.point)):
                    return (inner.node, inner.item), True
    elif _wraps(objects, site):
        return (origin.node, origin.item), origin.attributes[:1] == (_INNER,)
    return None


def _wraps(objects: Objects, site: CallSite) -> bool:
    return objects.is_call_to(site, *WRAPPERS) or objects.called(site) in PREPARES


def _reaches(call: CallSite, backward: Backward) -> bool:
    """Does the result of a call come into the loss, by the names that it is assigned to?"""
    if any(node is call.call for node in expressions_in(backward.loss)):
        return True
    carried: set[str] = set()
    scope = call.point.scope
    for statement, around in sorted(placed(scope.body), key=lambda each: each[0].site):
        if statement is backward.site.point.statement:
            break
        value = getattr(statement, "value", None)
        if not isinstance(value, ir.Expr):
            continue
        if any(leaves_no_gradient(here.owner) for here in around):
            continue  # a target, as a teacher makes it: it hands no gradient back
        holds = statement is call.point.statement and any(
            node is call.call for node in expressions_in(value)
        )
        if holds or not carried.isdisjoint(ir.tokens_of(value)):
            if isinstance(statement, ir.Assign):
                carried.update(name for t in statement.targets for name in ir.tokens_of(t))
            elif isinstance(statement, ir.AugAssign):
                carried.update(ir.tokens_of(statement.target))
        elif isinstance(statement, ir.Assign) and not exclude(Point(scope, around), call.point):
            carried.difference_update(t.id for t in statement.targets if isinstance(t, ir.Name))
    return not carried.isdisjoint(ir.tokens_of(backward.loss))
