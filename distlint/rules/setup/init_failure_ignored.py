"""DST515: a process that cannot join the group goes on by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.callers import called_elsewhere, calls_elsewhere, objects_in
from distlint.analyzer.static.guards.deciding import choices_of
from distlint.analyzer.static.names import Around, calls_of, nodes_of
from distlint.analyzer.static.objects.objects import objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._giving_up import (
    callers_end,
    gives_up,
    goes_on,
    repeats,
    takes_all,
    takes_failure,
)
from distlint.rules.setup._order import INIT, is_test
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_PACKAGE, _, _NAME = INIT.rpartition(".")
_CLEANS_UP = re.compile(r"^(print|info|debug|close|finish)|destroy|cleanup|shutdown|exit")
_COMPUTES = frozenset(
    {"int", "float", "round", "str", "divmod", "abs", "min", "max", "sum", "len"}
    | {"format", "timedelta", "total_seconds", "strftime", "max_memory_allocated"}
)
_MAX_CALLS = 2
"""How many calls around the initialization are followed."""


class InitFailureIgnored(SourceRule):
    """A process whose `init_process_group` fails goes on by itself, as if it were the only one.

    ```python
    try:
        dist.init_process_group("nccl")
        rank, world_size = dist.get_rank(), dist.get_world_size()
    except Exception:  # bad: a timeout or a wrong address makes every process rank 0
        rank, world_size = 0, 1
    ```

    ## Use instead

    ```python
    rank, world_size = 0, 1
    if "RANK" in os.environ:  # started by a launcher
        dist.init_process_group("nccl")
        rank, world_size = dist.get_rank(), dist.get_world_size()
    ```

    ## Why is this bad?

    The handler is meant for a run without a launcher, and catches all other failures too: a port
    in use, a wrong address, a node that comes too late, NCCL without a network. Each process then
    trains by itself as rank 0, all of them write the same checkpoints and logs, and nothing but a
    line in the log says so. If only one process fails, the others wait for it until the timeout.

    ## What is reported

    A `try` with `init_process_group`, or with a function of the project that calls it, whose
    handler goes on, and catches every exception, as `except:` and `except Exception:` do, or the
    errors of a connection: `DistNetworkError` and the like, and a `RuntimeError` after which it
    returns or assigns constants, such as `return False`. Also `contextlib.suppress(Exception)`,
    and attempts in a loop if the function then returns such a constant.

    ## What is not reported

    - A handler for certain exceptions, such as `except KeyError:` for variables that a launcher
      would have set.
    - A handler that raises, ends the process or joins the group in another way.
    - Another `try` in a loop, which is there to try again.
    - A caller looks at what the function returns, and ends: `if not join(): sys.exit(1)`.
    - The group is asked for something after it in any case: `dist.get_rank()` raises without one.
    - A `try` around all of the work: nothing comes after it but an end, such as messages and the
      times and numbers in them.
    - Code that tests something.

    ## Fix safety

    None: what shows that a run has several processes depends on the launcher.

    ## References

    - [PyTorch: init_process_group](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group)
    - [torchrun: environment variables](https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables)
    """

    code = "DST515"
    name = "init-failure-ignored"
    severity = Severity.WARNING

    good = (
        Example(
            title="Only without a launcher",
            code="""\
import os

import torch.distributed as dist

try:
    world_size = int(os.environ["WORLD_SIZE"])
except KeyError:
    world_size = 1
if world_size > 1:
    dist.init_process_group("gloo")
    dist.barrier()
    dist.destroy_process_group()
""",
        ),
        Example(
            title="Logged, and raised again",
            code="""\
import logging

import torch.distributed as dist

try:
    dist.init_process_group("gloo")
except Exception:
    logging.exception("cannot join the group")
    raise
dist.destroy_process_group()
""",
        ),
        Example(
            title="Tried again",
            code="""\
import time

import torch.distributed as dist

