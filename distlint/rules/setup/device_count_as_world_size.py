"""DST513: the GPUs of this node are taken for the ranks of the job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.base import Example, SourceRule
from distlint.rules.ranks import every, is_global_rank, is_local_count, is_local_rank
from distlint.rules.setup._node_shards import is_left_out
from distlint.rules.setup._nodes import SPAWNS, is_for_one_node, is_launched_on_one_node
from distlint.rules.setup._order import inits, is_test
from distlint.rules.training import samplers
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.training import Made
    from distlint.source.document import Document

_COUNT = ("torch.cuda.device_count",)
_SHARES = re.compile(r"batch|accum|grad|world|steps|lr$|learning_rate", re.IGNORECASE)
_WORLD = re.compile(r"(^|_)world_?size$", re.IGNORECASE)
_SIZES = frozenset({"WORLD_SIZE", "get_world_size"})
_OTHERS = frozenset({"DataParallel", "spawn", "start_processes"})
_NODE = re.compile(r"\bnode\b", re.IGNORECASE)


class DeviceCountAsWorldSize(SourceRule):
    """The GPUs of one node are taken for the ranks of the job, in a batch size or a sampler.

    ```python
    dist.init_process_group("nccl")
    world_size = int(os.environ["WORLD_SIZE"])
    batch_size = args.batch_size // torch.cuda.device_count()  # bad: the GPUs of one node
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl")
    batch_size = args.batch_size // dist.get_world_size()
    ```

    The environment variable `WORLD_SIZE` holds the same number. A `DistributedSampler` asks the
    process group by itself if it is given neither `num_replicas` nor `rank`.

    ## Why is this bad?

    `device_count()` is the number of GPUs visible on this node, not the number of ranks. On two
    nodes it is half the world size; in a job that uses fewer GPUs than are visible, it is larger
    than the world size. The effective batch size then silently differs from the one that was asked
    for.

    ## What is reported

    `batch_size // torch.cuda.device_count()`, and the like for accumulation steps and learning
    rates, in a script that also uses `WORLD_SIZE` or `get_world_size()`. Also a
    `DistributedSampler` with `num_replicas=torch.cuda.device_count()`, if the rank is that among
    all processes; [DST518](local-rank-as-rank.md) reports one with the local rank.

    ## What is not reported

    - Both numbers of a sampler are those of the node: each node then reads all of the data, which
      may be its own.
    - Samplers, if the process group is given the local rank, the file starts its processes with
      `mp.spawn`, or it runs on one node only, for the reasons that
      [DST504](global-rank-as-device.md) has.
    - The file uses neither `WORLD_SIZE` nor `get_world_size()`, or it uses `DataParallel` or
      `mp.spawn`.
    - The count is used as a number of processes, workers, devices or nodes.
    - The help text of the option says that the value is per node.

    ## Fix safety

    None: on a single node with all GPUs in use the numbers are equal, and some scripts do mean the
    GPUs of their node.

    ## References

    - [torch.cuda.device_count](https://docs.pytorch.org/docs/stable/generated/torch.cuda.device_count.html)
    - [torchrun: environment variables](https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables)
    """

    code = "DST513"
    name = "device-count-as-world-size"
    severity = Severity.WARNING

    good = (
        Example(
            title="A batch size per node",
            effect="static",
            why_static="it reads options",
            code="""\
import argparse
import os

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument(
    "-b",
    "--batch-size",
    type=int,
    help="how many samples of the data set all the GPUs together take "
    "in each step on the node that they are part of",
)
args = parser.parse_args()
print(os.environ["WORLD_SIZE"])
dist.init_process_group("nccl")
args.batch_size = int(args.batch_size / torch.cuda.device_count())
dist.destroy_process_group()
""",
        ),
        Example(
            title="The number of nodes",
            effect="static",
            why_static="it divides by the number of GPUs",
            code="""\
import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
world_size = dist.get_world_size()
per_node = torch.cuda.device_count()
first_of_each = [i * per_node for i in range(world_size // per_node)]
nodes = dist.get_world_size() // torch.cuda.device_count()
dist_world_size = int(os.environ["WORLD_SIZE"])
nodes = dist_world_size // torch.cuda.device_count()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The world size",
            code="""\
import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
world_size = int(os.environ["WORLD_SIZE"])
accumulation_steps = 8
accumulation_steps //= world_size
workers = 16 // max(1, torch.cuda.device_count())
local_rank = dist.get_rank() % max(1, torch.cuda.device_count())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Accumulation steps divided by the GPUs of a node",
            effect="static",
            why_static="it shows with GPUs on two nodes only",
            code="""\
import os

import torch
import torch.distributed as dist

gradient_accumulation_steps = 40
if int(os.environ.get("RANK", -1)) != -1:
    dist.init_process_group("nccl")
    world_size = int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    gradient_accumulation_steps //= torch.cuda.device_count()  # expect: DST513
    dist.destroy_process_group()
""",
        ),
        Example(
            title="Batch size divided by the GPUs of a node",
            effect="static",
            why_static="it shows with GPUs on two nodes only",
            code="""\
import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def loader(data, args):
    count = torch.cuda.device_count()
    batch_size = args.batch_size // count  # expect: DST513
    return DataLoader(data, batch_size, sampler=DistributedSampler(data))


torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
print(dist.get_world_size())
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if SPAWNS.isdisjoint(module.words):
            yield from self._of_samplers(objects_across(module, catalogue), document, locators)
        words = module.words
        near = words.union(*(each.words for each in module.imports))
        if "device_count" not in near or not _OTHERS.isdisjoint(words):
            return
        if not _SIZES & (near if "init_process_group" in words else words):
            return
        objects = objects_across(module, catalogue)
        if is_for_one_node(objects):
            return
        for point in objects.points:
            if _divides(objects, point) and not _is_of_node(objects, point):
                yield self.finding(
                    message="the number of local GPUs is used as the world size",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(point.statement.site),
                    effect="with several nodes or unused GPUs, the effective batch size is wrong",
                    help="Use `dist.get_world_size()`",
                )

    def _of_samplers(
        self, objects: Objects, document: Document, locators: Locators
    ) -> Iterator[Finding]:
        if "DistributedSampler" not in objects.module.words:
            return
        found = [each.site for each in samplers(objects) if _takes_local_count(each)]
        if not found or is_for_one_node(objects) or _joins_by_local_rank(objects):
            return
        if is_launched_on_one_node(objects.module):
            return
        for site in found:
            if not is_test(document, site.point):
                yield self.finding(
                    message="`DistributedSampler` is given the number of local GPUs",
                    severity=Severity.WARNING,
                    place=locators.of(objects.module.key).place(site.call.site),
                    effect="with several nodes, ranks from that number on raise an error",
                    help="Leave out `num_replicas` and `rank`: the process group has both",
                )


def _takes_local_count(sampler: Made) -> bool:
    """Is a sampler given the number of local GPUs, and the rank among all processes?"""
    objects, point = sampler.objects, sampler.site.point
    replicas, rank = sampler.option("num_replicas"), sampler.option("rank")
    return every(objects, replicas.value, point, is_local_count) and (
        is_left_out(rank) or every(objects, rank.value, point, is_global_rank)
    )


def _joins_by_local_rank(objects: Objects) -> bool:
    """Is the local rank the one in the group as well, so that there is one node only?"""
    return any(
        every(objects, objects.argument(site, "rank", 4).value, site.point, is_local_rank)
        for site in inits(objects)
    )


def _is_of_node(objects: Objects, point: Point) -> bool:
    """Does an option that a statement reads say of itself that it is meant for a node?"""
    said = ir.tokens_of(point.statement)
    for site in objects.calls({"add_argument", "option"}):
        texts = [each.value for each in expressions_in(site.call) if isinstance(each, ir.Literal)]
        words = [text for text in texts if isinstance(text, str)]
        named = {text.lstrip("-").replace("-", "_") for text in words if " " not in text}
        if not named.isdisjoint(said) and any(_NODE.search(text) for text in words):
            return True
    return False


def _divides(objects: Objects, point: Point) -> bool:
    statement = point.statement
    if isinstance(statement, ir.AugAssign):
        named = ir.last_name(statement.target)
        return (
            statement.op in ("//", "/", "//=", "/=", "*", "*=")
            and _SHARES.search(named) is not None
            and _is_count(objects, statement.value, point)
        )
    return isinstance(statement, (ir.Assign, ir.Evaluate)) and any(
        isinstance(node, ir.Binary)
        and node.op in ("//", "/")
        and _is_share(node.left)
        and _is_count(objects, node.right, point)
        for node in nodes_of(statement)
    )


def _is_share(node: ir.Expr) -> bool:
    """Is it what the ranks share? All ranks by the GPUs of a node are the number of nodes."""
    name = ir.last_name(node.args[0].value if isinstance(node, ir.Call) and node.args else node)
    func = node.func if isinstance(node, ir.Call) else node
    if _WORLD.search(name) or _WORLD.search(ir.last_name(func)):
        return False
    return _SHARES.search(name) is not None


def _is_count(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it the number of GPUs that this process sees, and nothing else?"""
    found = [o for o in objects.origins(node, point) if not isinstance(o.node, ir.Literal)]
    return bool(found) and all(
        isinstance(origin.node, ir.Call)
        and origin.item is None
        and objects.called(CallSite(origin.node, origin.point)) in _COUNT
        for origin in found
    )
