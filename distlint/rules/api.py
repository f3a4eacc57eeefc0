"""Everything for writing rules: ``from distlint.rules.api import ...``.

A rule derives from ``ScriptRule`` and sees one file as a ``Script``, with its calls by the names
that they resolve to, whatever the imports look like. What this module exports changes only with a
major version; everything else in ``distlint`` may change with any version.
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
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.symbolic.witness import Witness
from distlint.catalogue.catalogue import Catalogue, Collective
from distlint.fixers import calls
from distlint.fixers.draft import Applicability, CannotFix, Draft
from distlint.fixers.imports import imported
from distlint.rules.base import Example, SourceRule, WitnessRule
from distlint.source.document import Document
from distlint.source.finding import Finding, Fix, Place, Related, Severity

__all__ = [
    "Argument",
    "Call",
    "CannotFix",
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
"""Creates a fix on demand; returns None or raises ``CannotFix`` if there is none."""


class ScriptRule(SourceRule):
    """A rule that checks one file. Its docstring is the page, the first line the summary.

    A subclass has a ``code`` (capital letters and digits: ``LAB001``), a ``name`` (lower-case words
    with hyphens), ``good`` and ``bad`` examples, and ``findings``. It may have a ``severity``,
    ``preview = True`` (off by default), and ``words``: it then runs only on files that contain one
    of them, which saves analysing the others.
    """

    def findings(self, script: Script) -> Iterable[Finding]:
        """The findings of the rule in a file."""
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
        help: str,
        severity: Severity | None = None,
        related: tuple[Related, ...] = (),
        fix: Compose | None = None,
    ) -> Finding:
        """A finding at a call.

        Args:
            call: where it is.
            message: what is wrong, in one line.
            effect: what happens when the job runs, as a clause.
            help: what to do about it, as an imperative.
            severity: defaults to the severity of the rule, or to a warning.
            related: other places to show; suppression comments there apply as well.
            fix: creates the fix, such as ``call.with_keyword(...)``.
        """
        chosen = severity or self.severity or Severity.WARNING
        return self.finding(
            message, chosen, call.place, effect=effect, help=help, related=related, fix=fix
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
        """The calls that are collectives according to the catalogue, including your own entries."""
        return (call for call in self.calls if call.collective is not None)

    def imports(self, package: str) -> bool:
        """Does the file import a package, or something in it?"""
        return package in self._module.imported_roots

    @cached_property
    def _objects(self) -> Objects:
        return objects_across(self._module, self._catalogue)

    def _draft(self) -> Draft:
        return Draft(self._locators.of(self._module.key), self._module, self._catalogue)


@dataclass(frozen=True, slots=True)
class Argument:
    """What a call passes for a parameter.

    ``absent``: nothing is passed, for certain. ``value``: the constant, also through variables;
    Ellipsis if it is not a constant or not known, as with ``**options``.
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
        """The dotted name of what is called, ``""`` if it is not known."""
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
        """The name of the function that contains the call; None at the top level of the module."""
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
        """May a condition, early return, decorator or context manager keep some ranks from it?"""
        guards = guards_of(self.script._module, self.script._catalogue)
        return guards.may_be_some_ranks(self._site.point, call=self._site.call)

    @property
    def collective(self) -> str | None:
        """The kind of collective (``all_reduce``, ``barrier``, ...); None for other calls."""
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
        """A fix that passes ``name=value``, replacing what is passed for that name.

        Args:
            name: the keyword.
            value: the source of an expression.
            message: what the fix does, in the imperative.
            applicability: "safe", "unsafe" or "displayonly".
            imports: dotted names (``"datetime.timedelta"``) whose last part is used in the value;
                missing imports are added, and the value uses the names of the file.
        """

        def compose() -> Fix:
            draft = self.script._draft()
            node = self._node(draft)
            calls.set_keyword(draft, node, name, _named(draft, node, value, imports))
            return draft.fix(applicability, message)

        return compose

    def without_keyword(self, name: str, *, message: str, applicability: Applicability) -> Compose:
        """A fix that removes a keyword argument."""

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
        """A fix that replaces the whole call with an expression."""

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
