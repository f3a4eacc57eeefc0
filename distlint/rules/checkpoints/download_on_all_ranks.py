"""DST415: every rank downloads the same data set to the same folder."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers import agree, imports, names, ranks, statements
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._all_ranks import (
    LOOKS_FOR_FILE,
    is_before_others,
    is_done_first,
    is_looked_for,
    on_all_ranks,
)
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.guards import Guards
    from distlint.analyzer.static.objects import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.fixers.statements import Statement
    from distlint.source.document import Document

_DATASETS = ("torchvision.datasets.", "torchaudio.datasets.", "torchtext.datasets.")
_UNPACKS = re.compile(r"^torchvision\.datasets\.(?:VOC\w+|SBDataset)$")
"""Data sets that unpack the archive each time, also where it is there."""
_FETCHES = frozenset({"urllib.request.urlretrieve", "torch.hub.download_url_to_file"})
_FUNCTIONS = frozenset(name.rpartition(".")[2] for name in _FETCHES)
_FILE_LOCKS = frozenset(
    {
        "FileLock", "SoftFileLock", "UnixFileLock", "WindowsFileLock", "InterProcessLock",
        "LockFile", "MkdirLockFile", "SoftLockFile",
    }
)  # fmt: skip
"""Locks that lie in a file: those of threads keep no other process away."""


class DownloadOnAllRanks(SourceRule):
    """Every rank downloads the same data to the same place.

    ## What it finds

    A data set of torchvision or torchaudio made with `download=True`, `urlretrieve` and
    `torch.hub.download_url_to_file`, which all ranks of a node come to at the same time. In
    preview, as information: data that are looked for first, in a script whose only other processes
    are those that Lightning's `Trainer` starts.

    ## Why it matters

    Nothing locks the file. On the first run the ranks write into one archive together, or one
    unpacks what another is still fetching: a broken data set, or an error that is gone the next
    time because the files are there by then. `VOCDetection` and its kind unpack the archive on
    every run, while other ranks read the files.

    Lightning starts the other processes of a node when the first one comes to `fit`, and they find
    the data there; those of other nodes, and of a launcher such as `srun`, do not wait for it.

    ## What to do

    Let one rank of each node fetch, and the others wait:

    ```python
    if int(os.environ["LOCAL_RANK"]) == 0:
        CIFAR10(root, download=True)
    dist.barrier()
    dataset = CIFAR10(root)
    ```

    ## Fix

    Unsafe: the statement goes under `with main_process_first("node"):`, with Accelerate under that
    of the accelerator. One rank of each node then fetches, and the others, which wait for it, find
    the data. A plain fetch has to look for the file first, for it would write it again. Not offered
    in front of `init_process_group` (also where the function is called in front of it), or where
    Lightning joins the processes later.

    ## When it is silent

    - A test of the rank, a context such as `main_process_first()`, or a split barrier around it.
    - `download` depends on the rank.
    - The folder has the rank in it.
    - Libraries that lock their files: `datasets`, `huggingface_hub`.
    - A lock in a file is held meanwhile: `with FileLock(path):`.
    - The run has one process by its own words: `Fabric(devices=1)`.
    - The file is a test: the data lies there already.
    - A notebook: one process runs its cells, and forks the others for `fit` alone.
    """

    code = "DST415"
    name = "download-on-all-ranks"
    severity = Severity.WARNING

    good = (
        Example(
            title="One rank of the node fetches, then all read",
            needs=("torchvision",),
            effect="static",
            why_static="needs the network",
            code="""\
import os
import torch.distributed as dist
from torchvision.datasets import CIFAR10

dist.init_process_group("gloo")
if int(os.environ["LOCAL_RANK"]) == 0:
    CIFAR10("data", download=True)
dist.barrier()
dataset = CIFAR10("data")
dist.destroy_process_group()
""",
        ),
        Example(
            title="One after the other, by a lock in a file",
            needs=("torchvision", "filelock"),
            effect="static",
            why_static="needs the network",
            code="""\
import torch.distributed as dist
from filelock import FileLock
from torchvision.datasets import CIFAR10

dist.init_process_group("gloo")
with FileLock("data.lock"):
    dataset = CIFAR10("data", download=True)
dist.destroy_process_group()
""",
        ),
        Example(
            title="One process by its own words",
            needs=("torchvision", "lightning"),
            effect="static",
            why_static="needs the network",
            code="""\
from lightning.fabric import Fabric
from torchvision.datasets import CIFAR10

fabric = Fabric(accelerator="auto", devices=1)
fabric.launch()
dataset = CIFAR10("data", download=True)
if fabric.is_global_zero:
    print(len(dataset))
""",
        ),
        Example(
            title="The others wait for the first",
            needs=("torchvision",),
            effect="static",
            why_static="needs the network",
            code="""\
import torch.distributed as dist
from torchvision import datasets

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank != 0:
    dist.barrier()
