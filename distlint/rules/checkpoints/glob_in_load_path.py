"""DST412: a pattern where a path has to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_LOADS = frozenset({"torch.load", "safetensors.torch.load_file"})


class GlobInLoadPath(SourceRule):
    """A checkpoint is loaded from a path with a `*` in it.

    ```python
    path = "checkpoints/step_*/model.pt"
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state)
    ```

    ## Use instead

    ```python
    paths = glob.glob("checkpoints/step_*/model.pt")
    state = torch.load(max(paths, key=os.path.getmtime), map_location="cpu")
    model.load_state_dict(state)
    ```

    `sorted(paths)[-1]` is the last one by name. The newest checkpoint of DeepSpeed is named in the
    file `latest` next to it.

    ## Why is this bad?

    A shell expands the pattern; `torch.load` does not. It raises `FileNotFoundError` when the run
    resumes.

    ## What is reported

    `torch.load("checkpoint_*/model.pt")` or safetensors' `load_file`: a `*` in the constant part of
    the path.

    ## What is not reported

    - The pattern is passed to `glob` first.

    ## Fix safety

    None: only you know which of the files is meant.

    ## References

    - [glob](https://docs.python.org/3/library/glob.html)
    - [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
    """

    code = "DST412"
    name = "glob-in-load-path"
    severity = Severity.ERROR
    words = ("torch.load(",)

    good = (
        Example(
            title="Expanded with glob",
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
            title="A pattern as the path",
            effect="fail",
            code="""\
import torch

torch.save({"step": 1}, "checkpoint_1.pt")
state = torch.load("checkpoint_*.pt", weights_only=True)  # expect: DST412
""",
            ranks=1,
        ),
        Example(
            title="A pattern joined to a directory",
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
        objects = objects_across(module, catalogue)
        for site in objects.calls({"load", "load_file"}):
            if objects.called(site) in _LOADS and site.call.args and _is_pattern(objects, site):
                yield self.finding(
                    message="`*` in this path is not expanded",
                    severity=Severity.ERROR,
                    place=locators.of(module.key).place(site.call.site),
                    effect="loading fails with `FileNotFoundError`",
                    help="Choose a file from `sorted(glob.glob(pattern))`",
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
