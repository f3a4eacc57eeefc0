"""DST516: processes that are started whenever the file is imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.callers import called_elsewhere, objects_in
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_STARTERS = ("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes")
_CHOOSERS = frozenset({"set_start_method", "get_context"})
_IMPORTING = frozenset({"spawn", "forkserver"})
"""Methods to start a process that import the script in it."""

_MAIN_ONLY = frozenset({"__name__", "parent_process", "current_process"})
"""What a test of the main process asks for."""

_MOST = 200
"""Functions that are looked into."""


class SpawnWithoutGuard(SourceRule):
    """A script spawns processes whenever it is imported, and each process imports it.

    ```python
    mp.spawn(train, args=(world_size,), nprocs=world_size)  # bad: no `if __name__ == "__main__"`
    ```

    ## Use instead

    ```python
    if __name__ == "__main__":
        mp.spawn(train, args=(world_size,), nprocs=world_size)
    ```

    ## Why is this bad?

    A spawned process first imports the script, to find the function that it runs. Without the
    guard, this import spawns processes as well, and fails with "An attempt has been made to start a
    new process before the current process has finished its bootstrapping phase".

    ## What is reported

    `mp.spawn`, `mp.start_processes`, and `Process` where the start method is `spawn` or
    `forkserver`, at the level of the module or in a function that is called there, also in one of
    another file.

    ## What is not reported

    - A test of `__name__`, or of the current process, is around the call.
    - `start_method="fork"`: a forked process imports nothing.
    - Notebooks, and files of tests.

    ## Fix safety

    Unsafe: puts the statement under the guard; what follows it there stays where it is.

    ## References

    - [multiprocessing: programming guidelines](https://docs.python.org/3/library/multiprocessing.html#multiprocessing-programming)
    - [torch.multiprocessing](https://docs.pytorch.org/docs/stable/multiprocessing.html#spawning-subprocesses)
    """

    code = "DST516"
    name = "spawn-without-guard"
    severity = Severity.ERROR

    good = (
        Example(
            title="Under the guard",
            code="""\
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    dist.barrier()
    dist.destroy_process_group()


def main():
    mp.spawn(train, args=(2,), nprocs=2)


if __name__ == "__main__":
    main()
""",
            effect="static",
            why_static="it starts the processes itself",
        ),
        Example(
            title="Forked processes",
            code="""\
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    dist.destroy_process_group()


mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
""",
            effect="static",
            why_static="it starts the processes itself",
        ),
    )

    bad = (
        Example(
            title="At the level of the module",
            code="""\
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    dist.barrier()
    dist.destroy_process_group()


mp.spawn(train, args=(2,), nprocs=2)  # expect: DST516
""",
            effect="static",
            why_static="it starts the processes itself",
        ),
        Example(
            title="In a function that the module calls",
            code="""\
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    dist.destroy_process_group()


def main():
    mp.set_start_method("spawn")
    workers = [mp.Process(target=train, args=(rank, 2)) for rank in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


main()  # expect: DST516
""",
            effect="static",
            why_static="it starts the processes itself",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if document.is_test or guards_of(module, catalogue).launchers.is_notebook:
            return
        objects = objects_of(module, catalogue)
        seen: set[ir.Function] = set()
        for site in _run_by_import(objects):
            if _starts_processes(objects, site, seen):
                yield self.finding(
                    message="processes are spawned whenever the script is imported",
                    severity=Severity.ERROR,
                    place=locators.of(module.key).place(site.call.site),
                    effect="each process fails with a RuntimeError about its bootstrapping phase",
                    help='Put it under `if __name__ == "__main__":`',
                    fix=partial(_fix, site, Draft(locators.of(module.key), module, catalogue)),
                )
                return


def _run_by_import(objects: Objects) -> Iterator[CallSite]:
    """The calls that an import of a module makes, in their order."""
    sites = [
        site
        for site in objects.calls(objects.called_names)
        if site.point.scope.function is None and not _is_guarded(site)
    ]
    yield from sorted(sites, key=lambda site: site.call.site)


def _is_guarded(site: CallSite) -> bool:
    return any(
        isinstance(here.owner, ir.If) and not _MAIN_ONLY.isdisjoint(ir.tokens_of(here.owner.test))
        for here in site.point.around
    )


def _starts_processes(objects: Objects, site: CallSite, seen: set[ir.Function]) -> bool:
    """Does a call start processes that import the script, itself or by what it calls?"""
    if _spawns(objects, site):
        return True
    function = objects.callee(site)
    if isinstance(function, ir.Class):
        return False
    if function is None:
        there = called_elsewhere(objects.module, site.call.func)
        if there is None:
            return False
        objects, function = objects_in(there[0]), there[1]
    if function in seen or len(seen) > _MOST:
        return False
    seen.add(function)
    scope = objects.scope_of(function)
    inner = list(objects.calls_in(scope, objects.called_names)) if scope is not None else []
    return any(_starts_processes(objects, each, seen) for each in inner if not _is_guarded(each))


def _spawns(objects: Objects, site: CallSite) -> bool:
    if objects.is_call_to(site, *_STARTERS):
        method = objects.constant(objects.argument(site, "start_method"), site.point, "spawn")
        return method in _IMPORTING
    return (
        site.name == "Process"
        and _is_of_multiprocessing(objects, site)
        and any(_chosen(objects, each) in _IMPORTING for each in objects.calls(_CHOOSERS))
    )


def _is_of_multiprocessing(objects: Objects, site: CallSite) -> bool:
    """Is it the ``Process`` of the package, or that of a context?"""
    if "multiprocessing" in objects.called(site):
        return True
    func = site.call.func
    return isinstance(func, ir.Attribute) and any(
        origin.site is not None and origin.site.name == "get_context"
        for origin in objects.origins(func.value, site.point)
    )


def _chosen(objects: Objects, site: CallSite) -> object:
    return objects.constant(objects.argument(site, "method", 0), site.point)


def _fix(site: CallSite, draft: Draft) -> Fix:
    statement = statements.statement_of(draft, draft.node(site.call.site, cst.Call))
    if len(site.point.around) > 1 or not isinstance(site.point.statement, ir.Evaluate):
        raise CannotFix("it is not a statement alone")
    statements.wrap(draft, 'if __name__ == "__main__":', statement)
    return draft.fix("unsafe", "Spawn the processes in the main process only")
