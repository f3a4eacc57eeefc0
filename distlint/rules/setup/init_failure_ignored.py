"""DST515: a process that cannot join the group goes on by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, placed
from distlint.analyzer.static.objects.objects import objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import inits, is_test
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_ALL = frozenset({"Exception", "BaseException"})
_ENDS = frozenset({"exit", "_exit", "abort", "kill"})
_CLEANS_UP = re.compile(r"^(print|info|debug|close|finish)|destroy|cleanup|shutdown|exit")
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

    A `try` with `init_process_group`, or with a function of the file that calls it, whose handler
    catches every exception, as `except:` and `except Exception:` do, and goes on.

    ## What is not reported

    - A handler for certain exceptions, such as `except KeyError:` for variables that a launcher
      would have set.
    - A handler that raises, ends the process or joins the group in another way.
    - A `try` in a loop, which is there to try again.
    - A `try` around all of the work: nothing comes after it but an end.
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
        objects = objects_of(module, catalogue)
        locator = locators.of(module.key)
        found: dict[int, CallSite] = {}
        for init in inits(objects):
            if not is_test(document, init.point):
                for handler in _ignored(objects, init.point, _MAX_CALLS):
                    found.setdefault(handler.site, init)
        for site, init in found.items():
            yield self.finding(
                message="a process that cannot join the group goes on alone",
                severity=Severity.WARNING,
                place=locator.place(site),
                related=(Related("joins here", locator.place(init.call.site)),),
                effect="it trains by itself as if it were the only one, and writes the files of "
                "rank 0",
                help="Decide by the variables of the launcher whether there are several processes, "
                "and let the exception end the process",
            )


def _ignored(objects: Objects, point: Point, depth: int) -> Iterator[ir.Handler]:
    """The handlers around a statement, or a call of its function, that take every exception."""
    if any(isinstance(here.owner, (ir.For, ir.While)) for here in point.around):
        return
    for here in reversed(point.around):
        if isinstance(here.owner, ir.Try) and here.block is here.owner.body:
            handlers = here.owner.handlers
            if _has_more(objects, point, here.owner, _MAX_CALLS):
                yield from (each for each in handlers if _takes_all(each) and _goes_on(each))
            if any(map(_takes_all, handlers)):
                return
    function = point.scope.function
    if function is not None and depth:
        for caller in objects.callers(function):
            yield from _ignored(objects, caller.point, depth - 1)


def _takes_all(handler: ir.Handler) -> bool:
    return handler.types is None or not _ALL.isdisjoint(handler.names)


def _goes_on(handler: ir.Handler) -> bool:
    """Does the process neither end in a handler nor try to join the group there once more?"""
    for statement, _ in placed(handler.body):
        if isinstance(statement, ir.Raise):
            return False
        names = {ir.last_name(call.func) for call in calls_of(statement)}
        if not names.isdisjoint(_ENDS) or any("init" in name for name in names):
            return False
    return True


def _has_more(objects: Objects, point: Point, within: ir.Stmt | None, depth: int) -> bool:
    """Does the program do something after a statement, or one that it stands in?"""
    is_within = within is not None
    for here in reversed(point.around):
        if is_within:
            is_within = here.block[here.index] is not within
        if not is_within and not all(map(_is_end, here.block[here.index + 1 :])):
            return True
    function = point.scope.function
    if function is None or not depth:
        return False
    return any(
        _has_more(objects, caller.point, None, depth - 1) for caller in objects.callers(function)
    )


def _is_end(statement: ir.Stmt) -> bool:
    """Is it the end of a program, such as a message, or leaving the group?"""
    if isinstance(statement, ir.Return):
        return statement.value is None
    names = [ir.last_name(call.func) for call in calls_of(statement)]
    is_call = isinstance(statement, (ir.Evaluate, ir.If)) and bool(names)
    return is_call and all(map(_CLEANS_UP.search, names))
