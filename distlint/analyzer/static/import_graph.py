"""Which modules of the project others lead to by their imports, and what they name."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import chain, product
from pathlib import Path
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.project.module import Imported, Module
from distlint.analyzer.project.project import Project

MADE_DEPTH = 2
"""How often an object may be made of others, each in a file of its own."""


class ImportGraph:
    """Follows imports from module to module, as far as files are found."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._imported: dict[str, list[Module]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._within: dict[str, frozenset[str]] = {}
        self._words_within: dict[frozenset[str], frozenset[str]] = {}
        self._aliases: dict[str, dict[str, str]] = {}

    def forget(self, keys: frozenset[str]) -> None:
        """Let go of modules that are no longer at hand."""
        tables: tuple[dict[str, Any], ...] = (
            self._imported,
            self._words,
            self._within,
            self._aliases,
        )
        for key, table in product(keys, tables):
            table.pop(key, None)
        self._words_within.clear()

    def imported(self, module: Module) -> list[Module]:
        """The project modules that a module imports directly."""
        known = self._imported.get(module.key)
        if known is not None:
            return known
        found: dict[str, Module] = {}
        packages: dict[str, Path] = {}
        for statement in module.import_statements:
            for name, dotted, attr in statement.bindings:
                imported = Imported(dotted, attr)
                for other in self.resolve(module, imported):
                    found[other.key] = other
                package = self._package(module, imported)
                if package is not None:
                    packages[name] = package
        for other in self._through(module, packages):
            found[other.key] = other
        for other in self.bases_of(module):
            found[other.key] = other
        self._imported[module.key] = list(found.values())
        return self._imported[module.key]

    def _package(self, module: Module, imported: Imported) -> Path | None:
        """The ``__init__`` of a package that an import binds as a whole, if it does."""
        path = self.project.find(imported.dotted, module.path)
        if path is not None and imported.attr is not None:
            path = self.project.submodule(path, imported.attr)
        return path if path is not None and path.name == "__init__.py" else None

    def _through(self, module: Module, packages: dict[str, Path]) -> Iterator[Module]:
        """The modules that a module reaches as attributes of packages: ``lib.loops.fit``."""
        for path in sorted(_paths_from(module, packages.keys())) if packages else ():
            package: Path | None = packages[path[0]]
            for name in path[1:]:
                assert package is not None
                below = self.project.submodule(package, name)
                reached = self.reexported(package, name) if below is None else [below]
                for each in reached:
                    found = self.project.module(each) if isinstance(each, Path) else each
                    if found is not None:
                        yield found
                package = below
                if package is None or package.name != "__init__.py":
                    break

    def bases_of(self, module: Module) -> Iterator[Module]:
        """The modules of the classes that those of a module derive from, whatever is in them.

        A method that communicates may be called by a base class that knows nothing of it.
        """
        keys = {base.module for cls in module.classes for base in module.lineage(cls)}
        for key in sorted(keys - {module.key}):
            found = self.project.by_key(key)
            if found is not None:
                yield found

    def within(self, key: str) -> frozenset[str]:
        """The keys of a module and of the project modules that it imports, near or far."""
        found = self._within.get(key)
        if found is None:
            keys = {key}
            queue = [key]
            while queue:
                module = self.project.by_key(queue.pop())
                for other in self.imported(module) if module is not None else ():
                    known = self._within.get(other.key)
                    if known is not None:
                        keys |= known
                    elif other.key not in keys:
                        keys.add(other.key)
                        queue.append(other.key)
            found = self._within[key] = frozenset(keys)
        return found

    def words_within(self, keys: frozenset[str]) -> frozenset[str]:
        """The names of modules and of what they import."""
        found = self._words_within.get(keys)
        if found is None:
            found = self._words_within[keys] = frozenset().union(*map(self.words, keys))
        return found

    def words(self, key: str) -> frozenset[str]:
        """The names of a module, of what it imports, and of the classes above those."""
        found = self._words.get(key)
        if found is None:
            module = self.project.by_key(key)
            found = module.words.union(self._above(module)) if module is not None else frozenset()
            self._words[key] = found
        return found

    def _above(self, module: Module) -> Iterator[str]:
        """The names of the bases of the classes that a module imports from the project."""
        for other in self.imported(module):
            for name in other.classes.keys() & module.words if not other.is_of_framework else ():
                for cls in other.lineage(name):
                    yield from map(ir.last_name, cls.bases)

    def resolve(self, module: Module, imported: Imported, depth: int = MADE_DEPTH) -> list[Module]:
        """The modules that an import leads to: where its name is defined, passed on, or made."""
        path = self.project.find(imported.dotted, module.path)
        if path is None:
            return []
        module_found = self.project.module(path)
        found = [module_found]
        if imported.attr is not None:
            package = module_found or self.passing_on(path, imported.attr)
            if package is not None and depth:
                found.extend(self.made_with(package, imported.attr, depth - 1))
            below = self.project.submodule(path, imported.attr)
            if below is not None:
                found.append(self.project.module(below))
            else:
                found.extend(self.reexported(path, imported.attr))
        return [item for item in found if item is not None]

    def made_with(self, module: Module, name: str, depth: int) -> Iterator[Module]:
        """Where the classes and functions come from with which a module makes an object."""
        for made in module.definitions.get(name, ()):
            tokens = ir.tokens_of(made.node) if isinstance(made.node, ir.Expr) else frozenset()
            for used in sorted(tokens & module.definitions.keys()):
                for definition in module.definitions[used]:
                    if isinstance(definition.node, Imported):
                        yield from self.resolve(module, definition.node, depth)

    def reexported(self, path: Path, name: str, depth: int = 0) -> Iterator[Module | None]:
        """Where a package's ``__init__`` takes a name from."""
        package = self.project.module(path) or self.passing_on(path, name)
        if package is None or depth > 3:
            return
        definitions = package.definitions
        named = definitions.get(name) or definitions.get("*") or ()
        for definition in chain(*definitions.values()) if name == "*" else named:
            if isinstance(definition.node, Imported):
                origin = self.project.find(definition.node.dotted, package.path)
                if origin is not None:
                    attr = definition.node.attr
                    found = self.project.module(origin)
                    if (
                        attr != "*"
                        or name == "*"
                        or (found is not None and name in found.definitions)
                    ):
                        yield found
                    original = name if attr in {None, "*"} else attr
                    yield from self.reexported(origin, str(original), depth + 1)

    def passing_on(self, path: Path, name: str) -> Module | None:
        """An ``__init__`` with nothing in it but where names come from, for one of these.

        Not one that imports under a condition: it loads when asked, and is that of a large library.
        """
        package = self.project.by_key(str(path)) if path.name == "__init__.py" else None
        if package is None:
            return None
        bound: set[str] = set()
        for each in package.body:
            if isinstance(each, ir.Import):
                bound.update(local for local, _, _ in each.bindings)
            elif isinstance(each, ir.Assign):
                bound.update(*map(ir.names_bound, each.targets))
        is_bound = bool(bound) if name == "*" else not bound.isdisjoint({name, "*"})
        return package if is_bound else None

    def unaliased(self, key: str, tokens: frozenset[str]) -> frozenset[str]:
        """The tokens, and the names that they were imported as."""
        aliases = self.aliases(key)
        return tokens | {aliases[token] for token in tokens & aliases.keys()}

    def aliases(self, key: str) -> dict[str, str]:
        """The local names of a module that stand for imported ones."""
        aliases = self._aliases.get(key)
        if aliases is None:
            module = self.project.by_key(key)
            aliases = self._aliases[key] = module.aliases if module is not None else {}
        return aliases


def _paths_from(module: Module, names: Set[str]) -> frozenset[tuple[str, ...]]:
    """The access paths in a module that begin with one of these names: ``lib.loops.fit``."""
    found: set[tuple[str, ...]] = set()
    waiting: list[Any] = list(module.statements())
    while waiting:
        node = waiting.pop()
        path = ir.path_of(node) if isinstance(node, ir.Attribute) else None
        if path is not None:
            if path[0] in names:
                found.add(path)
        elif not isinstance(node, (ir.Define, ir.DefineClass)):
            waiting.extend(each for each in ir.children(node) if not isinstance(each, ir.Stmt))
    return frozenset(found)
