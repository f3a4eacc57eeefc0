"""DST207: a loader that loads in the process that trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer.static.guards.process_groups import is_distributed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import is_named_for_evaluation, loaders
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class LoaderDefaults(SourceRule):
    """A `DataLoader` for training has no worker processes.

    ```python
    data = ImageFolder(path)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    ```

    ## Use instead

    ```python
    data = ImageFolder(path)
    sampler = DistributedSampler(data)
    loader = DataLoader(
        data, batch_size=32, sampler=sampler, num_workers=4, persistent_workers=True
    )
    ```

    The number is per rank: eight ranks with eight workers each are 64 processes on one machine.
    `prefetch_factor=2` is the default.

    ## Why is this bad?

    Batches are loaded in the training process: on every rank, the GPU waits while they are read and
    decoded.

    ## What is reported

    `DataLoader(...)` without `num_workers`, in a distributed script that uses CUDA. In preview: in
    most of the findings that were reviewed (30 of 134 in 58 repositories), the data fits into
    memory, and workers would not help.

    ## What is not reported

    - `num_workers` is passed, even as 0, which is a deliberate choice.
    - Files that use a `TensorDataset`, which is in memory.
    - Loaders for evaluation, judged by their name.

    ## Fix safety

    None: the right number of workers depends on the machine, and in-memory data needs none.

    ## References

    - [torch.utils.data: multi-process data loading](https://docs.pytorch.org/docs/stable/data.html)
    - [Performance tuning guide](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html)
    """

    code = "DST207"
    name = "loader-defaults"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Data in memory",
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
            title="No workers, explicitly",
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
            title="The GPU waits for each image",
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
        for loader in loaders(objects_across(module, catalogue)):
            if not loader.option("num_workers").absent:
                continue
            if is_named_for_evaluation(loader.site):
                continue
            yield self.finding(
                message="DataLoader has no workers (`num_workers` is not set)",
                severity=Severity.INFO,
                place=locators.of(module.key).place(loader.options.call.site),
                effect="the GPU waits for data in every step",
                help="Add workers, for example `num_workers=4, persistent_workers=True`",
            )
