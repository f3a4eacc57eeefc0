"""DST404: a checkpoint that every rank loads onto the GPU it was saved from."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.paths import is_buffer
from distlint.analyzer.static.guards.process_groups import (
    is_distributed,
    only_imports_starts,
    starts_many,
)
from distlint.analyzer.static.guards.rank_arithmetic import is_made_from_rank
from distlint.analyzer.static.guards.rank_tests import asks_rank, in_device_branch
from distlint.analyzer.static.guards.visible_devices import sees_one_gpu
from distlint.analyzer.static.hooks import LIGHTNING
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import calls
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._lightning_load import (
    LIGHTNING_LOAD,
    is_for_lightning_1,
    is_replaced,
)
from distlint.rules.checkpoints._restored import mentions, restores
from distlint.rules.checkpoints._saved_from import is_on_cpu, is_published, saves_from_cpu
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_LOAD = "torch.load"
_DEVICE = re.compile(r"cuda|xpu|npu|nccl|device|gpu", re.IGNORECASE)
_MODEL = ("torch.nn.Module", "mmengine.model.BaseModule", "mmcv.runner.BaseModule")
_OF_MM = {
    f"{package}.{name}": position
    for package in ("mmengine.runner.checkpoint", "mmengine.runner", "mmcv.runner")
    for name, position in (("load_checkpoint", 2), ("_load_checkpoint", 1))
}
"""Loaders of OpenMMLab, which hand on to ``torch.load``, and where they take the place."""
_RANK_IN_NAME = re.compile(r"(?:^|_)rank$|process_index$")


class NoMapLocation(SourceRule):
    """A checkpoint is loaded on all ranks without `map_location`.

    ```python
    model = Net().to(local_rank)
    checkpoint = torch.load("last.pt")  # onto the GPU of rank 0, which saved it
    model.load_state_dict(checkpoint["model"])
    model = DDP(model, device_ids=[local_rank])
    ```

    ## Use instead

    ```python
    model = Net().to(local_rank)
    checkpoint = torch.load("last.pt", map_location="cpu")
    model.load_state_dict(checkpoint["model"])  # copies to the device of the model
    model = DDP(model, device_ids=[local_rank])
    ```

    ## Why is this bad?

    `torch.load` puts each tensor on the device that it was saved from. Checkpoints are written by
    rank 0, so all ranks of a node load them onto GPU 0. GPU 0 then holds one copy per rank and may
    run out of memory when a run resumes that trained without problems before.

    ## What is reported

    `torch.load` without `map_location` in a script for several GPUs, or in a function that such a
    script calls, if its result is passed to `load_state_dict`; and Lightning's
    `load_from_checkpoint` next to a `Trainer` for several GPUs. In preview, with severity info: a
    `torch.nn.Module` that loads its own weights this way, also with `load_checkpoint` of mmengine
    or mmcv, even if nothing in the file says how many GPUs there are. (Of 4 such models in 58
    repositories, 2 are trained on several GPUs and 2 are for inference.)

    ## What is not reported

    - `map_location` is passed, also by position, or `mmap` is passed. A `torch.load` with unknown
      `**kwargs` is not reported either; a `load_from_checkpoint` is.
    - Each function that saves, in the file or in one that calls it, moves the tensors to the CPU
      first; in a file that does not save, each of those in the files that it imports.
    - Weights that a library publishes, which are on the CPU: the name ends in a hash, as in
      `resnet50-0676ba61.pth`, or they are called pretrained and go into a model of torchvision.
    - The file name contains the rank: each rank saved its own file.
    - Each process sees one GPU: `CUDA_VISIBLE_DEVICES` is set by the rank, before CUDA is used.
    - Only one rank loads, or the call is in a branch for runs of one process, or the file uses
      `DataParallel` unconditionally.
    - What is loaded is not the state of a model or optimizer: data, a vocabulary, the counters of a
      scheduler, the options to build the model with, RNG states.
    - FSDP's full optimizer state, which is on the CPU when it is saved.
    - The class overrides `load_from_checkpoint` without calling the method of Lightning.
    - The file is an in-memory buffer, or the script uses no GPU: nothing in it refers to one, or it
      uses gloo and each device is `cpu`.
    - Lightning before 2.0, as far as the requirements or the script show: it loads onto the CPU.

    ## Fix safety

    Safe: `map_location="cpu"` if the result is passed directly to `load_state_dict`, which copies
    to the device of the model.

    Unsafe: the same if the result is stored: other parts of it may be used on the device where they
    are now.

    ## References

    - [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
    - [DDP tutorial: save and load checkpoints](https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html)
    """

    code = "DST404"
    name = "no-map-location"
    severity = Severity.WARNING
    exceptions = (Severity.INFO,)
    words = ("torch.load(", "load_checkpoint(")
    shared = (r"\bload\(",)

    good = (
        Example(
            title="Saved from the CPU",
            ranks=1,
            code="""\
import torch
import torch.distributed as dist


def save(model, path):
    torch.save({name: value.to("cpu") for name, value in model.state_dict().items()}, path)


dist.init_process_group("gloo")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 2).to(device)
save(model, f"model{dist.get_rank()}.pt")
model.load_state_dict(torch.load(f"model{dist.get_rank()}.pt", weights_only=True))
dist.destroy_process_group()
""",
        ),
        Example(
            title="Loaded onto the CPU",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 2).to(device)
if dist.get_rank() == 0:
    torch.save(model.state_dict(), "model.pt")
dist.barrier()
model.load_state_dict(torch.load("model.pt", map_location="cpu", weights_only=True))
dist.destroy_process_group()
""",
        ),
        Example(
            title="Rank 0 loads, and DDP broadcasts to the other ranks",
            code="""\
import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(2, 2)
if dist.get_rank() == 0 and os.path.exists("model.pt"):
    net.load_state_dict(torch.load("model.pt", weights_only=True))
model = DDP(net.to(device))
dist.destroy_process_group()
""",
        ),
        Example(
            title="A list of words instead of weights",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if dist.get_rank() == 0:
    torch.save(["a", "b"], "vocabulary.pt")
dist.barrier()
words = torch.load("vocabulary.pt", weights_only=True)
table = torch.nn.Embedding(len(words), 4).to(device)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A backbone that loads its own weights",
            effect="static",
            why_static="on CPU all ranks share one device; with GPUs all copies land on GPU 0",
            code="""\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, weights=None):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        if weights is not None:
            state = torch.load(weights, weights_only=True)  # expect: DST404
            self.load_state_dict(state, strict=False)
""",
        ),
        Example(
            title="With a loader of OpenMMLab",
            effect="static",
            why_static="it needs mmengine",
            code="""\
from mmengine.model import BaseModule
from mmengine.runner import load_checkpoint


class Neck(BaseModule):
    def init_weights(self):
        load_checkpoint(self, self.pretrained, strict=False)  # expect: DST404
""",
        ),
        Example(
            title="map_location in one branch only",
            effect="static",
            why_static="on CPU all ranks share one device; with GPUs all copies land on GPU 0",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    dist.init_process_group("nccl")
    net = DDP(torch.nn.Linear(2, 1).cuda())
    if args.resume.startswith("https"):
        state = torch.hub.load_state_dict_from_url(args.resume, map_location="cpu")
    else:
        state = torch.load(args.resume, weights_only=True)  # expect: DST404
    net.module.load_state_dict(state)
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), "last.pt")
""",
        ),
        Example(
            title="All ranks resume from one snapshot",
            effect="static",
            why_static="on CPU all ranks share one device; with GPUs all copies land on GPU 0",
            code="""\
