"""DST120: a process group that is made again in every turn of a loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.fixers import names as written
from distlint.fixers import ranks, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.collectives._group_per_call import MAKER, changes, changing_in, made_per_call
from distlint.rules.collectives._issued import collective_of
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.fixers.statements import Statement
    from distlint.source.document import Document

_DESTROYER = "destroy_process_group"


class GroupInLoop(SourceRule):
    """The same process group is re-created on every iteration of a loop.

    ```python
    for batch in loader:
        group = dist.new_group([0, 1])
        dist.all_reduce(batch, group=group)
    ```

    ## Use instead

    ```python
    group = dist.new_group([0, 1])
    for batch in loader:
        dist.all_reduce(batch, group=group)
    ```

    Create the group once, before the loop. A group of all ranks exists already: omit `group=`.

    ## Why is this bad?

    `new_group` is a collective: all ranks of the job wait for each other. Each group keeps a
    communicator with buffers and threads until the process ends, so that a long run leaks memory
    and file descriptors with every step, and NCCL runs out of them.

    ## What is reported

    - `new_group` in a loop with arguments that are the same on every iteration, where a collective
      in the loop uses the group and nothing in the loop destroys it.
    - The same in a function that a training loop calls, also through other functions and from
      another file, where the function makes the group for itself.

    ## What is not reported

    - An argument may change between iterations: one group for each entry of a list is how groups
      are set up.
    - The group is stored, or passed to code other than a collective.
    - The group is destroyed in the loop.
    - A function keeps the group for its next call: in an attribute, a cache, under a test.

    ## Fix safety

    Unsafe: the group is created before the loop, together with the assignments that its arguments
    come from. Offered if these are directly in the body of the loop.

    ## References

    - [PyTorch: new_group](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.new_group)
    - [NCCL: creating a communicator](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/usage/communicators.html)
    """

    code = "DST120"
    name = "group-made-in-loop"
    severity = Severity.WARNING

    good = (
        Example(
            title="One group for each node, created once",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
mine = None
for first in range(0, dist.get_world_size(), 2):
    ranks = [first, first + 1]
    group = dist.new_group(ranks)
    if dist.get_rank() in ranks:
        mine = group
for step in range(3):
    dist.all_reduce(torch.ones(1), group=mine)
""",
        ),
        Example(
            title="A group for each size, destroyed after use",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
for attempt in range(2):
    group = dist.new_group(list(range(dist.get_world_size())))
    dist.all_reduce(torch.ones(1), group=group)
    dist.destroy_process_group(group)
""",
        ),
        Example(
            title="Groups that differ between iterations",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
for size in range(1, dist.get_world_size() + 1):
    ranks = list(range(size))
    group = dist.new_group(ranks)
    if dist.get_rank() in ranks:
        dist.all_reduce(torch.ones(1), group=group)
""",
        ),
    )

    bad = (
        Example(
            title="The same group in every step",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
for step in range(3):
    ranks = [0, 1]
    # those that add up
    group = dist.new_group(ranks)  # expect: DST120
    total = torch.tensor([float(step)])
    dist.all_reduce(total, group=group)
groups = len(dist.distributed_c10d._world.pg_map)
assert groups == 2, f"{groups} groups"
""",
        ),
        Example(
            title="A group of all ranks in every step",
            effect="static",
            why_static="a few steps finish; a long run loses a communicator with each of them",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
world_size = dist.get_world_size()
for step in range(3):
    ranks = list(range(world_size))
    group = dist.new_group(ranks=ranks)  # expect: DST120
    total = torch.tensor([float(step)])
    dist.all_reduce(total, group=group)
    print(step, total.item())
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "new_group" not in module.tokens:
            return
        objects = objects_across(module, catalogue)
        for call, loop in _repeated(objects):
            yield self.finding(
                message="process group re-created on every iteration",
                severity=Severity.WARNING,
                place=locators.of(module.key).place(call.site),
                effect="each iteration synchronizes all ranks and leaks a communicator",
                help="Create the group once, before the loop",
                fix=partial(_fix, call, loop, Draft(locators.of(module.key), module, catalogue)),
            )
        for site, where, around in made_per_call(objects):
            yield self.finding(
                message="process group re-created on every call of a function in a loop",
                severity=Severity.WARNING,
                place=locators.of(module.key).place(site.call.site),
                related=(Related("the loop", locators.of(where.module.key).place(around.site)),),
                effect="each iteration synchronizes all ranks and leaks a communicator",
                help="Create the group once, before the loop, and pass it or keep it in an object",
            )


def _fix(call: ir.Call, loop: ir.For | ir.While, draft: Draft) -> Fix:
    around = draft.locator.node(loop.site)
    assert isinstance(around, (cst.For, cst.While))
    ranks.require_all(draft, around)
    making = statements.statement_of(draft, draft.node(call.site, cst.Call))
    body = statements.siblings(draft, making)
    if draft.parent(statements.block_of(draft, making)) is not around:
        raise CannotFix("the group is not created in every iteration")
    moved = _with_operands(draft, body, making)
    own = written.bound(draft, *moved)
    others = [each for each in body if each not in moved]
    if own & written.stored(draft, *others):
        raise CannotFix("something else changes what is moved")
    statements.move_before(draft, around, *moved)
    return draft.fix("unsafe", "Create the group once, before the loop")


def _with_operands(draft: Draft, body: list[Statement], making: Statement) -> list[Statement]:
    """A statement with the assignments of a loop's body that its operands come from, in order."""
    chosen = {making}
    size = 0
    while size != len(chosen):
        size = len(chosen)
        wanted = written.read(draft, *chosen)
        for each in body[: body.index(making)]:
            if written.bound(draft, each) & wanted:
                if not isinstance(each, cst.Assign):
                    raise CannotFix("an operand is made by more than an assignment")
                chosen.add(each)
    return [each for each in body if each in chosen]


def _repeated(objects: Objects) -> Iterator[tuple[ir.Call, ir.For | ir.While]]:
    for site in objects.calls_to(MAKER):
        statement = site.point.statement
        owners = (here.owner for here in reversed(site.point.around))
        loop = next((each for each in owners if isinstance(each, (ir.For, ir.While))), None)
        if loop is None or not isinstance(statement, ir.Assign) or statement.value is not site.call:
            continue
        groups = {path_of(target) for target in statement.targets} - {None}
        changing = changing_in(objects, loop, site.call)
        if not any(changes(objects, each.value, changing) for each in site.call.args):
            if _is_used_up(objects, groups, loop, site.point):
                yield site.call, loop


def _is_used_up(
    objects: Objects, groups: Set[object], loop: ir.For | ir.While, made: Point
) -> bool:
    """Is the group used for a collective in the loop, and neither kept nor destroyed there?"""
    used = False
    for point in objects.points_in(made.scope):
        if not any(here.owner is loop for here in point.around):
            continue
        if _DESTROYER in ir.tokens_of(point.statement):
            return False
        for node in calls_of(point.statement):
            if any(path_of(argument.value) in groups for argument in node.args):
                if collective_of(objects, CallSite(node, point)) is None:
                    return False
                used = True
    return used
