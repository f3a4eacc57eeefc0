"""DST607: the old names of mixed precision."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects import CallSite, objects_of
from distlint.fixers import imports, names
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._autocast import written_name
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.requirements import asks_for_older, runs_on_older

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_DEVICES = {
    f"torch.{device}.amp.{module}{name}": device
    for device in ("cuda", "cpu")
    for module, name in (
        ("", "autocast"), ("", "GradScaler"), ("autocast_mode.", "autocast"),
        ("grad_scaler.", "GradScaler"),
    )
}  # fmt: skip
_WARNS = "2.4"
"""The version of torch that warns about the old names."""

_SINCE = {"autocast": "1.10", "GradScaler": "2.3"}
"""The versions of torch that have the new ones."""


class OldAmpNames(SourceRule):
    """Mixed precision is called by names that torch has replaced.

    ## What it finds

    `torch.cuda.amp.autocast(...)`, `torch.cuda.amp.GradScaler(...)` and those of `torch.cpu.amp`.

    ## Why it matters

    They work, and print a FutureWarning on every rank since torch 2.4. New options come to the new
    names only.

    ## What to do

    `torch.amp.autocast("cuda", ...)` and `torch.amp.GradScaler("cuda", ...)`.

    ## Fix

    Safe: the new name with the device in front. An argument by position of `autocast` was `enabled`
    and becomes that.

    ## When it is silent

    - The requirements of the project leave out torch 2.4 and later ones, which alone warn.
    - They allow a torch that has no new name: before 2.3 for `GradScaler`, 1.10 for `autocast`.
    """

    code = "DST607"
    name = "old-amp-names"
    severity = Severity.INFO
    words = ("autocast(", "GradScaler")

    good = (
        Example(
            title="The names of today",
            ranks=1,
            code="""\
import torch

scaler = torch.amp.GradScaler("cuda", enabled=False)
with torch.amp.autocast("cuda", enabled=False):
    loss = torch.ones(1, requires_grad=True).sum()
scaler.scale(loss).backward()
""",
        ),
    )

    bad = (
        Example(
            title="Those of yesterday",
            effect="fail",
            ranks=1,
            code="""\
import warnings

import torch
from torch.cuda.amp import GradScaler

warnings.simplefilter("error", FutureWarning)
scaler = GradScaler(enabled=False)  # expect: DST607
with torch.cuda.amp.autocast(False):  # expect: DST607
    loss = torch.ones(1, requires_grad=True).sum()
scaler.scale(loss).backward()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if "amp" not in words or not {"cuda", "cpu"} & words:
            return
        if not {"autocast", "GradScaler"} & words:
            return
        objects = objects_of(module, catalogue)
        older: dict[str, bool] = {}
        for site in objects.calls(_SINCE.keys()):
            written = written_name(objects, site.call.func, site.point.scope)
            if written not in _DEVICES:
                continue
            name = written.rpartition(".")[2]
            if name not in older:
                older[name] = _is_for_older(document.path, name)
            if older[name]:
                continue
            locator = locators.of(module.key)
            yield self.finding(
                message=f"`{written}` has the new name `torch.amp.{name}`",
                severity=Severity.INFO,
                place=locator.place(site.call.site),
                effect="a FutureWarning on every rank",
                advice=f'Call torch.amp.{name}("{_DEVICES[written]}", ...).',
                fix=partial(_fix, site, _DEVICES[written], Draft(locator, module, catalogue)),
            )


def _is_for_older(file: Path, name: str) -> bool:
    """Do the requirements of a file speak of a torch that does not warn, or has no new name?"""
    return asks_for_older(file, "torch", _WARNS) or runs_on_older(file, "torch", _SINCE[name])


def _fix(site: CallSite, device: str, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    name = ir.last_name(site.call.func)
    if isinstance(call.func, cst.Name) and call.func.value != name:
        name = draft.names.module.aliases.get(call.func.value, "")
    if name not in ("autocast", "GradScaler") or not names.available(draft, "torch", call):
        raise Doubt("torch is not at hand by its name")
    if any(arg.star for arg in call.args):
        raise Doubt("what * passes is not known")
    plain = [arg for arg in call.args if arg.keyword is None]
    if name == "autocast" and plain:
        if len(plain) > 1:
            raise Doubt("arguments by position")
        draft.replace(plain[0].value, f"enabled={draft.text(plain[0].value)}")
    at = draft.bounds(call.args[0])[0] if call.args else draft.bounds(call)[1] - 1
    draft.splice(at, at, f'"{device}"' + (", " if call.args else ""))
    if isinstance(call.func, cst.Name):
        imports.drop_if_stale(draft, call.func.value, (call.func,))
    draft.replace(call.func, f"torch.amp.{name}")
    return draft.fix("safe", f"Call torch.amp.{name}")
