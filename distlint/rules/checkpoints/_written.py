"""What one rank writes: by which call, under which test, and how the path is written.

The write may be in a function that is called under the test, here or in another file. Its path is
then what the caller would write for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from distlint.analyzer import ir
from distlint.analyzer.static.arguments import passed_by_name, run_by
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import Around, Scope, calls_of, expressions_in, names_given
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.checkpoints._all_ranks import LOOKS
from distlint.rules.checkpoints._file_calls import (
    MAKERS_OF_FOLDERS,
    READERS_OF_FILES,
    made_folder,
    read_file,
    writers_of_files,
    written_file,
)
from distlint.rules.checkpoints._paths import replaced, same, same_path, spelled
from distlint.rules.setup._order import tests_around

MEETS = re.compile(
    r"barrier|wait|synchron|broadcast|reduce|gather|scatter|rendezvous|\bDDP\b|Parallel|prepare"
    r"|first|FSDP|fully_shard|sleep|exists|isfile|isdir|destroy|spawn|fit|launch|init"
)
"""Calls behind which the file is there: the ranks meet, or look for it themselves."""

_SURE = re.compile(r"barrier|synchron|broadcast|reduce|gather|scatter|rendezvous|everyone")
"""Those of them in whose names nothing else is meant, also where the project has the function."""

ONLY_LOOK = frozenset({"exists", "isfile", "isdir", "sleep"})
"""Those of them by which the ranks do not meet."""

_JOINED = {
    True: {("!=", -1), (">", -1), (">=", 0), ("is not", None), ("!=", None)},
    False: {("==", -1), ("<=", -1), ("<", 0), ("is", None), ("==", None)},
}
"""Comparisons of the rank that tell a run of many processes, by holding or by not holding."""

_DEPTH = 3
"""How many functions lead from the test to the write, at most."""


@dataclass(frozen=True, slots=True)
class Used:
    """A path that a function uses, as one of its callers writes it.

    ``owner`` is the class whose objects keep the path, where it is not the caller's own ``self``.
    """

    path: ir.Expr
    makes: bool = False
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """A write of one rank, or the call that leads to it, and the place of the test around it."""

    site: CallSite
    around: tuple[Around, ...]
    used: Used
    full: ir.Expr | None = None
    """The path with its variables spelled out, as long as these stay what they are."""

    @property
    def path(self) -> ir.Expr:
        return self.used.path


def guarded_writes(writers: Writers) -> Iterator[Write]:
    """The writes under a test of the rank, and then the calls of functions that write.

    With the calls of functions that test the rank themselves.
    """
    objects = writers.objects
    for site in objects.calls(_called(objects)):
        used = written_by(objects, site)
        around = _place_of_test(site)
        if used is not None and around is not None:
            yield Write(site, around, used)
    for scope in _scopes_that_use(writers):
        for point in objects.points_in(scope):
            for call in calls_of(point.statement):
                yield from _written_through(writers, CallSite(call, point))


def full(objects: Objects, write: Write) -> Write:
    """The same with the variables of its path spelled out."""
    return replace(write, full=spelled(write.path, objects, write.site.point.scope))


def is_of(objects: Objects, path: ir.Expr, point: Point, write: Write) -> bool:
    """Is a path, as it stands at a statement, the one that is written?"""
    if same(path, write.path):
        return True
    return write.full is not None and same_path(spelled(path, objects, point.scope), write.full)


def _written_through(writers: Writers, site: CallSite) -> Iterator[Write]:
    """What one rank writes in the function that a call runs."""
    objects = writers.objects
    is_here = objects.callee(site) is not None
    if written_by(objects, site) is not None:
        return
    around = _place_of_test(site)
    is_method = around is not None and isinstance(site.call.func, ir.Attribute)
    if not (is_here or is_method or writers.is_given_path(site)):
        return
    if around is not None:
        if _is_for_one(site):
            for used in writers.through(objects, site, is_tested=False):
                yield Write(site, around, used)
    elif not _may_be_for_some(site):
        for used in writers.through(objects, site, is_tested=True):
            yield Write(site, site.point.around, used)


def _scopes_that_use(writers: Writers) -> Iterator[Scope]:
    """Where something may be read or written, or a function is named that does."""
    objects, uses = writers.objects, _uses(writers.objects)
    names = {*uses, *(f.name for f in objects.module.functions if not uses.isdisjoint(f.tokens))}
    names |= writers.imported
    for scope in objects.names.scopes:
        tokens = scope.function.tokens if scope.function is not None else objects.module.tokens
        if not names.isdisjoint(tokens):
            yield scope


def imported_users(objects: Objects) -> Iterator[str]:
    """The names of functions and classes of other files of the project that read or write."""
    module, uses = objects.module, _uses(objects) | MAKERS_OF_FOLDERS
    for statement in module.import_statements if module.project is not None else ():
        for local, _, attr in statement.bindings:
            there = module.lead_to(local) if attr not in (None, "*") else None
            node = there[1] if there is not None else None
            if isinstance(node, ir.Function) and not uses.isdisjoint(node.tokens):
                yield local
            elif isinstance(node, ir.Class):
                if any(not uses.isdisjoint(each.tokens) for each in node.methods.values()):
                    yield local


def _called(objects: Objects) -> frozenset[str]:
    return writers_of_files(objects.catalogue) | MAKERS_OF_FOLDERS


def _uses(objects: Objects) -> frozenset[str]:
    return writers_of_files(objects.catalogue) | READERS_OF_FILES


def written_by(objects: Objects, site: CallSite) -> Used | None:
    """What a call writes itself."""
    if site.name not in _called(objects) and site.name not in objects.module.aliases:
        return None
    made = made_folder(objects, site)
    path = made if made is not None else written_file(objects, site)
    return Used(path, made is not None) if path is not None else None


def _used_by(objects: Objects, site: CallSite) -> ir.Expr | None:
    """The path that a call reads or writes."""
    read = read_file(objects, site)
    return read if read is not None else written_file(objects, site)


class Writers:
    """The functions that calls of a module lead to and that write, each read once."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self._paths = [
            part
            for site in objects.calls(_uses(objects))
            if (path := _used_by(objects, site)) is not None
            for part in expressions_in(path)
            if isinstance(part, ir.Expr)
        ]
        self.imported = frozenset(imported_users(objects))
        self._known: dict[tuple[ir.Function, bool, int], tuple[Used, ...]] = {}

    def is_given_path(self, site: CallSite) -> bool:
        """Is a call given a path that the module uses, or what one is made of?

        Or does it run what is known to use one?
        """
        return site.name in self.imported or any(
            same(argument.value, part) for argument in site.call.args for part in self._paths
        )

    def through(
        self, objects: Objects, site: CallSite, *, is_tested: bool, depth: int = _DEPTH
    ) -> Iterator[Used]:
        """What the function that a call runs writes, as the caller would write it.

        On each rank that runs it, or, where ``is_tested``, on the one that it picks.
        """
        run = run_by(objects, site) if depth else None
        for used in self._of(*run, is_tested, depth) if run is not None else ():
            handed = handed_by(used, *run, objects, site) if run is not None else None
            if handed is not None:
                yield handed

    def _of(
        self, where: Objects, function: ir.Function, is_tested: bool, depth: int
    ) -> tuple[Used, ...]:
        key = (function, is_tested, depth)
        if key not in self._known:
            self._known[key] = ()  # the answer for a function that calls itself
            self._known[key] = tuple(self._found(where, function, is_tested, depth))
        return self._known[key]

    def _found(
        self, where: Objects, function: ir.Function, is_tested: bool, depth: int
    ) -> Iterator[Used]:
        scope = where.scope_of(function)
        points = where.points_in(scope) if scope is not None else ()
        sites = [CallSite(call, point) for point in points for call in calls_of(point.statement)]
        if any(is_named_to_meet(where, e) for e in sites if e.name not in ONLY_LOOK):
            return
        found = [used for each in sites for used in self._at(where, each, is_tested, depth)]
        if found and not any(may_meet(where, e) for e in sites if e.name not in ONLY_LOOK):
            yield from found

    def _at(self, where: Objects, site: CallSite, is_tested: bool, depth: int) -> Iterator[Used]:
        """What a call in a function writes, itself or through another one."""
        own = written_by(where, site)
        if not is_tested and own is not None:
            if not _may_be_for_some(site):
                yield own
            return
        is_one = is_tested and _place_of_test(site) is not None and _is_for_one(site)
        if own is not None:
            if is_one:
                yield own
        elif is_one or not _may_be_for_some(site):
            if not isinstance(where.callee(site), ir.Function):
                return  # no second file
            is_still = is_tested and not is_one
            yield from self.through(where, site, is_tested=is_still, depth=depth - 1)


