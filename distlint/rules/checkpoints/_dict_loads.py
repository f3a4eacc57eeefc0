"""The checkpoints that a file loads in the safe way, and which of the saved ones these are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.neighbourhood import files_near
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, is_none
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.checkpoints._dict_saves import Saved, forms_of, text_of
from distlint.rules.checkpoints._paths import file_name, same_path
from distlint.rules.setup._order import tests_around

_LOAD = "torch.load"
_ALLOWING = frozenset(
    {
        "add_safe_globals",
        "safe_globals",
        "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD",
        "_weights_only_unpickler",
    }
)
_MOST = 64
"""Loads of a file that are looked at."""

_ENOUGH = 2
"""Keys of a checkpoint that are read, by which it is known."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a call loads, and the keys that are read of it.

    ``asked`` are keys that may be missing; ``is_strict`` that only plain values are asked for.
    """

    site: CallSite
    keys: frozenset[str]
    asked: frozenset[str]
    paths: tuple[ir.Expr, ...]
    is_strict: bool

    def of(self, saves: list[Saved]) -> Saved | None:
        """A checkpoint with objects that it loads; none if it may be only another one."""
        found = next((each for each in saves if each.held and self._is_at(each)), None)
        if found is not None:
            return found
        fitting = self.fitting(saves)
        held = [each for each in fitting if each.held]
        keys = {each.key for saved in held for each in saved.held}
        plain = [each for each in fitting if not each.held and keys.isdisjoint(each.given)]
        return held[0] if held and not plain else None

    def fitting(self, saves: list[Saved]) -> list[Saved]:
        """The checkpoints that it may load: those of its path or file, else those of its keys."""
        at_path = [each for each in saves if self._is_at(each)]
        if at_path:
            return at_path
        fitting = [each for each in saves if self._fits(each)]
        named = [each for each in fitting if self._is_named(each)]
        if named:
            return named
        most = max((self._count(each) for each in fitting), default=0)
        return [each for each in fitting if self._count(each) == most >= _ENOUGH]

    def _count(self, saved: Saved) -> int:
        return len(self.keys & saved.keys)

    def _fits(self, saved: Saved) -> bool:
        return not self.keys.isdisjoint(saved.keys) and self.keys - self.asked <= saved.keys

    def _is_at(self, saved: Saved) -> bool:
        """Is it at the same path, with keys that are there?"""
        return self.keys - self.asked <= saved.keys and any(
            not isinstance(one, ir.Name) and same_path(one, other)
            for one in self.paths
            for other in saved.paths
        )

    def _is_named(self, saved: Saved) -> bool:
        """Has the file the same name?"""
        mine = {file_name(each) for each in self.paths} - {""}
        return not mine.isdisjoint(map(file_name, saved.paths))


def is_allowed_near(module: Module) -> bool:
    """Does a file that runs with one allow objects, or replace ``torch.load``?"""
    return any(
        not _ALLOWING.isdisjoint(each.tokens) or _replaces_load(each) for each in files_near(module)
    )


def _replaces_load(module: Module) -> bool:
    if "torch" not in module.tokens or "load" not in module.tokens:
        return False
    return any(
        path_of(target) == ("torch", "load")
        for point in objects_in(module).points
        if isinstance(point.statement, ir.Assign)
        for target in point.statement.targets
    )


def loads_in(objects: Objects) -> list[CallSite]:
    """The loads of a file that accept plain values only."""
    found = (site for site in objects.calls_to(_LOAD) if _is_safe(objects, site))
    return list(islice(found, _MOST))


def loaded_by(objects: Objects, sites: list[CallSite], saves: list[Saved]) -> Iterator[Loaded]:
    """What these calls load, and what is read of it, in other files of the keys that are saved."""
    read: dict[ir.Call, _Reads] = {site.call: _Reads() for site in sites}
    saved = frozenset(key for each in saves if each.held for key in each.keys)
    _read_in(objects, read, None)
    for module in files_near(objects.module):
        if module is not objects.module and not saved.isdisjoint(module.tokens):
            _read_in(objects.in_file(module), read, saved)
    for site in sites:
        found, path = read[site.call], objects.argument(site, "f", 0).value
        if path is not None:
            yield Loaded(
                site,
                frozenset(found.keys),
                frozenset(found.asked),
                tuple(forms_of(objects, path, site.point)),
                _asks_for_weights(objects, site),
            )


class _Reads:
    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.asked: set[str] = set()


def _is_safe(objects: Objects, site: CallSite) -> bool:
    """Is a load one that accepts plain values only, and that fails if there are others?"""
    if any(each.star for each in site.call.args):
        return False
    if not objects.argument(site, "pickle_module", 2).absent or _is_tried(site.point):
        return False
    given = objects.argument(site, "weights_only")
    return given.absent or is_none(given.value) or _asks_for_weights(objects, site)


def _asks_for_weights(objects: Objects, site: CallSite) -> bool:
    return objects.constant(objects.argument(site, "weights_only"), site.point) is True


def _is_tried(point: Point) -> bool:
    """Does something else follow where it fails, or is it for a version of torch?"""
    if any(
        "version" in word.lower() for test in tests_around(point) for word in ir.tokens_of(test)
    ):
        return True
    return any(
        isinstance(here.owner, ir.Try) and here.block is here.owner.body and here.owner.handlers
        for here in point.around
    )


def _read_in(objects: Objects, read: dict[ir.Call, _Reads], known: frozenset[str] | None) -> None:
    """Add what a file reads of what was loaded: of these keys, or of all."""

    def of(key: str, node: ir.Expr, point: Point) -> Iterator[_Reads]:
        if key and (known is None or key in known):
            for origin in objects.origins(node, point):
                if origin.call is not None and origin.call in read:
                    yield read[origin.call]

    for node, point in objects.nodes(ir.Subscript):
        for found in of(text_of(node.index), node.value, point):
            found.keys.add(text_of(node.index))
    for call, point in objects.nodes(ir.Call):
        func = call.func
        if isinstance(func, ir.Attribute) and func.attr in ("get", "pop") and call.args:
            key = text_of(call.args[0].value)
            for found in of(key, func.value, point):
                found.keys.add(key)
                if len(call.args) > 1 or func.attr == "get":
                    found.asked.add(key)
    for test, point in objects.nodes(ir.Compare):
        if test.ops[0] in ("in", "not in"):
            for found in of(text_of(test.left), _mapping(test.rights[0]), point):
                found.asked.add(text_of(test.left))


def _mapping(node: ir.Expr) -> ir.Expr:
    """``state`` of ``state.keys()``."""
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
        return node.func.value if node.func.attr == "keys" else node
    return node
