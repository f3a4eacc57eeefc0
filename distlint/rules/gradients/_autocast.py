"""Mixed precision in the source: which autocast, in which type, under which name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.project.module import Imported

if TYPE_CHECKING:
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite

_GENERAL = frozenset({"torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast"})
_OF_CUDA = frozenset({"torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode.autocast"})
SCALER = "torch.amp.GradScaler"
_TYPES = {"float16": "float16", "half": "float16", "bfloat16": "bfloat16"}


@dataclass(frozen=True, slots=True)
class Autocast:
    """An autocast region: the type is ``float16``, ``bfloat16``, or ``""`` where unknown."""

    site: CallSite
    dtype: str


def autocasts(objects: Objects) -> Iterator[Autocast]:
    """The autocast regions of torch that are not switched off by a constant."""
    for site in objects.calls({"autocast"}):
        called = objects.called(site)
        if called in _GENERAL:
            device = objects.constant(objects.argument(site, "device_type", 0), site.point)
            given = objects.argument(site, "dtype", 1)
            enabled = objects.argument(site, "enabled", 2)
            usual = {"cuda": "float16", "cpu": "bfloat16"}.get(str(device), "")
        elif called in _OF_CUDA:
            given = objects.argument(site, "dtype", 1)
            enabled = objects.argument(site, "enabled", 0)
            usual = "float16"
        else:
            continue
        if objects.constant(enabled, site.point, True) is False:
            continue
        dtype = usual if given.absent else ""
        if given.value is not None:
            dtype = dtype_of(objects, given.value, site)
        yield Autocast(site, dtype)


def dtype_of(objects: Objects, node: ir.Expr, site: CallSite) -> str:
    """``float16`` for ``torch.float16`` and ``torch.half``, also through a variable."""
    found = set()
    for origin in objects.origins(node, site.point):
        name = ""
        if isinstance(origin.node, ir.Opaque) and len(origin.attributes) == 1:
            name = origin.attributes[0]  # of an imported module
        found.add(_TYPES.get(name, ""))
    return found.pop() if len(found) == 1 else ""


def written_name(objects: Objects, node: ir.Expr, scope: Scope) -> str:
    """The dotted name as the file writes it, with no alias of the catalogue resolved."""
    attributes: list[str] = []
    while isinstance(node, ir.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ir.Name):
        return ""
    root = _imported_as(objects, node.id, scope)
    return ".".join((root, *reversed(attributes))) if root else ""


def _imported_as(objects: Objects, name: str, scope: Scope) -> str:
    seen: Scope | None = scope
    while seen is not None and seen.function is not None:
        if name in seen.function.locals:
            found = seen.imports.get(name, [])
            return found[0] if len(found) == 1 else ""
        seen = seen.outer
    definitions = objects.module.definitions.get(name, ())
    names = {
        f"{each.node.dotted}.{each.node.attr}" if each.node.attr else each.node.dotted
        for each in definitions
        if isinstance(each.node, Imported)
    }
    return names.pop() if len(names) == 1 and len(definitions) == 1 else ""
