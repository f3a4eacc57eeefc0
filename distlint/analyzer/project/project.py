"""The modules of the checked project: loaded on demand, with a table of what each defines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

from distlint.analyzer import ir
from distlint.analyzer.ir.errors import ParseError, Unplaced
from distlint.analyzer.ir.lower import by_libcst, lower
from distlint.analyzer.project.importers import Importers
from distlint.analyzer.project.module_search import LARGE, UNREADABLE, Finder, content_of, state_of
from distlint.analyzer.project.prefilter import may_diverge, mentions_framework, worth_following
from distlint.catalogue import RUNTIME, shipped
from distlint.catalogue.catalogue import Catalogue, frameworks
from distlint.source.document import Document, DocumentError

T = TypeVar("T")

MOST_STEPS = 4
"""Packages by whose imports a name is followed, one after another."""

MOST_IMPORTERS = 32
"""Files that are looked at of those that import one."""

MOST_LEADING = 100
"""Files that are looked at of those that lead to one, at any remove."""

RECENT = 32
"""Files that are remembered to have been checked."""


@dataclass(slots=True)
class Definition:
    """How a module-level name comes to be; ``index`` picks an item of a tuple assignment."""

    kind: str
    node: object
    index: int | None = None


@dataclass(slots=True)
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

    @cached_property
    def definitions(self) -> dict[str, list[Definition]]:
        """Every binding of each module-level name, also those under ``if`` and ``try``."""
        table: dict[str, list[Definition]] = {}
        for statement in _top_level(self.body):
            for name, definition in _defined(statement):
                table.setdefault(name, []).append(definition)
        return table

    def imported(self, name: str, member: str = "") -> tuple[Module, ir.Function] | None:
        """The function of another file of the project that an import binds a name to.

        With ``member``, that function of the file which the import binds the name to.
        """
        found = self._imported(name, member)
        return (found[0], found[1]) if found and isinstance(found[1], ir.Function) else None

    def lead_to(self, name: str, member: str = "") -> tuple[Module, object] | None:
        """What an import binds a name to, also by way of packages that hand it on."""
        found = self._imported(name, member)
        for _ in range(MOST_STEPS):
            if found is None or not isinstance(found[1], Imported):
                break
            module, bound = found[0]._bound_by(found[1])
            one = module is not None and len(bound) == 1
            found = (module, bound[0].node) if module is not None and one else None
        return found

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

    def _imported(self, name: str, member: str = "") -> tuple[Module, object] | None:
        definitions = self.definitions.get(name, ())
        if len(definitions) != 1:
            return None
        module, found = self._bound_by(definitions[0].node, member)
        return (module, found[0].node) if module is not None and len(found) == 1 else None

    def _bound_by(
        self, node: object, member: str = ""
    ) -> tuple[Module | None, Sequence[Definition]]:
        """The file of the project that an import leads to, and what binds the name there."""
        if self.project is None or not isinstance(node, Imported):
            return None, ()
        path = self.project.find(node.dotted, self.path)
        wanted = node.attr
        if member:
            if wanted is not None and path is not None:
                path = self.project.submodule(path, wanted)
            wanted = member
        if wanted is None:
            return None, ()
        module = self.project.by_key(str(path)) if path is not None else None
        return module, module.definitions.get(wanted, ()) if module is not None else ()

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
        if self.project is None:
            return []
        files = [
            path for path, taken in self.project.importers(self.path).items() if taken & {name, ""}
        ]
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


_path = lru_cache(maxsize=1024)(Path)

_MAIN = b"__main__"
"""The word of files that are run."""

_MODELS = b"torch"
"""The word of files whose functions may run models."""
"""Modules are asked for by the same few keys, and to take a path apart takes long."""


class Project:
    """Finds and loads modules; shared by all files of a run.

    Args:
        root: the project's folder; imports are never followed outside it and ``src``.
        src: folders in which absolute imports are looked up, in order.
        extra: catalogue entries of the user's own, as files or as tables.
        world: nodes and processes per node of the simulated cluster.
        runtime: the module that fixes import from: distlint's, or the project's vendored one.
        with_weak: may what differs in rare set-ups only differ between ranks?
        buffers: what is to be read in place of the disk: the unsaved files of an editor.
    """

    def __init__(
        self,
        root: Path,
        src: Sequence[Path] = (),
        extra: Sequence[Path | Mapping[str, object]] = (),
        world: tuple[int, int] = (2, 2),
        runtime: str = RUNTIME,
        *,
        with_weak: bool = True,
        buffers: Mapping[Path, Document] | None = None,
    ) -> None:
        self.root = root
        self.src = tuple(src) or (root, root / "src")
        self.extra = tuple(extra)
        self.world = world
        self.runtime = runtime
        self.with_weak = with_weak
        self.buffers: Mapping[Path, Document] = {} if buffers is None else buffers
        self.proceed: Callable[[], None] | None = None
        """Called now and then during an analysis, which what it raises puts an end to."""
        self.memo: dict[object, object] = {}
        """What analyses have found out about the modules, for the files to come."""
        self._catalogues: dict[frozenset[str], Catalogue] = {}
        self._modules: dict[Path, Module | None] = {}
        self.answers: dict[Path, dict[str, Path | None]] = {}
        """What each file has named in imports so far, and where that leads."""
        self.imported_by: dict[Path, dict[str, frozenset[str]]] = {}
        """The files that import those about which that was asked, and what they take."""
        self.led: set[Path] = set()
        """The checked files whose findings rest on what imports them."""
        self.generation = 0
        """Grows whenever a module is read again, so that nothing keeps the old one."""
        self.contents: dict[Path, str] = {}
        """The state of each file that was read, as it was then; see ``state_of``."""
        self.changed: set[Path] = set()
        """Files that were found in another state when they were read again."""
        self.sizes: dict[Path, int] = {}
        """Characters of each module that is at hand."""
        self.checked: deque[Path] = deque(maxlen=RECENT)
        """The last files that were checked."""
        self._sites: dict[Path, int] = {}
        self._unplaced: set[Path] = set()
        """Files that ``ast`` reads and libcst does not, or otherwise."""
        self._finder = Finder(root, self.src, self.buffers)
        self._importers = Importers(root, self._finder, self.buffers)
        self._telling: dict[Path, bool] = {}
        self._diverging: dict[Path, bool] = {}
        self._checked: Path | None = None

    def memo_of(self, kind: type[T]) -> T:
        """The one object of a kind that what analyses find out is kept in."""
        found = self.memo.get(kind)
        if not isinstance(found, kind):
            found = self.memo[kind] = kind()
        return found

    def catalogue(self, roots: frozenset[str]) -> Catalogue:
        """What is known about the frameworks that a file imports."""
        named = {module for modules in frameworks().values() for module in modules}
        wanted = frozenset(root for root in roots if root in named)
        found = self._catalogues.get(wanted)
        if found is None:
            found = self._catalogues[wanted] = Catalogue.load(
                wanted, self.extra, runtime=self.runtime, with_weak=self.with_weak
            )
        return found

    def catalogue_of(self, module: Module) -> Catalogue:
        """What is known about the frameworks of a module and of all that it imports: what these
        import, are part of, or are handed objects of."""
        roots: set[str] = set()
        for each in module.import_closure():
            variables = shipped.words().variables
            roots.update(root for name, root in variables.items() if name in each.tokens)
            roots.update(each.imported_roots, (each.dotted.partition(".")[0],))
        return self.catalogue(frozenset(roots))

    def add(self, document: Document) -> Module:
        """The module of a document that is being checked.

        Raises:
            ParseError: if it is no Python.
        """
        self._checked = document.path
        self.checked.append(document.path)
        self._note(document.path, state_of(document.data))
        module = self._modules.get(document.path)
        if module is None:
            module = self._build(document)
            self._modules[document.path] = module
        return module

    def has_read(self, path: Path) -> bool:
        """Has anything been made of the text of a file?"""
        return path in self._modules or path in self._telling or path in self._diverging

    @property
    def loaded(self) -> set[Path]:
        """The files of which something is at hand."""
        return {*self._modules, *self._telling}

    @property
    def volume(self) -> int:
        """Characters of the modules that are at hand."""
        return sum(self.sizes.values())

    def drop(self, paths: Iterable[Path]) -> None:
        """Let go of modules that none of the others imports; they are read again if need be."""
        for path in paths:
            self._telling.pop(path, None)
            self.sizes.pop(path, None)
            module = self._modules.pop(path, None)
            if module is not None:
                self.memo.pop(module, None)
                module.__dict__.pop("imports", None)  # which may lead back here

    def forget(self, path: Path) -> None:
        """Let go of a module whose text has changed, and of all that was found out with it."""
        self._unplaced.discard(path)
        self._importers.forget(path)
        self.imported_by.clear()
        self._drop(path)

    def _drop(self, path: Path) -> None:
        self.generation += 1
        self._modules.pop(path, None)
        self._telling.pop(path, None)
        self._diverging.pop(path, None)
        self.sizes.pop(path, None)
        self.contents.pop(path, None)
        self.answers.pop(path, None)
        # what was found out about one text alone holds for the texts that are still the same
        self.memo = {
            key: found
            for key, found in self.memo.items()
            if isinstance(key, Module) and key.path != path
        }
        for module in self._modules.values():
            if module is not None:
                module.__dict__.pop("imports", None)  # these are modules

    def sites(self, path: Path) -> int | None:
        """How many sites the module of a file has, if it was made."""
        return self._sites.get(path)

    def placing(self, work: Callable[[], T]) -> T:
        """Do something that asks for positions; again, if modules have to come from libcst for it.

        Raises:
            ParseError: if a document that is checked is no Python.
        """
        while True:
            try:
                return work()
            except Unplaced as error:
                if error.path in self._unplaced:  # it changes all the time
                    raise
                self._drop(error.path)
                self._unplaced.add(error.path)

    def module(self, path: Path) -> Module | None:
        """The module at a path that is imported.

        None when it cannot be read or parsed, or has nothing in it that could matter.
        """
        if path not in self._telling:
            document = self._document(path)
            self._telling[path] = document is not None and (
                _MODELS in document.data
                or self._is_telling(document.data)
                or self._may_diverge_below(path)
            )
            if self._telling[path] and path not in self._modules:
                self._modules[path] = self._built(document)
        return self._modules[path] if self._telling[path] else None

    def _is_telling(self, data: bytes) -> bool:
        own = self.catalogue(frozenset()).own_packages if self.extra else ()
        return worth_following(data) or any(package.encode() in data for package in own)

    def by_key(self, key: str) -> Module | None:
        """The module with a key, whether or not it tells anything; None like :meth:`module`."""
        path = _path(key)
        if path not in self._modules:
            self._modules[path] = self._built(self._document(path))
        # One checked before, perhaps: what is said of a file must not depend on the order of files.
        if path != self._checked and self.contents.get(path) == LARGE:
            return None
        return self._modules[path]

    def is_unreadable(self, key: str) -> bool:
        """Is a module too large to be looked into, or no Python?"""
        path = _path(key)
        if self.contents.get(path) in (LARGE, UNREADABLE):
            return path.is_file()
        return path in self._modules and self._modules[path] is None

    def read(self, path: Path) -> Document:
        """A file as it is, saved or not.

        Raises:
            OSError: if it cannot be read.
            DocumentError: if it is no text.
        """
        return self.buffers[path] if path in self.buffers else Document.read(path)

    def _note(self, path: Path, state: str) -> None:
        if self.contents.setdefault(path, state) != state:
            self.changed.add(path)

    def _document(self, path: Path) -> Document | None:
        if path in self.buffers:
            return self.buffers[path]
        state, data = content_of(path)
        self._note(path, state)
        try:
            return None if data is None else Document.from_bytes(data, path)
        except DocumentError:
            return None

    def _built(self, document: Document | None) -> Module | None:
        try:
            return self._build(document) if document is not None else None
        except ParseError:
            return None

    def _build(self, document: Document) -> Module:
        path = document.path
        to_ir = by_libcst if path in self._unplaced else lower
        lowered = to_ir(document.text, str(path))
        self._sites[path] = lowered.sites
        self.sizes[path] = len(document.text)
        shows_ranks = self._is_telling(document.data)
        return Module(path, lowered.body, self, shows_ranks=shows_ranks)

    def find(self, dotted: str, importer: Path) -> Path | None:
        """The file of a module named in an import, or None when it is not of this project."""
        answers = self.answers.get(importer)
        if answers is None:
            answers = self.answers[importer] = {}
        if dotted not in answers:
            found = self._finder.find(dotted, str(importer))
            answers[dotted] = None if found is None else Path(found)
        return answers[dotted]

    def importers(self, path: Path) -> Mapping[str, frozenset[str]]:
        """The files of the project that import a file, and the names that they take from it."""
        if self._checked is not None:
            self.led.add(self._checked)
        return self._found_importers(path)

    def _found_importers(self, path: Path) -> Mapping[str, frozenset[str]]:
        if path not in self.imported_by:
            self.imported_by[path] = self._importers.of(path)
        return self.imported_by[path]

    def leading_to(self, path: Path) -> set[Path]:
        """The files that import one, at any remove, as far as that was asked."""
        found: set[Path] = set()
        waiting = [path]
        while waiting:
            importers = set(map(_path, self.imported_by.get(waiting.pop(), ()))) - found
            found |= importers
            waiting += importers
        return found

    def is_led_to(self, path: Path) -> bool:
        """May the ranks part in a file that imports this one, at any remove, by its bytes?"""
        self.led.add(path)
        waiting = [path]
        for each in waiting:  # grows meanwhile
            if len(waiting) > MOST_LEADING:
                return False
            for importer in map(_path, self._found_importers(each)):
                if importer not in waiting:
                    if self._may_diverge(importer) or any(
                        map(self._may_diverge, self._named_by(importer))
                    ):
                        return True
                    waiting.append(importer)
        return False

    def leads_to_ranks(self, path: Path, data: bytes) -> bool:
        """Is it a script that imports a file in which ranks may part, at any remove?

        By the bytes. A script is what is run rather than imported, and no test.
        """
        if self._importers.is_test(path) or not self._may_diverge_below(path):
            return False
        if _MAIN in data:
            return True
        self.led.add(path)
        return not self._found_importers(path)

    def _may_diverge_below(self, path: Path) -> bool:
        """May the ranks part in what a file imports, at any remove?"""
        waiting = [path]
        for each in waiting:  # grows meanwhile
            for imported in self._named_by(each):
                if imported not in waiting:
                    if self._may_diverge(imported):
                        return True
                    waiting.append(imported)
            if len(waiting) > MOST_LEADING:
                return False
        return False

    def _named_by(self, path: Path) -> Iterator[Path]:
        """The files that one imports, by its text."""
        for dotted in self._importers.named_by(path):
            found = self.find(dotted, path)
            if found is not None:
                yield found

    def _may_diverge(self, path: Path) -> bool:
        if path not in self._diverging:
            document = self._document(path)
            data = document.code if document is not None else b""
            self._diverging[path] = mentions_framework(data) and may_diverge(data)
        return self._diverging[path]

    @property
    def folders(self) -> Iterable[Path]:
        """Every folder by whose contents imports led anywhere, or nowhere."""
        return map(Path, self._finder.folders)

    def submodule(self, package: Path, name: str) -> Path | None:
        """``from package import name`` where name is a module beside the package's ``__init__``."""
        return self.find(f".{name}", package) if package.name == "__init__.py" else None
