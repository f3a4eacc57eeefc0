"""DST504: the global rank is taken for the number of a GPU."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.environment import environment_read
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import imports, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.ranks import GlobalRanks
from distlint.rules.setup._devices import device_numbers
from distlint.rules.setup._nodes import SPAWNS, is_for_one_node, is_launched_on_one_node
from distlint.rules.setup._order import inits, is_test
from distlint.source.finding import Finding, Fix, Related, Severity
from distlint.source.requirements import is_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite, Origin
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.setup._devices import DeviceNumber
    from distlint.source.document import Document

_OF_GPUS = ("cuda", "set_device", "device_ids", "accelerator")
_NODE = r"\bnode_?(?:rank|id)\b|\bmachine_rank\b"
_OF_THE_NODE = re.compile(r"local|gpu|device|cuda", re.IGNORECASE)


class GlobalRankAsDevice(SourceRule):
    """The global rank is used as the GPU index, which fails on every node but the first.

    ```python
    rank = dist.get_rank()
    torch.cuda.set_device(rank)  # bad: on the second of two 8-GPU nodes, ranks are 8 to 15
    model = DDP(Net().cuda(), device_ids=[rank])
    ```

    ## Use instead

    ```python
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    model = DDP(Net().cuda(), device_ids=[local_rank])
    ```

    ## Why is this bad?

    Ranks are numbered across all nodes, GPUs from 0 on each node. On the second node of eight GPUs
    each, the ranks are 8 to 15, and CUDA raises "invalid device ordinal". On a single node the code
    works, so the bug shows only when the job grows.

    ## What is reported

    `torch.cuda.set_device(rank)`, `torch.device("cuda", rank)`, `f"cuda:{rank}"`,
    `device_ids=[rank]`, `.to(rank)`, `.cuda(rank)` and `torch.zeros(3, device=rank)`, where the
    rank is

    - the environment variable `RANK`, or that of another launcher, such as `SLURM_PROCID`;
    - `dist.get_rank()`, or the same of another library;
    - computed as `node * gpus_per_node + gpu` and given to `init_process_group`, also with
      `mp.spawn`,

    also where a function or class of another file reads it and returns it.

    One finding for all devices that are chosen by the same rank: at the definition of the variable
    if it is named after a local rank or a device, otherwise at the first use.

    ## What is not reported

    - The rank is taken modulo the number of GPUs.
    - The rank is a function parameter: `mp.spawn` on one node passes the local index.
    - The rank is that of a group that is given as an argument: `dist.get_rank(group)`.
    - The file starts its processes with `mp.spawn`, or a script in the same directory that imports
      it does, and the rank is not computed from the number of the node. If the file joins the group
      itself, it passes the rank on.
    - A Python or shell script in the same directory runs the file with `--nproc_per_node`, and none
      of them with several `--nnodes` or a `--node_rank`.
    - The file is a test, by its name or by a `tests` directory above it.
    - The rendezvous is at `tcp://127.0.0.1`, which other nodes cannot reach.
    - The file, or one that runs with it, ends where there are several nodes: it asserts that
      `WORLD_SIZE` equals `LOCAL_WORLD_SIZE`, or raises if the world is larger than the number of
      GPUs or if the number of nodes is not 1.

    ## Fix safety

    Unsafe: replaces the rank with `int(os.environ["LOCAL_RANK"])`, for all devices that are chosen
    by it. The launcher has to set the variable, as torchrun does. If the script has a fallback rank
    for runs without a launcher, the local rank falls back to 0.

    ## References

    - [torchrun: environment variables](https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables)
    - [torch.cuda.set_device](https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_device.html)
    """

    code = "DST504"
    name = "global-rank-as-device"
    severity = Severity.ERROR

    good = (
        Example(
            title="The local rank",
            effect="static",
            why_static="it needs a GPU for each process",
            code="""\
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl")
model = DDP(torch.nn.Linear(2, 2).to(local_rank), device_ids=[local_rank])
if dist.get_rank() == 0:
    print(model)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The rank modulo the number of GPUs",
            effect="static",
            why_static="it needs a GPU for each process",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = rank % torch.cuda.device_count()
