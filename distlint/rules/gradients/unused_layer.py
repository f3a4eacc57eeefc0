"""DST620: a layer that no forward pass uses, under DDP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._layers import LAYERS
from distlint.rules.training import DDP
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_DYNAMIC = frozenset({"getattr", "__dict__", "vars", "_modules", "children", "named_children"})
_MODULE = "torch.nn.Module"


class UnusedLayer(SourceRule):
    """A layer of a model that is wrapped in `DistributedDataParallel` is never used.

    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(64, 10)
            self.old_head = nn.Linear(64, 2)  # bad: never used

        def forward(self, x):
            return self.head(x)
    ```

    ## Use instead

    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(64, 10)

        def forward(self, x):
            return self.head(x)
    ```

    To keep the layer, call `requires_grad_(False)` on it before wrapping.
    `find_unused_parameters=True` is for layers that are used in some steps.

    ## Why is this bad?

    DDP waits for the gradients of all parameters. Those of the unused layer never arrive, and the
    second forward pass raises "Expected to have finished reduction in the prior iteration".

    ## What is reported

    `self.head = nn.Linear(...)` in `__init__` of a class that the file wraps in
    `DistributedDataParallel` without `find_unused_parameters`, if nothing else in the file mentions
    `head`.

    ## What is not reported

    - `find_unused_parameters` or `static_graph` is given, with any value.
    - The class has subclasses in the file, or accesses its layers dynamically.
    - The layer may have no parameters: a class of the project, an activation.

    ## Fix safety

    None: the layer may be meant to be used.

    ## References

    - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "DST620"
    name = "unused-layer"
    severity = Severity.ERROR

    good = (
        Example(
            title="All layers are used",
            code="""\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 4)
        self.activation = nn.ReLU()
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.trunk(x))


dist.init_process_group("gloo")
model = DDP(Net())
for _ in range(2):
    model(torch.ones(1, 4)).sum().backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="With find_unused_parameters",
            code="""\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 1)
        self.spare = nn.Linear(4, 1)

    def forward(self, x):
        return self.head(x)


dist.init_process_group("gloo")
model = DDP(Net(), find_unused_parameters=True)
for _ in range(2):
    model(torch.ones(1, 4)).sum().backward()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A leftover layer",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 4)
        self.old_head = nn.Linear(4, 2)  # expect: DST620
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.trunk(x))


dist.init_process_group("gloo")
model = DDP(Net())
for _ in range(2):
    model(torch.ones(1, 4)).sum().backward()
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if not {"DistributedDataParallel", "DDP"} & words or "Module" not in words:
            return
        if {"find_unused_parameters", "static_graph", "_set_static_graph"} & words:
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        wrapped = _wrapped_classes(objects)
        for cls in objects.classes.subclasses_of(_MODULE) if wrapped else ():
            wrap = wrapped.get(cls)
            if wrap is None or "forward" not in cls.methods or _has_subclass(objects, cls):
                continue
            if any(not _DYNAMIC.isdisjoint(method.tokens) for method in cls.methods.values()):
                continue
            for name, site in _unused(objects, cls):
                yield self.finding(
                    message=f"layer `{name}` of a DDP model is never used",
                    severity=Severity.ERROR,
                    place=locator.place(site),
                    related=(Related("wrapped here", locator.place(wrap.call.site)),),
                    effect="DDP waits for its gradients, and the second forward pass fails",
                    help="Remove the layer, or use it in `forward`",
                )


def _wrapped_classes(objects: Objects) -> dict[ir.Class, CallSite]:
    """The classes of the module whose objects are wrapped in DDP."""
    found: dict[ir.Class, CallSite] = {}
    for wrap in objects.calls_to(*DDP):
        if wrap.call.args:
            for origin in objects.origins(wrap.call.args[0].value, wrap.point):
                cls = objects.callee(origin.site) if origin.site is not None else None
                if isinstance(cls, ir.Class):
                    found[cls] = wrap
    return found


def _has_subclass(objects: Objects, cls: ir.Class) -> bool:
    return any(
        cls.name in {ir.last_name(base) for base in other.bases}
        for other in objects.module.classes.values()
    )


def _unused(objects: Objects, cls: ir.Class) -> Iterator[tuple[str, int]]:
    """The layers that ``__init__`` makes and nothing in the file mentions besides."""
    constructor = cls.methods.get("__init__")
    scope = objects.scope_of(constructor) if constructor is not None else None
    if constructor is None or scope is None:
        return
    for statement, around in placed(constructor.body):
        if len(around) > 1 or not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.value
        if not isinstance(target, ir.Attribute) or not isinstance(value, ir.Call):
            continue
        if ir.last_name(target.value) != "self" or ir.last_name(value.func) not in LAYERS:
            continue
        dotted = objects.names.dotted(value.func, scope) or ""
        if dotted.startswith("torch.nn.") and _mentions(objects, target.attr) == 1:
            yield target.attr, statement.site


def _mentions(objects: Objects, name: str) -> int:
    """How often a file says a name: as an attribute, a variable, or in a text."""
    count = 0
    for statement in objects.module.statements():
        for child in ir.children(statement):
            if isinstance(child, ir.Expr):
                count += sum(_says(node, name) for node in expressions_in(child))
    return count


def _says(node: object, name: str) -> bool:
    if isinstance(node, ir.Attribute):
        return node.attr == name
    if isinstance(node, ir.Name):
        return node.id == name
    return isinstance(node, ir.Literal) and isinstance(node.value, str) and name in node.value
