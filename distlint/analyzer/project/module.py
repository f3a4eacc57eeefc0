"""One file of the project: what it defines and imports, and where its imports lead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.catalogue import shipped
from distlint.catalogue.shipped import seals

if TYPE_CHECKING:
    from distlint.analyzer.project.project import Project

MOST_STEPS = 4
"""Packages by whose imports a name is followed, one after another."""

MOST_IMPORTERS = 32
"""Files that are looked at of those that import one."""


@dataclass(slots=True)
class Definition:
    """How a module-level name comes to be; ``index`` picks an item of a tuple assignment."""

    kind: str
    node: object
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """A name bound by an import: a module, or an attribute of one."""

    dotted: str
    attr: str | None


class Module:
    """One file of the project as IR; ``project`` is where it finds what it imports."""

    def __init__(
        self,
        path: Path,
        body: ir.Block,
        project: Project | None = None,
        *,
        shows_ranks: bool = True,
    ) -> None:
        self.path = path
        self.key = str(path)
        self.body = body
        self.project = project
        self.shows_ranks = shows_ranks
        """Is there a sign of ranks in it? Without one it may still run what it is given."""

    @cached_property
    def dotted(self) -> str:
        """The name under which other packages import it."""
        path = self.path.with_suffix("")
        parts = [] if path.name == "__init__" else [path.name]
        for folder in path.parents:
            if not (folder / "__init__.py").is_file():
                break
            parts.append(folder.name)
        return ".".join(reversed(parts))

    @property
    def package(self) -> str:
        """The outermost package that it is in; its own name if it is in none."""
        return self.dotted.partition(".")[0]

    @cached_property
    def is_of_framework(self) -> bool:
        """Does it belong to the sources of a framework of the catalogue?"""
        return self.package in seals()

    @cached_property
    def definitions(self) -> dict[str, list[Definition]]:
        """Every binding of each module-level name, also those under ``if`` and ``try``."""
        table: dict[str, list[Definition]] = {}
        for statement in _top_level(self.body):
            for name, definition in _defined(statement):
                table.setdefault(name, []).append(definition)
        return table

    def imported(self, name: str, *members: str) -> tuple[Module, ir.Function] | None:
        """The function of another file of the project that an import binds a name to.

        With ``members``, the one that is reached by these: ``fit`` of ``lib.loops.fit``.
        """
        found = self._imported(name, *members)
        return (found[0], found[1]) if found and isinstance(found[1], ir.Function) else None

    def lead_to(self, name: str, *members: str) -> tuple[Module, object] | None:
        """What an import binds a name to, also by way of packages that hand it on.

        With ``members``, what is reached by these from the file that the import binds it to.
        """
        found = self._imported(name, *members)
        for _ in range(MOST_STEPS):
            if found is None or not isinstance(found[1], Imported):
                break
            module, bound = found[0]._bound_by(found[1])
            one = module is not None and len(bound) == 1
            found = (module, bound[0].node) if module is not None and one else None
        return found

    def constructor(self, cls: ir.Class) -> tuple[Module, ir.Function] | None:
        """The constructor of a class of the module, which may be that of a base in another file."""
        for each in self.lineage(cls.name):
            found = each.methods.get("__init__")
            where = self if each.module == self.key else None
            if found is not None and where is None and self.project is not None:
                where = self.project.by_key(each.module)
            if found is not None:
                return (where, found) if where is not None else None
        return None

    def is_imported(self, name: str) -> bool:
        """Is a module-level name bound by imports alone?"""
        bound = self.definitions.get(name)
        return bool(bound) and all(isinstance(each.node, Imported) for each in bound or ())

    def has_submodule(self, name: str) -> bool:
        """Is a name of a package bound to its submodule: ``from . import loops``?"""
        assert self.project is not None
        nodes = [each.node for each in self.definitions.get(name, ())]
        return all(
            isinstance(node, Imported)
            and node.attr == name
            and self.project.find(node.dotted, self.path) == self.path
            for node in nodes
        )

    def imported_class(self, name: str) -> ir.Class | None:
        """The class of another file of the project that an import binds a name to."""
        found = self._imported(name)
        return found[1] if found and isinstance(found[1], ir.Class) else None

    def imported_values(self, name: str) -> list[object]:
        """What other files of the project bind to a name that imports alone bind here.

        Empty if one of them is not in sight.
        """
        found: list[object] = []
        for definition in self.definitions.get(name, ()):
            _, bound = self._bound_by(definition.node)
            if not bound:
                return []
            found += [each.node for each in bound]
        return found

    def lineage(self, name: str) -> Iterator[ir.Class]:
        """The class of a name and its bases, also of other files, as far as they are there."""
        waiting: list[tuple[Module, str]] = [(self, name)]
        for module, known_as in waiting:  # grows meanwhile
            cls = module.classes.get(known_as)
            if cls is not None:
                yield cls
                above = [each for base in cls.bases for each in module._named_by(base)]
            else:
                above = module._source_of(known_as)
            waiting += [each for each in above if each not in waiting]

    def _source_of(self, name: str) -> list[tuple[Module, str]]:
        """The files that imports take a name from, and what it is called there."""
        found: list[tuple[Module, str]] = []
        for definition in self.definitions.get(name, ()):
            module, bound = self._bound_by(definition.node)
            if module is not None and bound and isinstance(definition.node, Imported):
                found.append((module, definition.node.attr or name))
        return found

    def _named_by(self, base: ir.Expr) -> list[tuple[Module, str]]:
        """The files in which a class is named, and its name there: ``Runner``, ``run.Runner``."""
        *owners, name = ir.path_of(base) or ("",)
        if not owners:
            return [(self, name)] if name else []
        found = [
            self._below(definition.node, owners[1:])
            for definition in self.definitions.get(owners[0], ())
        ]
        return [(module, name) for module in found if module is not None]

    def _below(self, node: object, parts: Sequence[str]) -> Module | None:
        """The module that is reached through what an import binds: ``run`` of ``import lib``."""
        if self.project is None or not isinstance(node, Imported):
            return None
        path = self.project.find(node.dotted, self.path)
        for part in (*filter(None, [node.attr]), *parts):
            path = self.project.submodule(path, part) if path is not None else None
        return self.project.by_key(str(path)) if path is not None else None

    def _imported(self, name: str, *members: str) -> tuple[Module, object] | None:
        nodes: list[object] = [each.node for each in self.definitions.get(name, ())]
        nodes = nodes or list(self._imported_inside.get(name, ()))
        if not nodes:
            nodes += [*self._by_stars(name)][-1:]
        if len(nodes) != 1:
            return None
        module, found = self._bound_by(nodes[0], *members)
        return (module, found[0].node) if module is not None and len(found) == 1 else None

    def _bound_by(self, node: object, *members: str) -> tuple[Module | None, Sequence[Definition]]:
        """The file of the project that an import leads to, and what binds the name there."""
        if self.project is None or not isinstance(node, Imported):
            return None, ()
        path = self.project.find(node.dotted, self.path)
        *packages, wanted = (*filter(None, [node.attr]), *members) or ("",)
        for package in packages:
            path = self.project.submodule(path, package) if path is not None else None
        module = self.project.by_key(str(path)) if path is not None and wanted else None
        return module, module.definitions.get(wanted, ()) if module is not None else ()

    def _by_stars(self, name: str) -> Iterator[Imported]:
        """What ``from module import *`` may bind a name to, that nothing else binds."""
        for dotted in self.star_imports:
            binding = Imported(dotted, name)
            if self._bound_by(binding)[1]:
                yield binding

    @cached_property
    def _imported_inside(self) -> dict[str, dict[Imported, None]]:
        """What imports in functions and methods bind."""
        found: dict[str, dict[Imported, None]] = {}
        for statement in self.import_statements:
            for name, dotted, attr in statement.bindings:
                found.setdefault(name, {})[Imported(dotted, attr)] = None
        return found

    @cached_property
    def imports(self) -> tuple[Module, ...]:
        """The files of the project that this one imports."""
        found: dict[Path, Module] = {}
        if self.project is None:
            return ()
        for statement in self.import_statements:
            for _, dotted, attr in statement.bindings:
                path = self.project.find(dotted, self.path)
                below = self.project.submodule(path, attr) if path and attr else None
                for each in filter(None, (path, below)):
                    module = self.project.by_key(str(each))
                    if module is not None:
                        found[module.path] = module
        return tuple(found.values())

    def import_closure(self) -> list[Module]:
        """This file and the files of the project that it imports, however far."""
        found = {self.path: self}
        waiting = [self]
        while waiting:
            for each in waiting.pop().imports:
                if each.path not in found:
                    found[each.path] = each
                    waiting.append(each)
        return list(found.values())

    def importers(self, name: str) -> list[Module]:
        """The first files of the project that import this one, and may know a name from it."""
        return self._importing(lambda taken: bool(taken & {name, ""}))

    def all_importers(self) -> list[Module]:
        """The first files of the project that import this one."""
        return self._importing(bool)

    def _importing(self, counts: Callable[[frozenset[str]], bool]) -> list[Module]:
        if self.project is None:
            return []
        files = [path for path, taken in self.project.importers(self.path).items() if counts(taken)]
        found = (self.project.by_key(path) for path in files[:MOST_IMPORTERS])
        return [module for module in found if module is not None]

    @cached_property
    def star_imports(self) -> tuple[str, ...]:
        found = self.definitions.get("*", [])
        return tuple(d.node.dotted for d in found if isinstance(d.node, Imported))

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Names that an import binds to something of another name, anywhere in the file."""
        found: dict[str, str] = {}
        for statement in self.import_statements:
            for name, dotted, attr in statement.bindings:
                original = attr if attr is not None else dotted.rsplit(".", 1)[-1]
                if original != name:
                    found[name] = original
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """The names of the file and of what it imports, component by component."""
        found = set(self.tokens)
        for statement in self.import_statements:
            for _, dotted, attr in statement.bindings:
                found.update(dotted.split("."))
                if attr is not None:
                    found.add(attr)
        return frozenset(found)

    @cached_property
    def is_of_several_ranks(self) -> bool:
        """Do the names in it say that several ranks run it, so that a `rank` is one of theirs?"""
        return not shipped.words().rank_signs.isdisjoint(self.words)

    @cached_property
    def called_names(self) -> frozenset[str]:
        """Names that some call of the file has as its callee; methods as ``self.name``."""
        found: set[str] = set()
        stack: list[object] = list(self.statements())
        while stack:
            node = stack.pop()
            if isinstance(node, ir.Call) and isinstance(node.func, ir.Name):
                found.add(node.func.id)
            elif (
                isinstance(node, ir.Call)
                and isinstance(node.func, ir.Attribute)
                and isinstance(node.func.value, ir.Name)
                and node.func.value.id == "self"
            ):
                found.add(f"self.{node.func.attr}")
            if not isinstance(node, (ir.Define, ir.DefineClass)):
                stack.extend(child for child in ir.children(node) if not isinstance(child, ir.Stmt))
        return frozenset(found)

    @cached_property
    def import_statements(self) -> tuple[ir.Import, ...]:
        """The imports of the file, at any depth."""
        return tuple(each for each in self.statements() if isinstance(each, ir.Import))

    def statements(self) -> Iterator[ir.Stmt]:
        """Every statement of the file, at any depth."""
        stack: list[object] = list(self.body)
        while stack:
            node = stack.pop()
            if isinstance(node, ir.Stmt):
                yield node
                stack.extend(
                    child
                    for child in ir.children(node)
                    if isinstance(child, (ir.Stmt, ir.Handler, ir.Function, ir.Class))
                )
            elif isinstance(node, (ir.Handler, ir.Function)):
                stack.extend(node.body)
            elif isinstance(node, ir.Class):
                stack.extend(node.body)
                stack.extend(node.methods.values())

    @cached_property
    def functions(self) -> tuple[ir.Function, ...]:
        """Every function, method and nested function, outer ones first."""
        found: list[ir.Function] = []
        _collect_functions(self.body, found)
        return tuple(found)

    @cached_property
    def handed_out(self) -> dict[ir.Function, tuple[ir.Function, ...]]:
        """Functions in functions that are handed out, with those around them, nearest first."""
        found: dict[ir.Function, tuple[ir.Function, ...]] = {}
        given: dict[ir.Function, frozenset[str]] = {}
        for inner, function in self.enclosing.items():
            if function not in given:
                given[function] = _given(function.body)
            if inner.name in given[function] or inner.decorators:
                found[inner] = (function, *found.get(function, ()))
        return found

    @cached_property
    def enclosing(self) -> dict[ir.Function, ir.Function]:
        """The function around each function in a function, the outer ones first."""
        return {
            statement.function: function
            for function in self.functions
            for statement in ir.statements_of(function.body)
            if isinstance(statement, ir.Define)
        }

    @cached_property
    def counters(self) -> frozenset[str]:
        """Variables of the module that functions count up or down, such as the depth of nesting."""
        return frozenset(
            statement.target.id
            for function in self.functions
            for statement in function.body
            if isinstance(statement, ir.AugAssign)
            and isinstance(statement.target, ir.Name)
            and statement.target.id in function.outer & self.definitions.keys()
        )

    @cached_property
    def classes(self) -> dict[str, ir.Class]:
        return {
            definition.node.name: definition.node
            for definitions in self.definitions.values()
            for definition in definitions
            if isinstance(definition.node, ir.Class)
        }

    def class_of(self, function: ir.Function) -> ir.Class | None:
        """The class whose method this is."""
        for cls in self.classes.values():
            if cls.methods.get(function.name) is function:
                return cls
        return None

    @cached_property
    def tokens(self) -> frozenset[str]:
        return ir.block_tokens(self.body)

    @cached_property
    def imported_roots(self) -> frozenset[str]:
        """First components of everything the file imports, at any depth."""
        roots = {
            source.split(".")[0]
            for statement in self.import_statements
            for _, source, _ in statement.bindings
        }
        return frozenset(root for root in roots if root)


