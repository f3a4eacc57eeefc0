"""DST504: the global rank is taken for the number of a GPU."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.environment import environment_read
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects import CallSite, objects_of
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import imports, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import inits, is_test
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.requirements import is_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_RANKS = frozenset({"torch.distributed.get_rank", "deepspeed.comm.get_rank"})
_SETTERS = frozenset(
    {
        "torch.cuda.set_device", "torch.cuda.device", "torch.accelerator.set_device_index",
        "torch.xpu.set_device", "torch.npu.set_device",
    }
)  # fmt: skip
_LISTS = ("device_ids", "device_id")
_LOOPBACK = re.compile(r"tcp://(?:127\.0\.0\.1|localhost)(?::|$)")
_SPAWNS = frozenset({"spawn", "start_processes", "mp_spawn"})


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
    `device_ids=[rank]`, `.to(rank)` and `.cuda(rank)`, where the rank is the environment variable
    `RANK` or `dist.get_rank()`.

    ## What is not reported

    - The rank is taken modulo the number of GPUs.
    - The rank is a function parameter: `mp.spawn` on one node passes the local index.
    - The file starts its processes with `mp.spawn`, or a script in the same directory that imports
      it does.
    - A script in the same directory runs the file with `--nproc_per_node` in a subprocess.
    - The file is a test, by its name or by a `tests` directory above it.
    - The rendezvous is at `tcp://127.0.0.1`, which other nodes cannot reach.
    - The file asserts that `WORLD_SIZE` equals `LOCAL_WORLD_SIZE`: there is only one node.

    ## Fix safety

    Unsafe: replaces the rank with `int(os.environ["LOCAL_RANK"])`. The launcher has to set the
    variable, as torchrun does. If the script has a fallback rank for runs without a launcher, the
    local rank falls back to 0.

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
    return torch.device(f"cuda:{rank}")  # expect: DST504
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
        words = module.words
        if not {"RANK", "get_rank"} & words or not _SPAWNS.isdisjoint(words):
            return
        if not any(word in words for word in ("cuda", "set_device", "device_ids", "accelerator")):
            if not any(token.startswith("cuda") for token in words):
                return
        objects = objects_of(module, catalogue)
        if "LOCAL_WORLD_SIZE" in module.tokens and _is_for_one_node(objects):
            return
        if _meets_on_loopback(objects):
            return
        locator = locators.of(module.key)
        for site, node in _device_numbers(objects):
            if _is_global_rank(objects, node, site.point) and not is_test(document, site.point):
                if "init_process_group" not in module.words and _is_spawned(document.path):
                    return
                if _is_launched(document.path):
                    return
                yield self.finding(
                    message="the global rank is used as a GPU index",
                    severity=Severity.ERROR,
                    place=locator.place(site.call.site),
                    effect='"CUDA error: invalid device ordinal" on every node but the first',
                    help='Use `int(os.environ["LOCAL_RANK"])`',
                    fix=partial(_fix, objects, site, node, Draft(locator, module, catalogue)),
                )


def _device_numbers(objects: Objects) -> Iterator[tuple[CallSite, ir.Expr]]:
    """The calls that choose a GPU, and the number that they choose it by."""
    for name in ("set_device", "set_device_index", "device"):
        for site in objects.calls({name}):
            called = objects.called(site)
            if called in _SETTERS and site.call.args:
                yield site, _bare(site.call.args[0].value)
            elif called == "torch.device":
                yield from ((site, node) for node in _of_device(site.call))
    for name in ("to", "cuda"):
        for site in objects.calls({name}):
            if isinstance(site.call.func, ir.Attribute) and len(site.call.args) >= 1:
                first = site.call.args[0]
                if first.keyword in (None, "device"):
                    yield site, _bare(first.value)
    for site in objects.calls({"DistributedDataParallel", "DDP"}):
        for argument in site.call.args:
            value = argument.value
            items = value.items if isinstance(value, ir.Display) else (value,)
            if argument.keyword in _LISTS and len(items) == 1:
                yield site, _bare(items[0])


def _of_device(call: ir.Call) -> Iterator[ir.Expr]:
    """The number in ``torch.device("cuda", 1)`` and in ``torch.device(f"cuda:{1}")``."""
    if len(call.args) == 2 and _starts_with_cuda(call.args[0].value):
        yield call.args[1].value
    elif len(call.args) == 1:
        given = call.args[0].value
        arms = (given.body, given.orelse) if isinstance(given, ir.Conditional) else (given,)
        yield from map(_bare, arms)


def _is_spawned(path: Path) -> bool:
    """Does a script beside it, which imports the file, start its processes on one node?"""
    name = re.escape(path.stem)
    imports = rf"(?m)^\s*(?:from\s+(?:[\w.]*\.)?{name}\s+import\b|import\s+(?:[\w.]*\.)?{name}\b)"
    return is_beside(path, imports, r"\bmp\.spawn\(|\bmultiprocessing\.spawn\(")


def _is_launched(path: Path) -> bool:
    """Does a script beside it, as its test does, run the file by a launcher on one node?"""
    words = (rf"[\"'/]{re.escape(path.name)}[\"']", r"\bsubprocess\b", r"--nproc[_-]per[_-]node")
    return is_beside(path, *words, r"\A(?![\s\S]*--nnodes(?![=\s\"',]+1\b))")


def _is_for_one_node(objects: Objects) -> bool:
    """Does the file assert that all processes are on one node: that the world is the local one?"""
    return any(
        isinstance(point.statement, ir.Assert)
        and isinstance(point.statement.test, ir.Compare)
        and point.statement.test.ops == ("==",)
        and {
            _size_read(objects, side, point)
            for side in (point.statement.test.left, *point.statement.test.rights)
        }
        == {"WORLD_SIZE", "LOCAL_WORLD_SIZE"}
        for point in objects.points
    )


def _meets_on_loopback(objects: Objects) -> bool:
    """Do all processes meet at an address that no other node has: ``tcp://127.0.0.1:29500``?"""
    places = [objects.argument(site, "init_method", 1).value for site in inits(objects)]
    return bool(places) and all(place is not None and _is_loopback(place) for place in places)


