"""What a call deletes, and whether it fails where that has gone already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.paths import is_own
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.rules.checkpoints._commands import deleting

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.names import Around
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Point

_DELETERS = frozenset({"shutil.rmtree", "os.remove", "os.unlink", "os.rmdir", "os.removedirs"})
NAMES = frozenset(name.rpartition(".")[2] for name in _DELETERS)
OF_PATHS = frozenset({"unlink", "rmdir"})
_LISTS = frozenset({"glob", "rglob", "iterdir"})
_MADE = frozenset({"Path", "joinpath", "with_suffix", "with_name", "with_stem"})
"""What makes a path of pathlib."""
_ADDS = frozenset({"append", "appendleft"})
_TAKES = frozenset({"pop", "popleft"})
_MODULES = (("glob",),)
_FORGIVES = frozenset({"ignore_errors", "onerror", "onexc", "missing_ok"})
_FORGIVING = frozenset(
    {"OSError", "FileNotFoundError", "FileExistsError", "Exception", "BaseException"}
)


@dataclass(frozen=True, slots=True)
class Deletion:
    """What a call deletes, and by what; does it fail where that is missing?"""

    by: str
    path: ir.Expr
    fails: bool


def deletion_at(guards: Guards, site: CallSite) -> Deletion | None:
    """What a call deletes: by itself, or by a command that it runs."""
    command = deleting(guards.objects, site)
    if command is not None:
        fails = command.fails and not is_forgiven(site)
        return Deletion(command.program, command.words, fails)
    path = deleted_by(guards, site)
    return Deletion(site.name, path, not is_forgiven(site)) if path is not None else None


def deleted_by(guards: Guards, site: CallSite) -> ir.Expr | None:
    """The path that a function deletes, or that a method is called on: ``path.unlink()``."""
    called, func = guards.objects.called(site), site.call.func
    if isinstance(func, ir.Attribute) and site.name in OF_PATHS:
        if called.startswith("pathlib.") or (not called and _is_path(guards, func.value, site)):
            return func.value
    return guards.objects.argument(site, "path", 0).value if called in _DELETERS else None


def _is_path(guards: Guards, node: ir.Expr, site: CallSite) -> bool:
    """Is it a path, as pathlib lists or joins them, or one taken from a list of those?"""
    if _is_listed(guards, node, site):
        return True
    if isinstance(node, (ir.Name, ir.Attribute)):
        made = [value for value, _ in guards.assignments.reaching(node, site.point)]
        return bool(made) and all(_joins(each) or _is_taken(guards, each, site) for each in made)
    return _joins(node) or _is_taken(guards, node, site)


def _joins(node: ir.Expr) -> bool:
    """``folder / "a.pt"``, ``Path(name)``"""
    if isinstance(node, ir.Binary):
        return node.op == "/"
    return isinstance(node, ir.Call) and ir.last_name(node.func) in _MADE


def _is_taken(guards: Guards, node: ir.Expr, site: CallSite) -> bool:
    """Is it taken from a list that is given paths only, the same ones by each process?"""
    if not isinstance(node, ir.Call) or not isinstance(node.func, ir.Attribute):
        return False
    if node.func.attr not in _TAKES:
        return False
    kept = path_of(node.func.value)
    given = [
        (each.call.args[0].value, each)
        for each in guards.objects.calls(_ADDS)
        if isinstance(each.call.func, ir.Attribute) and each.call.args
        if path_of(each.call.func.value) == kept is not None
        if kept[0] == "self" or each.point.scope is site.point.scope
    ]
    return bool(given) and all(
        (_joins(value) or _is_made(guards, value, at)) and not is_own(guards, value, at.point)
        for value, at in given
    )


def _is_made(guards: Guards, node: ir.Expr, site: CallSite) -> bool:
    made = guards.assignments.reaching(node, site.point) if isinstance(node, ir.Name) else ()
    return bool(made) and all(_joins(value) for value, _ in made)


def _is_listed(guards: Guards, node: ir.Expr, site: CallSite) -> bool:
    """Is it a path that pathlib has found in a folder?"""
    return isinstance(node, ir.Name) and any(
        isinstance(item, ir.Call)
        and isinstance(item.func, ir.Attribute)
        and item.func.attr in _LISTS
        and path_of(item.func.value) not in _MODULES
        for value in _followed(guards, node, site.point)
        for item in expressions_in(value)
    )


def _followed(guards: Guards, node: ir.Name, point: Point) -> Iterator[ir.Expr]:
    """What a variable may stand for, and what the variables in that may."""
    for value, where in guards.assignments.reaching(node, point):
        yield value
        for item in expressions_in(value):
            if isinstance(item, ir.Name):
                yield from (each for each, _ in guards.assignments.reaching(item, where))


def is_forgiven(site: CallSite) -> bool:
    """Is a file that has gone already expected?"""
    if any(each.keyword in _FORGIVES for each in site.call.args):
        return True
    return any(_forgives(here) for here in site.point.around)


def _forgives(here: Around) -> bool:
    if isinstance(here.owner, ir.With):
        return "suppress" in ir.tokens_of(here.owner.context)
    if isinstance(here.owner, ir.Try) and here.block is here.owner.body:
        return any(
            handler.types is None or not _FORGIVING.isdisjoint(_names(handler.types))
            for handler in here.owner.handlers
        )
    return False


def _names(types: ir.Expr) -> frozenset[str]:
    return frozenset(token for item in expressions_in(types) for token in ir.tokens_of(item))
