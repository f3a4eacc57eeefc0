"""DST409: the model object itself is pickled."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.process_groups import is_distributed
from distlint.analyzer.static.objects.objects import objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._wrapped import wrapper_of
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import Origin
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


_MODULES = ("torch.nn.parallel.", "torch.nn.modules.")


class PickledModule(SourceRule):
    """`torch.save` is given a model instead of its state dict.

    ```python
    model = DDP(Net().to(device), device_ids=[local_rank])
    train(model, loader)
    if dist.get_rank() == 0:
        torch.save(model, "model.pt")
    ```

    ## Use instead

    ```python
    model = DDP(Net().to(device), device_ids=[local_rank])
    train(model, loader)
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "model.pt")
    ```

    For a model without a wrapper, save `model.state_dict()`.

    ## Why is this bad?

    The file stores the class by its name and module, so it no longer loads after the code moves.
    Since PyTorch 2.6, `torch.load` rejects such a file unless `weights_only=False` allows it to run
    any code in the file. A pickled `DistributedDataParallel` cannot be loaded at all without a
    process group.

    ## What is reported

    `torch.save(model, path)` in a distributed script, where `model` is a wrapper
    (`DistributedDataParallel`, `DataParallel`, a compiled model) or a module of a known class.

    ## What is not reported

    - A state dict, or a dict with any content.
    - Objects that are not known to be a module.
    - Scripts that are not distributed.

    ## Fix safety

    Unsafe: the state dict of the model is saved; for a wrapper, that of the model inside. Code that
    loads the file has to create the model first. Therefore no fix is offered if the same file loads
    something that is not passed directly to `load_state_dict`.

    ## References

    - [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html)
    - [Serialization semantics](https://docs.pytorch.org/docs/stable/notes/serialization.html)
    """

    code = "DST409"
    name = "pickled-module"
    severity = Severity.INFO
    words = ("torch.save(",)

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
            title="Rejected by the default of torch.load",
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
            title="A class that pickle cannot find",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist


def main():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

    dist.init_process_group("gloo")
    model = Net()
    if dist.get_rank() == 0:
        torch.save(model, "model.pt")  # expect: DST409
    dist.barrier()
    model.load_state_dict(torch.load("model.pt", weights_only=True))


main()
""",
        ),
        Example(
            title="A pickled DDP wrapper",
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
            if isinstance(what, (ir.Name, ir.Attribute, ir.Subscript)) and _is_module(
                objects, what, site
            ):
                yield self.finding(
                    message="`torch.save` pickles the whole model, not its weights",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="`torch.load` rejects the file unless `weights_only=False`, and fails "
                    "when the code moves",
                    help="Save `model.state_dict()`",
                    fix=partial(
                        _fix, objects, site, Draft(locators.of(module.key), module, catalogue)
                    ),
                )


def _fix(objects: Objects, site: CallSite, draft: Draft) -> Fix:
    for load in objects.calls({"load"}):
        if objects.called(load) == "torch.load" and not _goes_into_a_model(draft, load):
            raise CannotFix("the file may be loaded here, as an object")
    what = objects.argument(site, "obj", 0).value
    assert what is not None
    call = draft.node(site.call.site, cst.Call)
    given = next(a for a in call.args if a.keyword is None or a.keyword.value == "obj").value
    wrapper = wrapper_of(objects, what, site.point)
    if wrapper is not None and (not wrapper.certain or wrapper.what == "Accelerator.prepare"):
        raise CannotFix("it is not certain how to unwrap the model")
    inner = f".{wrapper.prefix.rstrip('.')}" if wrapper is not None else ""
    draft.replace(given, f"{draft.text(given)}{inner}.state_dict()")
    return draft.fix("unsafe", "Save the state dict")


def _goes_into_a_model(draft: Draft, load: CallSite) -> bool:
    around = draft.around(draft.node(load.call.site, cst.Call), cst.Call)
    return around is not None and (names.dotted(around.func) or "").endswith("load_state_dict")


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
