"""What other ranks do with a path that one rank deletes, before they meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import calls_of, expressions_of, placed
from distlint.analyzer.static.reaching_definitions import holds, path_of
from distlint.rules.gradients._steps import exclude

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.names import Names, Scope
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Path, Point

TELLS_PATH = frozenset({"broadcast_object_list", "scatter_object_list", "broadcast_object"})
MEETS = frozenset({"barrier", "wait_for_everyone", "all_reduce", "all_gather", *TELLS_PATH})
_LOGS = frozenset({"print", "debug", "info", "warning", "error", "log"})
_MAKES = frozenset(
    {"makedirs", "mkdir", "open", "save", "save_file", "save_pretrained", "copytree", "touch"}
)
_READS = frozenset({"load", "load_file", "safe_open", "open", "load_state_dict", "read_text"})


def _behind(guards: Guards, site: CallSite) -> Iterator[Point]:
    """The statements of the function behind a call, as long as the ranks have not met."""
    points = sorted(
        guards.objects.points_in(site.point.scope), key=lambda each: each.statement.site
    )
    for point in points:
        if point.statement.site <= site.point.statement.site or exclude(site.point, point):
            continue
        called = {ir.last_name(call.func) for call in calls_of(point.statement)}
        if not MEETS.isdisjoint(called) and not guards.may_be_some_ranks(point):
            return
        yield point


def is_used_behind(guards: Guards, site: CallSite, path: ir.Expr) -> bool:
    """Do all ranks go on with what was deleted, before they meet: ``os.makedirs(path)``?"""
    names = _variables(guards.names, path, site.point.scope)
    for point in _behind(guards, site):
        called = {ir.last_name(call.func) for call in calls_of(point.statement)}
        if not called.isdisjoint(_LOGS) or guards.may_be_some_ranks(point):
            continue
        for part in expressions_of(point.statement):
            if names and all(holds(part, name) for name in names):
                return True
    return False


def is_made_again(guards: Guards, site: CallSite, path: ir.Expr) -> bool:
    """Does any rank write there again, before they meet?"""
    known = [_variables(guards.names, path, site.point.scope)]
    for point in _behind(guards, site):
        for call in calls_of(point.statement):
            if ir.last_name(call.func) in _MAKES and any(_is_in(names, call) for names in known):
                return True
        if isinstance(point.statement, ir.Assign):
            if any(_is_in(names, point.statement.value) for names in known):
                known += [{name} for each in point.statement.targets if (name := path_of(each))]
    return False


def _is_in(names: set[Path], node: ir.Expr) -> bool:
    return bool(names) and all(holds(node, name) for name in names)


def _variables(names: Names, path: ir.Expr, scope: Scope) -> set[Path]:
    """The variables that a path, or a command, is made of."""
    found: set[Path] = set()
    stack: list[object] = [path]
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Call):
            stack.extend(argument.value for argument in node.args)
            if isinstance(node.func, ir.Attribute) and not isinstance(
                node.func.value, ir.Attribute
            ):
                stack.append(node.func.value)  # `path.joinpath("a")`
        elif isinstance(node, ir.Expr) and (name := path_of(node)) is not None:
            found.add(name)
        else:
            stack.extend(ir.children(node))
    return found


def read_last(region: ir.With) -> int | None:
    """A read of a file whose name one rank has sent, and whose end no rank waits for."""
    told, saved, read = False, False, None
    for statement, around in sorted(placed(region.body), key=lambda pair: pair[0].site):
        on_one = any(
            isinstance(here.owner, ir.If) and asks_rank(here.owner.test) for here in around
        )
        for call in calls_of(statement):
            name = ir.last_name(call.func)
            saved |= on_one and name not in _READS
            if name in MEETS and not on_one:
                told, read = told or name in TELLS_PATH, None
            elif told and saved and name in _READS and not on_one:
                read = statement.site
    return read
