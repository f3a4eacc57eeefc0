"""DST619: an attribute of the model is looked for on its wrapper."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule, related
from distlint.rules.gradients._before_wrap import runs_before
from distlint.rules.gradients._wrapper_names import held_by, name_of, passed_on, set_on
from distlint.rules.training import DDP, is_bare_arm
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.requirements import is_launched_with

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
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
_OTHER_WORDS = r"(?i)deepspeed|fsdp|megatron"
_OTHER_TYPES = r"(?i)distributed_type:[ \t]*[\"']?(?:deepspeed|fsdp|megatron_lm)\b"
_KINDS = frozenset({"hasattr", "isinstance", "distributed_type"})
_NO_MODEL = re.compile(r"optim|^opt$|sched|loader|_dl$|^dl$|data|tracker", re.IGNORECASE)


class AttributeOfWrapper(SourceRule):
    """An attribute of the model is accessed on its `DistributedDataParallel` wrapper.

    ```python
    model = DDP(net, device_ids=[local_rank])
    print(model.config)  # bad: raises AttributeError
    ```

    ## Use instead

    ```python
    model = DDP(net, device_ids=[local_rank])
    print(model.module.config)
    ```

    With Accelerate, use `accelerator.unwrap_model(model).config`. A method that computes the loss
    has to be called through the wrapper, or the gradients are not synchronized: give `forward` an
    argument that selects the method ([wrapper-bypassed](wrapper-bypassed.md)).

    ## Why is this bad?

    The wrapper does not forward attribute access to the model:
    `AttributeError: 'DistributedDataParallel' object has no attribute ...`. On a single GPU, where
    the model is not wrapped, the script works.

    ## What is reported

    `model.config`, `model.encode(x)` or `model.head.weight`, where `model` was returned by
    `DistributedDataParallel(...)` and the wrapper has no such attribute.

    As a warning, the same for a model that `accelerator.prepare` returned: under DDP it is such a
    wrapper, while the wrappers for FSDP and DeepSpeed forward attribute access.

    ## What is not reported

    - Accesses where the model may not be wrapped: it may come from elsewhere, or a condition around
      the access or an assertion before it uses the same names as the condition around the wrap.
    - Accesses inside a `try`, or guarded by `hasattr`, `isinstance`, `accelerator.distributed_type`
      or the attribute itself.
    - Accesses where the other branch of the condition uses `.module` of the same model.
    - Accesses before the wrap in the same function, or in one that is called only before the wrap;
      and what is passed to the wrap: `self.model = accelerator.prepare(self.model.generator)`.
    - Attributes that the file assigns from outside (`model.config = ...`), and names that begin
      with an underscore.
    - Wrapper classes that are defined in the project.
    - Objects that the same function indexes by name, as a dict of models is: `accelerator.prepare`
      returns a dict unchanged.
    - Models from `accelerator.prepare` in files that mention FSDP, DeepSpeed or Megatron, where
      Accelerate may use another wrapper.
    - Models from `accelerator.prepare` where all commands of the repository's shell scripts and
      READMEs that launch the file use DeepSpeed, FSDP or Megatron, by an option or by the
      configuration that they name.
    - In test files: models from `accelerator.prepare`, and models that are wrapped in a branch.

    ## Fix safety

    Unsafe: `.module` is inserted where an attribute is read. Not offered for method calls, whose
    gradients may have to be synchronized, for models from `accelerator.prepare`, and where the
    model is wrapped inside a condition and may be unwrapped as well.

    ## References

    - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "DST619"
    name = "attribute-of-wrapper"
    severity = Severity.ERROR
    exceptions = (Severity.WARNING,)

    good = (
        Example(
            title="Read from .module",
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
            title="Wrapped in some runs only",
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
            title="Each branch matches the model",
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
            title="An export that asserts a single process",
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
            title="A prepared model passed to a function that expects the model",
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
        if not {"DistributedDataParallel", "DDP", "Accelerator", "prepare"} & module.words:
            return
        objects = objects_across(module, catalogue)
        prepares: list[Made] = []
        if not document.is_test and not any(map(_OTHER_WRAPPERS.search, module.words)):
            prepares = [each for each in objects.made(_PREPARE) if _prepares(objects, each[1])]
        if prepares and is_launched_with(document.path, _OTHER_WORDS, _OTHER_TYPES):
            prepares = []
        wraps = [*objects.made(*DDP), *prepares]
        if not wraps:
            return
        held = held_by([site for site, _ in wraps])
        if prepares:
            held = passed_on(objects, held)
        given = set_on(objects)
        locator = locators.of(module.key)
        for point in objects.points:
            if held.isdisjoint(ir.tokens_of(point.statement)):
                continue
            for node in nodes_of(point.statement):
                if not isinstance(node, ir.Attribute) or node.attr in _OF_WRAPPER | given:
                    continue
                if name_of(node.value) not in held or node.attr.startswith("_"):
                    continue
                wrap = _wrapped(objects, node.value, point, wraps, not document.is_test)
                prepared = None if wrap else _prepared(objects, node.value, point)
                wrap = wrap or prepared
                if wrap is None or _is_asked(point, node.attr):
                    continue
                sites = [site for site, made in wraps if made.call is wrap.call]
                if _is_wrapped_later(objects, wrap, sites, node, point):
                    continue
                if is_bare_arm(point, node.value, node):
                    continue
                called = any(
                    isinstance(each, ir.Call) and each.func is node
                    for each in nodes_of(point.statement)
                )
                yield self.finding(
                    message=f"DDP wrapper has no attribute `{node.attr}`"
                    if prepared is None
                    else f"under DDP, `prepare` returns a wrapper without `{node.attr}`",
                    severity=Severity.ERROR if prepared is None else Severity.WARNING,
                    place=locator.place(node.site),
                    related=(related("wrapped here", wrap, locators),),
                    effect="the access raises an `AttributeError` when the model is wrapped in DDP",
                    help=f"Use `module.{node.attr}`"
                    if prepared is None
                    else f"Use `accelerator.unwrap_model(...).{node.attr}`"
                    + (", or call it through `forward` in training" if called else ""),
                    fix=None
                    if called or prepared is not None or len(sites) != 1
                    else partial(_fix, node, sites[0].call, Draft(locator, module, catalogue)),
                )


Made = tuple[CallSite, CallSite]
"""A call that gives a wrapper, and the one that wraps."""


def _prepares(objects: Objects, site: CallSite) -> bool:
    return objects.called(site) == _PREPARE


def _wrapped(
    objects: Objects, node: ir.Expr, point: Point, made: list[Made], by_choice: bool
) -> CallSite | None:
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
        if None in sites or not any(
            wrap.call is wraps[0].call
            and site.point.scope is point.scope
            and _is_behind_branch(site.point, point)
            for site, wrap in made
        ):
            return None
    return wraps[0]


def _prepared(objects: Objects, node: ir.Expr, point: Point) -> CallSite | None:
    """The call that had Accelerate wrap an object, if it is a model and nothing else made it."""
    calls: dict[ir.Call, CallSite] = {}
    for origin in objects.origins(node, point):
        call = origin.node
        if not isinstance(call, ir.Call) or origin.attributes:
            return None
        if not _prepares(objects, CallSite(call, origin.point)):
            return None
        index = origin.item or 0
        if index >= len(call.args) or any(argument.star for argument in call.args):
            return None
        given = call.args[index].value
        name = name_of(given.func if isinstance(given, ir.Call) else given)
        if (
            call.args[index].keyword
            or _NO_MODEL.search(name)
            or _is_of_another_kind(objects, given, origin.point)
            or _is_of_names(objects, given, origin.point)
        ):
            return None
        if index and not _MODEL.search(name):
            return None
        calls[call] = CallSite(call, origin.point)
    return calls.popitem()[1] if len(calls) == 1 else None


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


def _is_wrapped_later(
    objects: Objects, wrap: CallSite, sites: list[CallSite], node: ir.Attribute, point: Point
) -> bool:
    """Is it what the wrap takes from the object, or used in its function before the wrap?"""
    path = path_of(node)
    if path is not None and any(path_of(argument.value) == path for argument in wrap.call.args):
        return True
    if point.scope.function is None:
        return False  # there the order is known
    return any(runs_before(objects, point, site.point) for site in sites)


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
            raise CannotFix("it may be the bare model as well")
    if not isinstance(written.value, (cst.Name, cst.Attribute)):
        raise CannotFix("no name")
    draft.replace(written.value, f"{draft.text(written.value)}.module")
    return draft.fix("unsafe", "Read the attribute from `.module`")
