"""DST415: every rank downloads the same data set to the same folder."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.paths import is_own
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import agree, imports, names, ranks, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._all_ranks import (
    LOOKS_FOR_FILE,
    is_before_others,
    is_done_by_parent,
    is_done_first,
    is_looked_for,
    on_all_ranks,
)
from distlint.rules.checkpoints._answers import ASK_NAMES, WRITE_NAMES, answer_file
from distlint.rules.checkpoints._downloads import download_of, files_of, is_fetched_by_one, place_of
from distlint.rules.checkpoints._locks import is_locked
from distlint.source.finding import Finding, Fix, Place, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.sites import CallSite, Origin
    from distlint.catalogue.catalogue import Catalogue
    from distlint.fixers.statements import Statement
    from distlint.source.document import Document

_DATASETS = ("torchvision.datasets.", "torchaudio.datasets.", "torchtext.datasets.")
_UNPACKS = re.compile(r"^torchvision\.datasets\.(?:VOC\w+|SBDataset)$")
"""Data sets that unpack the archive each time, also where it is there."""


_LOAD = "load_dataset"
_AGAIN = frozenset({"force_redownload", "reuse_cache_if_exists"})
"""Modes of ``datasets`` in which each process puts other files in the place of those there."""


class DownloadOnAllRanks(SourceRule):
    """All ranks download the same data to the same path.

    ```python
    dist.init_process_group("nccl")
    dataset = CIFAR10("data", download=True)
    sampler = DistributedSampler(dataset)
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl")
    if int(os.environ["LOCAL_RANK"]) == 0:
        CIFAR10("data", download=True)  # one rank of each node
    dist.barrier()
    dataset = CIFAR10("data")
    sampler = DistributedSampler(dataset)
    ```

    With Accelerate, use `with accelerator.local_main_process_first():`.

    ## Why is this bad?

    Nothing locks the file. On the first run, the ranks write to one archive at the same time, or
    one rank unpacks what another is still downloading: the dataset is broken, or an error is gone
    on the next run because the files are there by then. `VOCDetection` and similar datasets unpack
    the archive on every run, while other ranks read the files.

    Lightning starts the other processes of a node when the first one calls `fit`, so they find the
    data. Processes on other nodes, or started by a launcher such as `srun`, do not wait for it.

    ## What is reported

    Datasets of torchvision, torchaudio or torchtext with `download=True`, and calls of
    `urlretrieve`, `torch.hub.download_url_to_file`, `gdown.download`, `nltk.download` or the
    functions of `torchvision.datasets.utils` that download, if all ranks of a node reach them at
    the same time. Likewise `torch.hub.load`, `list` and `help`, which unpack a repository into the
    cache, and `clip.load` and `whisper.load_model` with the name of a model.
    `datasets.load_dataset` with `download_mode="force_redownload"` is reported as well: it
    replaces the files although they are locked meanwhile. Also an answer of `urlopen` or
    `requests.get` that is written to a file. In preview, with severity info: downloads that first
    check for the file, in a script whose other processes are started only by Lightning's
    `Trainer`.

    ## What is not reported

    - A rank check, a context manager such as `main_process_first()`, or a split barrier around it.
    - The process that starts the others calls the function with the same arguments before.
    - `download` depends on the rank.
    - The directory name contains the rank.
    - Libraries that lock their files (`datasets`, `huggingface_hub`) or put a whole file in place
      (`torch.hub.load_state_dict_from_url`, the models of torchvision).
    - Files of a cache that one rank fetches by such a call, under a rank check, or that an earlier
      call in the file fetches; and repositories and models on the disk.
    - Downloads under a file lock: `with FileLock(path):`.
    - The script runs as one process: `Fabric(devices=1)`.
    - Nothing shows that several processes run this code, neither in the file nor in files of the
      project that call it.
    - Tests: the data already exists.
    - Notebooks: one process runs the cells and forks the others only for `fit`.

    ## Fix safety

    Unsafe: the statement moves into `with main_process_first("node"):` or, with Accelerate, into
    `with accelerator.local_main_process_first():`. One rank of each node then downloads; the others
    wait and find the data. A plain download must check for the file first, because it would
    overwrite it otherwise. Not offered for an answer that is written, before `init_process_group`
    (also if the function is called before it), or if Lightning creates the process group later.

    ## References

    - [torchvision datasets](https://docs.pytorch.org/vision/stable/datasets.html)
    - [Accelerate: deferring execution](https://huggingface.co/docs/accelerate/concept_guides/deferring_execution)
    """

    code = "DST415"
    name = "download-on-all-ranks"
    severity = Severity.WARNING
    exceptions = (Severity.INFO,)
    shared = (
        r"\bdownload\b",
        r"\bload_dataset\b",
        r"\burlretrieve\b",
        r"\bdownload_(?:url|and_extract|file_from)",
        r"\bhub\.(?:load|list|help)\(|\btorch\.hub\b",
        r"\bclip\.load\(",
        r"\bwhisper\.load_model\(",
        r"\burlopen\b",
        r"\b(?:requests|httpx)\b",
    )

    good = (
        Example(
            title="One rank per node downloads, then all ranks read",
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
            title="One rank at a time, with a file lock",
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
            title="A script that runs as one process",
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
            title="The other ranks wait for rank 0",
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
            title="All ranks download one file",
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
            title="All ranks check for the file at the same time",
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
            title="Before Lightning starts the other processes",
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
            title="download=True on all ranks",
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
        words = module.tokens | module.imported_roots
        asks = not ASK_NAMES.isdisjoint(words)
        functions = catalogue.writes.names_of_downloads
        forced = not _AGAIN.isdisjoint(module.words)
        if "download" not in words and functions.isdisjoint(words) and not (asks or forced):
            return
        if document.is_test:
            return
        wanted = frozenset(_dataset_names(module)) | functions | (WRITE_NAMES if asks else set())
        wanted |= {_LOAD} if forced else set()
        reached = on_all_ranks(module, catalogue, wanted, fits=_may_download)
        fetched = set[tuple[str, frozenset[str]]]()
        for site, guards in sorted(reached, key=lambda each: each[0].call.site):
            called = guards.objects.called(site)
            row = download_of(guards.objects, site)
            is_data = called.startswith(_DATASETS) and row is None
            if called == f"datasets.{_LOAD}":
                if _is_forced(guards, site) and not is_done_by_parent(guards, site):
                    yield self._forced(locators.of(module.key).place(site.call.site))
                continue
            if is_data:
                if not _downloads(guards, site):
                    continue
                place = guards.objects.argument(site, "root", 0).value
            elif row is not None:
                place = place_of(guards.objects, row, site)
            else:
                place = answer_file(guards, site) if asks else None
                if place is None:
                    continue
            if is_own(guards, place, site.point) or is_locked(guards, site.point):
                continue
            again = _UNPACKS.search(called) is not None
            finding = self.finding(
                message="all ranks download to the same path without a lock",
                severity=Severity.WARNING,
                place=locators.of(module.key).place(site.call.site),
                effect="ranks overwrite each other's unpacked files on every run"
                if again
                else "ranks write to the same file at the same time on the first run",
                help="Download on one rank of each node, then call a barrier on all ranks",
                fix=partial(
                    _fix,
                    site,
                    not is_data and not (row is not None and row.cached),
                    frozenset(module.imported_roots),
                    Draft(locators.of(module.key), module, catalogue),
                ),
            )
            if is_done_by_parent(guards, site):
                continue
            is_cached = row is not None and row.cached
            if is_cached and (files_of(guards, site) in fetched or is_fetched_by_one(guards, site)):
                continue
            looks = not again if is_data else is_cached or is_looked_for(site)
            if looks and is_done_first(guards, site):
                continue
            if looks and is_before_others(guards, site):
                finding = replace(
                    finding,
                    preview=True,
                    severity=Severity.INFO,
                    message="each launched process downloads to the same path",
                )
            if is_cached:
                fetched.add(files_of(guards, site))
            yield finding

    def _forced(self, place: Place) -> Finding:
        return self.finding(
            message="every rank makes the files of the dataset again",
            severity=Severity.WARNING,
            place=place,
            effect="ranks download one after another, and each replaces the files that others read",
            help="Load it on one rank first, and then without `download_mode` on all ranks",
        )


def _is_forced(guards: Guards, site: CallSite) -> bool:
    """Is ``load_dataset`` told to make the files of the cache again, whether they are there?"""
    mode = guards.objects.argument(site, "download_mode")
    return mode.value is not None and all(
        origin.constant in _AGAIN or {path.lower() for path in _last_of(origin)} <= _AGAIN
        for origin in guards.objects.passed(mode, site.point)
    )


def _last_of(origin: Origin) -> tuple[str, ...]:
    """``FORCE_REDOWNLOAD`` of ``DownloadMode.FORCE_REDOWNLOAD``."""
    path = path_of(origin.node) if isinstance(origin.node, ir.Expr) else None
    return (*(path or ("",)), *origin.attributes)[-1:]


def _may_download(guards: Guards, site: CallSite) -> bool:
    """Is it a function that downloads, a data set, or what writes an answer?"""
    return (
        download_of(guards.objects, site) is not None
        or guards.objects.called(site).startswith(_DATASETS)
        or site.name in WRITE_NAMES
        or site.name == _LOAD
    )


def _downloads(guards: Guards, site: CallSite) -> bool:
    """Is a data set told to download, here or by those that call the function around it?"""
    told = guards.objects.argument(site, "download")
    known = guards.objects.constant(told, site.point, False)
    if known is ... and told.value is not None:
        return guards.is_given(told.value, site.point.scope, True)
    return known is True


def _fix(site: CallSite, fetches: bool, roots: frozenset[str], draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    statement = statements.statement_of(draft, call)
    if site.name in WRITE_NAMES:
        raise CannotFix("the file is opened around it")
    if isinstance(statement, cst.BaseCompoundStatement):
        raise CannotFix("the statement does more than download")
    if fetches:
        statement = _asking_first(draft, call, statement)
    ranks.require_all(draft, statement)
    helper = agree.accelerator_at(draft, statement)
    if helper is None and (_STARTED_LATER & roots or ranks.joins_later(draft, statement)):
        raise CannotFix("the process group does not exist yet")
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
    raise CannotFix("each rank would download it again")


_STARTED_LATER = frozenset({"lightning", "pytorch_lightning", "lightning_fabric"})
"""What makes the processes known to each other by itself, behind such a place."""


def _dataset_names(module: Module) -> Iterable[str]:
    """The last names of calls that say ``download=True``."""
    for statement in module.statements():
        if "download" in ir.tokens_of(statement):
            yield from ir.tokens_of(statement)
