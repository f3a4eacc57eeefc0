"""The names under which a function may come to others, by where they lead.

A name is looked up as Python does: in the function, in those around it, in the module. What leads
to a package outside the project is no function in it, whatever it is called: ``torch.save`` says
nothing about a ``save`` of the project.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.project.module import Imported, Module

_BY_STRING = frozenset("getattr globals locals vars eval attrgetter methodcaller".split())
"""Functions with which code comes to others by a string."""


@dataclass(frozen=True, slots=True)
class Mentions:
    """The names in a function: not its variables, nor keywords."""

    names: frozenset[str]
    """Those that stand alone."""
    members: frozenset[str]
    """Attributes, and strings where code comes to others by a string."""
    outside: frozenset[tuple[str, str]]
    """Packages that are not part of the project, each with a name that leads into it."""

    @property
    def all(self) -> frozenset[str]:
        return self.names | self.members | {name for _, name in self.outside}

    def within(self, packages: frozenset[str]) -> frozenset[str]:
        """All that may be of one of these packages, or of the project."""
        found = (name for package, name in self.outside if package in packages)
        return self.names.union(self.members, found)


PackageOf = Callable[[str], str | None]


def mentions_of(function: ir.Function, package_of: PackageOf) -> Mentions:
    """What a function mentions; ``package_of`` gives the package outside that a name leads to."""
    by_string = not function.tokens.isdisjoint(_BY_STRING)
    names: set[str] = set()
    members: set[str] = set()
    outside: set[tuple[str, str]] = set()
    defined: set[str] = set()
    stack: list[Any] = [*function.decorators, *function.body]
    stack.extend(param.default for param in function.params if param.default is not None)
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is ir.Name or kind is ir.Attribute:
            root, attributes = _chain(item)
            package = package_of(root.id) if type(root) is ir.Name else None
            if package is not None:
                outside.update((package, name) for name in (root.id, *attributes))
                continue
            members.update(attributes)
            if type(root) is ir.Name:
                names.add(root.id)
            else:
                stack.append(root)
        elif kind is ir.Literal:
            if by_string and type(item.value) is str:
                members.add(item.value)
        else:
            defined.update(_defined(item))
            stack.extend(ir.children(item))
    return Mentions(
        frozenset(names - (function.locals - defined)), frozenset(members), frozenset(outside)
    )


def _chain(node: Any) -> tuple[Any, list[str]]:
    """What a chain of attributes begins with, and the attributes: of ``", ".join``, none."""
    attributes: list[str] = []
    while type(node) is ir.Attribute:
        attributes.append(node.attr)
        node = node.value
    if type(node) is ir.Literal and attributes == ["join"]:
        attributes.clear()
    return node, attributes


def _defined(node: Any) -> Iterator[str]:
    """The names under which a statement makes functions and classes known."""
    if type(node) is ir.Define:
        yield node.function.name
    elif type(node) is ir.DefineClass:
        yield node.cls.name
    elif type(node) is ir.Import:
        yield from (name for name, _, _ in node.bindings)


class Outside:
    """Which names of a module lead to packages outside the project."""

    def __init__(self, module: Module, is_inside: Callable[[str], bool]) -> None:
        self._module = module
        self._is_inside = is_inside
        self._globals: dict[str, str | None] = {}

    def seen_from(self, functions: Iterable[ir.Function]) -> PackageOf:
        """For the names in a function; ``functions`` are itself and those around it."""
        scopes = [(each, _imports(each)) for each in functions]

        def package_of(name: str) -> str | None:
            for function, imports in scopes:
                if name in function.locals:
                    is_param = any(param.name == name for param in function.params)
                    return None if is_param else self._package(imports.get(name, ()))
            if name not in self._globals:
                found = self._module.definitions.get(name, ())
                dotted = [d.node.dotted if isinstance(d.node, Imported) else "" for d in found]
                self._globals[name] = self._package(dotted)
            return self._globals[name]

        return package_of

    def _package(self, dotted: Iterable[str]) -> str | None:
        """The package of what a name may stand for; None unless it is one, outside the project."""
        packages = {
            None if not each or self._is_inside(each) else each.partition(".")[0] for each in dotted
        }
        return packages.pop() if len(packages) == 1 else None


def _imports(function: ir.Function) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for statement in ir.statements_of(function.body):
        if isinstance(statement, ir.Import):
            for name, dotted, _ in statement.bindings:
                found.setdefault(name, []).append(dotted)
    return found
