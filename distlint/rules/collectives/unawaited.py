"""DST119: an asynchronous collective whose end nobody waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import calls, names, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.collectives._following import (
    Buffer,
    Sight,
    Step,
    following,
    path_of,
    shown,
    touches,
)
from distlint.rules.collectives._issued import Issued, issued, issued_by_functions
from distlint.rules.collectives._pending import may_wait, says_wait, used_too_early
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_TO_ONE = frozenset({"torch.distributed.isend", "torch.distributed.irecv"})

_ONE_TENSOR = frozenset({"all_reduce", "broadcast", "reduce"})
"""Kinds whose buffer is a tensor and no list, so that storing to an item changes its data."""


class UnawaitedCollective(SourceRule):
    """The tensor of an asynchronous collective is used before the collective is waited for.

    ```python
    work = dist.all_reduce(loss, async_op=True)
    print(loss.item())  # may not be reduced yet
    work.wait()
    ```

    ## Use instead

    ```python
    work = dist.all_reduce(loss, async_op=True)
    work.wait()
    print(loss.item())
    ```

    Keep the handle, and call `wait()` before the first use of the tensor. If there is no work to
    overlap with the collective, remove `async_op=True`.

    ## Why is this bad?

    The call returns immediately. A tensor that is read too early holds the local value or a partial
    result, and writing to it corrupts what the other ranks receive. Nothing hangs and nothing
    raises, and on a fast network the result may be correct. A message that is never waited for may
    still be in flight when the process destroys the group or exits; the other rank then waits for
    it.

    ## What is reported

    A collective with `async_op=True` whose handle is discarded or waited for too late: the function
    reads, changes or returns the tensor before that. An `isend` or `irecv` whose handle is
    discarded. Gradients whose handles are collected in a list, where the optimizer steps or the
    gradients are clipped before the list is looked at. The finding is at the call.

    ## What is not reported

    - Each handle is waited for before its tensor is used, including handles in a list.
    - The tensor is not used again in the function.
    - The handle is returned, stored or passed on, so that other code can wait for it.
    - Code in between may wait: another collective, a barrier, `torch.cuda.synchronize()`.
    - Only views or metadata of the tensor are used (`shape`, `numel()`), or it is only stored.

    ## Fix safety

    Safe: `async_op=True` is removed from a call whose handle is discarded. Otherwise a `wait()` on
    the handle is inserted before the first use. Both only wait for data that is needed anyway.

    ## References

    - [PyTorch: synchronous and asynchronous collective operations](https://docs.pytorch.org/docs/stable/distributed.html#synchronous-and-asynchronous-collective-operations)
    """

    code = "DST119"
    name = "unawaited-collective"
    severity = Severity.WARNING

    good = (
        Example(
            title="Overlap with other work, then wait, then read",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
grads = torch.ones(4) * (1 + dist.get_rank())
work = dist.all_reduce(grads, async_op=True)
busy = torch.randn(16, 16) @ torch.randn(16, 16)
work.wait()
print("grads =", grads.tolist())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A list of handles",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
buckets = [torch.ones(2) * dist.get_rank() for _ in range(3)]
works = [dist.all_reduce(bucket, async_op=True) for bucket in buckets]
for work in works:
    work.wait()
print("sum =", sum(bucket.sum().item() for bucket in buckets))
dist.destroy_process_group()
""",
        ),
        Example(
            title="The caller waits",
            code="""\
import torch
import torch.distributed as dist


def start(tensor):
    return dist.all_reduce(tensor, async_op=True)


dist.init_process_group("gloo")
total = torch.ones(1)
handle = start(total)
handle.wait()
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="isend and irecv with wait() on both ranks",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
part = torch.ones(2)
if dist.get_rank() == 0:
    dist.isend(part, dst=1).wait()
elif dist.get_rank() == 1:
    work = dist.irecv(part, src=0)
    work.wait()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The tensor is read before wait()",
            effect="wrong data",
            code="""\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
loss = torch.tensor(1.0 + rank)
time.sleep(0.3 * rank)
work = dist.all_reduce(loss, async_op=True)  # expect: DST119
print("loss =", loss.item())
work.wait()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The handle is discarded",
            effect="wrong data",
            code="""\
import time
import torch
import torch.distributed as dist


def average(tensor):
    dist.all_reduce(tensor, async_op=True)  # expect: DST119
    return tensor / dist.get_world_size()


dist.init_process_group("gloo")
rank = dist.get_rank()
time.sleep(0.3 * rank)
print("average =", average(torch.tensor(2.0 + 2 * rank)).item())
dist.barrier()
""",
        ),
        Example(
            title="Only the last handle is waited for",
            effect="wrong data",
            code="""\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
first, second = torch.ones(1) * rank, torch.ones(1) * rank
time.sleep(0.3 * rank)
work = dist.broadcast(first, src=1, async_op=True)  # expect: DST119
print("first =", first.item())
work = dist.broadcast(second, src=1, async_op=True)
work.wait()
print("second =", second.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="isend without wait()",
            effect="static",
            why_static="it depends on timing: gloo sends a small message at once",
            code="""\
import torch
import torch.distributed as dist


def hand_over(part):
    if dist.get_rank() == 0:
        dist.isend(part, dst=1)  # expect: DST119
    elif dist.get_rank() == 1:
        dist.recv(part, src=0)


dist.init_process_group("nccl")
hand_over(torch.ones(2, device="cuda"))
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        for use in (*issued(module, catalogue), *issued_by_functions(module, catalogue)):
            if not use.is_async:
                continue
            objects = objects_across(module, catalogue)
            read = _Race(use).read() or used_too_early(use, objects)
            if read is not None:
                yield self._finding(use, read, module, locators)
        for call in _dropped(module, catalogue):
            yield self.finding(
                message=f"handle of `{ir.last_name(call.func)}` is discarded and never waited for",
                severity=Severity.WARNING,
                place=locators.of(module.key).place(call.site),
                effect="the transfer may be in flight when the tensor changes or the process exits",
                help="Keep the handle and call `wait()`, or use `send()` and `recv()`",
            )

    def _finding(self, use: Issued, read: Step, module: Module, locators: Locators) -> Finding:
        locator = locators.of(module.key)
        place = locator.place(use.call.site)
        there = locator.place(read.statement.site)
        buffer = shown(path_of(use.buffer) or ("the tensor",))
        draft = Draft(locator, module, use.names.catalogue)
        return self.finding(
            message=f"`{buffer}` is used on line {there.span.row} before `{use.op}` is waited for",
            severity=Severity.WARNING,
            place=place,
            related=(Related(f"`{buffer}` is used", there),),
            effect="the tensor may still hold the local value or a partial result",
            help="Keep the handle and call `wait()` first, or remove `async_op=True`",
            fix=lambda: self._fix(use, read, draft),
        )

    def _fix(self, use: Issued, read: Step, draft: Draft) -> Fix:
        call = draft.node(use.call.site, cst.Call)
        if getattr(use.statement, "value", None) is not use.call:
            raise CannotFix("there is more than one handle")
        if isinstance(use.statement, ir.Evaluate):
            if use.inner is not None:
                raise CannotFix("a function issues it")
            calls.remove_keyword(draft, call, use.row.async_ or "async_op")
            return draft.fix("safe", "Remove `async_op=True`")
        statement = statements.statement_of(draft, draft.locator.node(read.statement.site))
        for handle in sorted(_handles(use)):
            start, end = draft.bounds(call)[1], draft.bounds(statement)[0]
            rebound = any(
                names.binds(draft, name) and start < draft.bounds(name)[0] < end
                for name in names.used_as(draft, handle)
            )
            if not rebound and names.available(draft, handle, statement):
                statements.insert_before(draft, statement, f"{handle}.wait()")
                return draft.fix("safe", f"Call `{handle}.wait()` before the tensor is used")
        raise CannotFix("the handle is another one by then")


def _dropped(module: Module, catalogue: Catalogue) -> Iterator[ir.Call]:
    """The messages to or from one rank whose handle goes nowhere."""
    if {"isend", "irecv"}.isdisjoint(module.tokens | set(module.aliases.values())):
        return
    names = objects_across(module, catalogue).names
    for scope in names.scopes:
        for statement, around in placed(scope.body):
            if not (isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call)):
                continue
            call = statement.value
            if names.dotted(call.func, scope) in _TO_ONE and not any(
                isinstance(here.owner, ir.With) for here in around
            ):
                yield call