def handed_by(
    used: Used, where: Objects, function: ir.Function, objects: Objects, site: CallSite
) -> Used | None:
    """A path of a function, as a call of it would write it; None if that cannot be written."""
    scope = where.scope_of(function)
    if scope is None:
        return None
    path = spelled(used.path, where, scope)
    names = ir.names_in(path)
    own = names & (function.locals | {param.name for param in function.params})
    if used.owner:
        return used
    receiver = site.call.func.value if isinstance(site.call.func, ir.Attribute) else None
    if "self" in own and path_of(receiver) != ("self",):
        return Used(path, used.makes, function.owner) if own == {"self"} else None
    passed = passed_by_name(function, site.call)
    if passed is None:
        return None
    changed = {n for point in where.points_in(scope) for n in names_given(point.statement)}
    given = {n: value for n, value in passed.items() if value is not None and n not in changed}
    given["self"] = ir.Name("self")
    if not own <= set(given):
        return None
    if where is not objects and not all(_is_same(n, where, objects, site) for n in names - own):
        return None
    return Used(replaced(path, given), used.makes)


def _is_same(name: str, where: Objects, objects: Objects, site: CallSite) -> bool:
    """Do two files import the same under a name?"""
    there = where.names.origin(name, where.names.scopes[0])
    return there is not None and there == objects.names.origin(name, site.point.scope)


