"""The names by which a file knows wrapped models: what is worth a look at its origins."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite


def name_of(node: ir.Expr) -> str:
    """The last name of a variable, an attribute or an item of a dict."""
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Literal):
        return str(node.index.value)
    return ir.last_name(node)


def held_by(wraps: list[CallSite]) -> frozenset[str]:
    """The last names of the variables that wrappers are assigned to."""
    found: set[str] = set()
    for wrap in wraps:
        if isinstance(wrap.point.statement, ir.Assign):
            for target in wrap.point.statement.targets:
                items = target.items if isinstance(target, ir.Display) else (target,)
                found.update(map(name_of, items))
    return frozenset(found - {""})


def passed_on(objects: Objects, held: frozenset[str]) -> frozenset[str]:
    """With the names that functions of the file give what they are passed."""
    found = set(held)
    for name in objects.called_names:
        for site in objects.calls({name}):
            given = [argument for argument in site.call.args if name_of(argument.value) in held]
            function = objects.callee(site) if given else None
            if isinstance(function, ir.Function):
                found.update(param.name for param in function.params)
    return frozenset(found)


def set_on(objects: Objects) -> frozenset[str]:
    """The attributes that the file assigns from outside, to whatever it may be."""
    found: set[str] = set()
    for point in objects.points:
        statement = point.statement
        for target in statement.targets if isinstance(statement, ir.Assign) else ():
            if isinstance(target, ir.Attribute):
                if not (isinstance(target.value, ir.Name) and target.value.id == "self"):
                    found.add(target.attr)
    return frozenset(found)
