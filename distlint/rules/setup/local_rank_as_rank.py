"""DST518: the number of a process on its node is taken for its rank in the job."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._local_ranks import LocalRanks, Taken, variable_in
from distlint.rules.setup._nodes import is_for_one_node
from distlint.rules.setup._order import is_test
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.nodes import starts_several_nodes
from distlint.source.requirements import runs_on_several_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_TRAINING = frozenset({"backward", "zero_grad", "IterableDataset", "Trainer", "DataLoader"})
_LOCAL = ("local", "LOCAL", "device_count", "spawn", "start_processes")
_REPEATS = "with several nodes, two processes have the same rank, and the group is never complete"
_LOST = "with several nodes, each reads the same shards, and the others are not read"
_GLOBAL = {
    "LOCAL_RANK": "RANK",
    "SLURM_LOCALID": "SLURM_PROCID",
    "OMPI_COMM_WORLD_LOCAL_RANK": "OMPI_COMM_WORLD_RANK",
    "HOROVOD_LOCAL_RANK": "HOROVOD_RANK",
}
"""The variables in which the same launchers give the number among all processes."""


class LocalRankAsRank(SourceRule):
    """The local rank is used as the rank in the job, so ranks repeat on the second node.

    ```python
    local_rank = int(os.environ["LOCAL_RANK"])
    world_size = int(os.environ["WORLD_SIZE"])
    dist.init_process_group("nccl", rank=local_rank, world_size=world_size)  # bad
    sampler = DistributedSampler(data, num_replicas=world_size, rank=local_rank)  # bad
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl")
    sampler = DistributedSampler(data)
    ```

    The group reads `RANK` and `WORLD_SIZE` by itself, and the sampler asks the group.

    ## Why is this bad?

    Local ranks are numbered from 0 on each node, ranks across all nodes. On a single node they are
    the same. On two nodes of eight GPUs each, two processes have rank 0 and none has rank 8, so
    `init_process_group` waits for a rank that never joins. A sampler with the local rank takes the
    same shards of the data on each node, and those of the other ranks are never read.

    ## What is reported

    A local rank that is used together with the world size of the job:

    - in `init_process_group` and `deepspeed.init_distributed`, or written to the environment
      variable `RANK`;
    - in a `DistributedSampler` that is given the world size, or no `num_replicas`;
    - as the part of the data to take: `data[local_rank::world_size]`,
      `range(local_rank, len(data), world_size)`, `dataset.shard(world_size, local_rank)`,
      `split_dataset_by_node`, `if step % world_size == local_rank`.

    The local rank is read from `LOCAL_RANK` or `SLURM_LOCALID`, from a library, from an option that
    the launcher passes, or computed as `rank % torch.cuda.device_count()`; with
    `world_size=nodes * gpus`, also the index that `mp.spawn` passes. All may be in other files.

    As info where no launch line, `README`, Slurm job or configuration of the repository starts
    several nodes, and for parts of the data in a file that neither trains nor loads batches.

    ## What is not reported

    - The size is that of a node, such as `LOCAL_WORLD_SIZE` or `torch.cuda.device_count()`: each
      node then has a group, or reads all of the data.
    - The rank is computed as `node * gpus + local_rank`.
    - The group is given the local rank and a size of which it is not known that it is that of the
      job, or the project sets `WORLD_SIZE` or `LOCAL_RANK` itself.
    - The file starts its processes with `mp.spawn`, unless the size is computed from the number of
      nodes.
    - The file runs on one node only, because it asserts so or meets at `127.0.0.1`: see
      [DST504](global-rank-as-device.md).
    - The file is a test.

    ## Fix safety

    Unsafe: replaces `LOCAL_RANK` by `RANK`, or the variable of another launcher, where it is read
    in that statement. Something else than `torchrun` may set only the local one.

    ## References

    - [torchrun: environment variables](https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables)
    - [torch.utils.data.distributed.DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
    """

    code = "DST518"
    name = "local-rank-as-rank"
    severity = Severity.WARNING
    exceptions = (Severity.INFO,)

    good = (
        Example(
            title="The ranks of the launcher",
            code="""\
import os

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

local_rank = int(os.environ["LOCAL_RANK"])
rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", rank=rank, world_size=world_size)
sampler = DistributedSampler(range(8), num_replicas=world_size, rank=rank)
print(f"node-local process {local_rank} reads {list(sampler)}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="A group for each node",
            effect="static",
            why_static="it needs GPUs",
            code="""\
import os

import torch
import torch.distributed as dist

local_rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl", rank=local_rank, world_size=torch.cuda.device_count())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The local rank in the group",
            effect="static",
            why_static="it shows on two nodes only",
            code="""\
import os

import torch
import torch.distributed as dist

local_rank = int(os.environ["LOCAL_RANK"])
world_size = int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl", rank=local_rank, world_size=world_size)  # expect: DST518
dist.destroy_process_group()
""",
        ),
        Example(
            title="The local rank in a sampler",
            effect="static",
            why_static="it shows on two nodes only",
            code="""\
import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def loader(data):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(data, rank=int(os.environ["LOCAL_RANK"]))  # expect: DST518
    return DataLoader(data, batch_size=32, sampler=sampler)
""",
        ),
        Example(
            title="Files by the local rank",
            effect="static",
            why_static="it shows on two nodes only",
            code="""\
import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset


def loader(files):
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("gloo")
    mine = files[local_rank :: dist.get_world_size()]  # expect: DST518
    return DataLoader(TensorDataset(torch.cat([torch.load(file) for file in mine])))
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        near = module.words.union(*(each.words for each in module.imports))
        if not any(word in each for each in near for word in _LOCAL):
            return
        objects = objects_across(module, catalogue)
        found = [each for each in LocalRanks(objects).taken() if not is_test(document, each.point)]
        if not found or is_for_one_node(objects):
            return
        serious = starts_several_nodes(document.text) or runs_on_several_nodes(document.path)
        locator = locators.of(module.key)
        for taken in found:
            yield self.finding(
                message=_message(taken),
                severity=Severity.WARNING if serious and _trains(module, taken) else Severity.INFO,
                place=locator.place(taken.site),
                effect=_REPEATS if taken.kind in ("group", "variable") else _LOST,
                help=_help(taken),
                fix=partial(_fix, objects, taken, Draft(locator, module, catalogue)),
            )


def _message(taken: Taken) -> str:
    return {
        "group": "the local rank is given to the process group as the rank",
        "variable": "`RANK` is set to the local rank",
        "sampler": "`DistributedSampler` is given the local rank",
    }.get(taken.kind, "the local rank selects a part of the data")


def _help(taken: Taken) -> str:
    return {
        "group": "Leave out `rank` and `world_size`, or pass the global rank",
        "variable": "Set it to the global rank, such as that in `SLURM_PROCID`",
        "sampler": "Leave out `num_replicas` and `rank`: the process group has both",
    }.get(taken.kind, "Use the global rank: `dist.get_rank()`")


def _trains(module: Module, taken: Taken) -> bool:
    """Does it matter: a group, a sampler, or data of a file that trains?"""
    return taken.kind != "part" or not module.tokens.isdisjoint(_TRAINING)


def _fix(objects: Objects, taken: Taken, draft: Draft) -> Fix:
    variable = variable_in(objects, taken)
    if variable not in _GLOBAL:
        raise CannotFix("the global rank is not read in the same way")
    texts = [
        each
        for each in names.inside(draft.locator.node(taken.site))
        if isinstance(each, cst.SimpleString) and each.evaluated_value == variable
    ]
    if len(texts) != 1:
        raise CannotFix("the local rank is read there more than once")
    draft.replace(texts[0], texts[0].value.replace(variable, _GLOBAL[variable]))
    return draft.fix("unsafe", f"Use `{_GLOBAL[variable]}`")
