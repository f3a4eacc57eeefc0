"""Whether what loads a checkpoint expects the prefix that a wrapper puts before each key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.neighbourhood import files_near
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.rules.checkpoints._wrapped import Wrapper, wrapper_of
from distlint.source.requirements import is_beside

if TYPE_CHECKING:
    from pathlib import Path

    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite

_LOADS = frozenset({"load_state_dict"})
_LOADERS = re.compile(r"(?:^|_)(?:load(?!er)|reload|resum|restor|restart)", re.IGNORECASE)
"""Names of functions that put a checkpoint into the model that they are given."""


def fits(objects: Objects, wrapper: Wrapper) -> bool:
    """Does a file near it load into such a wrapper again, or take the prefix off?"""
    return _is_given_to_loader(wrapper) or any(
        _fits_in(module, wrapper) for module in files_near(objects.module)
    )


def _fits_in(module: Module, wrapper: Wrapper) -> bool:
    if any(wrapper.prefix.rstrip(".") in token for token in _literals(module)):
        return True
    if _LOADS.isdisjoint(module.tokens):
        return False
    objects = objects_in(module)
    if _cuts(objects, len(wrapper.prefix)):
        return True
    for site in objects.calls(_LOADS):
        if isinstance(site.call.func, ir.Attribute):
            into = wrapper_of(objects, site.call.func.value, site.point)
            if into is not None and into.prefix == wrapper.prefix:
                if not _comes_before_wrap(objects, site):
                    return True
    return False


def _is_given_to_loader(wrapper: Wrapper) -> bool:
    """Does the file that wraps the model hand it to a function that loads into it, by its name?"""
    if wrapper.made is None or wrapper.made_in is None:
        return False
    return any(
        _LOADERS.search(site.name) and not _is_unwrapped(argument.value)
        for site, argument in wrapper.made_in.uses.passed_to(wrapper.made)
    )


def _is_unwrapped(given: ir.Expr) -> bool:
    """Is it ``model.module if distributed else model``: the bare model, however it is kept?"""
    return isinstance(given, ir.Conditional) and any(
        isinstance(arm, ir.Attribute)
        and arm.attr == "module"
        and path_of(arm.value) == path_of(bare)
        for arm, bare in ((given.body, given.orelse), (given.orelse, given.body))
    )


def _cuts(objects: Objects, length: int) -> bool:
    """Is the prefix cut off names by its length: ``state[name[7:]] = value``?"""
    return any(
        isinstance(node, ir.Slice)
        and node.upper is None
        and isinstance(node.lower, ir.Literal)
        and node.lower.value == length
        for point in objects.points
        for node in nodes_of(point.statement)
    )


def fits_beside(objects: Objects, save: CallSite, wrapper: Wrapper, script: Path) -> bool:
    """Does a script beside it load a file of this name into a wrapper, as an evaluation does?"""
    name = objects.constant(objects.argument(save, "f", 1), save.point)
    if not isinstance(name, str) or wrapper.prefix != "module.":
        return False
    return is_beside(
        script,
        r"(?s)(\w+)\s*=\s*[\w.]*(?:DistributedDataParallel|DDP|DataParallel)\(.*?"
        rf"\b\1\.load_state_dict\(\s*torch\.load\(\s*[\"']{re.escape(name)}[\"']",
    )


def _comes_before_wrap(objects: Objects, load: CallSite) -> bool:
    """Is it in a method that is called where its object's model is not wrapped yet?"""
    function = load.point.scope.function
    model = load.call.func.value if isinstance(load.call.func, ir.Attribute) else None
    if function is None or model is None or (path_of(model) or ("",))[0] != "self":
        return False
    callers = objects.callers(function)
    return bool(callers) and all(
        wrapper_of(objects, model, caller.point) is None for caller in callers
    )


def _literals(module: Module) -> Iterator[str]:
    """Strings of the module that are not attributes or variables: those with a dot in them."""
    return (token for token in module.tokens if token.endswith("."))
