"""DST307: a sum or a list keeps the graph of every step."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of, place_of
from distlint.fixers import names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._steps import Backward, backwards
from distlint.rules.memory._adding import KEEPS, adds, begins
from distlint.rules.memory._dict_terms import kept_items
from distlint.rules.memory._handed import handed_over, may_go_backward
from distlint.rules.memory._one_step import is_counted, is_of_one_step
from distlint.rules.memory._returned import binds, through_functions
from distlint.rules.memory._terms import Terms
from distlint.rules.training import leaves_no_gradient, loops_around
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Path
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

Loop = ir.For | ir.While


class GraphAccumulation(SourceRule):
    """A loss is accumulated or stored together with its computation graph.

    ```python
    total = 0.0
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        total += loss  # bad: keeps the graph of every step
    ```

    ## Use instead

    ```python
    total = 0.0
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    ```

    `loss.detach()` stays on the device and needs no synchronization. `loss.item()` returns a number
    and waits for the device each time; use it for what is printed.

    ## Why is this bad?

    The loss tensor refers to its computation graph. The sum refers to the graphs of all steps so
    far, so memory grows with every step until it runs out, usually late in the epoch.

    ## What is reported

    In a training loop: `total += loss`, `total = total + loss`, a moving average
    `mean = 0.9 * mean + 0.1 * loss`, or `losses.append(loss)`, if `backward()` is called in the
    same loop on that loss, or on `loss + other`, and not on what is accumulated. Where a function
    of the project adds the terms up, or returns them beside their sum, it is looked into. The mean
    of a loss counts as well, and a variable that holds nothing else. So does a loss that a function
    of the same file returns after its backward pass. Also `meter.update(loss)`, if the method, in
    this file or another one of the project, does the same. And a loop over the items of a dict
    which does so with each of them, if `backward()` is called on an item or on their sum.

    ## What is not reported

    - `detach()`, `item()`, `float()` and similar calls; a loss variable that was assigned such a
      value.
    - `backward()` is called on the sum.
    - The sum or list is re-created or emptied in the same loop, once per optimizer step, or once
      per batch; also in each call of a function that takes one step, by the place of
      `optimizer.step()` or by a loop over gradient accumulation steps or micro batches.
    - Code under `torch.no_grad()`, and loops without a backward pass.
    - The loss is added to an object of another library, such as a running average.
    - The file is a test (`test_*.py`): it runs few steps.

    ## Fix safety

    Unsafe: `.detach()` is added to what is accumulated or stored. The values stay the same; code
    elsewhere that calls `backward()` on the sum would get no gradients.

    ## References

    - [PyTorch: FAQ, out of memory](https://docs.pytorch.org/docs/stable/notes/faq.html)
    """

    code = "DST307"
    name = "graph-accumulation"
    severity = Severity.WARNING

    good = (
        Example(
            title="Detached",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = torch.zeros(())
for step in range(3):
    loss = model(torch.ones(1, 2)).mean()
    loss.backward()
    optimizer.step()
    total += loss.detach()
assert not total.requires_grad
""",
        ),
        Example(
            title="backward() is called on the sum",
            ranks=1,
            code="""\
import torch

heads = [torch.nn.Linear(2, 1) for _ in range(3)]
total = 0.0
for head in heads:
    loss = head(torch.ones(1, 2)).mean()
    total += loss
total.backward()
""",
        ),
        Example(
            title="A sum that is reset after each window",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
running = 0.0
for step in range(8):
    loss = model(torch.ones(1, 2)).mean()
    loss.backward()
    running += loss
    if step % 4 == 3:
        print(running.item())
        running = 0.0
""",
        ),
        Example(
            title="A sum over the parts of one step",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    total = 0.0
    for part in range(4):
        loss = model(torch.ones(1, 2)).mean() / 4
        loss.backward()
        total += loss
    optimizer.step()
    optimizer.zero_grad()
    print(total.item())
""",
        ),
        Example(
            title="Another value under the same name",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
total = 0.0
for step in range(3):
    loss = model(torch.ones(1, 2)).mean()
    loss.backward()
    loss = loss.item()
    total += loss
""",
        ),
    )

    bad = (
        Example(
            title="A meter that sums its values",
            effect="fail",
            ranks=1,
            code="""\
import torch


class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value, count=1):
        self.total += value * count
        self.count += count


model = torch.nn.Linear(2, 1)
mean = Mean()
for step in range(3):
    loss = model(torch.ones(1, 2)).mean()
    loss.backward()
    mean.add(loss)  # expect: DST307
assert mean.total.grad_fn is None, "the graphs of all steps are held"
""",
        ),
        Example(
            title="A sum over the epoch",
            effect="fail",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
running = 0.0
for step in range(3):
    loss = model(torch.ones(1, 2)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running += loss  # expect: DST307
assert running.grad_fn is None, "the graphs of all steps are held"
""",
        ),
        Example(
            title="Reset once per epoch only",
            effect="fail",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)


