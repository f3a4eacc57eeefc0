"""All that a rule of your own needs: ``from distlint.rules.api import ...``.

A rule derives from ``ScriptRule`` and looks at one file through a ``Script``: its calls by the
names that they really have, whatever the imports look like. What this module exports changes only
with a major version; everything else below ``distlint`` may change with any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.ir.positions import Locator, Locators
from distlint.analyzer.project.project import Module
from distlint.analyzer.static.guards import guards_of
from distlint.analyzer.static.objects import CallSite, Objects, objects_of
from distlint.analyzer.symbolic.explanation import Witness
from distlint.catalogue.catalogue import Catalogue, Collective
from distlint.fixers import calls
from distlint.fixers.draft import Applicability, Doubt, Draft
from distlint.fixers.imports import imported
from distlint.rules.base import Example, SourceRule, WitnessRule
from distlint.source.document import Document
from distlint.source.finding import Finding, Fix, Place, Related, Severity

__all__ = [
    "Argument",
    "Call",
    "Doubt",
    "Example",
    "Finding",
    "Fix",
    "Place",
    "Related",
    "Script",
    "ScriptRule",
    "Severity",
    "Witness",
    "WitnessRule",
]

Compose = Callable[[], Fix | None]
"""Makes a fix when it is wanted; None, or raising ``Doubt``, means that there is none."""


class ScriptRule(SourceRule):
    """A rule that looks at one file. The docstring is its page, the first line the summary.

    A subclass has a ``code`` (capital letters and digits: ``LAB001``), a ``name`` (lower-case words
    with hyphens), examples that are ``good`` and ``bad``, and ``findings``. It may have a
    ``severity``, ``preview = True`` (off unless asked for), and ``words``: it is asked only about
    files that hold one of them, which saves reading the others.
    """

    def findings(self, script: Script) -> Iterable[Finding]:
        """What the rule has to say about a file."""
        raise NotImplementedError

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        return self.findings(Script(document, module, catalogue, locators))

    def report(
        self,
        call: Call,
        message: str,
        *,
        effect: str,
        advice: str,
        severity: Severity | None = None,
        related: tuple[Related, ...] = (),
        fix: Compose | None = None,
    ) -> Finding:
        """A finding at a call.

        Args:
            call: where it is.
            message: what is wrong, in one line.
            effect: what comes of it when the job runs.
            advice: what the author should do.
            severity: that of the rule, or a warning, where not given.
            related: other places that belong to it; suppression comments there count as well.
            fix: what composes the repair, such as ``call.with_keyword(...)``.
        """
        chosen = severity or self.severity or Severity.WARNING
        return self.finding(
            message, chosen, call.place, effect=effect, advice=advice, related=related, fix=fix
        )


class Script:
    """A file that is checked."""

    def __init__(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> None:
        self.path: Path = document.path
        self.text: str = document.text
        self._module = module
        self._catalogue = catalogue
        self._locators = locators

    @property
    def calls(self) -> Iterator[Call]:
        """Every call in the file."""
        return (Call(self, site) for site in self._objects.calls(self._objects.called_names))

    def calls_to(self, *names: str) -> Iterator[Call]:
        """The calls of functions, methods and classes by their dotted names.

        ``script.calls_to("torch.distributed.barrier")`` finds ``dist.barrier()`` and
        ``from torch.distributed import barrier as wait; wait()``. A method of an object is named
        by its class: ``"torch.utils.data.DataLoader.__iter__"``.
        """
        return (Call(self, site) for site in self._objects.calls_to(*names))

    @property
    def collectives(self) -> Iterator[Call]:
        """The calls that the catalogue, your own entries included, knows as collectives."""
        return (call for call in self.calls if call.collective is not None)

    def imports(self, package: str) -> bool:
        """Does the file import a package, or something in it?"""
        return package in self._module.imported_roots

    @cached_property
    def _objects(self) -> Objects:
        return objects_of(self._module, self._catalogue)

    def _draft(self) -> Draft:
        return Draft(self._locators.of(self._module.key), self._module, self._catalogue)


@dataclass(frozen=True, slots=True)
class Argument:
    """What a call passes for a parameter.

    ``absent``: certainly nothing. ``value``: the constant, also through variables; Ellipsis if it
    is none or cannot be told, as behind ``**options``.
    """

    absent: bool
    value: object


@dataclass(frozen=True, slots=True)
class Call:
    """A call in a script."""

    script: Script
    _site: CallSite

    @property
    def name(self) -> str:
        """The dotted name of what is called, ``""`` if it cannot be told."""
        return self.script._objects.called(self._site)

    @property
    def last_name(self) -> str:
        """The last part of what is called, as written: ``step`` of ``self.optimizer.step()``."""
        return self._site.name

    @property
    def text(self) -> str:
        """The source of the call, on one line."""
        return self._locator.text(self._site.call.site)

    @property
    def place(self) -> Place:
        return self._locator.place(self._site.call.site)

    @property
    def function(self) -> str | None:
        """The name of the function that the call stands in; None in the body of the module."""
        function = self._site.point.scope.function
        return function.name if function is not None else None

    @property
    def in_loop(self) -> bool:
        """Is it in the body of a loop of its function?"""
        return any(
            isinstance(here.owner, (ir.For, ir.While)) and here.block is here.owner.body
            for here in self._site.point.around
        )

    @property
    def on_some_ranks(self) -> bool:
        """May a test, an early return, a decorator or a context keep some ranks from it?"""
        guards = guards_of(self.script._module, self.script._catalogue)
        return guards.may_be_some_ranks(self._site.point)

    @property
    def collective(self) -> str | None:
        """The kind of collective (``all_reduce``, ``barrier``, ...); None if it is none."""
        catalogue = self.script._catalogue
        owner, _, method = self.name.rpartition(".")
        entry = catalogue.lookup(self.name) or catalogue.member(owner, method)
        known: Collective | None = entry.collective if entry is not None else None
        return known.kind if known is not None else None

    def argument(self, name: str, position: int | None = None) -> Argument:
        """What is passed for a parameter, by its name and, counted from 0, its position."""
        objects = self.script._objects
        passed = objects.argument(self._site, name, position)
        return Argument(passed.absent, objects.constant(passed, self._site.point))

    def with_keyword(
        self,
        name: str,
        value: str,
        *,
        message: str,
        applicability: Applicability,
        imports: tuple[str, ...] = (),
    ) -> Compose:
        """A fix that passes ``name=value``, in place of what is passed under that name.

        Args:
            name: the keyword.
            value: the source of an expression.
            message: what the fix does, in the imperative.
            applicability: "safe", "unsafe" or "displayonly".
            imports: dotted names (``"datetime.timedelta"``) whose last part stands in the value;
                what is not imported yet is, and the value is written as the file names it.
        """

        def compose() -> Fix:
            draft = self.script._draft()
            node = self._node(draft)
            calls.set_keyword(draft, node, name, _named(draft, node, value, imports))
            return draft.fix(applicability, message)

        return compose

    def without_keyword(self, name: str, *, message: str, applicability: Applicability) -> Compose:
        """A fix that leaves a keyword argument out."""

        def compose() -> Fix:
            draft = self.script._draft()
            calls.remove_keyword(draft, self._node(draft), name)
            return draft.fix(applicability, message)

        return compose

    def replaced(
        self,
        value: str,
        *,
        message: str,
        applicability: Applicability,
        imports: tuple[str, ...] = (),
    ) -> Compose:
        """A fix that puts an expression in the place of the whole call."""

        def compose() -> Fix:
            draft = self.script._draft()
            node = self._node(draft)
            draft.replace(node, _named(draft, node, value, imports))
            return draft.fix(applicability, message)

        return compose

    @property
    def _locator(self) -> Locator:
        return self.script._locators.of(self.script._module.key)

    def _node(self, draft: Draft) -> cst.Call:
        return draft.node(self._site.call.site, cst.Call)


def _named(draft: Draft, node: cst.Call, value: str, dotted: tuple[str, ...]) -> str:
    """The value with the names of what it needs as the file has them."""
    for each in dotted:
        module, _, name = each.rpartition(".")
        local = imported(draft, module, name, node)
        value = re.sub(rf"(?<![\w.]){re.escape(name)}\b", local, value)
    return value
