"""DST403: a load that forgives every name that does not fit, and nobody looks at the names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects import CallSite, objects_of
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import imports
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._wrapped import WRAPPERS, wrapper_of
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_STRIPS = ("consume_prefix_in_state_dict_if_present", "strip_prefixes", "module.", "_orig_mod.")


class UncheckedNonstrictLoad(SourceRule):
    """A checkpoint is loaded with `strict=False`, and the names that did not fit are thrown away.

    ## What it finds

    `model.load_state_dict(state, strict=False)` as a statement of its own, in a script that wraps a
    model, where the state comes from a file as it is.

    ## Why it matters

    A file written by a wrapped model has `module.` before each name. With `strict=False` then no
    name fits, nothing is loaded and nothing is said: the run goes on from random weights. The call
    returns the names that were missing and unexpected; here they are thrown away.

    ## What to do

    ```python
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected, unexpected
    ```

    Or `distlint.runtime.load_checkpoint`, which refuses a file from which nothing fits.

    ## Fix

    Unsafe: `strip_prefixes(state)` takes off what wrappers have put before all names, and leaves
    other files as they are. Offered where the model that loads is made in the file and not wrapped
    itself. Names that do not fit for another reason are passed over as before.

    ## When it is silent

    - The result is kept, or the prefix is taken care of in the module.
    - The state is put together in the program: adapters, parts of another model.
    - A weight is taken out of the state by its name, so that the names are known.
    - It is what a handler does after a strict load has failed.
    - Nothing in the file wraps a model.
    """

    code = "DST403"
    name = "unchecked-nonstrict-load"
    severity = Severity.WARNING
    preview = True

    good = (
        Example(
            title="The names are looked at",
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
            title="A part that was made on purpose",
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
            title="Nothing fits, and nothing is said",
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
                    message="names that do not fit are passed over here, and nobody looks which",
                    severity=Severity.WARNING,
                    place=locators.of(module.key).place(site.call.site),
                    effect="if the names are others, as in a file of a wrapped model, nothing is "
                    "loaded and the weights stay random",
                    advice="keep what it returns, and refuse names that you do not expect; "
                    "distlint.runtime.load_checkpoint refuses a file from which nothing fits",
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
        raise Doubt("the model that loads may be a wrapper, whose names have the prefix")
    if any(objects.called(CallSite(each.node, each.point)) in _MAY_WRAP for each in made):  # type: ignore[arg-type]
        raise Doubt("what prepares the model may wrap it")
    call = draft.node(site.call.site, cst.Call)
    state = call.args[0]
    if state.keyword is not None or state.star:
        raise Doubt("the state is passed in another way")
    strip = imports.imported(draft, draft.catalogue.runtime, "strip_prefixes", call)
    draft.replace(state.value, f"{strip}({draft.text(state.value, brackets=False)})")
    return draft.fix("unsafe", "Take the prefix of a wrapper off the names")


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
    node = state
    while isinstance(node, ir.Subscript):
        node = node.value
    for origin in objects.origins(node, site.point):
        inner = origin.node
        while isinstance(inner, ir.Subscript):
            inner = inner.value
        if inner is not node and isinstance(inner, (ir.Name, ir.Attribute)):
            return _from_file(objects, inner, CallSite(site.call, origin.point))
        if isinstance(inner, ir.Call):
            if objects.called(CallSite(inner, origin.point)) == "torch.load":
                return True
            if any(isinstance(item, ir.Comprehension) for item in expressions_in(inner)):
                return False
    return False
