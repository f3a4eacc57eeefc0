"""DST619: an attribute of the model is looked for on its wrapper."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects import CallSite, objects_of
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import DDP, is_bare_arm, loops_around
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_OF_WRAPPER = frozenset(
    """
    T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double
    dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter
    get_submodule half ipu load_state_dict modules mtia named_buffers named_children named_modules
    named_parameters parameters register_backward_hook register_buffer register_forward_hook
    register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
    register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module
    register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_
    set_extra_state set_submodule share_memory state_dict to to_empty train training type xpu
    zero_grad module device device_ids device_type dim output_device process_group reducer logger
    join join_hook join_device join_process_group no_sync static_graph broadcast_buffers
    find_unused_parameters gather scatter to_kwargs register_comm_hook mixed_precision
    gradient_as_bucket_view require_backward_grad_sync require_forward_param_sync
    parameters_to_ignore bucket_bytes_cap broadcast_bucket_size is_multi_device_module
    will_sync_module_buffers forward_sync_buffers modules_buffers named_module_buffers
    batched_grad_copy bucket_bytes_cap_default bucket_bytes_cap_list
    skip_all_reduce_unused_params use_side_stream_for_tensor_copies require_backward_grad_sync
    """.split()
)
"""What a DistributedDataParallel has itself (torch 2.13)."""


_PREPARE = "accelerate.Accelerator.prepare"
_MODEL = re.compile(r"model|net$|encoder|transformer|vae|critic|actor|module", re.IGNORECASE)
_OTHER_WRAPPERS = re.compile(r"deepspeed|fsdp|megatron|parallelism", re.IGNORECASE)
_KINDS = frozenset({"hasattr", "isinstance", "distributed_type"})
_NO_MODEL = re.compile(r"optim|^opt$|sched|loader|_dl$|^dl$|data|tracker", re.IGNORECASE)


class AttributeOfWrapper(SourceRule):
    """An attribute or method of the model is used on its `DistributedDataParallel` wrapper.

    ## What it finds

    `model.config`, `model.encode(x)`, `model.head.weight` where `model` is what
    `DistributedDataParallel(...)` has made, and the wrapper has no such attribute. Likewise, as a
    warning, where `accelerator.prepare` has made it: under DDP that is such a wrapper, under FSDP
    and DeepSpeed it hands attributes on.

    ## Why it matters

    The wrapper does not pass attributes on: `AttributeError: 'DistributedDataParallel' object has
    no attribute ...`. On one GPU, where nothing is wrapped, the script works.

    ## What to do

    `model.module.config`. A method that computes what is trained on has to go through the wrapper,
    or the gradients are not synchronised: give `forward` an argument that chooses
    ([wrapper-bypassed](wrapper-bypassed.md)).

    ## Fix

    Unsafe: `.module` goes in front, where an attribute is read. For a call, whose gradients may
    have to be synchronised, none is offered, nor where the model is wrapped under a test: it may
    come bare as well.

    ## When it is silent

    - The model may be unwrapped there because it came another way, or a test stands around it, or
      an assertion before it, that is about the same as that of the wrap.
    - The other arm of a test takes `.module` of the same model.
    - In a test that wraps in a branch: which cases come together is the test's own choice.
    - The attribute was set on the wrapper in the file.
    - It is used before the wrap of the same function, or is what the wrap takes from the object:
      `self.model = accelerator.prepare(self.model.generator)`.
    - A test of `accelerator.distributed_type` stands around it.
    - The wrapper is a class of the project's own.
    - What Accelerate is given is indexed by names in that function, as a dictionary of models is,
      which it hands back as it is.
    - Accelerate may wrap in another way: the file speaks of FSDP, DeepSpeed or Megatron.
    """

    code = "DST619"
    name = "attribute-of-wrapper"
    severity = Severity.ERROR

    good = (
        Example(
            title="Of the model inside",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(2, 1)
        self.stride = 4

    def forward(self, x):
        return self.head(x)


dist.init_process_group("gloo")
model = DDP(Net())
model.epoch = 3
print(model.module.stride, model.epoch, hasattr(model, "stride"))
dist.destroy_process_group()
""",
        ),
        Example(
            title="Wrapped on some runs only",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(2, 1))
