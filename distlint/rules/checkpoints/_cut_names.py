"""Where the prefix of a wrapper is taken off the names of a state dict, and by what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects

PREFIXES = frozenset({"module.", "_orig_mod."})
_METHODS = frozenset({"replace", "removeprefix", "lstrip", "strip", "split", "sub"})
_DICTS = frozenset({"dict", "OrderedDict"})
_LONGEST_PATTERN = 40
_SAMPLE = "module.weight"


@dataclass(frozen=True, slots=True)
class Cut:
    """A call that takes a prefix off a name; ``way`` is the method that it uses."""

    site: CallSite
    way: str
    prefix: str
    pattern: str = ""

    @property
    def anywhere(self) -> bool:
        """Does it cut wherever the word stands?"""
        return self.way in ("replace", "split", "sub")

    @property
    def characters(self) -> bool:
        """Does it cut single characters?"""
        return self.way in ("lstrip", "strip")

    def applied_to(self, name: str) -> str:
        """What it makes of a name."""
        if self.way == "sub":
            return re.sub(self.pattern, "", name)
        if self.way == "split":
            return name.split(self.prefix)[-1]
        return name.replace(self.prefix, "")


def cuts_in(objects: Objects) -> Iterator[Cut]:
    """The calls that take a wrapper's prefix off the names of a state dict."""
    for site in objects.calls(_METHODS):
        if isinstance(site.call.func, ir.Attribute):
            cut = _by_pattern(objects, site) if site.name == "sub" else _by_text(objects, site)
            if cut is not None and _is_a_key(objects, site):
                yield cut


def _by_text(objects: Objects, site: CallSite) -> Cut | None:
    first = objects.constant(objects.argument(site, "", 0), site.point)
    if not isinstance(first, str) or first not in PREFIXES:
        return None
    if site.name == "replace":
        second = objects.constant(objects.argument(site, "", 1), site.point)
        if second != "" or first != "module.":
            return None  # blocks compiled one by one have `_orig_mod.` inside as well
    if site.name == "split" and (len(site.call.args) != 1 or not _takes_what_follows(site)):
        return None
    return Cut(site, site.name, first)


def _takes_what_follows(site: CallSite) -> bool:
    """Is it ``key.split("module.")[-1]``, or ``[1]``?"""
    return any(
        isinstance(node, ir.Subscript) and node.value is site.call and _is_one(node.index)
        for node in nodes_of(site.point.statement)
    )


def _is_one(node: ir.Expr) -> bool:
    """Is it the index 1 or -1?"""
    number = node.value if isinstance(node, ir.Unary) and node.op == "-" else node
    return isinstance(number, ir.Literal) and number.value == 1


def _by_pattern(objects: Objects, site: CallSite) -> Cut | None:
    """``re.sub("module.", "", key)``, also of a compiled pattern: not one for the start only."""
    assert isinstance(site.call.func, ir.Attribute)
    is_method = path_of(site.call.func) != ("re", "sub")
    args = [each.value for each in site.call.args]
    if len(args) != 3 - is_method or any(each.keyword for each in site.call.args):
        return None
    if is_method:
        made = [each.site for each in objects.origins(site.call.func.value, site.point)]
        compiled = made[0] if len(made) == 1 else None
        if compiled is None or objects.called(compiled) != "re.compile":
            return None
        pattern = objects.constant(objects.argument(compiled, "pattern", 0), compiled.point)
    else:
        pattern = objects.constant(objects.argument(site, "pattern", 0), site.point)
    by = args[0 if is_method else 1]
    if not isinstance(by, ir.Literal) or by.value != "" or not isinstance(pattern, str):
        return None
    return Cut(site, "sub", "module.", pattern) if _cuts_anywhere(pattern) else None


def _cuts_anywhere(pattern: str) -> bool:
    if len(pattern) > _LONGEST_PATTERN or "module" not in pattern:
        return False
    try:
        found = [re.sub(pattern, "", name) for name in (_SAMPLE, f"x.sub_{_SAMPLE}")]
    except re.error:
        return False
    return found[0] == "weight" and found[1] in ("x.sub_weight", "x.subweight")


def _is_a_key(objects: Objects, site: CallSite) -> bool:
    """Does what is left become a name under which something is stored or looked up?"""
    if any(True for _ in dicts_around(site)) or _is_index(site):
        return True
    statement = site.point.statement
    if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return isinstance(target, ir.Name) and any(
        isinstance(node, ir.Subscript)
        and isinstance(node.index, ir.Name)
        and node.index.id == target.id
        for point in objects.points_in(site.point.scope)
        if target.id in ir.tokens_of(point.statement)
        for node in nodes_of(point.statement)
    )


def dicts_around(site: CallSite) -> Iterator[int]:
    """The dicts that a statement spells out, by a loop, in whose keys the call stands."""
    for item in nodes_of(site.point.statement):
        if isinstance(item, ir.Comprehension) and item.kind == "dict":
            if _is_in_pairs(item, site.call):
                yield id(item)
        elif isinstance(item, ir.Call) and ir.last_name(item.func) in _DICTS:
            for argument in item.args:
                if _is_in_pairs(argument.value, site.call):
                    yield id(item)


def _is_in_pairs(node: ir.Expr, call: ir.Call) -> bool:
    """Does a call make the first of the pairs that a dict is made of?"""
    pair = node.element if isinstance(node, ir.Comprehension) else None
    if not isinstance(pair, ir.Display) or len(pair.items) != 2:
        return False
    return any(inner is call for inner in expressions_in(pair.items[0]))


def _is_index(site: CallSite) -> bool:
    """Is it the name under which something is stored: ``clean[key.replace(...)] = value``?"""
    statement = site.point.statement
    return isinstance(statement, ir.Assign) and any(
        isinstance(target, ir.Subscript)
        and any(inner is site.call for inner in expressions_in(target.index))
        for target in statement.targets
    )