def update():
    optimizer.step()
    optimizer.zero_grad()


for epoch in range(2):
    running = 0.0
    for step in range(3):
        loss = model(torch.ones(1, 2)).mean()
        loss.backward()
        update()
        running += loss  # expect: DST307
    scheduler.step()
assert running.grad_fn is None, "the graphs of all steps are held"
""",
        ),
        Example(
            title="A list of losses",
            effect="fail",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
losses = []
for step in range(3):
    loss = model(torch.ones(1, 2)).mean()
    loss.backward()
    losses.append(loss)  # expect: DST307
assert all(loss.grad_fn is None for loss in losses), "the graphs of all steps are held"
""",
        ),
        Example(
            title="In an attribute, with Accelerate",
            effect="fail",
            ranks=1,
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator


class Loop:
    def __init__(self):
        self.accelerator = Accelerator(cpu=True)
        self.total = 0.0

    def run(self, model):
        for step in range(3):
            loss = model(torch.ones(1, 2)).mean()
            self.total = self.total + loss / 3  # expect: DST307
            self.accelerator.backward(loss)


loop = Loop()
loop.run(torch.nn.Linear(2, 1))
assert loop.total.grad_fn is None, "the graphs of all steps are held"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if document.is_test or not may_go_backward(module):
            return
        objects = objects_across(module, catalogue)
        passes = [*backwards(objects), *handed_over(objects)]
        returned = list(through_functions(objects))
        summed = {place_of(each.loss) for each in passes}
        told: set[int] = set()
        for backward in (*passes, *returned):
            loops = list(loops_around(backward.site.point))
            if not loops:
                continue
            loop, scope = loops[0], backward.site.point.scope
            is_called = backward in returned
            losses, sums, same = _losses(objects, loop, backward)
            kept_here = (
                (statement, kept, loss)
                for loss in (*losses, *same)
                for statement, kept in (
                    *_keepers(loop, loss),
                    *_kept_by_methods(objects, scope, loop, loss),
                )
            )
            of_dicts = kept_items(objects, loop, backward)
            for statement, kept, loss in (*kept_here, *of_dicts):
                if kept in summed or kept in sums or statement.site in told:
                    continue
                if is_of_one_step(objects, backward.site, kept) or (
                    is_called and _may_be_of_one_step(loops, kept)
                ):
                    continue
                if loss not in same and _made_plain(loop, loss, statement, backward):
                    continue
                if _is_put_away(objects, statement):
                    continue
                told.add(statement.site)
                locator = locators.of(module.key)
                yield self.finding(
                    message=f"`{_spelled(kept)}` keeps the graph of every `{_spelled(loss)}`",
                    severity=Severity.WARNING,
                    place=locator.place(statement.site),
                    related=(Related("backward pass", locator.place(backward.site.call.site)),),
                    effect="memory grows with each step",
                    help=f"Use `{_spelled(loss)}.detach()`",
                    fix=partial(_fix, statement, loss, Draft(locator, module, catalogue)),
                )


def _may_be_of_one_step(loops: list[Loop], kept: Path) -> bool:
    """Is a sum begun in each turn of a loop that does not count: one over batches, perhaps?"""
    return any(
        isinstance(loop, ir.For) and not is_counted(loop.iterable)
        for loop in loops
        if begins(loop, kept)
    )


def _losses(
    objects: Objects, loop: Loop, backward: Backward
) -> tuple[list[Path], set[Path], tuple[Path, ...]]:
    """What has the graph of a backward pass: its loss and the terms of it.

    With the variables that are sums of these, and those that hold one of them.
    """
    scope = backward.site.point.scope
    inside = [
        point
        for point in objects.points_in(scope)
        if any(here.owner is loop and here.block is loop.body for here in point.around)
    ]
    terms = Terms(objects, inside)
    found = terms.of(backward.loss, backward.site.point)
    own = place_of(backward.loss)
    losses = list(dict.fromkeys((*([own] if own is not None else []), *found)))
    return losses, terms.sums, terms.same_as(losses)


def _keepers(loop: Loop, loss: Path) -> Iterator[tuple[ir.Stmt, Path]]:
    """The statements of a loop that add a loss to something, or put it into a list."""
    for statement, around in placed(loop.body):
        if any(leaves_no_gradient(here.owner) for here in around):
            continue
        for kept in adds(statement, loss):
            if kept != loss:
                yield statement, kept


def _kept_by_methods(
    objects: Objects, scope: Scope, loop: Loop, loss: Path
) -> Iterator[tuple[ir.Stmt, Path]]:
    """The statements of a loop that hand a loss to a method which adds it up, as a meter's does."""
    for point in objects.points_in(scope):
        statement = point.statement
        if not isinstance(statement, ir.Evaluate) or not isinstance(statement.value, ir.Call):
            continue
        owners = [here.owner for here in point.around]
        if loop not in owners or any(map(leaves_no_gradient, owners)):
            continue
        call = statement.value
        kept = path_of(call.func.value) if isinstance(call.func, ir.Attribute) else None
        if kept is None or not any(place_of(each.value) == loss for each in call.args):
            continue
        method = _method(objects, CallSite(call, point))
        if method is not None and any(
            _adds_up(method, name) for name in _taken_as(method, call, loss)
        ):
            yield statement, kept


def _is_put_away(objects: Objects, statement: ir.Stmt) -> bool:
    """Is a loss given to an object of a class that is not in sight, and no list?"""
    call = statement.value if isinstance(statement, ir.Evaluate) else None
    if not isinstance(call, ir.Call) or not isinstance(call.func, ir.Attribute):
        return False
    if call.func.attr not in KEEPS:
        return False  # its method has been read
    point = next(each for each in objects.points if each.statement is statement)
    made = [origin.call for origin in objects.origins(call.func.value, point)]
    return bool(made) and all(
        each is not None
        and ir.last_name(each.func)[:1].isupper()
        and _method(objects, CallSite(call, point)) is None
        for each in made
    )


def _method(objects: Objects, site: CallSite) -> ir.Function | None:
    """The method that is called: of a class here or in the project, or the only one of its name."""
    callee = objects.callee(site)
    if isinstance(callee, ir.Function):
        return callee
    func = site.call.func
    assert isinstance(func, ir.Attribute)
    made = {
        o.call.func.id
        for o in objects.origins(func.value, site.point)
        if o.call is not None and isinstance(o.call.func, ir.Name)
    }
    if len(made) == 1:
        cls = objects.module.imported_class(made.pop())
        return cls.methods.get(func.attr) if cls is not None else None
    own = [c.methods[func.attr] for c in objects.module.classes.values() if func.attr in c.methods]
    is_open = all(isinstance(o.node, ir.Name) for o in objects.origins(func.value, site.point))
    return own[0] if len(own) == 1 and is_open else None


def _taken_as(method: ir.Function, call: ir.Call, loss: Path) -> Iterator[str]:
    """The parameters of a method that a call gives the loss."""
    for index, argument in enumerate(call.args):
        if place_of(argument.value) != loss or argument.star:
            continue
        if argument.keyword is not None:
            yield argument.keyword
        elif index + 1 < len(method.params):
            yield method.params[index + 1].name


def _adds_up(method: ir.Function, name: str) -> bool:
    """Does a method add a parameter as it is to an attribute, or put it into a list there?"""
    if method.decorators or any(param.star and param.name == name for param in method.params):
        return False
    found = False
    for statement, around in placed(method.body):
        if binds(statement, (name,)) or any(leaves_no_gradient(here.owner) for here in around):
            return False
        found = found or any(kept[0] == "self" for kept in adds(statement, (name,)))
    return found


def _fix(statement: ir.Stmt, loss: Path, draft: Draft) -> Fix:
    node = draft.locator.node(statement.site)
    value = node.value if isinstance(node, (cst.Assign, cst.AugAssign, cst.Expr)) else None
    if value is None:
        raise CannotFix("not a plain statement")
    if isinstance(node, cst.Expr) and isinstance(value, cst.Call):
        given = [each.value for each in value.args if _is_spelled(draft, each.value, loss)]
        value = given[0] if given else value.args[0].value
    uses = [found for found in (value, *names.inside(value)) if _is_spelled(draft, found, loss)]
    for found in dict.fromkeys(uses):
        draft.replace(found, f"{draft.text(found)}.detach()")
    return draft.fix("unsafe", "Detach the loss")


def _spelled(path: Path) -> str:
    """``losses["box"]``, as it may be written."""
    return path[0] + "".join(
        f'["{each[1:-1]}"]' if each[0] == "[" else f".{each}" for each in path[1:]
    )


def _is_spelled(draft: Draft, node: cst.CSTNode, path: Path) -> bool:
    kinds = (cst.Name, cst.Attribute, cst.Subscript)
    return isinstance(node, kinds) and draft.text(node).replace("'", '"') == _spelled(path)


def _made_plain(loop: Loop, loss: Path, keeper: ir.Stmt, backward: Backward) -> bool:
    """May the loss that is kept be another value than the one that was back-propagated?"""
    there, here = backward.site.point.statement.site, keeper.site
    for statement, _ in placed(loop.body):
        if min(there, here) < statement.site < max(there, here) and binds(statement, loss):
            return True
    return False
