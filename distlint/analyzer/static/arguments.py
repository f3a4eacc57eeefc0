"""Which function a call runs, here or in another file, and what it is given."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.static.callers import called_elsewhere, is_seen, objects_in
from distlint.analyzer.static.journeys import method_elsewhere
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of


def run_by(objects: Objects, site: CallSite) -> tuple[Objects, ir.Function] | None:
    """The function or method of the project that a call runs, with the objects of its module."""
    callee = objects.callee(site)
    if isinstance(callee, ir.Function):
        return objects, callee
    if callee is not None:
        return None
    path = path_of(site.call.func)
    is_imported = path is not None and is_seen(objects, path, site.point)
    there = called_elsewhere(objects.module, site.call.func) if is_imported else None
    there = there or method_elsewhere(objects, site)
    if there is None or there[1].name == "__init__":
        return None
    return objects_in(there[0]), there[1]


def passed_by_name(function: ir.Function, call: ir.Call) -> dict[str, ir.Expr | None] | None:
    """What a call passes for each parameter of a function; None if that cannot be told."""
    params = list(function.params)
    if function.owner and not any(path_of(e) == ("staticmethod",) for e in function.decorators):
        params = params[1:]
    if any(each.star for each in call.args) or any(param.star for param in params):
        return None
    given: dict[str, ir.Expr | None] = {param.name: param.default for param in params}
    by_place = [each for each in call.args if each.keyword is None]
    if len(by_place) > len(params):
        return None
    for param, argument in zip(params, by_place, strict=False):
        given[param.name] = argument.value
    for argument in call.args:
        if argument.keyword is not None:
            given[argument.keyword] = argument.value
    return given
