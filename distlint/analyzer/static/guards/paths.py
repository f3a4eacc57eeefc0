"""Whether a path, or an open file, may be another one in each process."""

from __future__ import annotations

import re
from collections.abc import Sequence

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import Guards
from distlint.analyzer.static.guards.rank_arithmetic import is_made_from_rank, passed_values
from distlint.analyzer.static.names import Scope, expressions_in
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

_OWN = re.compile(
    r"rank|process_i|procid|uuid|getpid|hostname|mkdtemp|mkstemp|(?<!at)temp(?!lat|erat)|tmp"
    r"|worker|shard|gpu|device|node|BytesIO|StringIO|stdout|stderr|buffer|(?:^|_)mpu(?:_|$)",
    re.IGNORECASE,
)
"""Words of a path, or of what it is made of, that may differ between processes."""
_DRAWN = frozenset({"random", "secrets", "choices", "randint", "token_hex", "getrandbits"})
"""Words of what is drawn in each process for itself, as long as nothing is seeded."""
_COUNTER = re.compile(r"(?:^|_)(?:steps?|epochs?|iters?|iterations?)(?:_|$)")
"""Words of what counts the training: the same in each process, unless it counts from the rank."""
_BUFFER = re.compile(r"BytesIO|buffer|stream|fileobj|bytes", re.IGNORECASE)
_Read = tuple[str, int]
"""A name, and the statement that reads it: what it is there may be made of what it was before."""
_DEPTH = 4
"""How many assignments and calls are followed from a path to what it is made of."""


def is_own(guards: Guards, path: ir.Expr | None, point: Point) -> bool:
    """May a path (or an open file) be another one in each process?"""
    return path is not None and _own(guards, path, point, _DEPTH, set())


def is_buffer(guards: Guards, node: ir.Expr, scope: Scope) -> bool:
    """May it be a file in memory?"""
    values = [node, *(value for value, _ in guards.assignments.to(ir.last_name(node)))]
    return any(_BUFFER.search(token) for value in values for token in ir.tokens_of(value))


def _own(guards: Guards, node: ir.Expr, point: Point, depth: int, seen: set[_Read]) -> bool:
    here = id(point.statement)
    tokens = ir.tokens_of(node)
    if any(_OWN.search(token) for token in tokens):
        return True
    if not _DRAWN.isdisjoint(tokens) and not guards.seeds:
        return True
    if depth == 0:
        return False
    for item in list(expressions_in(node)):
        if isinstance(item, ir.Call):
            if is_made_from_rank(guards, item, point) or _is_handed_out(guards, item, point):
                return True
        if not isinstance(item, (ir.Name, ir.Attribute)) or _is_seen(item, here, seen):
            continue
        name = ir.last_name(item)
        seen.add((name, here))
        if _COUNTER.search(name):
            if is_made_from_rank(guards, item, point):
                return True
            continue
        given = guards.assignments.reaching(item, point)
        if any(
            _own(guards, part, where, depth - 1, seen)
            for value, where in given
            for part in _parts_for(name, value, where)
        ):
            return True
        put = guards.assignments.put_into(item, point, given)
        if any(_own(guards, value, where, depth, seen) for value, where in put):
            return True
        if isinstance(item, ir.Name) and _passed_own(guards, name, point, depth, seen):
            return True
    return False


def _parts_for(name: str, value: ir.Expr, where: Point) -> Sequence[ir.Expr]:
    """What a name takes its values from: of a loop over ``zip(a, b)`` or ``enumerate(a)``, a part.

    The number of an item is the same in each process, whatever the items are.
    """
    loop = where.statement
    if not isinstance(loop, ir.For) or value is not loop.iterable:
        return [value]
    target, parts = loop.target, [value]
    while isinstance(target, ir.Display) and len(parts) == 1:
        given = _items_of(parts[0], len(target.items))
        place = [name in ir.names_bound(each) for each in target.items]
        if given is None or place.count(True) != 1:
            break
        target, parts = target.items[place.index(True)], list(given[place.index(True)])
    return parts


def _items_of(iterable: ir.Expr, count: int) -> list[Sequence[ir.Expr]] | None:
    """What each of the items that a loop binds at once is taken from, where that is written out."""
    if not isinstance(iterable, ir.Call) or not iterable.args:
        return None
    name, args = ir.last_name(iterable.func), iterable.args
    if name == "tqdm":
        return _items_of(args[0].value, count)
    if name == "enumerate" and count == 2:
        return [[each.value for each in args[1:]], [args[0].value]]
    if name == "zip" and not any(each.star for each in args):
        given = [[each.value] for each in args if each.keyword is None]
        return list(given) if len(given) == count else None
    return None


def _is_seen(item: ir.Name | ir.Attribute, here: int, seen: set[_Read]) -> bool:
    """Was it looked at? An attribute has one value wherever it is read, as far as is known."""
    name = ir.last_name(item)
    if isinstance(item, ir.Name):
        return (name, here) in seen
    return any(name == each for each, _ in seen)


def _is_handed_out(guards: Guards, call: ir.Call, point: Point) -> bool:
    """Does a framework hand out a directory for this process, or for the trial that it runs?"""
    objects = guards.objects
    lookup = objects.names.catalogue.lookup
    called = [objects.called(CallSite(call, point))]
    if not called[0] and isinstance(call.func, ir.Attribute):
        for origin in objects.origins(call.func.value, point):
            made = lookup(objects.called(origin.site)) if origin.site is not None else None
            kinds = made.returns.kinds if made is not None and made.returns is not None else ()
            kinds = (kinds,) if isinstance(kinds, str) else kinds
            called += [f"{kind}.{call.func.attr}" for kind in kinds]
    entries = map(lookup, filter(None, called))
    return any(each and each.local is not None and each.local.directory for each in entries)


def _passed_own(guards: Guards, name: str, point: Point, depth: int, seen: set[_Read]) -> bool:
    """Is a parameter given a process's own path by some caller?"""
    function = point.scope.function
    if function is None or not point.scope.has_param(name):
        return False
    if any("shard" in param.name.lower() for param in function.params):
        return True  # that says whether each process saves a separate part
    known: dict[int, set[_Read]] = {}
    for where, caller, value in passed_values(guards, name, point):
        names = seen if where is guards else known.setdefault(id(caller), {*seen})
        if _own(where, value, caller.point, depth - 1, names):
            return True
    return False
