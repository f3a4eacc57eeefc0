"""DST514: the ranks count GPUs, and the world size the tasks that start them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.names import calls_of, expressions_in
from distlint.analyzer.static.neighbourhood import files_near
from distlint.analyzer.static.objects.objects import objects_of
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import inits
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_TASKS = frozenset(
    {"SLURM_NPROCS", "SLURM_NTASKS", "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "WORLD_SIZE"}
)
_SPAWNS = frozenset({"spawn", "start_processes"})
_COUNTS = re.compile(r"count|gpu|proc|environ|getenv|device|rank", re.IGNORECASE)
_OPTIONS = frozenset({"add_argument", "option"})


class WorldSizeWithoutGpus(SourceRule):
    """The world size is the number of tasks, although each task spawns a process for each GPU.

    ```python
    def worker(gpu, gpus):
        rank = int(os.environ["SLURM_PROCID"]) * gpus + gpu
        tasks = int(os.environ["SLURM_NTASKS"])
        dist.init_process_group("nccl", rank=rank, world_size=tasks)  # bad: less than the ranks

    mp.spawn(worker, (gpus,), nprocs=gpus)
    ```

    ## Use instead

    ```python
    def worker(gpu, gpus):
        rank = int(os.environ["SLURM_PROCID"]) * gpus + gpu
        world_size = int(os.environ["SLURM_NTASKS"]) * gpus
        dist.init_process_group("nccl", rank=rank, world_size=world_size)

    mp.spawn(worker, (gpus,), nprocs=gpus)
    ```

    Or start one task per GPU, and do not spawn processes.

    ## Why is this bad?

    Each task starts as many processes as it has GPUs, so there are more ranks than the world size
    says. The ranks beyond it are rejected, or wait until the timeout. With one GPU per task the
    code works.

    ## What is reported

    `init_process_group(rank=node * gpus + gpu, world_size=...)` in a function that `mp.spawn` runs,
    if the world size is read from `SLURM_NPROCS`, `SLURM_NTASKS`, the number of nodes or
    `WORLD_SIZE`, and is nowhere multiplied by the number of spawned processes. The variable may be
    read in another file, and be the default of an option.

    Likewise where `mp.spawn` starts `torch.cuda.device_count()` processes, and the world size of
    the group is an option or attribute whose default is another number.

    ## What is not reported

    - The world size is multiplied somewhere, or comes from an option without such a default.
    - The rank is not a sum that contains a product; for an option, one that is computed.

    ## Fix safety

    None: a scheduler that starts one task per GPU needs a different fix.

    ## References

    - [srun: output environment variables](https://slurm.schedmd.com/srun.html)
    - [torch.distributed.init_process_group](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group)
    """

    code = "DST514"
    name = "world-size-without-gpus"
    severity = Severity.WARNING

    good = (
        Example(
            title="World size and ranks count processes",
            effect="static",
            why_static="the variables are set by Slurm",
            code="""\
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(gpu, gpus, args):
    rank = args.node * gpus + gpu
    dist.init_process_group("nccl", world_size=args.world_size, rank=rank)
    torch.cuda.set_device(gpu)


def main(args):
    gpus = torch.cuda.device_count()
    args.node = int(os.environ["SLURM_NODEID"])
    args.world_size = int(os.environ["SLURM_NNODES"]) * gpus
    mp.spawn(worker, nprocs=gpus, args=(gpus, args))
""",
        ),
    )

    bad = (
        Example(
            title="The world size counts nodes",
            effect="static",
            why_static="the variables are set by Slurm",
            code="""\
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(gpu, gpus, args):
    rank = args.node * gpus + gpu
    dist.init_process_group("nccl", world_size=args.world_size, rank=rank)  # expect: DST514
    torch.cuda.set_device(gpu)
    dist.destroy_process_group()


def main(args):
    gpus = torch.cuda.device_count()
    args.node = int(os.environ["SLURM_NODEID"])
    args.world_size = int(os.environ["SLURM_NNODES"])
    mp.spawn(worker, nprocs=gpus, args=(gpus, args))
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "init_process_group" not in module.words:
            return
        near = [module]
        if _SPAWNS.isdisjoint(module.words) or _TASKS.isdisjoint(module.words):
            near = files_near(module)
        words = frozenset().union(*(each.words for each in near))
        if _SPAWNS.isdisjoint(words):
            return
        objects = objects_of(module, catalogue)
        locator = locators.of(module.key)
        if "device_count" in words:
            yield from self._by_an_option(objects, near, locators)
        if _TASKS.isdisjoint(words):
            return
        for init in inits(objects):
            rank = objects.argument(init, "rank", 4).value
            given = objects.argument(init, "world_size", 3).value
            world = path_of(given)
            if rank is None or world is None or not _counts_gpus(objects, rank, init):
                continue
            site = given.site if isinstance(given, ir.Attribute) else init.call.site
            places = [objects, *(objects_in(each) for each in near if each is not module)]
            bound = [(where, *each) for where in places for each in _bound(where, world[-1])]
            if bound and all(_is_tasks(value) for _, _, value in bound):
                yield self.finding(
                    message="the world size counts tasks, but the ranks count processes",
                    severity=Severity.WARNING,
                    place=locator.place(site),
                    related=(
                        Related(
                            "world size set here",
                            locators.of(bound[0][0].module.key).place(bound[0][1]),
                        ),
                    ),
                    effect="ranks beyond the world size are rejected, or wait until the timeout",
                    help="Multiply the world size by the number of processes per task",
                )

    def _by_an_option(
        self, objects: Objects, near: Sequence[Module], locators: Locators
    ) -> Iterator[Finding]:
        """Groups whose size is an option, where a process is started for each GPU."""
        places = [objects, *(objects_in(each) for each in near if each is not objects.module)]
        spawned = _spawned_for_gpus(places)
        for init in inits(objects) if spawned is not None else ():
            world = path_of(objects.argument(init, "world_size", 3).value)
            rank = objects.argument(init, "rank", 4).value
            if (
                world is None
                or spawned is None
                or rank is None
                or _is_computed(objects, rank, init)
            ):
                continue
            bound = [(where, *each) for where in places for each in _bound(where, world[-1])]
            chosen = [each for each in bound if _is_chosen(each[2])]
            if chosen and not any(_may_count_gpus(value) for _, _, value in bound):
                where = locators.of(spawned.point.scope.module.key)
                yield self.finding(
                    message="the world size is an option, but a process is started for each GPU",
                    severity=Severity.WARNING,
                    place=locators.of(objects.module.key).place(init.call.site),
                    related=(
                        Related("started here", where.place(spawned.call.site)),
                        Related(
                            "world size set here",
                            locators.of(chosen[0][0].module.key).place(chosen[0][1]),
                        ),
                    ),
                    effect="where the two differ, ranks are rejected or wait until the timeout",
                    help="Start `world_size` processes, or set it to the number of GPUs",
                )


def _spawned_for_gpus(places: Sequence[Objects]) -> CallSite | None:
    """The call that starts as many processes as there are GPUs, where none starts others."""
    found: list[CallSite] = []
    for objects in places:
        for site in objects.calls(_SPAWNS):
            made = objects.passed(objects.argument(site, "nprocs", 2), site.point)
            if not made or not all(
                each.site is not None and objects.is_call_to(each.site, "torch.cuda.device_count")
                for each in made
            ):
                return None
            found.append(site)
    return found[0] if found else None


def _is_computed(objects: Objects, rank: ir.Expr, init: CallSite) -> bool:
    """Is a rank computed, as that of a process among several nodes is?"""
    return any(
        isinstance(part, ir.Binary)
        for origin in objects.origins(rank, init.point)
        for part in expressions_in(origin.node)
    )


def _is_chosen(value: ir.Expr) -> bool:
    """Is it a number of processes that is written down, more than one?"""
    return (
        isinstance(value, ir.Literal)
        and isinstance(value.value, int)
        and value.value is not True
        and value.value > 1
    )


def _may_count_gpus(value: ir.Expr) -> bool:
    """May a value be computed from the number of GPUs, or given by what starts the script?"""
    computed = any(isinstance(each, ir.Binary) for each in expressions_in(value))
    return computed or any(_COUNTS.search(token) for token in ir.tokens_of(value))


def _counts_gpus(objects: Objects, rank: ir.Expr, init: CallSite) -> bool:
    """Is a rank ``node * gpus + gpu``?"""
    return any(
        isinstance(origin.node, ir.Binary)
        and origin.node.op == "+"
        and any(
            isinstance(side, ir.Binary) and side.op == "*"
            for side in (origin.node.left, origin.node.right)
        )
        for origin in objects.origins(rank, init.point)
    )


def _bound(objects: Objects, name: str) -> Iterator[tuple[int, ir.Expr]]:
    """What a file assigns to variables and attributes of a name, gives to objects under it, or
    has as the default of an option.
    """
    for point in objects.points:
        statement = point.statement
        if isinstance(statement, ir.Assign):
            if any(ir.last_name(target) == name for target in statement.targets):
                if path_of(statement.value) == (name,):
                    continue  # a field that only has a type
                yield statement.site, statement.value
        elif isinstance(statement, ir.AugAssign) and ir.last_name(statement.target) == name:
            yield statement.site, ir.Binary(statement.op, statement.target, statement.value)
        for call in calls_of(statement):
            value = _given(call, name)
            if value is not None and ir.last_name(value) != name:
                yield call.site, value


def _given(call: ir.Call, name: str) -> ir.Expr | None:
    """What a call gives to something under a name."""
    if ir.last_name(call.func) in _OPTIONS:
        flags = [each.value.value for each in call.args if isinstance(each.value, ir.Literal)]
        if not any(str(flag).lstrip("-").replace("-", "_") == name for flag in flags):
            return None
        name = "default"
    elif ir.last_name(call.func) == "init_process_group":
        return None
    values = [each.value for each in call.args if each.keyword == name]
    return values[0] if values else None


def _is_tasks(value: ir.Expr) -> bool:
    """Is it one of the variables that count tasks, as a number, and nothing else?"""
    return not _TASKS.isdisjoint(ir.tokens_of(value)) and not any(
        isinstance(part, ir.Binary) for part in expressions_in(value)
    )
