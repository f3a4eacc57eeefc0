"""DST403: a load that forgives every name that does not fit, and nobody looks at the names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects.following import ends
from distlint.analyzer.static.objects.objects import objects_of
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import imports
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._wrapped import WRAPPERS, wrapper_of
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_STRIPS = ("consume_prefix_in_state_dict_if_present", "strip_prefixes", "module.", "_orig_mod.")


class UncheckedNonstrictLoad(SourceRule):
    """A checkpoint is loaded with `strict=False`, and the keys that did not match are discarded.

    ```python
    net = Net()
    state = torch.load("ddp.pt", map_location="cpu")
    net.load_state_dict(state, strict=False)
    model = DDP(net.to(device), device_ids=[local_rank])
    ```

    ## Use instead

    ```python
    net = Net()
    state = torch.load("ddp.pt", map_location="cpu")
    missing, unexpected = net.load_state_dict(state, strict=False)
    if unexpected:
        raise RuntimeError(f"unexpected keys: {unexpected}")
    model = DDP(net.to(device), device_ids=[local_rank])
    ```

    Or use `distlint.runtime.load_checkpoint`, which rejects a file in which no key matches.

    ## Why is this bad?

    In a file saved from a wrapped model, each key begins with `module.`. With `strict=False`, no
    key matches, nothing is loaded, and there is no error: the run continues from random weights.
    The call returns the missing and unexpected keys, but here they are discarded.

    ## What is reported

    A `model.load_state_dict(state, strict=False)` whose result is not used, in a script that wraps
    a model, if the state comes from a file unchanged.

    ## What is not reported

    - The result is used, or the module handles the prefix.
    - The state is built in the program: adapters, parts of another model.
    - A weight is read from the state by its key, so the keys are known.
    - The call is in the handler of a strict load that failed.
    - Nothing in the file wraps a model.

    ## Fix safety

    Unsafe: `strip_prefixes(state)` removes what wrappers have added to all keys, and leaves other
    files unchanged. Offered if the model that loads is created in the file and is not wrapped. Keys
    that do not match for another reason are ignored as before.

    ## References

    - [Module.load_state_dict](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict)
    - [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html)
    """

    code = "DST403"
    name = "unchecked-nonstrict-load"
    severity = Severity.WARNING
    preview = True

    good = (
        Example(
            title="The returned keys are checked",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.nn.Linear(2, 2)
if dist.get_rank() == 0:
    torch.save(net.state_dict(), "model.pt")
dist.barrier()
state = torch.load("model.pt", map_location="cpu", weights_only=True)
missing, unexpected = net.load_state_dict(state, strict=False)
assert not unexpected
model = DDP(net)
dist.destroy_process_group()
""",
        ),
        Example(
            title="A strict load comes first",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.nn.Linear(2, 2)
if dist.get_rank() == 0:
    torch.save({"bias": net.bias.data}, "trained.pt")
dist.barrier()
state = torch.load("trained.pt", map_location="cpu", weights_only=True)
try:
    net.load_state_dict(state)
except RuntimeError as error:
    print("only the trained weights are in the file:", error)
    net.load_state_dict(state, strict=False)
model = DDP(net)
dist.destroy_process_group()
""",
        ),
        Example(
            title="A partial state built in the program",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.nn.Linear(2, 2)
net.load_state_dict({"bias": torch.zeros(2)}, strict=False)
model = DDP(net)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="No key matches, and there is no error",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2))
with torch.no_grad():
    model.module.weight.fill_(7.0)
if dist.get_rank() == 0:
    torch.save(dict(model.named_parameters()), "model.pt")
dist.barrier()
fresh = torch.nn.Linear(2, 2)
state = torch.load("model.pt", map_location="cpu", weights_only=True)
fresh.load_state_dict(state, strict=False)  # expect: DST403
assert (fresh.weight == 7.0).all(), "still random"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if "strict" not in words or "load" not in words or WRAPPERS.isdisjoint(words):
            return
        if not words.isdisjoint(_STRIPS):
            return
        objects = objects_of(module, catalogue)
        if not _wraps(objects):
            return
        for site in objects.calls({"load_state_dict"}):
            statement = site.point.statement
            if not isinstance(statement, ir.Evaluate) or statement.value is not site.call:
                continue
            if objects.constant(objects.argument(site, "strict", 1), site.point, True) is not False:
                continue
            state = site.call.args[0].value if site.call.args else None
            if state is None or _is_known_by_name(objects, state, site) or _was_strict(site):
                continue
            if _from_file(objects, state, site):
                yield self.finding(
                    message="mismatched keys are ignored and the result is discarded",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(site.call.site),
                    effect="if no key matches, as in a file of a wrapped model, nothing is loaded "
                    "and the weights stay random",
                    help="Check the returned keys, or use `distlint.runtime.load_checkpoint`, "
                    "which rejects a file in which no key matches",
                    fix=partial(
                        _fix, objects, site, Draft(locators.of(module.key), module, catalogue)
                    ),
                )


def _fix(objects: Objects, site: CallSite, draft: Draft) -> Fix:
    model = site.call.func
    assert isinstance(model, ir.Attribute)
    origins = objects.origins(model.value, site.point)
    made = [each for each in origins if isinstance(each.node, ir.Call) and not each.attributes]
    if len(made) != len(origins) or wrapper_of(objects, model.value, site.point) is not None:
        raise CannotFix("the model that loads may be a wrapper, whose keys have the prefix")
    if any(objects.called(CallSite(each.node, each.point)) in _MAY_WRAP for each in made):  # type: ignore[arg-type]
        raise CannotFix("what prepares the model may wrap it")
    call = draft.node(site.call.site, cst.Call)
    state = call.args[0]
    if state.keyword is not None or state.star:
        raise CannotFix("the state is passed in another way")
    strip = imports.imported(draft, draft.catalogue.runtime, "strip_prefixes", call)
    draft.replace(state.value, f"{strip}({draft.text(state.value, brackets=False)})")
    return draft.fix("unsafe", "Remove the prefix of a wrapper from the keys")


_MAY_WRAP = frozenset({"accelerate.Accelerator.prepare", "accelerate.Accelerator.prepare_model"})


def _is_known_by_name(objects: Objects, state: ir.Expr, site: CallSite) -> bool:
    """Does the function ask the state for a weight by its name, which then has no prefix?"""
    path = path_of(state)
    return path is not None and any(
        isinstance(item, ir.Subscript)
        and path_of(item.value) == path
        and isinstance(item.index, ir.Literal)
        for point in objects.points
        if point.scope is site.point.scope
        for item in nodes_of(point.statement)
    )


def _was_strict(site: CallSite) -> bool:
    """Does it handle the error of a strict load, which has named what did not fit?"""
    return any(
        isinstance(here.owner, ir.Try)
        and any(here.block is handler.body for handler in here.owner.handlers)
        and "load_state_dict" in ir.block_tokens(here.owner.body)
        for here in site.point.around
    )


def _wraps(objects: Objects) -> bool:
    """Does the module wrap a model?"""
    return any(
        wrapper_of(objects, site.call, site.point) is not None for site in objects.calls(WRAPPERS)
    )


def _from_file(objects: Objects, state: ir.Expr, site: CallSite) -> bool:
    """Is it what ``torch.load`` returned, or an item of that?"""

    def whole(origin: Origin) -> tuple[Origin, ...] | None:
        node = origin.node
        if isinstance(node, ir.Subscript):
            return objects.origins(node.value, origin.point)
        if isinstance(node, (ir.Name, ir.Attribute)):
            return objects.origins(node, origin.point)
        return None

    for origin in ends([Origin(state, site.point)], whole):
        if isinstance(origin.node, ir.Call):
            if objects.called(CallSite(origin.node, origin.point)) == "torch.load":
                return True
            if any(isinstance(item, ir.Comprehension) for item in expressions_in(origin.node)):
                return False
    return False