def _place_of_test(site: CallSite) -> tuple[Around, ...] | None:
    """The place of the test of the rank that a call stands under, or the call's own behind one."""
    around = site.point.around
    for level in range(len(around) - 1, 0, -1):
        here = around[level]
        if isinstance(here.owner, ir.If) and here.block is here.owner.body:
            if _asks_for_the_rank(here.owner.test) and not here.owner.orelse:
                return around[:level]
    return around if left_before(site) else None


def _may_be_for_some(site: CallSite) -> bool:
    """Does a test of the rank stand around a call, or one that leaves before it?"""
    return any(map(asks_rank, tests_around(site.point))) or left_before(site)


def _is_for_one(site: CallSite) -> bool:
    """Does a test pick the ranks that reach a call?"""
    return left_before(site) or any(
        isinstance(here.owner, ir.If)
        and here.block is here.owner.body
        and picks(here.owner.test, True)
        for here in site.point.around
    )


def left_before(site: CallSite) -> bool:
    """Have the other ranks left the function before a call: ``if rank != 0: return``?"""
    return any(
        isinstance(each, ir.If)
        and not each.orelse
        and picks(each.test, True)
        and each.body
        and isinstance(each.body[-1], ir.Return)
        for here in site.point.around
        for each in here.block[: here.index]
    )


def _asks_for_the_rank(test: ir.Expr) -> bool:
    """Is a condition about the rank, and not about the file of one: ``exists(rank_dir)``?"""
    if isinstance(test, ir.Not):
        return _asks_for_the_rank(test.value)
    if isinstance(test, ir.BoolOp):
        return any(map(_asks_for_the_rank, test.values))
    return asks_rank(test) and not (isinstance(test, ir.Call) and ir.last_name(test.func) in LOOKS)


def picks(test: ir.Expr, holds: bool) -> bool:
    """Is a condition about the rank, and not about there being one: ``local_rank != -1``?"""
    if isinstance(test, ir.BoolOp) and test.op == ("and" if holds else "or"):
        return any(picks(value, holds) for value in test.values)
    if isinstance(test, ir.Compare) and len(test.ops) == 1:
        right, sign = test.rights[0], 1
        if isinstance(right, ir.Unary) and right.op == "-":
            right, sign = right.value, -1
        bound = right.value if isinstance(right, ir.Literal) else ...
        if (test.ops[0], sign * bound if isinstance(bound, int) else bound) in _JOINED[holds]:
            return False
    return asks_rank(test)


def may_meet(objects: Objects, site: CallSite) -> bool:
    """May the ranks meet in a call, or in the function that it runs?"""
    if is_named_to_meet(objects, site):
        return True
    run = run_by(objects, site)
    return run is not None and any(map(_meets, run[1].tokens - {site.name}))


def is_named_to_meet(objects: Objects, site: CallSite) -> bool:
    """Is a call named like a meeting? What a function of the project is named says less."""
    if not MEETS.search(site.name):
        return False
    run = run_by(objects, site) if not _SURE.search(site.name) else None
    return run is None or _meets_inside(*run, _DEPTH)


def _meets(token: str) -> bool:
    return MEETS.search(token) is not None


def _meets_inside(objects: Objects, function: ir.Function, depth: int) -> bool:
    """May the ranks meet in a function, or in those of the project that it runs?"""
    if any(map(_meets, function.tokens - {function.name})):
        return True
    scope = objects.scope_of(function)
    for point in objects.points_in(scope) if scope is not None else ():
        for call in calls_of(point.statement):
            run = run_by(objects, CallSite(call, point))
            if run is not None and (not depth or _meets_inside(*run, depth - 1)):
                return True
    return False
