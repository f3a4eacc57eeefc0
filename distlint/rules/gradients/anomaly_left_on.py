"""DST610: the search for anomalies is left on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.fixers import statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import NO_GRAD
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_SET = ("torch.autograd.set_detect_anomaly", "torch.autograd.anomaly_mode.set_detect_anomaly")
_REGION = ("torch.autograd.detect_anomaly", "torch.autograd.anomaly_mode.detect_anomaly")
_TRAINERS = ("lightning.Trainer", "pytorch_lightning.Trainer", "lightning.pytorch.Trainer")


@dataclass(frozen=True, slots=True)
class _Told:
    message: str
    effect: str
    help: str


_ON = _Told(
    "anomaly detection is enabled for every backward pass",
    "training is several times slower",
    "Remove it, or make it opt-in",
)
_IN_FORWARD = _Told(
    "anomaly detection covers the forward pass only",
    "the forward pass is slower, and no NaN is detected",
    "Remove it, or cover `backward()` as well and make it opt-in",
)


class AnomalyLeftOn(SourceRule):
    """Autograd anomaly detection is enabled for every training step.

    ```python
    torch.autograd.set_detect_anomaly(True)  # bad: left on after debugging
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
    ```

    ## Use instead

    ```python
    torch.autograd.set_detect_anomaly(args.detect_anomaly)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
    ```

    ## Why is this bad?

    Autograd then checks the result of every backward operation for NaN, which waits for the GPU,
    and keeps the traceback of every forward operation. Training is several times slower. It also
    raises an error at the first NaN, although NaN gradients are expected in the first steps with a
    `GradScaler`.

    Around the forward pass only, it slows down the forward pass and detects nothing, because the
    backward pass runs outside of it.

    ## What is reported

    `torch.autograd.set_detect_anomaly(True)`, `with torch.autograd.detect_anomaly():` and
    Lightning's `Trainer(detect_anomaly=True)`, if no condition guards them.

    ## What is not reported

    - Calls inside a `try` or inside a condition other than `__name__ == "__main__"`, and values
      that are not the constant `True`.
    - Calls of `torch.autograd` in files that only evaluate: they use `no_grad` or `inference_mode`
      and have no backward pass.
    - The file is a test, or the function is for debugging, judging by its name.

    ## Fix safety

    Unsafe: the call is removed. Not offered for `with` statements and arguments of `Trainer`.

    ## References

    - [PyTorch: Anomaly detection](https://docs.pytorch.org/docs/stable/autograd.html#anomaly-detection)
    """

    code = "DST610"
    name = "anomaly-left-on"
    severity = Severity.WARNING
    words = ("detect_anomaly",)

    good = (
        Example(
            title="Opt-in for debugging",
            ranks=1,
            code="""\
import os

import torch

debug = os.environ.get("DEBUG") == "1"
torch.autograd.set_detect_anomaly(debug)
if debug:
    torch.autograd.set_detect_anomaly(True)
torch.ones(1, requires_grad=True).sum().backward()
""",
        ),
    )

    bad = (
        Example(
            title="At the top of the script",
            effect="fail",
            ranks=1,
            code="""\
import torch

torch.autograd.set_detect_anomaly(True)  # expect: DST610
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120)
for _ in range(3):  # the scaler finds its scale by overflowing
    optimizer.zero_grad()
    loss = (model(torch.ones(1, 2)) * 1e9).sqrt().sum()
    scaler.scale(loss * 0).backward()
    scaler.step(optimizer)
    scaler.update()
assert not torch.is_anomaly_enabled(), "each operation of each backward is checked"
""",
        ),
        Example(
            title="Around the forward pass only",
            effect="fail",
            ranks=1,
            code="""\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        with torch.autograd.set_detect_anomaly(True):  # expect: DST610
            return x.sqrt()


x = torch.full((1,), -1.0, requires_grad=True)
try:
    Net()(x).sum().backward()
    found = False
except RuntimeError:
    found = True
assert found, "the gradient is NaN, and nobody has looked"
""",
        ),
        Example(
            title="Around the training loop",
            effect="fail",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
with torch.autograd.detect_anomaly():  # expect: DST610
    for _ in range(2):
        model(torch.ones(1, 2)).sum().backward()
        assert not torch.is_anomaly_enabled(), "each operation of each backward is checked"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if module.tokens.isdisjoint(("set_detect_anomaly", "detect_anomaly")) and (
            module.words.isdisjoint(("set_detect_anomaly", "detect_anomaly"))
        ):
            return
        if document.is_test:
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        evaluates = "backward" not in module.tokens and not NO_GRAD.isdisjoint(module.tokens)
        for site in _switches(objects):
            if _is_for_debugging(site) or (evaluates and site.name != "Trainer"):
                continue
            told = _IN_FORWARD if _is_in_forward(site) else _ON
            yield self.finding(
                message=told.message,
                severity=Severity.WARNING,
                place=locator.place(site.call.site),
                effect=told.effect,
                help=told.help,
                fix=partial(_fix, site, Draft(locator, module, catalogue)),
            )


def _switches(objects: Objects) -> Iterator[CallSite]:
    for site in objects.calls_to(*_SET):
        if objects.constant(objects.argument(site, "mode", 0), site.point) is True:
            yield site
    for site in objects.calls_to(*_REGION):
        if isinstance(site.point.statement, ir.With):
            yield site
    for site in objects.calls({"Trainer"}):
        if objects.called(site) in _TRAINERS:
            if objects.constant(objects.argument(site, "detect_anomaly"), site.point) is True:
                yield site


def _is_in_forward(site: CallSite) -> bool:
    """Is it a region of a module's forward pass, which the backward pass is no part of?"""
    function = site.point.scope.function
    return (
        function is not None
        and function.name == "forward"
        and isinstance(site.point.statement, ir.With)
        and "backward" not in function.tokens
    )


def _is_for_debugging(site: CallSite) -> bool:
    function = site.point.scope.function
    if function is not None and any(
        word in function.name.lower() for word in ("test", "debug", "anomal", "nan", "setup_env")
    ):
        return True
    return any(
        isinstance(here.owner, ir.Try)
        or (isinstance(here.owner, ir.If) and "__name__" not in ir.tokens_of(here.owner.test))
        for here in site.point.around
    )


def _fix(site: CallSite, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    statement = statements.statement_of(draft, call)
    if not isinstance(statement, cst.Expr) or statement.value is not call:
        raise CannotFix("more than the call")
    statements.remove(draft, statement)
    return draft.fix("unsafe", "Remove the call that enables anomaly detection")
