"""DST404: a checkpoint that every rank loads onto the GPU it was saved from."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

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
from distlint.analyzer.static.hooks import LIGHTNING, asks_for_older_lightning
from distlint.analyzer.static.names import calls_of, expressions_in, expressions_of, placed
from distlint.analyzer.static.objects.objects import objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers import calls
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_LOAD = "torch.load"
_SAVE = "torch.save"
_SAVING = frozenset({"torch", "save"})
_HASH = re.compile(r"-(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\.(?:pth?|bin|safetensors)$")
"""What torch.hub puts at the end of the names of its files."""
_DEVICE = re.compile(r"cuda|xpu|npu|nccl|device|gpu", re.IGNORECASE)
_LIGHTNING_LOAD = "load_from_checkpoint"
_MODEL = ("torch.nn.Module", "mmengine.model.BaseModule", "mmcv.runner.BaseModule")
_OF_MM = {
    f"{package}.{name}": position
    for package in ("mmengine.runner.checkpoint", "mmengine.runner", "mmcv.runner")
    for name, position in (("load_checkpoint", 2), ("_load_checkpoint", 1))
}
"""Loaders of OpenMMLab, which hand on to ``torch.load``, and where they take the place."""
_COUNTS = re.compile(r"schedul|scaler|LR$|warmup", re.IGNORECASE)
_PLAIN = re.compile(
    r"^\w*(scaler|scheduler)(_state(_dict)?)?$|^\w*(epoch|iter|iteration|step|args|config)s?$"
)
"""Keys of a checkpoint behind which there are numbers and options."""
_OUT_OF_TORCH = frozenset({"numpy", "tolist", "item"})
_FROM_CPU = frozenset({"shard_full_optim_state_dict", "scatter_full_optim_state_dict"})
"""What FSDP hands them, ``full_optim_state_dict``, has been moved to the CPU."""
_REMOVED = frozenset({"from_argparse_args", "add_argparse_args"})
"""Words of Lightning 1, which loads onto the CPU unless it is told otherwise."""
_RANK_IN_NAME = re.compile(r"(?:^|_)rank$|process_index$")
_SETS_GENERATOR = "set_rng_state"
"""Torch keeps the states of all generators on the CPU, those of GPUs as well."""
_RESTORES = frozenset({"load_state_dict", _SETS_GENERATOR, "set_model_state_dict"})


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
        if _LIGHTNING_LOAD in module.tokens and not LIGHTNING.isdisjoint(module.imported_roots):
            if _is_for_lightning_1(module):
                return
            yield from self._lightning_loads(module, catalogue, locators)

    def _lightning_loads(
        self, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterator[Finding]:
        """Modules that are made from a checkpoint in a script for several devices."""
        guards = guards_of(module, catalogue)
        for site in guards.objects.calls({_LIGHTNING_LOAD}):
            where = guards.objects.argument(site, "map_location", 1)
            spread = any(argument.star == "**" for argument in site.call.args)
            if where.value is None and (where.known or spread) and self._is_many(guards, site):
                if not _is_replaced(guards, site):
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
            guards.may_be_some_ranks(site.point, call=site.call) or in_device_branch(site.point)
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
        if not any(map(_DEVICE.search, module.tokens)):
            return
        guards = guards_of(module, catalogue)
        if _saves_from_cpu(guards.objects) or _is_on_cpu(guards.objects):
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
            if any(map(_saves_from_cpu, guards.objects_leading_to(site.point.scope, site))):
                continue
            if _is_of_rank(guards, site) or _is_published(site, guards.objects):
                continue
            if _restores(site, guards.objects):
                yield self._finding(site, module, catalogue, locators)


def _is_replaced(guards: Guards, site: CallSite) -> bool:
    """Does the project's class have a loader of its own, which does not end in Lightning's?"""
    func = site.call.func
    names = list(_names_given(guards, func.value, site)) if isinstance(func, ir.Attribute) else []
    return bool(names) and all(
        any(
            _LIGHTNING_LOAD in cls.methods
            and _LIGHTNING_LOAD not in cls.methods[_LIGHTNING_LOAD].tokens  # super()'s
            for cls in guards.objects.module.lineage(name)
        )
        for name in names
    )


def _names_given(guards: Guards, node: ir.Expr, site: CallSite) -> Iterator[str]:
    """What a class is called, or those that the callers pass for a parameter."""
    function = site.point.scope.function
    names = [param.name for param in function.params] if function is not None else []
    name = node.id if isinstance(node, ir.Name) else ""
    if name not in names:
        yield name
        return
    for caller in guards.callers(site.point.scope):
        given = guards.objects.argument(caller, name, names.index(name)).value
        yield given.id if isinstance(given, ir.Name) else ""


def _is_for_lightning_1(module: Module) -> bool:
    """Do its words, or the requirements, say that Lightning is older than 2.0?"""
    return not _REMOVED.isdisjoint(module.tokens) or asks_for_older_lightning(module, "2.0")


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


def _is_on_cpu(objects: Objects) -> bool:
    """Does a script say that it is on the CPU: by gloo, and by each device that it names?"""
    made = list(objects.calls_to("torch.distributed.init_process_group"))
    devices = list(objects.calls_to("torch.device"))
    return (
        bool(made and devices)
        and not any(token.startswith(("cuda", "xpu", "npu")) for token in objects.module.tokens)
        and all(_constant(objects, site, "backend") == "gloo" for site in made)
        and all(_constant(objects, site, "type") == "cpu" for site in devices)
    )


def _constant(objects: Objects, site: CallSite, name: str) -> object:
    return objects.constant(objects.argument(site, name, 0), site.point)


def _is_open(guards: Guards, site: CallSite) -> bool:
    """Is nothing said about where to load, and is it a file?"""
    where = guards.objects.argument(site, "map_location", 1)
    path = guards.objects.argument(site, "f", 0).value
    if not where.absent or path is None or is_buffer(guards, path, site.point.scope):
        return False
    return not any(argument.keyword == "mmap" for argument in site.call.args)


def _saves_from_cpu(objects: Objects) -> bool:
    """Do all functions that save move to the CPU what they save, or may they?

    Those of the file; if there are none, those of the files that it imports.
    """
    savers = [site.point.scope.function for site in objects.calls_to(_SAVE)]
    if not savers:
        for module in objects.module.imports:
            if module.words.issuperset(_SAVING):
                there = objects_of(module, objects.catalogue)
                savers += [site.point.scope.function for site in there.calls_to(_SAVE)]
    return bool(savers) and all(saver and _moves_to_cpu(saver) for saver in savers)


def _is_published(site: CallSite, objects: Objects) -> bool:
    """Are they weights that a library offers: by a hash in the name, or for a model of its own?"""
    path = objects.argument(site, "f", 0).value
    parts = [
        part
        for origin in (objects.origins(path, site.point) if path is not None else ())
        if isinstance(origin.node, ir.Expr)
        for part in expressions_in(origin.node)
    ]
    texts = [part.value for part in parts if isinstance(part, ir.Literal)]
    if any(isinstance(text, str) and _HASH.search(text) for text in texts):
        return True
    words = [*texts, *(token for part in parts for token in ir.tokens_of(part))]
    return any("pretrain" in str(word).lower() for word in words) and any(
        _is_of_library(objects, into) for into, _ in objects.uses.passed_to(site.call)
    )


def _is_of_library(objects: Objects, into: CallSite) -> bool:
    """Is it loaded into a model that was made by a function of torchvision?"""
    if into.name not in _RESTORES or not isinstance(into.call.func, ir.Attribute):
        return False
    made = [
        objects.called(origin.site) if origin.site is not None else ""
        for origin in objects.origins(into.call.func.value, into.point)
        if origin.constant is not None
    ]
    return bool(made) and all(called.startswith("torchvision.models.") for called in made)


def _moves_to_cpu(function: ir.Function) -> bool:
    """Is there a ``.cpu()`` or ``.to("cpu")`` in it, of what then stays a tensor?"""
    if "cpu" not in function.tokens:
        return False
    for statement, _ in placed(function.body):
        calls = list(calls_of(statement))
        read = {call.func.value for call in calls if _reads_out(call.func)}
        for call in calls:
            name = ir.last_name(call.func)
            moves = name == "cpu" or (name == "to" and any(map(_is_cpu, call.args)))
            if moves and call not in read:
                return True
    return False


def _reads_out(func: ir.Expr) -> TypeGuard[ir.Attribute]:
    """Is it ``tensor.numpy``, behind which there is no tensor any more?"""
    return isinstance(func, ir.Attribute) and func.attr in _OUT_OF_TORCH


def _is_cpu(argument: ir.Argument) -> bool:
    return "cpu" in ir.tokens_of(argument.value)


def _is_own(guards: Guards, site: CallSite) -> bool:
    """Does a model load its own weights here, with nothing said about where to?"""
    called = guards.objects.called(site)
    if called in _OF_MM:
        if not guards.objects.argument(site, "map_location", _OF_MM[called]).absent:
            return False
        return site.name == "load_checkpoint" or _restores(site, guards.objects)
    return called == _LOAD and _is_open(guards, site) and _restores(site, guards.objects)


def _fix(site: CallSite, position: int, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    calls.set_keyword(draft, call, "map_location", '"cpu"', position)
    direct = isinstance(site.point.statement, ir.Evaluate) and _mentions(site.point.statement)
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


def _restores(site: CallSite, objects: Objects) -> bool:
    """Does what was loaded, or a part of it, go into a model in the same function?"""
    if _restores_here(objects, site.point, None):
        return True
    held = loaded = frozenset(_bound(site.point.statement))
    for statement, around in placed(site.point.scope.body):
        if not held.isdisjoint(ir.tokens_of(statement)):
            read = _read(statement)
            if not held.isdisjoint(read) and read.isdisjoint(_FROM_CPU):
                if _restores_here(objects, Point(site.point.scope, around), held):
                    return not _is_all_plain(objects, site, loaded)
                held |= frozenset(_bound(statement))
    return False


def _restores_here(objects: Objects, point: Point, held: frozenset[str] | None) -> bool:
    """Does the statement restore a state, from one of these names, which is no schedule's alone?

    Where a name stands for the model itself, made by what was loaded, nothing of that is restored.
    """
    if not _mentions(point.statement):
        return False
    sites = [CallSite(call, point) for call in calls_of(point.statement)]
    into = [site for site in sites if site.name in _RESTORES]
    if held is not None and into:
        given = [argument.value for site in into for argument in site.call.args]
        if all(held.isdisjoint(ir.tokens_of(value)) for value in given):
            return False
    return not into or not all(_counts_only(objects, site) for site in into)


def _is_all_plain(objects: Objects, site: CallSite, names: frozenset[str]) -> bool:
    """Is it read key by key, and does the module save a file of such keys, with numbers alone?"""
    uses, taken = 0, []
    for statement, _ in placed(site.point.scope.body):
        uses -= sum(name in names for name in _bound(statement))
        for part in expressions_of(statement):
            for node in expressions_in(part):
                uses += isinstance(node, ir.Name) and node.id in names
                taken += _key_taken(node, names)
    return uses == len(taken) > 0 and any(
        keys.issuperset(taken) and all(map(_PLAIN.search, keys)) for keys in _saved_keys(objects)
    )


def _key_taken(node: ir.Expr, names: frozenset[str]) -> list[str]:
    """``state["epoch"]``, ``state.get("epoch")``: the key, where it is written out."""
    if isinstance(node, ir.Subscript):
        held, key = node.value, node.index
    elif isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.args:
        held, key = node.func.value, node.args[0].value
        if node.func.attr != "get":
            return []
    else:
        return []
    is_one = isinstance(held, ir.Name) and held.id in names
    return [key.value] if is_one and isinstance(key, ir.Literal) and type(key.value) is str else []


def _saved_keys(objects: Objects) -> Iterator[frozenset[str]]:
    """The keys of the dicts that the module saves, where all are written out."""
    for site in objects.calls_to(_SAVE):
        state = objects.argument(site, "obj", 0).value
        for origin in objects.origins(state, site.point) if state is not None else ():
            if isinstance(origin.node, ir.DictDisplay) and not origin.attributes:
                keys = [k.value if isinstance(k, ir.Literal) else None for k in origin.node.keys]
                named = [key for key in keys if isinstance(key, str)]
                if len(named) == len(keys):
                    yield frozenset(named)


def _mentions(statement: ir.Stmt) -> bool:
    return any(not _RESTORES.isdisjoint(ir.tokens_of(part)) for part in expressions_of(statement))


def _counts_only(objects: Objects, site: CallSite) -> bool:
    """Is it the whole state of a scheduler or scaler, or of a generator, which is on no device?"""
    func, arguments = site.call.func, site.call.args
    if site.name == _SETS_GENERATOR:
        return not any(map(_has_key, arguments))
    if not isinstance(func, ir.Attribute) or len(arguments) != 1:
        return False
    if isinstance(arguments[0].value, ir.Subscript):
        return False  # there is more in that file
    if _COUNTS.search(ir.last_name(func.value)):
        return True
    made = [origin.call for origin in objects.origins(func.value, site.point)]
    return bool(made) and all(
        call is not None and _COUNTS.search(ir.last_name(call.func)) for call in made
    )


def _has_key(argument: ir.Argument) -> bool:
    """Is it taken from a dict, in which there may be more: ``state["rng"]``?"""
    return any(
        isinstance(node, ir.Subscript)
        and not (isinstance(node.index, ir.Literal) and isinstance(node.index.value, int))
        for node in expressions_in(argument.value)
    )


def _bound(statement: ir.Stmt) -> Iterator[str]:
    targets: tuple[ir.Expr, ...] = ()
    if isinstance(statement, ir.Assign):
        targets = statement.targets
    elif isinstance(statement, ir.For):
        targets = (statement.target,)
    for target in targets:
        for item in target.items if isinstance(target, ir.Display) else (target,):
            if isinstance(item, ir.Subscript):
                item = item.value
            if isinstance(item, ir.Name):
                yield item.id
            elif isinstance(item, ir.Attribute):
                yield item.attr


def _read(statement: ir.Stmt) -> frozenset[str]:
    if isinstance(statement, ir.Assign):
        return ir.tokens_of(statement.value)
    found: set[str] = set()
    for part in expressions_of(statement):
        found |= ir.tokens_of(part)
    return frozenset(found)
