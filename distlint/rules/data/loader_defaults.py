"""DST207: a loader that loads in the process that trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer.static.guards import is_distributed
from distlint.analyzer.static.objects import objects_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import is_evaluation, loaders, names_of
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class LoaderDefaults(SourceRule):
    """A loader for training has no worker processes.

    ## What it finds

    `DataLoader(...)` without `num_workers`, in a distributed script that uses CUDA.

    ## Why it matters

    Batches are then made in the process that trains: the GPU waits while they are read and
    decoded, on every rank.

    ## What to do

    `num_workers=4, persistent_workers=True`, per rank: eight ranks with eight workers each are 64
    processes on one machine. `prefetch_factor=2` is the default.

    ## Fix

    None: how many workers are right depends on the machine, and data in memory need none.

    ## When it is silent

    - `num_workers` is given, also as 0, which somebody has then decided; or the data are a
      `TensorDataset`.
    - The loader is for evaluation, by its name.

    In preview: of 134 findings in 58 repositories 30 were read; most are examples on data that
    fit into memory, so that workers would gain them nothing.
    """

    code = "DST207"
    name = "loader-defaults"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="In memory",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = TensorDataset(torch.arange(8.0))
loader = DataLoader(data, batch_size=2, sampler=DistributedSampler(data))
dist.destroy_process_group()
""",
        ),
        Example(
            title="None, and it says so",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

dist.init_process_group("gloo")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = [torch.full((2,), float(each)) for each in range(8)]
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=2, sampler=sampler, num_workers=0)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The GPU waits for each picture",
            effect="static",
            why_static="it shows in the time of a step",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.datasets import ImageFolder


def main(path, device="cuda"):
    dist.init_process_group("nccl")
    data = ImageFolder(path)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler)  # expect: DST207
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for images, _ in loader:
            print(images.to(device).mean())
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if "DataLoader" not in words or "TensorDataset" in words or not is_distributed(module):
            return
        if not any("cuda" in word or word == "device" for word in words):
            return
        if document.is_test:
            return
        for loader in loaders(objects_of(module, catalogue)):
            if not loader.option("num_workers").absent:
                continue
            if any(is_evaluation(name) for name in names_of(loader.site)):
                continue
            yield self.finding(
                message="this loader makes its batches in the process that trains",
                severity=Severity.INFO,
                place=locators.of(module.key).place(loader.options.call.site),
                effect="the GPU waits for the data in each step",
                advice="Give it workers: num_workers=4, persistent_workers=True.",
            )
