"""Where the entry points stand that were not analysed in full."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.project.module import Module
from distlint.analyzer.symbolic.entry_points import Outcome
from distlint.source.finding import Place, Span
from distlint.source.incomplete import Incomplete, ordered


def incomplete(outcome: Outcome, module: Module, locators: Locators) -> Iterator[Incomplete]:
    """The entry points of a module that were not analysed in full, in the order of the file."""
    found = [
        Incomplete(root.label if root else "", _place(root, module, locators), ordered(reasons))
        for root, reasons in outcome.incomplete.items()
    ]
    yield from sorted(found, key=lambda each: (each.place, each.function))


def _place(root: ir.Function | None, module: Module, locators: Locators) -> Place:
    """The ``def`` of a function; of a module body, the line from which it runs."""
    locator = locators.of(module.key)
    if root is not None:
        return locator.header(root.site)
    own = [each for each in module.body if not isinstance(each, _BINDING) and not _is_text(each)]
    guards = [each for each in own if isinstance(each, ir.If) and _asks_for_main(each.test)]
    if not own:
        return Place(module.path, Span(1, 1, 1, 1))
    return locator.header((guards or own)[0].site)


_BINDING = (ir.Define, ir.DefineClass, ir.Import)


def _is_text(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Literal)


def _asks_for_main(test: ir.Expr) -> bool:
    return "__name__" in ir.tokens_of(test)