def _is_loopback(place: ir.Expr) -> bool:
    return any(
        isinstance(node, ir.Literal)
        and isinstance(node.value, str)
        and _LOOPBACK.match(node.value) is not None
        for node in expressions_in(place)
    )


def _size_read(objects: Objects, node: ir.Expr, point: Point) -> str:
    """Which of the sizes that a launcher sets, or a group tells, a value is."""
    for origin in objects.origins(node, point):
        made = origin.node
        if isinstance(made, ir.Call) and path_of(made.func) == ("int",) and len(made.args) == 1:
            made = made.args[0].value
        if not isinstance(made, ir.Expr):
            continue
        if isinstance(made, ir.Call) and ir.last_name(made.func) == "get_world_size":
            return "WORLD_SIZE"
        if name := environment_read(objects, made, origin.point):
            return name
    return ""


def _bare(node: ir.Expr) -> ir.Expr:
    """The number in ``f"cuda:{rank}"`` and ``"cuda:" + str(rank)``, else the value itself."""
    if isinstance(node, ir.Call) and ir.last_name(node.func) == "format" and len(node.args) == 1:
        if isinstance(node.func, ir.Attribute) and _is_cuda_format(node.func.value):
            return node.args[0].value
    if isinstance(node, ir.Format) and len(node.parts) == 2 and _starts_with_cuda(node.parts[0]):
        inner = node.parts[1]
        if isinstance(inner, ir.Call) and ir.last_name(inner.func) == "str" and inner.args:
            return inner.args[0].value
        return inner
    return node


def _starts_with_cuda(node: ir.Expr) -> bool:
    text = node.value if isinstance(node, ir.Literal) else None
    return isinstance(text, str) and text.startswith("cuda")


def _is_cuda_format(node: ir.Expr) -> bool:
    return isinstance(node, ir.Literal) and node.value in ("cuda:{}", "cuda:{0}")


def _is_global_rank(objects: Objects, node: ir.Expr, point: Point) -> bool:
    found = [o for o in objects.origins(node, point) if not _is_constant(o.node)]
    return bool(found) and all(
        isinstance(origin.node, ir.Expr)
        and origin.item is None
        and not origin.attributes
        and _reads_rank(objects, origin.node, origin.point)
        for origin in found
    )


def _is_constant(node: object) -> bool:
    """The 0 that stands for a run of one process."""
    return isinstance(node, ir.Literal)


def _reads_rank(objects: Objects, node: ir.Expr, point: Point) -> bool:
    if environment_read(objects, node, point) == "RANK":
        return True
    if not isinstance(node, ir.Call):
        return False
    if ir.last_name(node.func) == "int" and len(node.args) == 1:
        return _is_global_rank(objects, node.args[0].value, point)
    return objects.called(CallSite(node, point)) in _RANKS


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


def _fix(objects: Objects, site: CallSite, node: ir.Expr, draft: Draft) -> Fix:
    if not isinstance(node, ir.Name):
        raise CannotFix("no name to replace")
    call = draft.node(site.call.site, cst.Call)
    found = [
        each
        for argument in call.args
        for each in _names_in(argument.value)
        if each.value == node.id
    ]
    if len(found) != 1:
        raise CannotFix("the rank is there more than once")
    known = _local_rank_at(objects, site.point, call, draft)
    if known is not None:
        draft.replace(found[0], known)
        return draft.fix("unsafe", "Use the local rank")
    environ = imports.imported(draft, "os", "environ", call)
    inside = isinstance(draft.parent(found[0]), cst.FormattedStringExpression)
    quote = "'" if inside else '"'
    name = f"{quote}LOCAL_RANK{quote}"
    may_be_alone = _may_be_alone(objects, node, site.point)
    read = f"{environ}.get({name}, 0)" if may_be_alone else f"{environ}[{name}]"
    draft.replace(found[0], f"int({read})")
    return draft.fix("unsafe", "Use the local rank")


def _local_rank_at(objects: Objects, point: Point, call: cst.Call, draft: Draft) -> str | None:
    """The variable that holds the local rank there, if there is one."""
    for other in objects.points:
        if "LOCAL_RANK" in ir.tokens_of(other.statement) and isinstance(other.statement, ir.Assign):
            for target in other.statement.targets:
                if isinstance(target, ir.Name) and _is_local_rank(objects, target, point):
                    if names.available(draft, target.id, call):
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