import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, model, path):
        self.gpu = int(os.environ["LOCAL_RANK"])
        self.model = model.to(self.gpu)
        self.epoch = 0
        if os.path.exists(path):
            self.resume(path)
        self.model = DDP(self.model, device_ids=[self.gpu])

    def resume(self, path):
        snapshot = torch.load(path, weights_only=True)  # expect: DST404
        self.model.load_state_dict(snapshot["model"])
        self.epoch = snapshot["epoch"]


dist.init_process_group("nccl")
Trainer(torch.nn.Linear(2, 2), "snapshot.pt")
""",
        ),
        Example(
            title="A file saved from a GPU that does not exist here",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("gloo")
model = torch.nn.Linear(2, 2).to(device)
if dist.get_rank() == 0:
    torch.serialization.location_tag = lambda storage: "cuda:7"  # what its eighth GPU would write
    torch.save(model.state_dict(), "model.pt")
dist.barrier()
model.load_state_dict(torch.load("model.pt", weights_only=True))  # expect: DST404
dist.barrier()
""",
        ),
        Example(
            title="Passed directly to load_state_dict",
            effect="static",
            why_static="on CPU all ranks share one device; with GPUs all copies land on GPU 0",
            code="""\
import torch
import torch.distributed as dist


def main(rank, path):
    dist.init_process_group("nccl")
    torch.cuda.set_device(rank)
    model = torch.nn.Linear(2, 2).cuda()
    model.load_state_dict(torch.load(path, weights_only=True))  # expect: DST404
    return model
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        told = set()
        for finding in self._loads(module, catalogue, locators):
            told.add(finding.place)
            yield finding
        for finding in self._own_loads(module, catalogue, locators):
            if finding.place not in told:
                yield finding
        if LIGHTNING_LOAD in module.tokens and not LIGHTNING.isdisjoint(module.imported_roots):
            if is_for_lightning_1(module):
                return
            yield from self._lightning_loads(module, catalogue, locators)

    def _lightning_loads(
        self, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterator[Finding]:
        """Modules that are made from a checkpoint in a script for several devices."""
        guards = guards_of(module, catalogue)
        for site in guards.objects.calls({LIGHTNING_LOAD}):
            where = guards.objects.argument(site, "map_location", 1)
            spread = any(argument.star == "**" for argument in site.call.args)
            if where.value is None and (where.known or spread) and self._is_many(guards, site):
                if not is_replaced(guards, site):
                    yield self._finding(site, module, catalogue, locators)

    @staticmethod
    def _is_many(guards: Guards, site: CallSite) -> bool:
        function = site.point.scope.function
        if function is not None and function.name.startswith("test"):
            return False
        if function is not None and site.call in {
            s.call for s in guards.objects.classes.super_calls(function)
        }:
            return False  # its callers are told
        return guards.on_many_ranks(site.point.scope, site) and not (
            guards.may_be_some_ranks(site.point, call=site.call)
            or in_device_branch(site.point)
            or sees_one_gpu(guards, site)
        )

    def _finding(
        self,
        site: CallSite,
        module: Module,
        catalogue: Catalogue,
        locators: Locators,
        position: int = 1,
    ) -> Finding:
        locator = locators.of(module.key)
        return self.finding(
            message="checkpoint is loaded onto the GPU it was saved from",
            severity=Severity.WARNING,
            place=locator.place(site.call.site),
            effect="GPU 0 holds one copy per rank of the node and may run out of memory",
            help='Pass `map_location="cpu"`',
            fix=partial(_fix, site, position, Draft(locator, module, catalogue)),
        )

    def _own_loads(
        self, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterator[Finding]:
        """Models that load their weights themselves, on each rank that makes one."""
        if module.tokens.isdisjoint({"load", "load_checkpoint", "_load_checkpoint"}):
            return
        if "Module" not in module.tokens and "BaseModule" not in module.tokens:
            return
        guards = guards_of(module, catalogue)
        models = {cls.name for cls in guards.objects.classes.subclasses_of(*_MODEL)}
        for site in guards.objects.calls({"load", "load_checkpoint", "_load_checkpoint"}):
            function = site.point.scope.function
            if function is None or function.owner not in models or not _is_own(guards, site):
                continue
            if any(map(asks_rank, tests_around(site.point))) or in_device_branch(site.point):
                continue
            position = _OF_MM.get(guards.objects.called(site), 1)
            finding = self._finding(site, module, catalogue, locators, position)
            yield replace(
                finding,
                preview=True,
                severity=Severity.INFO,
                message="model loads its weights onto the GPU they were saved from",
            )

    def _loads(self, module: Module, catalogue: Catalogue, locators: Locators) -> Iterator[Finding]:
        if "load" not in module.tokens | set(module.aliases.values()):
            return
        around = (module, *module.imports, *module.all_importers())
        if not any(_DEVICE.search(token) for each in around for token in each.tokens):
            return
        guards = guards_of(module, catalogue)
        if saves_from_cpu(guards.objects) or is_on_cpu(guards.objects):
            return
        for site in guards.objects.calls({"load"}):
            if guards.objects.called(site) != _LOAD or not _is_open(guards, site):
                continue
            if guards.may_be_some_ranks(site.point, call=site.call) or in_device_branch(site.point):
                continue
            if not guards.on_many_ranks(site.point.scope, site) and not _may_be_started(
                guards, site
            ):
                continue
            if any(map(saves_from_cpu, guards.objects_leading_to(site.point.scope, site))):
                continue
            if sees_one_gpu(guards, site):
                continue
            if _is_of_rank(guards, site) or is_published(site, guards.objects):
                continue
            if restores(site, guards.objects):
                yield self._finding(site, module, catalogue, locators)


def _is_of_rank(guards: Guards, site: CallSite) -> bool:
    """Is the rank in the name of the file, which that rank has saved from its own GPU?"""
    path = guards.objects.argument(site, "f", 0).value
    if path is None or is_made_from_rank(guards, path, site.point):
        return path is not None
    return any(
        _RANK_IN_NAME.search(token)
        for node in (path, *(each.node for each in guards.objects.origins(path, site.point)))
        if isinstance(node, ir.Expr)
        for token in ir.tokens_of(node)
    )


def _is_open(guards: Guards, site: CallSite) -> bool:
    """Is nothing said about where to load, and is it a file?"""
    where = guards.objects.argument(site, "map_location", 1)
    path = guards.objects.argument(site, "f", 0).value
    if not where.absent or path is None or is_buffer(guards, path, site.point.scope):
        return False
    return not any(argument.keyword == "mmap" for argument in site.call.args)


def _is_own(guards: Guards, site: CallSite) -> bool:
    """Does a model load its own weights here, with nothing said about where to?"""
    called = guards.objects.called(site)
    if called in _OF_MM:
        if not guards.objects.argument(site, "map_location", _OF_MM[called]).absent:
            return False
        return site.name == "load_checkpoint" or restores(site, guards.objects)
    return called == _LOAD and _is_open(guards, site) and restores(site, guards.objects)


def _fix(site: CallSite, position: int, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    calls.set_keyword(draft, call, "map_location", '"cpu"', position)
    direct = isinstance(site.point.statement, ir.Evaluate) and mentions(site.point.statement)
    return draft.fix("safe" if direct else "unsafe", 'Pass `map_location="cpu"`')


def _may_be_started(guards: Guards, site: CallSite) -> bool:
    """Is it in a file that joins the processes, and not in a test or in one process there?"""
    function = site.point.scope.function
    if function is not None and function.name.startswith("test"):
        return False
    module = guards.objects.module
    if not is_distributed(module):
        return False
    if not starts_many(module) or only_imports_starts(module):
        return False
    return not guards.world_size.runs_alone(site.point.scope)
