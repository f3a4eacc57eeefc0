"""DST607: the old names of mixed precision."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import imports, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._autocast import written_name
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.requirements import asks_for_older, runs_on_older

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
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
    """Automatic mixed precision is used through deprecated names.

    ```python
    scaler = torch.cuda.amp.GradScaler()  # bad: deprecated
    with torch.cuda.amp.autocast():  # bad: deprecated
        loss = model(batch).mean()
    ```

    ## Use instead

    ```python
    scaler = torch.amp.GradScaler("cuda")
    with torch.amp.autocast("cuda"):
        loss = model(batch).mean()
    ```

    ## Why is this bad?

    The old names still work, but since torch 2.4 they emit a `FutureWarning` on every rank. New
    options are added to the new names only.

    ## What is reported

    `torch.cuda.amp.autocast(...)`, `torch.cuda.amp.GradScaler(...)` and their equivalents in
    `torch.cpu.amp`.

    ## What is not reported

    - The requirements of the project exclude torch 2.4 and later, the only versions that warn.
      Without a version there, what the README, installation notes or Dockerfile say counts.
    - The requirements allow a torch without the new name: before 2.3 for `GradScaler`, before 1.10
      for `autocast`.

    ## Fix safety

    Safe: the new name is used, with the device as first argument. A positional argument of
    `autocast` was `enabled` and is passed by that name.

    ## References

    - [PyTorch: torch.amp](https://docs.pytorch.org/docs/stable/amp.html)
    """

    code = "DST607"
    name = "old-amp-names"
    severity = Severity.INFO
    words = ("autocast(", "GradScaler")

    good = (
        Example(
            title="The current names",
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
            title="The deprecated names",
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
        objects = objects_across(module, catalogue)
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
                message=f"`{written}` is deprecated",
                severity=Severity.INFO,
                place=locator.place(site.call.site),
                effect="since torch 2.4 it emits a `FutureWarning` on every rank",
                help=f'Use `torch.amp.{name}("{_DEVICES[written]}", ...)`',
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
        raise CannotFix("torch is not at hand by its name")
    if any(arg.star for arg in call.args):
        raise CannotFix("what * passes is not known")
    plain = [arg for arg in call.args if arg.keyword is None]
    if name == "autocast" and plain:
        if len(plain) > 1:
            raise CannotFix("arguments by position")
        draft.replace(plain[0].value, f"enabled={draft.text(plain[0].value)}")
    at = draft.bounds(call.args[0])[0] if call.args else draft.bounds(call)[1] - 1
    draft.splice(at, at, f'"{device}"' + (", " if call.args else ""))
    if isinstance(call.func, cst.Name):
        imports.drop_if_stale(draft, call.func.value, (call.func,))
    draft.replace(call.func, f"torch.amp.{name}")
    return draft.fix("safe", f"Use `torch.amp.{name}`")
