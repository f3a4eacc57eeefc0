"""Whether a process is bound to its device, and whether it is started by another file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.callers import calls_elsewhere, known_as, objects_in
from distlint.analyzer.static.guards.guards import guards_in
from distlint.analyzer.static.names import nodes_of
from distlint.rules.setup._demands import Demand, demands
from distlint.rules.setup._order import backend_of

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Point

SETTERS = frozenset({"set_device", "set_device_index", "CUDA_VISIBLE_DEVICES"})
_OPTION = "device_id"
"""The option by which a process group is given the device."""
_OTHERS = frozenset({"accelerate", "deepspeed", "lightning", "pytorch_lightning", "ray"})
"""Libraries that bind each process to its device themselves; Ray shows it no other."""
_TRAINS = re.compile(r"Trainer|TrainingArguments|HfArgumentParser")
"""Classes of transformers that do so; its models and tokenizers do not."""
_MOST_FUNCTIONS = 8
"""Functions that are looked at on the way to what starts the processes."""


def may_be_nccl(objects: Objects, init: CallSite) -> bool:
    """Is NCCL the backend, or one of those that a variable may hold?"""
    passed = objects.argument(init, "backend", 0)
    if objects.constant(passed, init.point) is not ... or passed.value is None:
        return "nccl" in backend_of(objects, init)
    return any(
        isinstance(origin.node, ir.Literal) and "nccl" in str(origin.node.value).lower()
        for origin in objects.origins(passed.value, init.point)
    )


def is_spawned(guards: Guards, point: Point) -> bool:
    """Does another file start processes with a function that leads to a statement?

    Or with one of its own that calls it; and it sets no device.
    """
    objects = guards.objects
    waiting = [point.scope.function]
    for function in waiting:  # grows meanwhile
        if function is None or len(waiting) > _MOST_FUNCTIONS:
            return False
        if guards.launchers.spawns(function):
            users = {module for module, _ in known_as(objects.module, function.name)}
            return not any(map(binds, users))
        for module, site in calls_elsewhere(objects.module, function):
            caller = site.point.scope.function
            if caller is not None and guards_in(module).launchers.spawns(caller):
                return not binds(module)
        waiting += [
            site.point.scope.function
            for site in objects.callers(function)
            if site.point.scope.function not in waiting
        ]
    return False


def binds(module: Module) -> bool:
    """Does a file set the device, or give it to the process group?"""
    return not SETTERS.isdisjoint(module.tokens) or is_option_passed(module)


def is_set_by_framework(module: Module) -> bool:
    """Does a library that a file uses bind its processes to their devices?"""
    roots = module.imported_roots
    return not _OTHERS.isdisjoint(roots) or (
        "transformers" in roots
        and any(
            _TRAINS.search(token) for each in (module, *module.imports) for token in each.tokens
        )
    )


def shows_one_gpu(objects: Objects) -> bool:
    """Does a file, or one that it imports, end where the process sees other GPUs than its one?"""
    return any(
        _is_one_gpu(where, each)
        for module in objects.module.import_closure()
        if "device_count" in module.words
        for where in [objects_in(module)]
        for said in demands(where)
        for each in said.both_ways()
    )


def _is_one_gpu(objects: Objects, demand: Demand) -> bool:
    one = isinstance(demand.right, ir.Literal) and demand.right.value == 1
    return (
        one
        and demand.op in ("==", "<=")
        and any(
            origin.site is not None and objects.called(origin.site) == "torch.cuda.device_count"
            for origin in objects.origins(demand.left, demand.point)
        )
    )


def is_option_passed(module: Module) -> bool:
    """Is there an option of this name in a call or a dict, and not just a variable?"""
    if _OPTION not in module.tokens:
        return False
    nodes = [node for statement in module.statements() for node in nodes_of(statement)]
    return any(
        (isinstance(node, ir.Call) and any(each.keyword == _OPTION for each in node.args))
        or (isinstance(node, ir.Literal) and node.value == _OPTION)
        for node in nodes
    )


def enters_device(objects: Objects) -> bool:
    """Is there a block in which a device is the current one: ``with torch.cuda.device(rank):``?"""
    return any(
        isinstance(site.point.statement, ir.With) for site in objects.calls_to("torch.cuda.device")
    )