def _top_level(block: ir.Block) -> Iterator[ir.Stmt]:
    for statement in block:
        yield statement
        if isinstance(statement, (ir.If, ir.For, ir.While)):
            yield from _top_level(statement.body)
            yield from _top_level(statement.orelse)
        elif isinstance(statement, ir.With):
            yield from _top_level(statement.body)
        elif isinstance(statement, ir.Try):
            yield from _top_level(statement.body)
            for handler in statement.handlers:
                yield from _top_level(handler.body)
            yield from _top_level(statement.orelse)
            yield from _top_level(statement.final)


def _defined(statement: ir.Stmt) -> Iterator[tuple[str, Definition]]:
    if isinstance(statement, ir.Define):
        yield statement.function.name, Definition("function", statement.function)
    elif isinstance(statement, ir.DefineClass):
        yield statement.cls.name, Definition("class", statement.cls)
    elif isinstance(statement, ir.Import):
        for name, dotted, attr in statement.bindings:
            yield name, Definition("import", Imported(dotted, attr))
    elif isinstance(statement, ir.Assign):
        for target in statement.targets:
            if isinstance(target, ir.Name):
                yield target.id, Definition("assign", statement.value)
            elif isinstance(target, ir.Display):
                for index, item in enumerate(target.items):
                    if isinstance(item, ir.Name):
                        yield item.id, Definition("assign", statement.value, index)
    elif (isinstance(statement, ir.AugAssign) and isinstance(statement.target, ir.Name)) or (
        isinstance(statement, ir.For) and isinstance(statement.target, ir.Name)
    ):
        yield statement.target.id, Definition("changed", statement)


def _given(block: ir.Block) -> frozenset[str]:
    """The variables whose value goes somewhere: those that are not just called."""
    found: set[str] = set()
    stack: list[object] = list(block)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Call):
            if not isinstance(node.func, ir.Name):
                stack.append(node.func)
            stack.extend(argument.value for argument in node.args)
            continue
        if isinstance(node, ir.Name):
            found.add(node.id)
        stack.extend(ir.children(node))
    return frozenset(found)


def _collect_functions(nodes: Iterable[object], found: list[ir.Function]) -> None:
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Define):
            found.append(node.function)
            stack.extend(node.function.body[::-1])
        elif isinstance(node, ir.DefineClass):
            for function in node.cls.methods.values():
                found.append(function)
                stack.extend(function.body[::-1])
        elif isinstance(node, (ir.Stmt, ir.Handler)):
            stack.extend(
                child for child in ir.children(node) if isinstance(child, (ir.Stmt, ir.Handler))
            )