class _Race:
    """Looks for the first use of a tensor that a collective still works on."""

    def __init__(self, use: Issued) -> None:
        self.use = use
        path = path_of(use.buffer)
        self.buffer = Buffer(path, use.reads) if path is not None else None

    def read(self) -> Step | None:
        """The step that uses it, when nothing before can have waited."""
        if self.buffer is None or not self._is_followed() or self._is_managed():
            return None
        for step in following(self.use.around):
            if self._ends(step):
                return None
            if step.guards and step.level:
                continue  # may be the very condition under which the collective is not issued
            if self._uses(step, self.buffer):
                return step
        return None

    def _is_followed(self) -> bool:
        """Is the handle dropped, or in a variable of its own?"""
        statement = self.use.statement
        if isinstance(statement, ir.Evaluate):
            return statement.value is self.use.call
        return (
            isinstance(statement, ir.Assign)
            and statement.value is self.use.call
            and all(map(self._is_kept_here, statement.targets))
        )

    def _is_kept_here(self, target: ir.Expr) -> bool:
        """Is it a variable, or a part of one that the function itself has made?"""
        path, scope = path_of(target), self.use.scope
        return path is not None and (
            len(path) == 1
            or scope.function is None
            or (path[0] in scope.function.locals and not scope.has_param(path[0]))
        )

    def _is_managed(self) -> bool:
        """Does a context manager around the call wait for it?"""
        return any(
            says_wait(here.owner.context)
            for here in self.use.around
            if isinstance(here.owner, ir.With)
        )

    def _ends(self, step: Step) -> bool:
        """Is the tensor another one from here on, or may it have been waited for?"""
        assert self.buffer is not None
        if step.role == "store":
            return self.buffer.bound_by(step.node)
        if step.role == "leave" and not step.guards:
            return self._waits(step.node)
        return self._waits(step.node) or self.buffer.seen_in(step.node) is Sight.HANDED

    def _waits(self, node: ir.Expr) -> bool:
        statement = self.use.statement
        handles = statement.targets if isinstance(statement, ir.Assign) else ()
        return may_wait(node, self.use) or any(
            path is not None and touches(node, path) for path in map(path_of, handles)
        )

    def _uses(self, step: Step, buffer: Buffer) -> bool:
        sight = buffer.seen_in(step.node)
        if sight is Sight.READ:
            return True
        return sight is Sight.SAME and (
            step.role == "update"
            or (step.role == "store" and self.use.row.kind in _ONE_TENSOR)
            or (step.role == "leave" and isinstance(step.statement, ir.Return))
        )


def _handles(use: Issued) -> frozenset[str]:
    """The variables that hold the handle."""
    statement = use.statement
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    return frozenset(target.id for target in targets if isinstance(target, ir.Name))
