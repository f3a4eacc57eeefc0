"""Where other ranks use what one rank writes: by which call, or in the function that it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.arguments import run_by
from distlint.analyzer.static.guards.guards import Guards
from distlint.analyzer.static.names import calls_of, expressions_in, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.checkpoints._file_calls import (
    made_folder,
    opened_or_written,
    read_file,
)
from distlint.rules.checkpoints._paths import same
from distlint.rules.checkpoints._written import (
    Used,
    Write,
    Writers,
    handed_by,
    is_of,
    may_meet,
    picks,
    written_by,
)
from distlint.rules.setup._order import last_of, tests_around

_TRAINS = re.compile(r"train|run|learn|evaluat|validat|test|main")
"""Methods of unknown objects in which the ranks may meet."""


def goes_backward(objects: Objects, site: CallSite) -> bool:
    """May it go through a backward pass, in which the ranks meet if the model is wrapped?"""
    if site.name == "backward":
        return True
    run = run_by(objects, site)
    if run is not None:
        return "backward" in run[1].tokens
    func = site.call.func
    is_model = isinstance(func, ir.Attribute) and "model" in (last_of(func.value) or "").lower()
    return bool(_TRAINS.match(site.name)) and not objects.called(site) and not is_model


def use_in(guards: Guards, site: CallSite, write: Write) -> ir.Call | None:
    """The use of a path by a call, or the read in the function of the file that it runs."""
    used = _used_by(guards.objects, site, write)
    if used is not None:
        return site.call if _is_meant(guards.objects, used, site.point, write) else None
    return _used_through(guards, site, write)


def _used_by(objects: Objects, site: CallSite, write: Write) -> ir.Expr | None:
    """The path that a call uses, if it needs what is written."""
    return (opened_or_written if write.used.makes else read_file)(objects, site)


def _is_meant(objects: Objects, used: ir.Expr, point: Point, write: Write) -> bool:
    """Is a path that of the file that is written, or in the folder that is made?"""
    if write.used.makes:
        return _below(used, write.path, point)
    return is_of(objects, used, point, write)


def _used_through(guards: Guards, site: CallSite, write: Write) -> ir.Call | None:
    """The use of a path in the function that a call runs, if all ranks come to it.

    The call itself where that function is in another file.
    """
    objects, run = guards.objects, guards.called(site)
    if run is None or run[1].function is None:
        return None
    where, scope = run
    for point in where.objects.points_in(scope):
        for call in calls_of(point.statement):
            inner = CallSite(call, point)
            used = _used_by(where.objects, inner, write)
            if used is None or list(tests_around(point)):
                continue
            if where.conditions.guard(scope, point.around) or where.conditions.chooses(inner):
                continue
            handed = handed_by(Used(used), where.objects, run[1].function, objects, site)
            if handed is None or handed.owner:
                continue
            if _is_meant(objects, handed.path, site.point, write):
                return call if where is guards else site.call
    return None


def makes_below(writers: Writers, site: CallSite, folder: ir.Expr) -> bool:
    """Is a folder in the one that was made, or that one itself, made with all above it?"""
    objects = writers.objects
    made = made_folder(objects, site)
    if made is None or site.name != "makedirs":
        every = writers.through(objects, site, is_tested=False)
        return any(each.makes and same(each.path, folder) for each in every)
    return same(made, folder) or _below(made, folder, site.point)


def _below(used: ir.Expr, folder: ir.Expr, point: Point) -> bool:
    """Is a path made from the folder's, by its looks?"""
    values = [used]
    if isinstance(used, (ir.Name, ir.Attribute, ir.Subscript)):
        values = [
            statement.value
            for statement, _ in placed(point.scope.body)
            if isinstance(statement, ir.Assign)
            and any(same(target, used) for target in statement.targets)
        ]
    return any(same(item, folder) for value in values for item in expressions_in(value))


def used_in_other_arm(guards: Guards, write: Write, owner: ir.If) -> ir.Call | None:
    """The first use of a path in the other arm of a test, as long as those ranks do not wait."""
    is_body = any(here.block is owner.body for here in write.site.point.around)
    arm = owner.orelse if is_body else owner.body
    for statement, around in sorted(placed(arm), key=lambda pair: pair[0].site):
        point = Point(write.site.point.scope, (*write.around, *around))
        for call in calls_of(statement):
            site = CallSite(call, point)
            if may_meet(guards.objects, site) or goes_backward(guards.objects, site):
                return None
            is_tested = any(isinstance(here.owner, ir.If) for here in around)
            use = use_in(guards, site, write) if not is_tested else None
            if use is not None:
                return use
    return None


def writes_in_arms(writers: Writers) -> Iterator[tuple[Write, ir.If]]:
    """What is written in one arm of a test of the rank that has two."""
    for site in writers.objects.calls(writers.objects.called_names):
        around = site.point.around
        for level, here in enumerate(around):
            owner = here.owner
            if isinstance(owner, ir.If) and owner.orelse and _is_about_rank(owner.test):
                own = written_by(writers.objects, site)
                through = writers.through(writers.objects, site, is_tested=False)
                for used in [own] if own is not None else through:
                    if not used.owner:
                        yield Write(site, around[:level], used), owner


def _is_about_rank(test: ir.Expr) -> bool:
    return picks(test, True) and picks(test, False)
