"""The calls that initialize CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite

_CUDA = "torch.cuda."
_STARTS = frozenset(
    {
        "set_device", "init", "current_device", "synchronize", "mem_get_info",
        "get_device_capability", "get_device_properties", "get_device_name", "current_stream",
    }
)  # fmt: skip
"""Functions of ``torch.cuda`` that do so; ``device_count`` and ``is_available`` do not."""


def starts_cuda(objects: Objects, site: CallSite) -> bool:
    """``torch.cuda.set_device(0)``, ``model.cuda()``, ``x.to("cuda")``, ``device="cuda"``."""
    call, name = site.call, site.name
    if objects.called(site) == f"{_CUDA}{name}":
        return name in _STARTS
    if not isinstance(call.func, ir.Attribute):
        return False
    if name == "cuda":
        return True
    keywords = ("device", "") if name == "to" else ("device",)
    given = [each.value for each in call.args if (each.keyword or "") in keywords]
    made = name == "to" or objects.called(site).startswith("torch.")
    return made and any(
        isinstance(each, ir.Literal)
        and isinstance(each.value, str)
        and each.value.startswith("cuda")
        for each in given
    )
