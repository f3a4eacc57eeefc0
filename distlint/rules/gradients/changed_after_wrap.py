"""DST614: parameters that are unfrozen, added or converted after DDP has made its hooks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.names import expressions_in, expressions_of
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import ELEMENT, Path, Point, path_of
from distlint.fixers import names, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule, related
from distlint.rules.gradients._unfrozen import unfrozen_by_wrapper
from distlint.rules.gradients._wrapped_parts import changes_after_wrap, wrapped_later
from distlint.rules.training import DDP
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_FLAG = "requires_grad"
_INNER = "module"


class ParametersChangedAfterWrap(SourceRule):
    """Parameters are unfrozen, added or converted after wrapping in `DistributedDataParallel`.

    ```python
    net.backbone.requires_grad_(False)
    model = DDP(net)
    model.module.backbone.requires_grad_(True)  # bad: DDP has no hooks for these
    ```

    ## Use instead

    ```python
    net.backbone.requires_grad_(True)
    model = DDP(net)
    ```

    To unfreeze during training, wrap the model again, on all ranks and at the same step, and
    re-create the optimizer.

    ## Why is this bad?

    DDP looks at the parameters once, at construction, and registers hooks on those that require
    gradients. Parameters that are unfrozen or added later have no hook, and a conversion to another
    type or device removes the hooks: each rank trains them with its local gradients, and the
    replicas diverge without an error. If a layer is replaced, DDP also waits for the gradients of
    the old one, and the second forward pass raises "Expected to have finished reduction in the
    prior iteration" unless `find_unused_parameters` is set.

    ## What is reported

    - `requires_grad = True` or `requires_grad_()` on parameters of `model.module` after
      `model = DDP(...)`, in a file that never freezes them after the wrap. Also on those of
      `model.parameters()` and by functions of the project, where the same function has frozen
      parameters of the model before it wraps it.
    - A new layer or parameter: `model.module.head = nn.Linear(...)`, `model.module[1] = ...`,
      `add_module`, `register_module`, `register_parameter` and `setattr`, also by the name that the
      model had before the wrap, if a backward pass follows.
    - A conversion of the wrapped model or what is inside: `half()`, `bfloat16()`, `double()`,
      `to(torch.float16)` and the like, and `cpu()` or `to("cpu")` in a file that uses CUDA, if a
      backward pass follows.

    ## What is not reported

    - Changes before the wrap, or before another one in the same function.
    - Layers without parameters, such as `nn.Identity()`, and layers that the model has already.
    - `model.cuda()` and `model.to(device)`: the model is usually there already.
    - A conversion to a type that the model was converted to before the wrap.
    - Files that average gradients themselves, judging by the names in them.
    - Files that also freeze parameters after the wrap, of `model.module` or of the whole wrapper:
      the parameters are switched off and on, as in a GAN, and DDP has hooks for them.

    ## Fix safety

    Unsafe: the unfreezing is moved before the wrap and applied to the model that is wrapped.
    Offered if both are in the same block and nothing between them uses the model. To unfreeze after
    some steps, the model has to be wrapped again, and only you can say when. New layers and
    conversions are not fixed automatically.

    ## References

    - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "DST614"
    name = "parameters-changed-after-wrap"
    severity = Severity.WARNING

    good = (
        Example(
            title="Frozen before wrapping",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
for parameter in net[0].parameters():
    parameter.requires_grad = False
for parameter in net[1].parameters():
    parameter.requires_grad = True
model = DDP(net)
model(torch.ones(1, 2) * dist.get_rank()).sum().backward()
print("grad =", model.module[1].bias.grad.tolist())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Frozen and unfrozen in each step",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
critic = DDP(torch.nn.Linear(2, 1))
for step in range(2):
    for parameter in critic.module.parameters():
        parameter.requires_grad = False
    critic(torch.ones(1, 2, requires_grad=True)).sum().backward()
    for parameter in critic.module.parameters():
        parameter.requires_grad = True
    critic(torch.ones(1, 2) * dist.get_rank()).sum().backward()
print("grad =", critic.module.weight.grad.tolist())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Unfrozen after wrapping",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
net[0].requires_grad_(False)
model = DDP(net)
for parameter in model.module[0].parameters():
    parameter.requires_grad = True  # expect: DST614
model(torch.ones(1, 2) * dist.get_rank()).sum().backward()
print("grad =", model.module[0].weight.grad.tolist())
dist.barrier()
""",
        ),
        Example(
            title="A new layer after wrapping",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
model = DDP(net, find_unused_parameters=True)
model.module[1] = torch.nn.Linear(2, 1)  # expect: DST614
for step in range(2):
    model(torch.ones(1, 2) * dist.get_rank()).sum().backward()
grads = [torch.empty(1, 2) for _ in range(dist.get_world_size())]
dist.all_gather(grads, model.module[1].weight.grad)
assert torch.equal(grads[0], grads[1]), "the gradients are not averaged"
""",
        ),
        Example(
            title="A layer replaced after wrapping",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(2, 2)
        self.head = torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.head(self.body(x))


dist.init_process_group("gloo")
model = DDP(Net())
model.module.head = torch.nn.Linear(2, 4)  # expect: DST614
for step in range(2):
    model(torch.ones(1, 2)).sum().backward()
""",
        ),
        Example(
            title="Converted after wrapping",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DDP(torch.nn.Linear(2, 1))
model.bfloat16()  # expect: DST614
model(torch.ones(1, 2, dtype=torch.bfloat16) * dist.get_rank()).sum().backward()
grads = [None] * dist.get_world_size()
dist.all_gather_object(grads, model.module.weight.grad.tolist())
assert grads[0] == grads[1], "the gradients are not averaged"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        yield from self._parts(module, catalogue, locators)
        told = set[int]()
        draft = Draft(locators.of(module.key), module, catalogue)
        if {"DDP", "DistributedDataParallel"} & module.words:
            for point, by in unfrozen_by_wrapper(objects_across(module, catalogue)):
                if not wrapped_later(objects_across(module, catalogue), point):
                    told.add(point.statement.site)
                    yield self._unfrozen(point, by, locators, draft)
        if module.tokens.isdisjoint({_FLAG, f"{_FLAG}_"}) or _INNER not in module.tokens:
            return
        objects = objects_across(module, catalogue)
        flags = list(_flags(objects))
        changes = [
            (point, value, wrap)
            for point, value, owner in flags
            if (wrap := _wrap_of(objects, owner, point)) or _is_inside(objects, owner, point)
        ]
        if any(value is not True for _, value, _ in changes):
            return
        if any(
            value is not True and _is_of_wrapper(objects, owner, point, changes)
            for point, value, owner in flags
        ):
            return
        for point, _, wrap in changes:
            if point.statement.site not in told and not wrapped_later(objects, point):
                yield self._unfrozen(point, wrap, locators, draft)

    def _unfrozen(
        self, point: Point, wrap: CallSite | None, locators: Locators, draft: Draft
    ) -> Finding:
        return self.finding(
            message="parameters are unfrozen after wrapping in DDP",
            severity=Severity.WARNING,
            place=draft.locator.place(point.statement.site),
            related=(related("wrapped here", wrap, locators),) if wrap else (),
            effect="their gradients are not averaged, and the replicas silently diverge",
            help="Unfreeze before wrapping, or wrap the model again",
            fix=partial(_fix, point, wrap, draft),
        )

    def _parts(self, module: Module, catalogue: Catalogue, locators: Locators) -> Iterator[Finding]:
        """New layers and conversions."""
        if "backward" not in module.tokens and "DistributedDataParallel" not in module.words:
            return
        for change in changes_after_wrap(guards_of(module, catalogue)):
            yield self.finding(
                message=change.message,
                severity=Severity.WARNING,
                place=locators.of(module.key).place(change.point.statement.site),
                related=(related("wrapped here", change.wrap, locators),),
                effect=change.effect,
                help=change.help,
            )


def _fix(point: Point, wrap: CallSite | None, draft: Draft) -> Fix:
    if wrap is None or wrap.point.scope.module is not point.scope.module:
        raise CannotFix("the wrap is somewhere else")
    call = draft.node(wrap.call.site, cst.Call)
    wrapping = statements.statement_of(draft, call)
    model, net = _names_of(draft, wrapping, call)
    block = statements.siblings(draft, wrapping)
    change = next(
        (s for s in block if any(n is s for n in _around(draft, point.statement.site))), None
    )
    if change is None or block.index(change) < block.index(wrapping):
        raise CannotFix("the change is not beside the wrap")
    between = block[block.index(wrapping) + 1 : block.index(change)]
    if names.read(draft, *between) & {model, net}:
        raise CannotFix("the model is used in between")
    inner = [
        node
        for node in names.inside(change)
        if isinstance(node, cst.Attribute) and names.dotted(node) == f"{model}.{_INNER}"
    ]
    uses = [name for name in names.used(draft, change) if name.value == model]
    if len(uses) != len(inner) or not names.read(draft, change).isdisjoint(
        names.stored(draft, *between)
    ):
        raise CannotFix("the change needs more than the model inside")
    indent = statements.indent_of(draft, change)
    text = statements.moved_text(draft, change, indent, indent)
    if text.count(f"{model}.{_INNER}") != len(inner):
        raise CannotFix("the text also holds the name of the model for something else")
    statements.prepend(draft, wrapping, text.replace(f"{model}.{_INNER}", net))
    statements.remove(draft, change, comments=True)
    return draft.fix("unsafe", "Unfreeze before wrapping")


def _names_of(draft: Draft, wrapping: cst.CSTNode, call: cst.Call) -> tuple[str, str]:
    """What the wrapper and the model inside are called."""
    if isinstance(wrapping, cst.Assign) and wrapping.value is call and call.args:
        target, given = wrapping.targets[0].target, call.args[0]
        if len(wrapping.targets) == 1 and isinstance(target, cst.Name):
            if isinstance(given.value, cst.Name) and given.keyword is None and not given.star:
                return target.value, given.value.value
    raise CannotFix("the model has no plain name")


def _around(draft: Draft, site: int) -> Iterator[cst.CSTNode]:
    node = draft.locator.node(site)
    yield node
    yield from draft.ancestors(node)


def _flags(objects: Objects) -> Iterator[tuple[Point, object, ir.Expr]]:
    """Where ``requires_grad`` is set: the value, and the expression of what it is set on."""
    for point in objects.points:
        statement = point.statement
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                if isinstance(target, ir.Attribute) and target.attr == _FLAG:
                    value = statement.value
                    constant = value.value if isinstance(value, ir.Literal) else ...
                    yield point, constant, target.value
    for site in objects.calls({f"{_FLAG}_"}):
        if isinstance(site.call.func, ir.Attribute):
            passed = objects.argument(site, _FLAG, 0)
            yield site.point, objects.constant(passed, site.point, True), site.call.func.value


def _wrap_of(objects: Objects, owner: ir.Expr, point: Point) -> CallSite | None:
    """The call that wraps the model whose inner parameters an expression is of."""
    for origin in objects.origins(owner, point):
        found = _ddp(objects, origin)
        if found is not None and _INNER in origin.attributes:
            return found
        if origin.item == ELEMENT or isinstance(origin.node, (ir.Call, ir.Subscript)):
            for node in expressions_in(origin.node):
                if isinstance(node, ir.Attribute) and _INNER in (path_of(node) or (node.attr,)):
                    for inner in objects.origins(node, origin.point):
                        found = _ddp(objects, inner)
                        if found is not None:
                            return found
    return None


def _is_inside(objects: Objects, owner: ir.Expr, point: Point) -> bool:
    """Is it a part of ``x.module``, where ``x`` comes from elsewhere and is trained here?"""
    for origin in objects.origins(owner, point):
        for node in expressions_in(origin.node):
            path = path_of(node) if isinstance(node, ir.Attribute) else None
            if path is not None and path[-1] == _INNER:
                trained = {path_of(each.call.func) for each in objects.calls({path[-2]})}
                known = objects.origins(node.value, origin.point)
                foreign = all(isinstance(each.node, (ir.Name, ir.Attribute)) for each in known)
                if foreign and path[:-1] in trained and "backward" in objects.module.tokens:
                    return True
    return False


def _is_of_wrapper(
    objects: Objects,
    owner: ir.Expr,
    point: Point,
    changes: list[tuple[Point, object, CallSite | None]],
) -> bool:
    """Is it a parameter of the whole wrapper, whose ``.module`` the function changes behind it?"""
    for origin in objects.origins(owner, point):
        held = origin.node.func if isinstance(origin.node, ir.Call) else owner
        model = held.value if isinstance(held, ir.Attribute) else held
        path = path_of(model)
        if path is None:
            continue
        if any(_ddp(objects, each) for each in objects.origins(model, origin.point)):
            return True
        if any(
            wrap is None
            and change.scope is point.scope
            and change.statement.site > point.statement.site
            and _holds_inner(objects, change, path)
            for change, _, wrap in changes
        ):
            return True
    return False


def _holds_inner(objects: Objects, change: Point, path: Path) -> bool:
    """Is a statement, or a loop around it, about ``.module`` of a wrapper?"""
    loops = [here.owner.iterable for here in change.around if isinstance(here.owner, ir.For)]
    return any(
        isinstance(node, ir.Attribute) and (path_of(node) or ())[: len(path) + 1] == (*path, _INNER)
        for part in (*loops, *expressions_of(change.statement))
        for node in expressions_in(part)
    )


def _ddp(objects: Objects, origin: Origin) -> CallSite | None:
    if isinstance(origin.node, ir.Call):
        site = CallSite(origin.node, origin.point)
        if objects.is_call_to(site, *DDP):
            return site
    return None