for attempt in range(3):
    try:
        dist.init_process_group("gloo")
        break
    except Exception:
        time.sleep(attempt)
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Every process is rank 0",
            effect="fail",
            code="""\
import os

import torch.distributed as dist


def setup(backend):
    try:
        dist.init_process_group(backend)
        return dist.get_rank(), dist.get_world_size()
    except Exception as error:  # expect: DST515
        print("not distributed:", error)
        return 0, 1


rank, world_size = setup("mpi")
assert world_size == int(os.environ["WORLD_SIZE"]), "trains alone"
""",
        ),
        Example(
            title="A helper that fails",
            effect="fail",
            code="""\
import os

import torch.distributed as dist


def join():
    dist.init_process_group("mpi")


rank, world_size = 0, 1
try:
    join()
    rank, world_size = dist.get_rank(), dist.get_world_size()
except:  # expect: DST515
    print("running on one GPU")
assert world_size == int(os.environ["WORLD_SIZE"]), "trains alone"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if not any(_NAME in each.words for each in (module, *module.imports)):
            return
        objects = objects_of(module, catalogue)
        for point in objects.points:
            handlers = _handlers(objects, point)
            if handlers is None or is_test(document, point):
                continue
            join = next(_joins(objects, _inside(objects, point), _MAX_CALLS), None)
            if join is None or not _has_more(objects, point, _MAX_CALLS):
                continue
            if _fails_later(objects, point, handlers) or callers_end(objects, point):
                continue
            there, call = join
            joined = locators.of(there.module.key).place(call.site)
            for site in [each.site for each in handlers]:
                yield self.finding(
                    message="a process that cannot join the group goes on alone",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(site),
                    related=(Related("joins here", joined),),
                    effect="it trains by itself as if it were the only one, and writes the files "
                    "of rank 0",
                    help="Decide by the variables of the launcher whether there are several "
                    "processes, and let the exception end the process",
                )


def _handlers(objects: Objects, point: Point) -> list[ir.Handler] | None:
    """The handlers that go on without a group, also those of ``suppress``; None if none does."""
    statement = point.statement
    if not isinstance(statement, ir.Try) or (repeats(point) and not gives_up(point)):
        return None
    found = [each for each in statement.handlers if takes_failure(each) and goes_on(each)]
    return found or None


def _inside(objects: Objects, point: Point) -> Iterator[Point]:
    """The statements that a try covers, but for those that a loop or another try in it covers."""
    statement = point.statement
    assert isinstance(statement, ir.Try)
    depth = len(point.around)
    for each in objects.points_in(point.scope):
        here = each.around[depth] if len(each.around) > depth else None
        if here is not None and here.owner is statement and here.block is statement.body:
            inner = Point(point.scope, each.around[depth + 1 :])
            if not repeats(inner) and not _is_tried(inner):
                yield each


def _joins(
    objects: Objects, points: Iterable[Point], depth: int
) -> Iterator[tuple[Objects, ir.Call]]:
    """The calls that join the group, also in the functions of the project that are called."""
    for point in points:
        for call in calls_of(point.statement):
            site = CallSite(call, point)
            if objects.is_call_to(site, INIT):
                yield objects, call
            elif depth:
                there, function = _called(objects, site)
                scope = there.scope_of(function) if function is not None else None
                covered = (
                    each
                    for each in (there.points_in(scope) if scope is not None else ())
                    if not repeats(each) and not _is_tried(each)
                )
                yield from _joins(there, covered, depth - 1)


def _called(objects: Objects, site: CallSite) -> tuple[Objects, ir.Function | None]:
    """The function that a call calls, in this file or another one."""
    own = objects.callee(site)
    if isinstance(own, ir.Function):
        return objects, own
    known = called_elsewhere(objects.module, site.call.func) if own is None else None
    return (objects_in(known[0]), known[1]) if known is not None else (objects, None)


def _is_tried(point: Point) -> bool:
    """Does a handler take every exception of a statement?"""
    return any(
        isinstance(here.owner, ir.Try)
        and here.block is here.owner.body
        and any(map(takes_all, here.owner.handlers))
        for here in point.around
    )


def _has_more(objects: Objects, point: Point, depth: int) -> bool:
    """Does the program do something after a statement, here or where the function is called?"""
    for here in point.around:
        at = Point(point.scope, point.around)
        if not all(_is_end(objects, each, at) for each in here.block[here.index + 1 :]):
            return True
    function = point.scope.function
    if function is None or not depth:
        return False
    if any(_has_more(objects, each.point, depth - 1) for each in objects.callers(function)):
        return True
    return any(
        _has_more(objects_in(module), each.point, depth - 1)
        for module, each in calls_elsewhere(objects.module, function)
    )


def _fails_later(objects: Objects, point: Point, handlers: Sequence[ir.Handler]) -> bool:
    """Is the group asked for something after a try, here or by all that call the function?

    That raises where no group has been joined.
    """
    if not any(ir.is_left(each.body) for each in handlers) and _asks_group(objects, point):
        return True
    function = point.scope.function
    if function is None:
        return False
    callers = [(objects, each) for each in objects.callers(function)]
    callers += [
        (objects_in(module), each) for module, each in calls_elsewhere(objects.module, function)
    ]
    return bool(callers) and all(_asks_group(where, each.point) for where, each in callers)


def _asks_group(objects: Objects, point: Point) -> bool:
    """Does a statement after this one, in no branch of its own, ask the group for something?"""
    for depth, here in enumerate(point.around):
        for index, statement in enumerate(here.block[here.index + 1 :], here.index + 1):
            around = (*point.around[:depth], Around(here.block, index, here.owner))
            for call in _calls_made(statement):
                site = CallSite(call, Point(point.scope, around))
                if _needs_group(objects, site) and not choices_of(statement, call):
                    return True
    return False


def _calls_made(statement: ir.Stmt) -> Iterable[ir.Call]:
    """The calls of a statement that is no branch, loop or try."""
    plain = (ir.Assign, ir.AugAssign, ir.Evaluate, ir.Return, ir.Assert)
    return calls_of(statement) if isinstance(statement, plain) else ()


def _needs_group(objects: Objects, site: CallSite) -> bool:
    """Does a function of torch raise where no group has been joined?"""
    entry = objects.catalogue.lookup(objects.called(site))
    if entry is None or entry.name.rpartition(".")[0] != _PACKAGE or entry.name == INIT:
        return False
    asks_size = entry.uniform is not None and entry.uniform.value == "world_size"
    return asks_size or entry.rank is not None or entry.collective is not None


def _is_end(objects: Objects, statement: ir.Stmt, point: Point) -> bool:
    """Is it the end of a program, such as a message with a time, or leaving the group?"""
    if isinstance(statement, ir.Return):
        return statement.value is None
    if isinstance(statement, ir.If):
        asked = (node for node in nodes_of(statement) if isinstance(node, ir.Call))
        if any(objects.callee(CallSite(call, point)) is not None for call in asked):
            return False
        arms = (*statement.body, *statement.orelse)
        return all(_is_end(objects, each, point) for each in arms)
    names = [
        ir.last_name(call.func)
        for call in calls_of(statement)
        if not _computes(objects, CallSite(call, point))
    ]
    if isinstance(statement, ir.Assign):
        return not names and all(_is_local(objects, each, point) for each in statement.targets)
    return isinstance(statement, ir.Evaluate) and all(map(_CLEANS_UP.search, names))


def _computes(objects: Objects, site: CallSite) -> bool:
    """Does a call read a clock, or make a number or a text of another one?"""
    called = objects.called(site)
    entry = objects.catalogue.lookup(called)
    if entry is not None and entry.local is not None and "clock" in entry.local.why:
        return True
    return site.name in _COMPUTES and objects.callee(site) is None


def _is_local(objects: Objects, target: ir.Expr, point: Point) -> bool:
    """Is it a variable that no other function sees?"""
    if isinstance(target, ir.Display):
        return all(_is_local(objects, item, point) for item in target.items)
    if not isinstance(target, ir.Name):
        return False
    own = point.scope.function
    if own is not None:
        return target.id in own.locals
    return all(target.id not in each.tokens for each in objects.module.functions)
