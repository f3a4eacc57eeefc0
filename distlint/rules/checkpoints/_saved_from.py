"""Where the tensors of a checkpoint were when it was saved: on the CPU, or by a library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeGuard

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, expressions_in, placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.checkpoints._restored import RESTORES

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite

_SAVE = "torch.save"
_SAVING = frozenset({"torch", "save"})
_HASH = re.compile(r"-(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\.(?:pth?|bin|safetensors)$")
"""What torch.hub puts at the end of the names of its files."""
_OUT_OF_TORCH = frozenset({"numpy", "tolist", "item"})


def is_on_cpu(objects: Objects) -> bool:
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


def saves_from_cpu(objects: Objects) -> bool:
    """Do all functions that save move to the CPU what they save, or may they?

    Those of the file; if there are none, those of the files that it imports.
    """
    savers = [site.point.scope.function for site in objects.calls_to(_SAVE)]
    if not savers:
        for module in objects.module.imports:
            if module.words.issuperset(_SAVING):
                there = objects_across(module, objects.catalogue)
                savers += [site.point.scope.function for site in there.calls_to(_SAVE)]
    return bool(savers) and all(saver and _moves_to_cpu(saver) for saver in savers)


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


def is_published(site: CallSite, objects: Objects) -> bool:
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
    if into.name not in RESTORES or not isinstance(into.call.func, ir.Attribute):
        return False
    made = [
        objects.called(origin.site) if origin.site is not None else ""
        for origin in objects.origins(into.call.func.value, into.point)
        if origin.constant is not None
    ]
    return bool(made) and all(called.startswith("torchvision.models.") for called in made)
