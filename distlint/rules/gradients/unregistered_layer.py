"""DST628: layers that a model does not know of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.objects import Objects, objects_across, objects_of
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import imports
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule, related
from distlint.rules.gradients._containers import Contents, Item
from distlint.rules.gradients._layers import is_made_module
from distlint.rules.gradients._registrations import mentions
from distlint.rules.gradients._unregistered import Unregistered, unregistered
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_LOOKS = frozenset({"len", "enumerate", "zip", "iter", "list", "tuple", "range", "isinstance"})
_LIST_METHODS = frozenset({"append", "extend", "insert"})
_DICT_METHODS = frozenset({"items", "keys", "values", "update"})


class UnregisteredLayer(SourceRule):
    """A layer is kept in a plain list or dict, or beside the model, so that it is never trained.

    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(64, 64) for _ in range(2)]  # bad: not in parameters()

        def forward(self, x):
            return self.layers[1](self.layers[0](x))
    ```

    ## Use instead

    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(2))

        def forward(self, x):
            return self.layers[1](self.layers[0](x))
    ```

    `nn.ModuleDict` is for a dict. A layer of a trainer becomes an attribute of the model that the
    trainer wraps.

    ## Why is this bad?

    A module finds its layers by its attributes, not inside of lists, dicts and tuples. So they are
    missing from `parameters()`: the optimizer never changes them, and DDP and FSDP do not broadcast
    or average them. Each rank computes with other random weights. They are also missing from
    `state_dict()`, so that a checkpoint does not restore them, and `.to()` does not move them.

    ## What is reported

    - A list, tuple or dict that is an attribute of a `torch.nn.Module` and holds layers with
      parameters: written there, appended later, or made by a function. The file may be
      distributed, or files that import it are.
    - An attribute with layers of a class that is no module, but passes the parameters of a model to
      an optimizer and wraps or prepares that model, if a training step calls the layers.

    ## What is not reported

    - Layers that are registered as well, by `add_module`, `ModuleList`, `setattr` or as another
      attribute, or whose parameters are used by anything.
    - Modules without parameters, such as activations and losses.
    - A list of one module, which is a known way to hide a teacher, and layers that are frozen, set
      to `eval()` or called under `no_grad` only.
    - Classes with their own `parameters()`.

    ## Fix safety

    Unsafe: makes it an `nn.ModuleList` or an `nn.ModuleDict`, after which the layers are trained,
    and checkpoints have entries that older ones lack. No fix is offered where the container is used
    in other ways than these modules allow.

    ## References

    - [PyTorch: ModuleList](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    - [PyTorch: ModuleDict](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html)
    """

    code = "DST628"
    name = "unregistered-layer"
    severity = Severity.WARNING
    shared = (r"\.__init__\(\)",)

    good = (
        Example(
            title="A ModuleList",
            code="""\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
        self.activations = [nn.ReLU(), nn.Tanh()]

    def forward(self, x):
        for layer, activation in zip(self.layers, self.activations):
            x = activation(layer(x))
        return x


dist.init_process_group("gloo")
model = DDP(Net())
model(torch.ones(1, 4)).sum().backward()
assert len(list(model.parameters())) == 4
dist.destroy_process_group()
""",
        ),
        Example(
            title="A teacher that is hidden on purpose",
            code="""\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Student(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.teacher = [teacher]

    def forward(self, x):
        with torch.no_grad():
            target = self.teacher[0](x)
        return (self.net(x) - target).square().mean()


dist.init_process_group("gloo")
model = DDP(Student(nn.Linear(4, 4)))
model(torch.ones(1, 4)).backward()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Layers in a list",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self.layers = [nn.Linear(4, 4) for _ in range(2)]  # expect: DST628

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = layer(x)
        return x


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
net = Net()
model = DDP(net)
others = [torch.empty(4, 4) for _ in range(dist.get_world_size())]
dist.all_gather(others, net.layers[0].weight.detach())
assert torch.equal(others[0], others[1]), "the ranks have different weights"
dist.destroy_process_group()
""",
        ),
        Example(
            title="Layers in a dict, filled later",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self.heads = {}  # expect: DST628
        for size in sizes:
            self.heads[f"head_{size}"] = nn.Sequential(nn.Linear(4, size), nn.ReLU())

    def forward(self, x, size):
        return self.heads[f"head_{size}"](self.stem(x))


dist.init_process_group("gloo")
model = DDP(Net([2, 3]))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(1, 4), 2).sum().backward()
assert len(list(model.parameters())) == 6, "the heads are not trained"
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if document.is_test or "__init__" not in module.tokens:
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for found in unregistered(objects):
            group = _group_of(found)
            yield self.finding(
                message=f"layers of `{found.name}` are in no model: they are never trained",
                severity=Severity.WARNING,
                place=locator.place(found.point.statement.site),
                related=(related("made here", found.made, locators),),
                effect="no optimizer changes them, the ranks have different weights, and "
                "checkpoints lack them",
                help=f"Keep them in `nn.{group}`"
                if group
                else "Make them a part of the model that is wrapped and optimized",
                fix=lambda found=found: _fix(  # type: ignore[misc]
                    objects, found, Draft(locator, module, catalogue)
                ),
            )


def _group_of(found: Unregistered) -> str:
    """The module that registers what a container holds; ``""`` if it is none."""
    if not found.nodes:
        return ""
    node = found.nodes[0].node
    is_dict = isinstance(node, ir.DictDisplay) or (
        isinstance(node, ir.Comprehension) and node.kind == "dict"
    )
    if isinstance(node, ir.Call):
        is_dict = ir.last_name(node.func) not in ("list", "tuple", "sorted", "reversed", "deque")
    return "ModuleDict" if is_dict else "ModuleList"


# ---- the fix


def _fix(objects: Objects, found: Unregistered, draft: Draft) -> Fix:
    value = found.value
    is_list = isinstance(value, (ir.Display, ir.Comprehension)) and getattr(value, "kind", "") in (
        "list",
        "tuple",
    )
    is_dict = isinstance(value, ir.DictDisplay) and all(map(_is_name, value.keys))
    if not (is_list or is_dict) or _is_set_twice(objects, found):
        raise CannotFix("not a list or a dict that is written here")
    if not _is_initialized(objects, found) or not _are_modules(objects, found):
        raise CannotFix("not only modules, or set before the module is initialized")
    for each in mentions(objects, found.cls, found.name):
        if each.objects is not objects or not _allows(each.point.statement, found, is_dict):
            raise CannotFix("used in a way that the module may not allow")
    statement = draft.locator.node(found.point.statement.site)
    node = getattr(statement, "value", None)
    if not isinstance(node, cst.BaseExpression):
        raise CannotFix("not an assignment")
    group = "ModuleDict" if is_dict else "ModuleList"
    name = imports.imported(draft, "torch.nn", group, node)
    text = draft.text(node)
    if isinstance(node, cst.Tuple) and not node.lpar:
        text = f"({text})"
    draft.replace(node, f"{name}()" if text in ("[]", "{}", "()") else f"{name}({text})")
    return draft.fix("unsafe", f"Keep the layers in a {group}")


def _is_initialized(objects: Objects, found: Unregistered) -> bool:
    """Is ``super().__init__()`` called before the attribute is set?"""
    constructor = found.point.scope.function
    if constructor is None or constructor.name != "__init__":
        return True
    return any(
        each.point.scope.function is constructor
        and each.point.statement.site < found.point.statement.site
        for each in objects.calls({"__init__"})
    )


def _are_modules(objects: Objects, found: Unregistered) -> bool:
    """Is all that a container holds a module for certain, and none of it another container?"""
    contents = Contents(objects_of(objects.module, objects.catalogue))
    given = [Item(ir.Starred(found.value), found.point)]
    for fill in contents.fills_of([*found.nodes]):
        given += [Item(each, fill.point) for each in fill.items]
    return all(
        is_made_module(objects, value, each.point)
        for each in given
        for value in _parts_of(each.value)
    )


def _parts_of(value: ir.Expr) -> tuple[ir.Expr, ...]:
    """A value, or what stands in the list or dict that is spread."""
    if not isinstance(value, ir.Starred):
        return (value,)
    inner = value.value
    if isinstance(inner, ir.Display):
        return inner.items
    if isinstance(inner, ir.DictDisplay):
        return inner.values
    if isinstance(inner, ir.Comprehension):
        element = inner.element
        is_pair = inner.kind == "dict" and isinstance(element, ir.Display)
        return (element.items[1] if is_pair else element,)  # type: ignore[attr-defined]
    raise CannotFix("what is added is not known")


def _is_name(key: ir.Expr | None) -> bool:
    """Is it a constant that ``ModuleDict`` takes for a key?"""
    return isinstance(key, ir.Literal) and isinstance(key.value, str) and "." not in key.value


def _is_set_twice(objects: Objects, found: Unregistered) -> bool:
    said = mentions(objects, found.cls, found.name)
    return any(
        isinstance(each.point.statement, ir.Assign)
        and each.point.statement is not found.point.statement
        and any(
            isinstance(target, ir.Attribute) and target.attr == found.name
            for target in each.point.statement.targets
        )
        for each in said
    )


def _allows(statement: ir.Stmt, found: Unregistered, is_dict: bool) -> bool:
    """Does a statement use the attribute only in ways that the module offers as well?"""
    if statement is found.point.statement:
        return True
    allowed = 0
    for node in nodes_of(statement):
        if isinstance(node, ir.Call):
            func = node.func
            methods = _DICT_METHODS if is_dict else _LIST_METHODS
            if isinstance(func, ir.Attribute) and func.attr in methods:
                allowed += _is_it(func.value, found)
            elif ir.last_name(func) in _LOOKS and path_of(func) is not None:
                allowed += sum(_is_it(each.value, found) for each in node.args)
        elif isinstance(node, ir.Subscript):
            allowed += _is_it(node.value, found) and (not is_dict or _is_text(node.index))
        elif isinstance(node, ir.Compare) and node.ops in (("in",), ("not in",)) and is_dict:
            allowed += _is_it(node.rights[0], found)
        elif isinstance(node, ir.Comprehension):
            allowed += sum(_is_it(iterable, found) for _, iterable, _ in node.clauses)
    if isinstance(statement, ir.For):
        allowed += _is_it(statement.iterable, found)
    named = sum(_is_it(node, found) for node in nodes_of(statement))
    return allowed == named and (not _is_filled_by_key(statement, found) or is_dict)


def _is_filled_by_key(statement: ir.Stmt, found: Unregistered) -> bool:
    """``self.heads["a"] = layer``, which a ``ModuleList`` allows for an index that exists only."""
    return isinstance(statement, ir.Assign) and any(
        isinstance(each, ir.Subscript) and _is_it(each.value, found) for each in statement.targets
    )


def _is_text(index: ir.Expr) -> bool:
    """Is a key a text for certain?"""
    if isinstance(index, ir.Literal):
        return isinstance(index.value, str) and "." not in index.value
    return isinstance(index, ir.Format)


def _is_it(node: object, found: Unregistered) -> bool:
    return isinstance(node, ir.Attribute) and node.attr == found.name
