"""Gradients that Lightning Fabric has scaled, and that torch clips as they are."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.gradients._steps import backwards, exclude, in_order, torch_clips

_FABRIC = "lightning.fabric.Fabric"
_PRECISION = 4
"""The position of ``precision`` among the parameters of ``Fabric``."""
_SCALES = frozenset({"16-mixed", "16", 16})
"""Precisions in which Fabric scales the loss."""


def clipped_while_scaled(objects: Objects) -> Iterator[tuple[CallSite, CallSite, bool]]:
    """The clips, the backward passes of Fabric before them, and whether these surely scale."""
    passes = [
        each.site
        for each in backwards(objects)
        if objects.called(each.site) == f"{_FABRIC}.backward"
    ]
    for clip in torch_clips(objects) if passes else ():
        for backward in passes:
            if backward.point.scope is not clip.point.scope or not in_order(backward, clip):
                continue
            scales = None if exclude(backward.point, clip.point) else _scales(objects, backward)
            if scales is not None:
                yield clip, backward, scales
                break


def _scales(objects: Objects, backward: CallSite) -> bool | None:
    """Does Fabric scale the loss? False if it is not known, None if it does not."""
    func = backward.call.func
    assert isinstance(func, ir.Attribute)
    made = [each.site for each in objects.origins(func.value, backward.point)]
    found = {
        objects.constant(objects.argument(each, "precision", _PRECISION), each.point, "32-true")
        for each in made
        if each is not None and objects.called(each) == _FABRIC
    }
    if not found or ... in found:
        return False
    return True if found <= _SCALES else None
