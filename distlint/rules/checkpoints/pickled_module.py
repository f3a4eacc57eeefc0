"""DST409: the model object itself is pickled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.guards import is_distributed
from distlint.analyzer.objects import CallSite, objects_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._wrapped import wrapper_of
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.objects import Objects, Origin
    from distlint.analyzer.positions import Locators
    from distlint.analyzer.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


_MODULES = ("torch.nn.parallel.", "torch.nn.modules.")


class PickledModule(SourceRule):
    """`torch.save` is given a model, not its state dict.

    ## What it finds

    `torch.save(model, path)` in a script for several processes, where `model` is a wrapper
    (`DistributedDataParallel`, `DataParallel`, a compiled model) or a module whose class is known.

    ## Why it matters

    The file holds the class by its name and place in the source, so that it no longer loads when
    the code moves; `torch.load` refuses it since version 2.6 unless it is told to run whatever is
    in the file (`weights_only=False`). A pickled `DistributedDataParallel` needs a process group to
    be loaded at all.

    ## What to do

    `torch.save(model.state_dict(), path)`, of a wrapped model `model.module.state_dict()`.

    ## When it is silent

    - A state dict, or a dict with anything in it.
    - It is not known that the object is a module.
    - The script has nothing to do with several processes.
    """

    code = "DST409"
    name = "pickled-module"
    severity = Severity.INFO

    good = (
        Example(
            title="The state dict",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2))
if dist.get_rank() == 0:
    torch.save(model.module.state_dict(), "model.pt")
dist.destroy_process_group()
""",
        ),
        Example(
            title="A tensor",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.ones(2)
dist.all_reduce(total)
if dist.get_rank() == 0:
    torch.save(total, "total.pt")
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The default of torch.load refuses it",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2))
if dist.get_rank() == 0:
    torch.save(model.module, "model.pt")  # expect: DST409
dist.barrier()
model = torch.load("model.pt", map_location="cpu")
""",
        ),
        Example(
            title="The wrapper",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)


dist.init_process_group("gloo")
model = DDP(Net())
if dist.get_rank() == 0:
    torch.save(model, "model.pt")  # expect: DST409
dist.barrier()
dist.destroy_process_group()
trusted = True
torch.load("model.pt", map_location="cpu", weights_only=not trusted)
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "save" not in module.tokens | set(module.aliases.values()):
            return
        if not is_distributed(module):
            return
        objects = objects_of(module, catalogue)
        for site in objects.calls({"save"}):
            if objects.called(site) != "torch.save":
                continue
            what = objects.argument(site, "obj", 0).value
            if isinstance(what, (ir.Name, ir.Attribute)) and _is_module(objects, what, site):
                yield self.finding(
                    message="this pickles the model object, not its weights",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="torch.load refuses the file, or runs what is in it; it breaks when the "
                    "code moves",
                    advice="save model.state_dict()",
                )


def _is_module(objects: Objects, node: ir.Expr, site: CallSite) -> bool:
    origins = [each for each in objects.origins(node, site.point) if not _is_none(each.node)]
    if not origins:
        return False
    if wrapper_of(objects, node, site.point) is not None:
        return True
    return all(_makes_module(objects, each) for each in origins)


def _makes_module(objects: Objects, origin: Origin) -> bool:
    if not isinstance(origin.node, ir.Call) or origin.attributes not in ((), ("module",)):
        return False
    site = CallSite(origin.node, origin.point)
    called = objects.called(site)
    if called.startswith("torch.nn."):
        return called.startswith(_MODULES) or called.count(".") == 2
    cls = objects.callee(site)
    return isinstance(cls, ir.Class) and any("Module" in ir.tokens_of(base) for base in cls.bases)


def _is_none(node: object) -> bool:
    return isinstance(node, ir.Literal) and node.value is None
