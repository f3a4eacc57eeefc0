"""DST510: what cleans up after a failure waits for the other ranks."""

from __future__ import annotations

import builtins
import sys
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.call_names import HARMLESS
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import Around, calls_of, nodes_of, placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._tensors import same
from distlint.rules.setup._order import inits, meant
from distlint.rules.setup._sequence import surely_called
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_MEETS_TOO = "accelerate.Accelerator.wait_for_everyone"
_MAKES = frozenset({"init", "destroy", "group_creation", "mesh_creation"})
_DESTROY = "torch.distributed.destroy_process_group"
_HIDES = frozenset(
    {
        "DistributedDataParallel", "DDP", "FSDP", "FullyShardedDataParallel", "fully_shard",
        "Accelerator", "deepspeed", "backward", "SyncBatchNorm", "convert_sync_batchnorm",
    }
)  # fmt: skip
"""Names in a file whose models may meet the other ranks in what looks like any call."""
_MAKERS = frozenset({"new_group", "init_process_group", "destroy_process_group"})
_LIBRARIES = sys.stdlib_module_names | {"torch", "numpy"}
_OF_FILES = frozenset({"read", "readlines", "write", "flush", "close"})
_EXITS = frozenset({"exit", "_exit", "abort"})


class CleanupOnFailure(SourceRule):
    """Cleanup code in `finally` or `except` waits for ranks that have not failed.

    ```python
    try:
        train()
    finally:
        dist.barrier()  # bad: after an error on one rank, the other ranks are still in train()
        dist.destroy_process_group()
    ```

    ## Use instead

    ```python
    train()
    dist.barrier()
    dist.destroy_process_group()
    ```

    Let the exception end the process; the launcher then terminates the other ranks. Call the
    barrier and `destroy_process_group()` on success only: after the `try`, or in its `else`.
    Destroying the process group in a `finally` looks natural, but has the same problem.

    ## Why is this bad?

    When one rank fails, it enters the barrier of its cleanup code while the other ranks wait in the
    collective of their next step. Either the barrier is matched with that collective, or all ranks
    wait until the timeout. In both cases the error of the failed rank is printed late, and often
    not at all: the job seems to hang. `destroy_process_group()` can block as well, on NCCL
    operations that are still in flight.

    ## What is reported

    - A barrier or another collective of `torch.distributed` (or Accelerate's `wait_for_everyone()`)
      in the `finally` of a `try`, or in the handler of an exception that may be raised on one rank
      alone. This is a warning; for a `finally`, it is info if the `try` contains no known
      collective after code that may fail.
    - The same by a function of the project that meets the other ranks in any case, such as a
      `synchronize()` that returns early only where there is no process group.
    - `destroy_process_group` in a `finally` (info, in preview).

    ## What is not reported

    - Nothing in the `try` can wait for other ranks: the ranks that have not failed reach the
      `finally` as well.
    - The handler re-raises or exits before the collective.
    - The handler calls a barrier and then raises, and the same barrier is the next one that the
      other ranks reach: there is no collective before it, in the `try` or after it.
    - The exception is raised on all ranks or on none: `KeyboardInterrupt`, `ImportError`.
    - The call is guarded by a test of `sys.exc_info()` or of a flag.
    - The function creates a process group of size 1.
    - All work in the `try` is guarded by a rank test: the other ranks are already in the `finally`.

    ## Fix safety

    None: distlint does not know which other cleanup in the block has to stay.

    ## References

    - [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
    - [torch.distributed: shutdown](https://docs.pytorch.org/docs/stable/distributed.html#shutdown)
    """

    code = "DST510"
    name = "cleanup-on-failure"

    good = (
        Example(
            title="Barrier after the `try`",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
log = []
try:
    log.append("work")
finally:
    log.clear()
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A process group of size 1",
            effect="static",
            why_static="there is only one process in the group",
            code="""\
import torch
import torch.distributed as dist


def alone():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        dist.all_reduce(torch.ones(1))
    finally:
        dist.destroy_process_group()


alone()
""",
        ),
        Example(
            title="All ranks reach the `finally`",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
try:
    print("rank", dist.get_rank())
finally:
    dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Barrier in the `else`",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
try:
    dist.barrier()
except Exception as error:
    print(error)
    raise
else:
    dist.barrier()
    dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The barrier in `finally` hides the error",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist


def train():
    if dist.get_rank() == 1:
        raise ValueError("a broken file")
    total = torch.ones(1)
    dist.all_reduce(total)
    assert total.item() == 2


dist.init_process_group("gloo")
try:
    train()
finally:
    dist.barrier()  # expect: DST510
print("done")
dist.destroy_process_group()
""",
        ),
        Example(
            title="The group is destroyed while other ranks use it",
            effect="static",
            why_static="it hangs with NCCL; gloo resets the connections",
            code="""\
import torch.distributed as dist


def main(config, train):
    dist.init_process_group("gloo")
    try:
        train(config)
    finally:
        dist.destroy_process_group()  # expect: DST510


main({}, print)
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        meetings = _meetings(catalogue)
        if module.words.isdisjoint(_words(catalogue) | {"destroy_process_group"}):
            return
        objects = objects_across(module, catalogue)
        tries = [
            (scope, statement, around)
            for scope in objects.names.scopes
            for statement, around in placed(scope.body)
            if isinstance(statement, ir.Try)
        ]
        locator = locators.of(module.key)
        made = list(inits(objects))
        told_one = guards_of(module, catalogue).world_size.makes_group_of_one
        alone = {init.point.scope for init in made if told_one(init)}
        alone -= {init.point.scope for init in made if not told_one(init)}
        for scope, statement, around in tries:
            if not _does_work(statement.body) or scope in alone:
                continue
            here = Point(scope, around)
            for block in _cleanups(statement):
                is_final = block is statement.final
                if is_final and _is_for_one_rank(objects, scope, statement, around):
                    continue
                if is_final and _stays_by_itself(objects, statement.body, here):
                    continue
                for site in _calls_in(block, here):
                    is_helper = _is_helper(objects, site, meetings)
                    if is_helper and _is_called_later(objects, site, statement, here):
                        break
                    if is_helper or objects.is_call_to(site, *meetings):
                        if _meets_the_others(objects, site, block, here):
                            break
                        sure = not is_final or _others_wait(objects, statement.body, here)
                        others = "never reach it" if sure else "may not reach it"
                        yield self.finding(
                            message=f"a failed rank calls `{site.name}`; other ranks {others}",
                            severity=Severity.WARNING if sure else Severity.INFO,
                            place=locator.place(site.call.site),
                            effect="the job hangs until the timeout, and the error is hidden",
                            help=f"Call `{site.name}` on success only, after the `try`",
                        )
                    elif objects.is_call_to(site, _DESTROY) and is_final:
                        finding = self.finding(
                            message="a failed rank destroys the group while others use it",
                            severity=Severity.INFO,
                            place=locator.place(site.call.site),
                            effect="with NCCL this call may hang, and the error is hidden",
                            help="Call `destroy_process_group()` on success only",
                        )
                        yield replace(finding, preview=True)


def _is_helper(objects: Objects, site: CallSite, meetings: tuple[str, ...]) -> bool:
    """Does a function of the project meet the other ranks in any case when it is called?"""
    return not objects.is_call_to(site, *meetings) and surely_called(
        objects, site, lambda where, inner: where.is_call_to(inner, *meetings)
    )


def _is_called_later(objects: Objects, site: CallSite, statement: ir.Try, point: Point) -> bool:
    """Do ranks that have not failed come to the same helper after the try?"""
    ends = {id(node) for each in placed((statement,)) for node in calls_of(each[0])}
    return any(
        each.point.scope is point.scope
        and each.call.site > site.call.site
        and id(each.call) not in ends
        for each in objects.calls({site.name})
    )


@lru_cache(maxsize=8)
def _meetings(catalogue: Catalogue) -> tuple[str, ...]:
    """The functions that send something to other ranks or wait for them."""
    found = [
        entry.name
        for entry in catalogue.entries()
        if entry.name.rpartition(".")[0] == "torch.distributed"
        and entry.collective is not None
        and entry.collective.kind not in _MAKES
    ]
    return (*found, _MEETS_TOO)


@lru_cache(maxsize=8)
def _words(catalogue: Catalogue) -> frozenset[str]:
    """The last names of these functions."""
    return frozenset(name.rpartition(".")[2] for name in _meetings(catalogue))


def _does_work(body: ir.Block) -> bool:
    """Is it more than a look at what is there?"""
    return any(
        isinstance(node, (ir.Call, ir.Yield)) for s, _ in placed(body) for node in nodes_of(s)
    )


def _is_for_one_rank(
    objects: Objects, scope: Scope, statement: ir.Try, around: tuple[Around, ...]
) -> bool:
    """Is all work behind a test of the rank, so that the others go straight to the cleanup?"""
    branches = [each for each in statement.body if _does_work((each,))]
    here = Point(scope, around)
    return all(
        isinstance(branch, ir.If)
        and not branch.orelse
        and any(asks_rank(each) for each in meant(objects, branch.test, here))
        for branch in branches
    )


def _meets_the_others(objects: Objects, site: CallSite, block: ir.Block, failed: Point) -> bool:
    """Is a barrier the next thing that the other ranks wait in, too, before the rank ends?

    Nothing in the try, nor around it up to that barrier, may be where all ranks meet.
    """
    tokens = objects.module.tokens
    if not _HIDES.isdisjoint(tokens) or not _ends(block) or site.name != "barrier":
        return False
    assert isinstance(failed.statement, ir.Try)
    if _may_meet(objects, failed.statement.body, failed):
        return False
    for here in reversed(failed.around):
        for index in range(here.index + 1, len(here.block)):
            later = here.block[index]
            first = next(iter(calls_of(later)), None)
            if isinstance(later, ir.Evaluate) and first is not None:
                if objects.called(CallSite(first, failed)) == objects.called(site):
                    return same(first, site.call)
            if _may_meet(objects, (later,), failed):
                return False
        if isinstance(here.owner, (ir.For, ir.While)):
            if _may_meet(objects, here.block[: here.index], failed):
                return False
        elif here.owner is not None and not isinstance(here.owner, ir.With):
            return False
    return False


def _stays_by_itself(objects: Objects, body: ir.Block, point: Point) -> bool:
    """Is everything in a try known not to wait? Then all ranks come to what is behind it."""
    nodes = (node for statement, _ in placed(body) for node in nodes_of(statement))
    if any(isinstance(node, ir.Yield) for node in nodes):
        return False  # the body of a with statement
    return all(_is_plain(objects, site) for site in _sites_in(body, point))


def _sites_in(block: ir.Block, point: Point) -> Iterator[CallSite]:
    for statement, _ in placed(block):
        for call in calls_of(statement):
            yield CallSite(call, point)


def _others_wait(objects: Objects, body: ir.Block, point: Point) -> bool:
    """Is there a collective in a try that a rank may fail before?"""
    may_fail = False
    for statement in body:
        may_fail = may_fail or _may_fail(objects, statement, point)
        if may_fail and _is_seen_to_meet(objects, statement):
            return True
    return False


def _may_fail(objects: Objects, statement: ir.Stmt, point: Point) -> bool:
    """Does a statement raise, or call what may? A collective fails on all ranks or on none."""
    meetings = _meetings(objects.catalogue)
    return ir.RAISE in ir.tokens_of(statement) or any(
        not _is_plain(objects, site) and not objects.is_call_to(site, *meetings)
        for site in _sites_in((statement,), point)
    )


def _is_seen_to_meet(objects: Objects, statement: ir.Stmt) -> bool:
    """Is there a collective in a statement, or in the functions of the file that it may come to?"""
    tokens = set(ir.tokens_of(statement))
    left = list(objects.module.functions)
    while True:
        met = [each for each in left if each.name in tokens or _is_made(each, tokens)]
        if not met:
            return not tokens.isdisjoint(_words(objects.catalogue) | _HIDES)
        left = [each for each in left if each not in met]
        tokens.update(*(each.tokens for each in met))


def _is_made(method: ir.Function, tokens: set[str]) -> bool:
    """Is it a method that runs when its class, or an object of it, is called?"""
    return method.owner in tokens and method.name in {"__init__", "__call__", "forward"}


def _is_plain(objects: Objects, site: CallSite) -> bool:
    """Is it a function of a library that sends nothing, or a method of a file or a logger?"""
    func = site.call.func
    if ir.last_name(func) in (HARMLESS | _OF_FILES if isinstance(func, ir.Attribute) else HARMLESS):
        return True
    name = objects.called(site)
    root, _, last = name.partition(".")
    is_library = root in _LIBRARIES if last else hasattr(builtins, name)
    return is_library and not name.startswith("torch.distributed")


def _ends(block: ir.Block) -> bool:
    """Does a handler end in an error, or in the end of the process?"""
    last = block[-1]
    return isinstance(last, ir.Raise) or any(
        ir.last_name(call.func) in _EXITS for call in calls_of(last)
    )


def _may_meet(objects: Objects, block: ir.Block, point: Point) -> bool:
    """Is there a collective in a block, or in a function of the file that it calls?"""
    meetings = _words(objects.catalogue) | _MAKERS
    for site in _sites_in(block, point):
        callee = objects.callee(site)
        tokens = {ir.last_name(site.call.func)}
        if isinstance(callee, ir.Function):
            tokens |= callee.tokens
        if not meetings.isdisjoint(tokens):
            return True
    return False


def _cleanups(statement: ir.Try) -> Iterator[ir.Block]:
    if statement.final:
        yield statement.final
    for handler in statement.handlers:
        if not handler.is_for_all and handler.types is not None:
            yield handler.body


def _calls_in(block: ir.Block, point: Point) -> Iterator[CallSite]:
    """The calls that a cleanup makes in any case before it leaves."""
    for index, statement in enumerate(block):
        if isinstance(statement, (ir.Raise, ir.Return)):
            return
        here = Point(point.scope, (*point.around, Around(block, index, point.statement)))
        if isinstance(statement, ir.If):
            if not _ASKS.isdisjoint(ir.tokens_of(statement.test)) and not statement.orelse:
                for number, inner in enumerate(statement.body):
                    deeper = Around(statement.body, number, statement)
                    for call in calls_of(inner):
                        yield CallSite(call, Point(point.scope, (*here.around, deeper)))
            continue
        for call in calls_of(statement):
            if ir.last_name(call.func) in _EXITS:
                return
            yield CallSite(call, here)


_ASKS = frozenset({"is_initialized", "is_available"})