net.stride = 4
model = DDP(net) if dist.get_world_size() > 8 else net
print(model.stride)
dist.destroy_process_group()
""",
        ),
        Example(
            title="Each arm as the model is there",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
world = dist.get_world_size()
model = torch.nn.Linear(2, 1)
if dist.is_initialized() and world > 1:
    model = DDP(model)
width = model.in_features if world == 1 else model.module.in_features
if world == 1:
    print(width, model.out_features)
else:
    print(width, model.module.out_features)
dist.destroy_process_group()
""",
        ),
        Example(
            title="An export that is for one process, as it asserts",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
is_parallel, exports = dist.get_world_size() > 1, dist.get_world_size() == 1
model = torch.nn.Linear(2, 1)
if is_parallel:
    model = DDP(model)
if exports:
    assert not is_parallel, "export works in one process"
    print(model.in_features)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A prepared model, in a function that wants the model itself",
            effect="static",
            why_static="one process alone wraps nothing",
            code="""\
import torch
from accelerate import Accelerator


def report(net, step):
    print(step, net.in_features)  # expect: DST619


def main():
    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    for step in range(2):
        accelerator.backward(model(torch.ones(1, 2)).mean())
        optimizer.step()
        report(model, step)
""",
        ),
        Example(
            title="It works on one GPU",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(2, 1)
        self.stride = 4

    def forward(self, x):
        return self.head(x)


dist.init_process_group("gloo")
net = Net()
net = DDP(net)
stride = net.stride  # expect: DST619
print(stride)
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if not {"DistributedDataParallel", "DDP", "prepare"} & module.words:
            return
        objects = objects_of(module, catalogue)
        prepares: list[CallSite] = []
        if not document.is_test and not any(map(_OTHER_WRAPPERS.search, module.words)):
            prepares = [s for s in objects.calls({"prepare"}) if objects.called(s) == _PREPARE]
        wraps = [*objects.calls_to(*DDP), *prepares]
        if not wraps:
            return
        held = _held(wraps)
        if prepares:
            held = _passed_on(objects, held)
        given = _set_on(objects)
        locator = locators.of(module.key)
        for point in objects.points:
            if held.isdisjoint(ir.tokens_of(point.statement)):
                continue
            for node in nodes_of(point.statement):
                if not isinstance(node, ir.Attribute) or node.attr in _OF_WRAPPER | given:
                    continue
                if ir.last_name(node.value) not in held or node.attr.startswith("_"):
                    continue
                wrap = _wrapped(objects, node.value, point, by_choice=not document.is_test)
                prepared = None if wrap else _prepared(objects, node.value, point)
                wrap = wrap or prepared
                if wrap is None or _is_asked(point, node.attr):
                    continue
                if _is_wrapped_later(objects, wrap, node, point):
                    continue
                if is_bare_arm(point, node.value, node):
                    continue
                called = any(
                    isinstance(each, ir.Call) and each.func is node
                    for each in nodes_of(point.statement)
                )
                yield self.finding(
                    message=f"the wrapper has no attribute `{node.attr}`: it is the model's"
                    if prepared is None
                    else f"the wrapper in which Accelerate puts the model has no attribute "
                    f"`{node.attr}` under DDP",
                    severity=Severity.ERROR if prepared is None else Severity.WARNING,
                    place=locator.place(node.site),
                    related=(Related("wrapped here", locator.place(wrap.site)),),
                    effect=f"an AttributeError: no attribute {node.attr}",
                    advice=f"Take module.{node.attr}"
                    if prepared is None
                    else f"Take {node.attr} of accelerator.unwrap_model(...)"
                    + (", or go through forward where it is trained on." if called else "."),
                    fix=None
                    if called or prepared is not None
                    else partial(_fix, node, wrap, Draft(locator, module, catalogue)),
                )


def _held(wraps: list[CallSite]) -> frozenset[str]:
    """The last names of the variables that wrappers are assigned to."""
    found: set[str] = set()
    for wrap in wraps:
        if isinstance(wrap.point.statement, ir.Assign):
            for target in wrap.point.statement.targets:
                items = target.items if isinstance(target, ir.Display) else (target,)
                found.update(map(ir.last_name, items))
    return frozenset(found - {""})


def _passed_on(objects: Objects, held: frozenset[str]) -> frozenset[str]:
    """With the names that functions of the file give what they are passed."""
    found = set(held)
    for name in objects.called_names:
        for site in objects.calls({name}):
            given = [
                argument for argument in site.call.args if ir.last_name(argument.value) in held
            ]
            function = objects.callee(site) if given else None
            if isinstance(function, ir.Function):
                found.update(param.name for param in function.params)
    return frozenset(found)


def _set_on(objects: Objects) -> frozenset[str]:
    """The attributes that the file assigns from outside, to whatever it may be."""
    found: set[str] = set()
    for point in objects.points:
        statement = point.statement
        for target in statement.targets if isinstance(statement, ir.Assign) else ():
            if isinstance(target, ir.Attribute):
                if not (isinstance(target.value, ir.Name) and target.value.id == "self"):
                    found.add(target.attr)
    return frozenset(found)


def _wrapped(objects: Objects, node: ir.Expr, point: Point, *, by_choice: bool) -> ir.Call | None:
    """The call that has wrapped an object, if nothing else can have made it.

    ``by_choice``: also one that is made on some runs only.
    """
    sites = [origin.site for origin in objects.origins(node, point)]
    wraps = [site for site in sites if site is not None and objects.is_call_to(site, *DDP)]
    if not wraps:
        return None
    if len(wraps) < len(sites):  # wrapped on some runs: then it fails on those
        if not by_choice:
            return None
        where = wraps[0].point
        if None in sites or where.scope is not point.scope or not _is_behind_branch(where, point):
            return None
    return wraps[0].call


def _prepared(objects: Objects, node: ir.Expr, point: Point) -> ir.Call | None:
    """The call that had Accelerate wrap an object, if it is a model and nothing else made it."""
    calls: set[ir.Call] = set()
    for origin in objects.origins(node, point):
        call = origin.node
        if not isinstance(call, ir.Call) or origin.attributes:
            return None
        if objects.called(CallSite(call, origin.point)) != _PREPARE:
            return None
        index = origin.item or 0
        if index >= len(call.args) or any(argument.star for argument in call.args):
            return None
        given = call.args[index].value
        name = ir.last_name(given.func if isinstance(given, ir.Call) else given)
        if (
            call.args[index].keyword
            or _NO_MODEL.search(name)
            or _is_of_another_kind(objects, given, origin.point)
            or _is_of_names(objects, given, origin.point)
        ):
            return None
        if index and not _MODEL.search(name):
            return None
        calls.add(call)
    return calls.pop() if len(calls) == 1 else None


def _is_of_another_kind(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it something that Accelerate does not wrap as a model, as a loader or an optimizer?"""
    return any(
        origin.site is not None
        and objects.called(origin.site).startswith(("torch.optim", "torch.utils.data", "datasets"))
        for origin in objects.origins(node, point)
    )


def _is_of_names(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it indexed by a name: a dictionary of models, which Accelerate leaves as it is?"""
    path = path_of(node)
    if path is None or any(
        origin.site is not None and objects.is_call_to(origin.site, "torch.nn.ModuleDict")
        for origin in objects.origins(node, point)
    ):
        return False
    statements = [here.statement for here in objects.points if here.scope is point.scope]
    parts = [each for statement in statements for each in nodes_of(statement)]
    passes = [(each.target, each.iterable) for each in statements if isinstance(each, ir.For)]
    for each in parts:
        if isinstance(each, ir.Comprehension):
            passes += [(target, iterable) for target, iterable, _ in each.clauses]
    keys = {ir.last_name(target) for target, iterable in passes if path_of(iterable) == path}
    return any(
        isinstance(each, ir.Subscript)
        and path_of(each.value) == path
        and (
            (isinstance(each.index, ir.Literal) and isinstance(each.index.value, str))
            or (isinstance(each.index, ir.Name) and each.index.id in keys)
        )
        for each in parts
    )


def _is_behind_branch(wrap: Point, use: Point) -> bool:
    """Is it wrapped in a branch, and used in the straight line behind it, or in a loop there?"""
    if not isinstance(wrap.around[-1].owner, ir.If) or len(wrap.around) != 2:
        return False
    if use.around[0].index <= wrap.around[0].index:
        return False
    told = ir.tokens_of(wrap.around[-1].owner.test)
    asked = [here.owner.test for here in use.around if isinstance(here.owner, ir.If)]
    asked += [
        earlier.test
        for here in use.around
        for earlier in here.block[: here.index]
        if isinstance(earlier, ir.Assert)
    ]
    return all(told.isdisjoint(ir.tokens_of(test)) for test in asked)


def _is_wrapped_later(objects: Objects, wrap: ir.Call, node: ir.Attribute, point: Point) -> bool:
    """Is it what the wrap takes from the object, or used in its function before the wrap?"""
    path = path_of(node)
    if path is not None and any(path_of(argument.value) == path for argument in wrap.args):
        return True
    if point.scope.function is None:
        return False  # there the order is known
    around = {id(loop) for loop in loops_around(point)}
    return any(
        site.call is wrap
        and site.point.scope is point.scope
        and point.statement.site < site.point.statement.site
        and not any(id(loop) in around for loop in loops_around(site.point))
        for site in objects.calls({ir.last_name(wrap.func)})
    )


def _is_asked(point: Point, name: str) -> bool:
    """May a test or an exception keep the wrapper from being asked?"""
    if "hasattr" in ir.tokens_of(point.statement):
        return True
    return any(
        isinstance(here.owner, ir.Try)
        or (
            isinstance(here.owner, ir.If)
            and not _KINDS.union({name}).isdisjoint(ir.tokens_of(here.owner.test))
        )
        for here in point.around
    )


def _fix(node: ir.Attribute, wrap: ir.Call, draft: Draft) -> Fix:
    written = draft.node(node.site, cst.Attribute)
    around = set(draft.ancestors(written))
    for parent in draft.ancestors(draft.node(wrap.site, cst.Call)):
        if isinstance(parent, cst.If) and parent not in around:
            raise Doubt("it may be the bare model as well")
    if not isinstance(written.value, (cst.Name, cst.Attribute)):
        raise Doubt("no name")
    draft.replace(written.value, f"{draft.text(written.value)}.module")
    return draft.fix("unsafe", "Ask the model inside")