dataset = datasets.MNIST("data", train=True, download=True)
if rank == 0:
    dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="All ranks fetch one file",
            effect="wrong data",
            code="""\
import os
import time
import urllib.request
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank == 0:
    with open("origin.bin", "wb") as file:
        file.write(bytes(1_000_000))
dist.barrier()
source = "file://" + os.path.abspath("origin.bin")
time.sleep(0.3 * rank)
slow = lambda *block: time.sleep(0.01 * rank)
urllib.request.urlretrieve(source, "data.bin", slow)  # expect: DST415
time.sleep(0.6 - 0.6 * rank)
print("complete =", os.path.getsize("data.bin") == 1_000_000)
dist.barrier()
""",
        ),
        Example(
            title="All ranks look for the file at the same time",
            effect="wrong data",
            code="""\
import os
import time
import urllib.request
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank == 0:
    with open("origin.bin", "wb") as file:
        file.write(bytes(1_000_000))
dist.barrier()
source = "file://" + os.path.abspath("origin.bin")
slow = lambda *block: time.sleep(0.01 * rank)
if not os.path.exists("data.bin"):
    time.sleep(0.3 * rank)
    urllib.request.urlretrieve(source, "data.bin", slow)  # expect: DST415
time.sleep(0.6 - 0.6 * rank)
print("complete =", os.path.getsize("data.bin") == 1_000_000)
dist.barrier()
""",
        ),
        Example(
            title="In front of the processes that Lightning starts",
            needs=("torchvision", "lightning"),
            effect="static",
            why_static="needs the network",
            code="""\
from lightning.pytorch import Trainer
from torchvision.datasets import CIFAR10, VOCDetection


def train(module, loader):
    images = VOCDetection("voc", download=True)  # expect: DST415
    others = CIFAR10("cifar", download=True)  # expect: DST415
    Trainer(devices=4, strategy="ddp").fit(module, loader(images, others))
""",
        ),
        Example(
            title="download=True on every rank",
            needs=("torchvision",),
            effect="static",
            why_static="needs the network",
            code="""\
import torch.distributed as dist
from torchvision.datasets import CIFAR10


def worker(rank, world):
    dist.init_process_group("nccl", rank=rank, world_size=world)
    return CIFAR10("data", train=True, download=True)  # expect: DST415
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "download" not in module.tokens and _FUNCTIONS.isdisjoint(module.tokens):
            return
        if document.is_test:
            return
        wanted = frozenset(_dataset_names(module)) | _FUNCTIONS
        for site, guards in on_all_ranks(module, catalogue, wanted):
            called = guards.objects.called(site)
            if called.startswith(_DATASETS):
                if (
                    guards.objects.constant(
                        guards.objects.argument(site, "download"), site.point, False
                    )
                    is not True
                ):
                    continue
                place = guards.objects.argument(site, "root", 0).value
            elif called in _FETCHES:
                place = guards.objects.argument(site, "filename", 1).value
            else:
                continue
            if guards.is_own(place, site.point) or _is_locked(guards, site):
                continue
            again = _UNPACKS.search(called) is not None
            finding = self.finding(
                message="every rank downloads to the same place, and nothing locks it",
                severity=Severity.WARNING,
                place=locators.of(module.key).place(site.call.site),
                effect="the ranks unpack over each other's files, on each run"
                if again
                else "on the first run the ranks write into one file together",
                advice="download on one rank of each node, then let all meet in a barrier",
                fix=partial(
                    _fix,
                    site,
                    called in _FETCHES,
                    frozenset(module.imported_roots),
                    Draft(locators.of(module.key), module, catalogue),
                ),
            )
            looks = is_looked_for(site) if called in _FETCHES else not again
            if looks and is_done_first(guards, site):
                continue
            if looks and is_before_others(guards, site):
                finding = replace(
                    finding,
                    preview=True,
                    severity=Severity.INFO,
                    message="every process that no other one starts downloads to the same place, "
                    "and nothing locks it",
                )
            yield finding


def _is_locked(guards: Guards, site: CallSite) -> bool:
    """Is a lock held around a call, which lies in a file that other processes see?"""
    return any(
        isinstance(here.owner, ir.With)
        and any(
            isinstance(origin.node, ir.Call) and ir.last_name(origin.node.func) in _FILE_LOCKS
            for origin in guards.objects.origins(
                here.owner.context, Point(site.point.scope, site.point.around[:depth])
            )
        )
        for depth, here in enumerate(site.point.around)
    )


def _fix(site: CallSite, fetches: bool, roots: frozenset[str], draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    statement = statements.statement_of(draft, call)
    if isinstance(statement, cst.BaseCompoundStatement):
        raise Doubt("the statement does more than to download")
    if fetches:
        statement = _asking_first(draft, call, statement)
    ranks.require_all(draft, statement)
    helper = agree.accelerator_at(draft, statement)
    if helper is None and (_STARTED_LATER & roots or ranks.joins_later(draft, statement)):
        raise Doubt("the processes do not know each other yet")
    if helper is not None:
        statements.wrap(draft, f"with {helper}.local_main_process_first():", statement)
    else:
        first = imports.imported(draft, draft.catalogue.runtime, "main_process_first", statement)
        statements.wrap(draft, f'with {first}("node"):', statement)
    return draft.fix("unsafe", "Let one rank of each node download first")


def _asking_first(draft: Draft, call: cst.Call, statement: Statement) -> Statement:
    """The statement, or the branch around it that looks for the file."""
    for around in draft.ancestors(statement):
        if isinstance(around, cst.FunctionDef):
            break
        if isinstance(around, cst.If) and LOOKS_FOR_FILE & {
            name.value for name in names.inside(around.test) if isinstance(name, cst.Name)
        }:
            return around
    raise Doubt("each rank would fetch it again")


_STARTED_LATER = frozenset({"lightning", "pytorch_lightning", "lightning_fabric"})
"""What makes the processes known to each other by itself, behind such a place."""


def _dataset_names(module: Module) -> Iterable[str]:
    """The last names of calls that say ``download=True``."""
    for statement in module.statements():
        if "download" in ir.tokens_of(statement):
            yield from ir.tokens_of(statement)
