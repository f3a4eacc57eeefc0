"""DST416: a checkpoint of the model inside is loaded into the wrapper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._wrapped import WRAPPERS, Wrapper, wrapper_of
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_LOADS = ("torch.load", "torch.serialization.load")
_OWN = re.compile(r"resum|checkpoint|ckpt|latest|last|snapshot|save|output", re.IGNORECASE)
_CHANGED = frozenset(
    {"module.", "removeprefix", "strip_prefixes", "consume_prefix_in_state_dict_if_present"}
)
"""Words of a file that gives keys their prefix again, or asks whether they have it."""
_ASKS = re.compile(
    r"module|hasattr|isinstance|wrap|dist|ddp|parallel|world|compile|launcher", re.IGNORECASE
)
"""Words of a test that may ask whether a model is wrapped."""
_CONVERTS = re.compile(r"(?:convert|rename|remap|strip|add).*(?:state|key|prefix|checkpoint|ckpt)")
"""Names of functions that give the keys of a checkpoint other names."""
_UNWRAPS = frozenset({"unwrap_model", "unwrap", "get_model", "extract_model_from_parallel"})
_INNER = frozenset({"module", "_orig_mod"})


@dataclass(frozen=True, slots=True)
class _State:
    """A ``state_dict()`` that is saved, under a key of the checkpoint or as it is."""

    call: ir.Call
    point: Point
    key: object


class BareStateInWrapper(SourceRule):
    """A checkpoint without the wrapper's prefix is loaded into the wrapped model.

    ```python
    torch.save({"model": ddp_model.module.state_dict()}, "last.pt")  # keys are "fc.weight", ...
    ddp_model.load_state_dict(torch.load("last.pt")["model"])  # bad: expects "module.fc.weight"
    ```

    ## Use instead

    ```python
    torch.save({"model": ddp_model.module.state_dict()}, "last.pt")
    ddp_model.module.load_state_dict(torch.load("last.pt", map_location="cpu")["model"])
    ```

    Or load before the model is wrapped.

    ## Why is this bad?

    The keys do not match: `load_state_dict` raises an error about missing keys on all ranks when a
    run is resumed or, with `strict=False`, silently loads nothing.

    ## What is reported

    `load_state_dict` on a `DistributedDataParallel`, `DataParallel` or compiled model, of a
    checkpoint that the same file saves from the model inside, under the same key: that of
    `model.module`, of a part of it, or of an unwrapped model.

    ## What is not reported

    - The file also saves the wrapper's own state dict under this key, or changes the keys.
    - The checkpoint may come from elsewhere: its path is named neither like one of a run
      (`args.resume`, `checkpoint_path`) nor as the file that is saved.

    ## Fix safety

    Unsafe: loads into the model inside. Checkpoints that have the prefix can no longer be loaded.

    ## References

    - [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html)
    """

    code = "DST416"
    name = "bare-state-in-wrapper"
    severity = Severity.ERROR

    good = (
        Example(
            title="Into the model inside",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
if dist.get_rank() == 0:
    torch.save({"model": model.module.state_dict()}, "last.pt")
dist.barrier()
checkpoint = torch.load("last.pt", map_location="cpu")
model.module.load_state_dict(checkpoint["model"])
dist.destroy_process_group()
""",
        ),
        Example(
            title="Before the model is wrapped",
            code="""\
import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = torch.nn.Linear(2, 1)
if os.path.exists("last.pt"):
    model.load_state_dict(torch.load("last.pt", map_location="cpu"))
model = DDP(model)
dist.barrier()
if dist.get_rank() == 0:
    torch.save(model.module.state_dict(), "last.pt")
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Into the wrapper",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
if dist.get_rank() == 0:
    torch.save({"model": model.module.state_dict(), "epoch": 1}, "last.pt")
dist.barrier()
checkpoint = torch.load("last.pt", map_location="cpu")
model.load_state_dict(checkpoint["model"])  # expect: DST416
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if not {"load_state_dict", "state_dict", "save"} <= words or WRAPPERS.isdisjoint(words):
            return
        if not _CHANGED.isdisjoint(module.tokens) or any(map(_CONVERTS.search, words)):
            return
        objects = objects_of(module, catalogue)
        states = list(_saved_states(objects))
        for load in objects.calls({"load_state_dict"}):
            found = _into_wrapper(objects, load, states)
            if found is None:
                continue
            wrapper, state = found
            locator = locators.of(module.key)
            yield self.finding(
                message=f"the checkpoint has no `{wrapper.prefix}` prefix, which the model expects",
                severity=Severity.ERROR,
                place=locator.place(load.call.site),
                related=(Related("saved without it here", locator.place(state.call.site)),),
                effect="loading fails with missing keys or, with `strict=False`, loads nothing",
                help=f"Load into `model.{wrapper.prefix.rstrip('.')}`"
                if _is_whole(state)
                else "Load into the part that is saved",
                fix=partial(_fix, load, wrapper, state, Draft(locator, module, catalogue)),
            )


def _into_wrapper(
    objects: Objects, load: CallSite, states: list[_State]
) -> tuple[Wrapper, _State] | None:
    """The wrapper that a call loads into, and the state of the model inside that it loads."""
    func, args = load.call.func, load.call.args
    if not isinstance(func, ir.Attribute) or not args:
        return None
    read = _read(objects, args[0].value, load.point)
    if read is None:
        return None
    key, path = read
    same = [state for state in states if state.key == key]
    if not same or not all(_is_of_inner(objects, state) for state in same):
        return None
    if not any(_OWN.search(token) for token in ir.tokens_of(path)):
        return None
    wrapper = wrapper_of(objects, func.value, load.point)
    if wrapper is None or not (wrapper.certain or _is_always_wrapped(load.point)):
        return None
    return wrapper, same[0]


def _is_always_wrapped(load: Point) -> bool:
    """Does no test around ask whether the model is wrapped, as where it is saved?"""
    return not any(
        _ASKS.search(token) for test in tests_around(load) for token in ir.tokens_of(test)
    )


def _read(objects: Objects, node: ir.Expr, point: Point) -> tuple[object, ir.Expr] | None:
    """The key of a checkpoint that is read, None for all of it, and the path of its file."""
    key: object = None
    holder = node
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Literal):
        holder, key = node.value, node.index.value
    for origin in objects.origins(holder, point):
        value = origin.node
        if isinstance(value, ir.Subscript) and isinstance(value.index, ir.Literal) and key is None:
            return _read(objects, value, origin.point)
        site = origin.site
        if site is not None and objects.called(site) in _LOADS and site.call.args:
            return key, site.call.args[0].value
    return None


def _saved_states(objects: Objects) -> Iterator[_State]:
    """The state dicts that go into checkpoints, those of optimizers among them."""
    for save in objects.calls({"save"}):
        for argument in save.call.args[:1]:
            for origin in objects.origins(argument.value, save.point):
                if origin.call is not None and _is_state(origin.call):
                    yield _State(origin.call, origin.point, None)
    for display, point in objects.nodes(ir.DictDisplay):
        for key, value in zip(display.keys, display.values, strict=True):
            if isinstance(key, ir.Literal):
                yield from _state_of(value, point, key.value)
    for point in objects.points:
        put = point.statement
        for target in put.targets if isinstance(put, ir.Assign) else ():
            if isinstance(target, ir.Subscript) and isinstance(target.index, ir.Literal):
                assert isinstance(put, ir.Assign)
                yield from _state_of(put.value, point, target.index.value)


def _state_of(value: ir.Expr, point: Point, key: object) -> Iterator[_State]:
    for part in expressions_in(value):
        if isinstance(part, ir.Call) and _is_state(part):
            yield _State(part, point, key)


def _is_state(call: ir.Call) -> bool:
    return isinstance(call.func, ir.Attribute) and call.func.attr == "state_dict" and not call.args


def _is_of_inner(objects: Objects, state: _State) -> bool:
    """Is it the state of ``model.module``, of a part of it, or of an unwrapped model?"""
    func = state.call.func
    assert isinstance(func, ir.Attribute)
    node = func.value
    if isinstance(node, ir.Call):
        return ir.last_name(node.func) in _UNWRAPS
    while isinstance(node, ir.Attribute):
        if node.attr in _INNER:
            return wrapper_of(objects, node.value, state.point) is not None
        node = node.value
    return False


def _is_whole(state: _State) -> bool:
    """Is it the state of all that is in the wrapper?"""
    func = state.call.func
    assert isinstance(func, ir.Attribute)
    return isinstance(func.value, ir.Call) or ir.last_name(func.value) in _INNER


def _fix(load: CallSite, wrapper: Wrapper, state: _State, draft: Draft) -> Fix:
    if not _is_whole(state):
        raise CannotFix("a part of the model is saved")
    func = draft.node(load.call.site, cst.Call).func
    if not isinstance(func, cst.Attribute):
        raise CannotFix("no method of an object")
    model = draft.text(func.value)
    draft.replace(func.value, f"{model}.{wrapper.prefix.rstrip('.')}")
    return draft.fix("unsafe", "Load into the model inside")
