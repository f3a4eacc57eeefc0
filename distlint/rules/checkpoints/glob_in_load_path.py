"""DST412: a pattern where a path has to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects import objects_of
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.objects import CallSite, Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_LOADS = frozenset({"torch.load", "safetensors.torch.load_file"})


class GlobInLoadPath(SourceRule):
    """A checkpoint is loaded by a path with a `*` in it.

    ## What it finds

    `torch.load("checkpoint_*/model.pt")`: a `*` in what is written down of the path.

    ## Why it matters

    Nothing expands the pattern; a shell does that, `torch.load` does not. It raises
    `FileNotFoundError` when the run resumes.

    ## What to do

    `sorted(glob.glob(pattern))`, and choose one of them. The newest checkpoint of DeepSpeed is
    named in the file `latest` beside it.

    ## Fix

    None: which of the files is meant is for you to say.

    ## When it is silent

    - The pattern goes through `glob` first.
    """

    code = "DST412"
    name = "glob-in-load-path"
    severity = Severity.ERROR
    words = ("torch.load(",)

    good = (
        Example(
            title="Through glob",
            code="""\
import glob
import torch

torch.save({"step": 1}, "checkpoint_1.pt")
newest = sorted(glob.glob("checkpoint_*.pt"))[-1]
state = torch.load(newest, weights_only=True)
other = torch.load(sorted(glob.glob("checkpoint_*.pt"))[0], weights_only=True)
""",
            ranks=1,
        ),
    )

    bad = (
        Example(
            title="A pattern of file names",
            effect="fail",
            code="""\
import torch

torch.save({"step": 1}, "checkpoint_1.pt")
state = torch.load("checkpoint_*.pt", weights_only=True)  # expect: DST412
""",
            ranks=1,
        ),
        Example(
            title="Joined to a folder",
            effect="fail",
            code="""\
import os
import torch

folder = "."
path = os.path.join(folder, "checkpoint_*", "state.pt")
state = torch.load(path, map_location="cpu", weights_only=True)  # expect: DST412
""",
            ranks=1,
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "*" not in document.text or not {"load", "load_file"} & module.tokens:
            return
        objects = objects_of(module, catalogue)
        for site in objects.calls({"load", "load_file"}):
            if objects.called(site) in _LOADS and site.call.args and _is_pattern(objects, site):
                yield self.finding(
                    message="nothing expands the `*` in this path",
                    severity=Severity.ERROR,
                    place=locators.of(module.key).place(site.call.site),
                    effect="it raises FileNotFoundError",
                    advice="choose a file from sorted(glob.glob(pattern))",
                )


def _is_pattern(objects: Objects, site: CallSite) -> bool:
    origins = objects.origins(site.call.args[0].value, site.point)
    return bool(origins) and all(
        not origin.attributes and origin.item is None and _has_star(origin.node)
        for origin in origins
    )


def _has_star(node: object) -> bool:
    """Is it a path that is written down, alone or joined from parts, with a star in it?"""
    parts = list(expressions_in(node))
    if any(isinstance(p, ir.Call) and not {"join", "Path"} & ir.tokens_of(p.func) for p in parts):
        return False
    return any(
        isinstance(part, ir.Literal) and isinstance(part.value, str) and "*" in part.value
        for part in parts
    )