torch.cuda.set_device(device)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The index that `mp.spawn` passes",
            effect="static",
            why_static="it needs a GPU for each process",
            code="""\
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    model = torch.nn.Linear(2, 2).to(dist.get_rank())
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
""",
        ),
    )

    bad = (
        Example(
            title="The environment variable `RANK`",
            effect="static",
            why_static="it shows with GPUs on two nodes only",
            code="""\
import os

import torch
import torch.distributed as dist


def init_distributed():
    rank = int(os.environ.get("RANK", 0))
    torch.cuda.set_device(rank)  # expect: DST504
    dist.init_process_group("nccl", rank=rank, world_size=int(os.environ["WORLD_SIZE"]))
    return torch.device(f"cuda:{rank}")
""",
        ),
        Example(
            title="The rank in `device_ids`",
            effect="static",
            why_static="it shows with GPUs on two nodes only",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    device = rank % torch.cuda.device_count()
    torch.cuda.set_device(device)
    model = DDP(net.to(device), device_ids=[rank])  # expect: DST504
    model(torch.ones(1, 2, device=device))
    dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if not any(word in module.words for word in _OF_GPUS):
            if not any(token.startswith("cuda") for token in module.words):
                return
        objects = objects_across(module, catalogue)
        if is_for_one_node(objects):
            return
        found = list(self._causes(objects, document))
        if not found or is_launched_on_one_node(module):
            return
        locator = locators.of(module.key)
        for cause, uses in found:
            first, *others = _places(cause, uses, module)
            yield self.finding(
                message="the global rank is used as a GPU index",
                severity=Severity.ERROR,
                place=locator.place(first),
                related=tuple(Related("also here", locator.place(each)) for each in others),
                effect='"CUDA error: invalid device ordinal" on every node but the first',
                help='Use `int(os.environ["LOCAL_RANK"])`'
                if _has_local_rank(objects, cause)
                else "Use the index of the process on its node",
                fix=partial(_fix, objects, cause, uses, Draft(locator, module, catalogue)),
            )

    @staticmethod
    def _causes(
        objects: Objects, document: Document
    ) -> Iterator[tuple[Origin, tuple[DeviceNumber, ...]]]:
        """Where the global rank comes from, and the devices that are chosen by it."""
        ranks = GlobalRanks(objects, _is_launched)
        causes: dict[int, Origin] = {}
        uses: dict[int, list[DeviceNumber]] = {}
        for use in device_numbers(objects):
            cause = ranks.cause(use.node, use.point)
            if cause is None or is_test(document, use.point):
                continue
            if any(is_for_one_node(there) for there, _ in ranks.reads(cause)):
                continue
            if isinstance(cause.node, ir.Call) and _is_given_its_rank(objects, ranks, cause):
                if _is_spawned(document.path):
                    continue
            causes.setdefault(id(cause.node), cause)
            uses.setdefault(id(cause.node), []).append(use)
        for key, cause in causes.items():
            yield cause, tuple(sorted(uses[key], key=lambda use: use.site))


def _places(cause: Origin, uses: tuple[DeviceNumber, ...], module: Module) -> list[int]:
    """The definition, if its name says that it is meant for a device; and the uses."""
    sites = list(dict.fromkeys(use.site for use in uses))
    statement = cause.point.statement
    used_there = any(use.point.statement is statement for use in uses)
    here = cause.point.scope.module is module
    if here and isinstance(statement, ir.Assign) and not used_there:
        if all(_OF_THE_NODE.search(ir.last_name(target)) for target in statement.targets):
            return [statement.site, *sites]
    return sites


def _is_launched(objects: Objects) -> bool:
    """Are the processes that run a file started by a launcher?"""
    return SPAWNS.isdisjoint(objects.module.words)


def _is_given_its_rank(objects: Objects, ranks: GlobalRanks, cause: Origin) -> bool:
    """Does no file join a group, or with a rank that it passes, not with a launcher's?"""
    files = dict.fromkeys((objects, *(there for there, _ in ranks.reads(cause))))
    return all(_passes_rank(each, site) for each in files for site in inits(each))


def _passes_rank(objects: Objects, site: CallSite) -> bool:
    rank = objects.argument(site, "rank", 4).value
    return rank is not None and not any(
        environment_read(objects, part, origin.point)
        for origin in objects.origins(rank, site.point)
        for part in expressions_in(origin.node)
    )


def _is_spawned(path: Path) -> bool:
    """Does a script beside it, which imports the file, start its processes on one node?"""
    name = re.escape(path.stem)
    imports = rf"(?m)^\s*(?:from\s+(?:[\w.]*\.)?{name}\s+import\b|import\s+(?:[\w.]*\.)?{name}\b)"
    spawns = (imports, r"\bmp\.spawn\(|\bmultiprocessing\.spawn\(")
    return is_beside(path, *spawns) and not is_beside(path, *spawns, _NODE)


def _may_be_alone(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """May it be a run of one process, without a launcher: is there a rank for that?"""
    return any(
        _is_constant(origin.node)
        or any(
            isinstance(part, ir.Call)
            and ir.last_name(part.func) in ("get", "getenv")
            and len(part.args) == 2
            for part in expressions_in(origin.node)
        )
        for origin in objects.origins(node, point)
    )


def _is_constant(node: object) -> bool:
    """The 0 that stands for a run of one process."""
    return isinstance(node, ir.Literal)


def _fix(objects: Objects, cause: Origin, uses: tuple[DeviceNumber, ...], draft: Draft) -> Fix:
    if not _has_local_rank(objects, cause):
        raise CannotFix("nothing may set LOCAL_RANK")
    for use in uses:
        _replace(objects, use, draft)
    return draft.fix("unsafe", "Use the local rank")


def _has_local_rank(objects: Objects, cause: Origin) -> bool:
    """Does the launcher that tells the rank also set LOCAL_RANK?"""
    if not _is_launched(objects):
        return False
    return all(
        isinstance(read.node, ir.Expr)
        and environment_read(there, read.node, read.point) in ("", "RANK")
        for there, read in [*GlobalRanks(objects, _is_launched).reads(cause)] or [(objects, cause)]
    )


def _replace(objects: Objects, use: DeviceNumber, draft: Draft) -> None:
    node = use.node
    if not isinstance(node, ir.Name):
        raise CannotFix("no name to replace")
    place = draft.locator.node(use.site)
    found = [each for each in _names_in(place) if each.value == node.id]
    if len(found) != 1:
        raise CannotFix("the rank is there more than once")
    known = _local_rank_at(objects, use.point, place, draft)
    if known is not None:
        draft.replace(found[0], known)
        return
    environ = imports.imported(draft, "os", "environ", place)
    may_be_alone = _may_be_alone(objects, node, use.point)
    read = f'{environ}.get("LOCAL_RANK", 0)' if may_be_alone else f'{environ}["LOCAL_RANK"]'
    draft.replace(found[0], f"int({read})")


def _local_rank_at(objects: Objects, point: Point, place: cst.CSTNode, draft: Draft) -> str | None:
    """The variable that holds the local rank there, if there is one."""
    for other in objects.points:
        if "LOCAL_RANK" in ir.tokens_of(other.statement) and isinstance(other.statement, ir.Assign):
            for target in other.statement.targets:
                if isinstance(target, ir.Name) and _is_local_rank(objects, target, point):
                    if names.available(draft, target.id, place):
                        return target.id
    return None


def _is_local_rank(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it ``int(os.environ["LOCAL_RANK"])``, wherever it comes from?"""
    found = objects.origins(node, point)
    return bool(found) and all(
        isinstance(origin.node, ir.Call)
        and ir.last_name(origin.node.func) == "int"
        and len(origin.node.args) == 1
        and environment_read(objects, origin.node.args[0].value, origin.point) == "LOCAL_RANK"
        for origin in found
    )


def _names_in(node: cst.CSTNode) -> Iterator[cst.Name]:
    if isinstance(node, cst.Name):
        yield node
    for child in node.children:
        yield from _names_in(child)
