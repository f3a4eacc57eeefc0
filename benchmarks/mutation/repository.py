"""The files of one repository, and what a call of a function in another file leads to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from benchmarks.mutation.source import Source, walk_own

_DEPTH = 3
"""Through how many calls a collective is looked for."""

_ELSEWHERE = re.compile(r"init_process_group|mp\.spawn|multiprocessing|def (send|recv)|isend|irecv")
"""Words of functions that come before the group, or in which two ranks meet."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Repository:
    """Parses files when they are asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._meets: dict[Function, bool] = {}
        self.far_events: dict[Source, list[tuple[ast.stmt, ast.Call]]] = {}
        """The calls of each file that lead to a collective of another one, once looked for."""
        self.source = lru_cache(maxsize=2_000)(self._source)

    def _source(self, path: Path) -> Source | None:
        try:
            return Source(path, path.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None

    def callee(self, source: Source, call: ast.Call) -> tuple[Source, Function] | None:
        """The function that a call calls, where it is a plain one of this repository.

        Also a method of an object that the same function makes of a class.
        """
        func = call.func
        if isinstance(func, ast.Name) and isinstance(source.definitions.get(func.id), Function):
            return source, source.definitions[func.id]  # type: ignore[return-value]
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            maker = source.maker(func.value.id, call)
            cls = self._defined(source, source.dotted(maker)) if maker is not None else None
            if cls is not None and isinstance(cls[1], ast.ClassDef):
                for node in cls[1].body:
                    if isinstance(node, Function) and node.name == func.attr:
                        return cls[0], node
        found = self._defined(source, source.dotted(func))
        return (found[0], found[1]) if found and isinstance(found[1], Function) else None

    def _defined(
        self, importer: Source, dotted: str, depth: int = 3
    ) -> tuple[Source, ast.stmt] | None:
        """What a dotted name is in this repository, through imports of imports."""
        module, _, name = dotted.rpartition(".")
        if not module.strip("."):
            module = dotted[: len(dotted) - len(name)]
        path = self.find(module, importer.path) if module else None
        source = self.source(path) if path else None
        if source is None:
            return None
        if name in source.definitions:
            return source, source.definitions[name]
        if depth and name in source.imports:
            return self._defined(source, source.imports[name], depth - 1)
        return None

    def find(self, module: str, importer: Path) -> Path | None:
        """The file of a module, as a script beside it or a package would import it."""
        stripped = module.lstrip(".")
        parts = stripped.split(".") if stripped else []
        if module.startswith("."):
            folder = importer.parent
            for _ in range(len(module) - len(stripped) - 1):
                folder = folder.parent
            return _file(folder.joinpath(*parts))
        folders = [importer.parent, *importer.parent.parents]
        inside = [each for each in folders if each == self.root or self.root in each.parents]
        for folder in (*inside, self.root / "src"):
            if found := _file(folder.joinpath(*parts)):
                return found
        return None

    def meets(self, source: Source, function: Function, depth: int = _DEPTH) -> bool:
        """Does a function do a collective on all ranks that call it?"""
        known = self._meets.get(function)
        if known is None:
            self._meets[function] = False
            known = any(self._meets_in(source, call, depth) for call in _calls(function))
            known = known and not _ELSEWHERE.search(ast.unparse(function))
            self._meets[function] = known
        return known

    def _meets_in(self, source: Source, call: ast.Call, depth: int) -> bool:
        if source.collective(call):
            return not (source.rank_guard(call) or source.unusual(call))
        found = self.callee(source, call) if depth else None
        if found is None or not self.meets(*found, depth - 1):
            return False
        return not (source.rank_guard(call) or source.unusual(call))


def _calls(function: Function) -> Iterator[ast.Call]:
    return (node for node in walk_own(function) if isinstance(node, ast.Call))


@lru_cache(maxsize=100_000)
def _file(path: Path) -> Path | None:
    for each in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
        if each.is_file():
            return each
    return None
