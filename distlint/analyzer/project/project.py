"""The modules of the checked project: found, and read when something asks for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from distlint.analyzer.ir.errors import ParseError, Unplaced
from distlint.analyzer.ir.lower import by_libcst, lower
from distlint.analyzer.project.importers import Importers
from distlint.analyzer.project.module import Module
from distlint.analyzer.project.module_search import LARGE, UNREADABLE, Finder, content_of, state_of
from distlint.analyzer.project.prefilter import may_diverge, mentions_framework, worth_following
from distlint.catalogue import RUNTIME, shipped
from distlint.catalogue.catalogue import Catalogue, frameworks
from distlint.source.document import Document, DocumentError

T = TypeVar("T")

MOST_LEADING = 100
"""Files that are looked at of those that lead to one, at any remove."""

RECENT = 32
"""Files that are remembered to have been checked."""

_MAIN = b"__main__"
"""The word of files that are run."""

_MODELS = b"torch"
"""The word of files whose functions may run models."""

_path = lru_cache(maxsize=1024)(Path)
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
        self._catalogue_of: dict[Path, Catalogue] = {}
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
        self._named: dict[Path, tuple[Path, ...]] = {}
        """The files that each file imports, by its text."""
        self._belows: dict[Path, tuple[Path, ...]] = {}
        self._leading: set[Path] = set()
        """Files of which ``_telling`` rests on what they import."""
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
        """What is known about the frameworks that a module imports, is part of, or is handed
        objects of, and about those that the files which it imports do."""
        known = self._catalogue_of.get(module.path)
        if known is None:
            known = self._catalogue_of[module.path] = self._read_catalogue(module)
        return known

    def _read_catalogue(self, module: Module) -> Catalogue:
        variables = shipped.words().variables
        named = frozenset(root for name, root in variables.items() if name in module.tokens)
        roots = module.imported_roots | named | {module.package}
        if not module.is_of_framework:  # which knows what it is built on
            roots = roots.union(*map(self._roots_of, self._below(module.path)))
        return self.catalogue(roots)

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
        self._catalogue_of.clear()
        self._named.pop(path, None)
        self._belows.clear()
        for leading in self._leading:
            self._telling.pop(leading, None)
        self._leading.clear()
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
                or may_diverge(document.data)
                or self._leads_on(path)
            )
            if self._telling[path] and path not in self._modules:
                self._modules[path] = self._built(document)
        return self._modules[path] if self._telling[path] else None

    def _leads_on(self, path: Path) -> bool:
        """Has a file nothing to tell by itself, but leads to one in which ranks may diverge?

        An ``__init__`` does so for names that are taken from it alone: see ``passing_on``.
        """
        if path.name == "__init__.py":
            return False
        self._leading.add(path)
        return self._may_diverge_below(path)

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
        """May ranks diverge in a file that imports this one, at any remove, by its bytes?"""
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
        """Is it a script that imports a file in which ranks may diverge, at any remove?

        By the bytes. A script is what is run rather than imported, and no test.
        """
        if self._importers.is_test(path) or not self._may_diverge_below(path):
            return False
        if _MAIN in data:
            return True
        self.led.add(path)
        return not self._found_importers(path)

    def _may_diverge_below(self, path: Path) -> bool:
        """May ranks diverge in what a file imports, at any remove?"""
        return any(map(self._may_diverge, self._below(path)))

    def _below(self, path: Path) -> tuple[Path, ...]:
        """The files that one imports at any remove, the nearest first; not all of very many."""
        known = self._belows.get(path)
        if known is None:
            found = {path: None}
            waiting = [path]
            for each in waiting:  # grows meanwhile
                if len(waiting) > MOST_LEADING:
                    break
                new = [other for other in self._named_by(each) if other not in found]
                found.update(dict.fromkeys(new))
                waiting += dict.fromkeys(new)
            known = self._belows[path] = tuple(found)[1:]
        return known

    def _roots_of(self, path: Path) -> frozenset[str]:
        """First components of what a file imports, by its text."""
        named = self._importers.named_by(path)
        return frozenset(dotted.partition(".")[0] for dotted in named) - {""}

    def _named_by(self, path: Path) -> tuple[Path, ...]:
        """The files that one imports, by its text."""
        known = self._named.get(path)
        if known is None:
            if path not in self.contents and path not in self.buffers:
                self._note(path, content_of(path)[0])
            found = (self.find(dotted, path) for dotted in self._importers.named_by(path))
            known = self._named[path] = tuple(filter(None, found))
        return known

    def _may_diverge(self, path: Path) -> bool:
        if path not in self._diverging:
            document = self._document(path)
            data = document.code if document is not None else b""
            self._diverging[path] = may_diverge(data) and (
                mentions_framework(data) or worth_following(data)
            )
        return self._diverging[path]

    @property
    def folders(self) -> Iterable[Path]:
        """Every folder by whose contents imports led anywhere, or nowhere."""
        return map(Path, self._finder.folders)

    def submodule(self, package: Path, name: str) -> Path | None:
        """``from package import name`` where name is a module beside the package's ``__init__``."""
        return self.find(f".{name}", package) if package.name == "__init__.py" else None
