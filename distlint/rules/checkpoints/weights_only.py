"""DST405: a checkpoint is loaded with leave to run what is in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.static.objects import objects_of
from distlint.fixers import calls, names
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.objects import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class WeightsOnly(SourceRule):
    """`torch.load` is told to run whatever the file holds.

    ## What it finds

    `torch.load(path, weights_only=False)`.

    ## Why it matters

    A checkpoint is a pickle, and unpickling runs code of whoever wrote the file. Since version 2.6
    `torch.load` refuses anything but tensors and plain containers, unless it is told otherwise.

    ## What to do

    `weights_only=True` for state dicts. Classes of your own that have to be in the file are allowed
    one by one with `torch.serialization.add_safe_globals`. Where the file is known to be yours, say
    so in a comment that allows this rule.

    ## Fix

    Unsafe: `weights_only=True` where the result goes straight into `load_state_dict`, and so is a
    state dict. A file that holds more than tensors and plain containers is refused from then on.

    ## When it is silent

    - `weights_only` is absent, true, or not known.
    - In `__setstate__`, which runs when a pickle is read anyway, and in tests, which read what they
      have written.
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
            title="Inside a pickle",
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
            title="The file runs code",
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
            title="In place of a state dict",
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
        objects = objects_of(module, catalogue)
        for site in objects.calls({"load"}):
            if objects.called(site) != "torch.load" or _is_unpickled(site):
                continue
            given = objects.argument(site, "weights_only")
            if objects.constant(given, site.point, default=True) is False:
                yield self.finding(
                    message="this runs whatever code the file holds",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="whoever can write the file can run code on every rank",
                    advice="pass weights_only=True, and allow classes of your own one by one",
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
        raise Doubt("what the file has to hold is not known")
    if not load.args or load.args[0].value is not call:
        raise Doubt("a part of the file is loaded")
    calls.set_keyword(draft, call, "weights_only", "True")
    return draft.fix("unsafe", "Pass weights_only=True")
