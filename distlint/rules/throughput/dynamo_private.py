"""DST702: the private names of the compiler."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers import statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_PUBLIC = {
    "torch._dynamo.disable": "torch.compiler.disable",
    "torch._dynamo.reset": "torch.compiler.reset",
    "torch._dynamo.allow_in_graph": "torch.compiler.allow_in_graph",
}
_SUPPRESS = "torch._dynamo.config.suppress_errors"


class DynamoPrivate(SourceRule):
    """`torch.compile` is configured through private names, or its errors are suppressed.

    ```python
    torch._dynamo.config.suppress_errors = True  # bad: hides what fails to compile
    model = torch.compile(net)
    ```

    ## Use instead

    ```python
    @torch.compiler.disable
    def log_statistics(x):
        statistics.append(x.mean().item())


    model = torch.compile(net)
    ```

    Find what fails with `TORCH_LOGS=graph_breaks`, and disable compilation for that function.

    ## Why is this bad?

    With `suppress_errors`, a function that fails to compile runs uncompiled. The only sign is a
    warning in the log, among those of all ranks: the expected speedup is missing, and each rank
    falls back independently of the others. It does not remedy graph breaks. Private names may
    change in any version.

    ## What is reported

    - `torch._dynamo.config.suppress_errors = True` (warning).
    - `torch._dynamo.disable`, `reset` and `allow_in_graph` (info), which are public in
      `torch.compiler`.

    ## What is not reported

    - `suppress_errors` inside a condition, or with a value that is not the constant `True`.
    - Functions that restore the previous value of `suppress_errors`.

    ## Fix safety

    Safe: the private name is replaced by the public one.

    Unsafe: `suppress_errors = True` is removed; errors are then raised.

    ## References

    - [PyTorch: torch.compile](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)
    """

    code = "DST702"
    name = "dynamo-private"
    words = ("_dynamo",)

    good = (
        Example(
            title="The public names",
            ranks=1,
            code="""\
import torch


@torch.compiler.disable
def report(x):
    print(x)


torch.compiler.reset()
report(torch.ones(1))
""",
        ),
        Example(
            title="Restored afterwards",
            ranks=1,
            code="""\
import torch
import torch._dynamo


def attempt(function, x):
    before = torch._dynamo.config.suppress_errors
    torch._dynamo.config.suppress_errors = True
    try:
        return function(x)
    finally:
        torch._dynamo.config.suppress_errors = before


attempt(torch.neg, torch.ones(1))
assert not torch._dynamo.config.suppress_errors
""",
        ),
    )

    bad = (
        Example(
            title="Errors are suppressed",
            effect="static",
            why_static="it needs a fresh interpreter: tests/executed/test_plain_python.py",
            ranks=1,
            code="""\
import torch

torch._dynamo.config.suppress_errors = True  # expect: DST702


def broken(graph, inputs):
    raise ValueError("cannot compile")


@torch.compile(backend=broken)
def double(x):
    return x * 2


compiled = True
try:
    double(torch.ones(1))
    compiled = False
except Exception as error:
    print(error)
assert compiled, "nothing was compiled, and no error came up"
""",
        ),
        Example(
            title="Private names",
            effect="static",
            why_static="it works, until a version of torch changes it",
            code="""\
import torch
import torch._dynamo


@torch._dynamo.disable  # expect: DST702
def report(x):
    print(x)


torch._dynamo.reset()  # expect: DST702
report(torch.ones(1))
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "_dynamo" not in module.words:
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for node, point in _attributes(objects):
            private = objects.names.dotted(node, point.scope) or ""
            if private in _PUBLIC and isinstance(node, ir.Attribute):
                yield self.finding(
                    message=f"`{private}` is a private name",
                    severity=Severity.INFO,
                    place=locator.place(node.site),
                    effect="it may change in any version of torch",
                    help=f"Use `{_PUBLIC[private]}`",
                    fix=partial(_rename, node, _PUBLIC[private], Draft(locator, module, catalogue)),
                )
        for point in objects.points:
            if _suppresses(objects, point) and not any(True for _ in tests_around(point)):
                if _is_put_back(objects, point):
                    continue
                yield self.finding(
                    message="errors of `torch.compile` are suppressed",
                    severity=Severity.WARNING,
                    place=locator.place(point.statement.site),
                    effect="what fails to compile runs uncompiled, on some ranks or on all",
                    help="Find what fails with `TORCH_LOGS=graph_breaks`, and do not compile it",
                    fix=partial(_remove, point, Draft(locator, module, catalogue)),
                )


def _attributes(objects: Objects) -> Iterator[tuple[ir.Expr, Point]]:
    """The attributes that statements and decorators name."""
    for point in objects.points:
        statement = point.statement
        nodes: Iterable[object] = nodes_of(statement)
        if isinstance(statement, ir.Define):
            nodes = [part for d in statement.function.decorators for part in expressions_in(d)]
        for node in nodes:
            if isinstance(node, ir.Attribute):
                yield node, point


def _suppresses(objects: Objects, point: Point) -> bool:
    statement = point.statement
    return (
        _sets(objects, point)
        and isinstance(statement, ir.Assign)
        and isinstance(statement.value, ir.Literal)
        and statement.value.value is True
    )


def _is_put_back(objects: Objects, point: Point) -> bool:
    """Does the same function give it the value of a variable behind that: ``... = before``?"""
    return point.scope.function is not None and any(
        isinstance(other.statement, ir.Assign)
        and isinstance(other.statement.value, ir.Name)
        and other.statement.site > point.statement.site
        and _sets(objects, other)
        for other in objects.points_in(point.scope)
    )


def _sets(objects: Objects, point: Point) -> bool:
    return isinstance(point.statement, ir.Assign) and any(
        isinstance(target, ir.Attribute)
        and target.attr == "suppress_errors"
        and objects.names.dotted(target, point.scope) == _SUPPRESS
        for target in point.statement.targets
    )


def _rename(node: ir.Attribute, public: str, draft: Draft) -> Fix:
    written = draft.node(node.site, cst.Attribute)
    if draft.text(written).partition(".")[0] != "torch":
        raise CannotFix("torch goes by another name")
    draft.replace(written, public)
    return draft.fix("safe", f"Use `{public}`")


def _remove(point: Point, draft: Draft) -> Fix:
    statement = draft.node(point.statement.site, cst.Assign)
    statements.remove(draft, statement)
    return draft.fix("unsafe", "Stop suppressing errors")
