"""DST405: a checkpoint is loaded with leave to run what is in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import calls, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class WeightsOnly(SourceRule):
    """`torch.load` is allowed to run any code in the file.

    ```python
    state = torch.load("model.pt", map_location="cpu", weights_only=False)
    model.load_state_dict(state)
    ```

    ## Use instead

    ```python
    state = torch.load("model.pt", map_location="cpu", weights_only=True)
    model.load_state_dict(state)
    ```

    If the file has to contain classes of yours, allow them one by one with
    `torch.serialization.add_safe_globals`. If you trust the file, suppress this rule with a comment
    that says why.

    ## Why is this bad?

    A checkpoint is a pickle, and unpickling runs code chosen by whoever wrote the file. Since
    PyTorch 2.6, `torch.load` by default accepts only tensors and plain containers.

    ## What is reported

    `torch.load(path, weights_only=False)`.

    ## What is not reported

    - `weights_only` is missing, true, or unknown.
    - Calls in `__setstate__`, which runs when a pickle is read anyway, and in tests, which read
      what they have written.

    ## Fix safety

    Unsafe: `weights_only=True` if the result is passed directly to `load_state_dict` and thus is a
    state dict. A file that contains more than tensors and plain containers is then rejected.

    ## References

    - [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
    - [Serialization semantics](https://docs.pytorch.org/docs/stable/notes/serialization.html)
    """

    code = "DST405"
    name = "weights-only"
    severity = Severity.INFO
    preview = True
    words = ("torch.load(",)

    good = (
        Example(
            title="Tensors and plain containers",
            ranks=1,
            code="""\
import torch

torch.save({"step": 3, "weight": torch.ones(2)}, "state.pt")
state = torch.load("state.pt", weights_only=True)
""",
        ),
        Example(
            title="Part of a pickled object",
            ranks=1,
            code="""\
import io
import pickle
import torch


class Batch:
    def __init__(self, rows):
        self.rows = rows

    def __getstate__(self):
        out = io.BytesIO()
        torch.save(self.rows, out)
        return out.getvalue()

    def __setstate__(self, packed):
        self.rows = torch.load(io.BytesIO(packed), weights_only=False)


copy = pickle.loads(pickle.dumps(Batch(torch.ones(2))))
assert copy.rows.sum() == 2
""",
        ),
    )

    bad = (
        Example(
            title="A file that runs code",
            effect="fail",
            ranks=1,
            code="""\
import torch


class Surprise:
    def __reduce__(self):
        return (exec, ("raise SystemExit('code from the file')",))


torch.save({"state": Surprise()}, "state.pt")
state = torch.load("state.pt", weights_only=False)  # expect: DST405
""",
        ),
        Example(
            title="A file that should be a state dict",
            effect="fail",
            ranks=1,
            code="""\
import pickle
import torch


class Surprise:
    def __reduce__(self):
        return (exec, ("raise SystemExit('code from the file')",))


torch.save({"weight": Surprise()}, "state.pt")
model = torch.nn.Linear(2, 1)
try:
    model.load_state_dict(torch.load("state.pt", weights_only=False))  # expect: DST405
except pickle.UnpicklingError:
    print("refused")
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "weights_only" not in module.tokens or document.is_test:
            return
        objects = objects_across(module, catalogue)
        for site in objects.calls({"load"}):
            if objects.called(site) != "torch.load" or _is_unpickled(site):
                continue
            given = objects.argument(site, "weights_only")
            if objects.constant(given, site.point, default=True) is False:
                yield self.finding(
                    message="`weights_only=False` runs any code in the file",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="anyone who can write the file can run code on all ranks",
                    help="Pass `weights_only=True`, and allow classes with `add_safe_globals`",
                    fix=partial(_fix, site, Draft(locators.of(module.key), module, catalogue)),
                )


def _is_unpickled(site: CallSite) -> bool:
    """Is it a part of an object that a pickle makes: who trusts one trusts the other?"""
    function = site.point.scope.function
    return function is not None and function.name == "__setstate__"


def _fix(site: CallSite, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    load = draft.around(call, cst.Call)
    if load is None or (names.dotted(load.func) or "").rpartition(".")[2] != "load_state_dict":
        raise CannotFix("it is not known what the file contains")
    if not load.args or load.args[0].value is not call:
        raise CannotFix("a part of the file is loaded")
    calls.set_keyword(draft, call, "weights_only", "True")
    return draft.fix("unsafe", "Pass `weights_only=True`")
