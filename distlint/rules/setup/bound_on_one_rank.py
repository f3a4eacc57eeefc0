"""DST517: a variable that only one rank binds, used where all ranks come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.guards.gates import Gate, gates_before
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.rank_tests import may_name_rank
from distlint.analyzer.static.guards.selected_ranks import selecting_gate
from distlint.analyzer.static.names import Scope, expressions_of, names_given
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.reaching_definitions import Point, Search
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._tensors import same
from distlint.rules.setup._none_elsewhere import Missing, is_tested, leads_here, missing
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_ASKS = frozenset({"locals", "globals", "vars", "NameError", "UnboundLocalError"})
"""Words of a function that finds out what is bound."""


_DEPTH = 3
"""How many calls are followed up."""


class Unbound(NamedTuple):
    """A statement that reads a variable, and one that binds it under a test of the rank."""

    name: str
    use: Point
    binding: Point
    is_certain: bool
    """Is nothing tested on the way to the use that is not on the way to the binding?"""


class BoundOnOneRank(SourceRule):
    """A variable is bound under a rank check and used by all ranks.

    ```python
    if rank == 0:
        run_dir = make_run_dir()
    checkpoint = os.path.join(run_dir, "last.pt")  # bad: the other ranks have no `run_dir`
    ```

    ## Use instead

    Compute it on all ranks, or send it from the rank that has it:

    ```python
    run_dir = make_run_dir() if rank == 0 else None
    box = [run_dir]
    dist.broadcast_object_list(box, src=0)
    run_dir = box[0]
    ```

    ## Why is this bad?

    The ranks for which the check is false fail with `NameError` or `UnboundLocalError`. The rank
    that went on then waits for them in its next collective until the launcher ends it. With one
    process all is well, so tests on a laptop do not show it.

    ## What is reported

    A variable of a function or of the script whose assignments all stand under the same test of the
    rank, where a statement that all ranks reach reads it. It is a warning if another test, such as
    `if args.resume:`, is on the way to that statement.

    One that is None on the other ranks, `logger = make_logger() if rank == 0 else None`, where such
    a statement calls it or takes an attribute or an item of it, also in another function or file.

    ## What is not reported

    - Another statement binds the variable before on all ranks, or under the opposite test.
    - The use is under a test of the rank as well, or of a flag that is set under one.
    - The function asks for `locals()` or handles `NameError`.
    - The value that is None on some ranks is tested first: `if logger is not None:`.

    ## Fix safety

    None: whether the other ranks need the value or may skip the statement is open.

    ## References

    - [torch.distributed.broadcast_object_list](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast_object_list)
    """

    code = "DST517"
    name = "bound-on-one-rank"
    severity = Severity.ERROR
    exceptions = (Severity.WARNING,)

    good = (
        Example(
            title="Bound for the other ranks as well",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
run_dir = None
if dist.get_rank() == 0:
    run_dir = "run-1"
box = [run_dir]
dist.broadcast_object_list(box, src=0)
print(box[0])
dist.destroy_process_group()
""",
        ),
        Example(
            title="Used under the same test",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank == 0:
    history = []
for step in range(3):
    dist.barrier()
    if rank == 0:
        history.append(step)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A log that is None on the other ranks",
            effect="fail",
            code="""\
import logging

import torch.distributed as dist

dist.init_process_group("gloo")
log = logging.getLogger() if dist.get_rank() == 0 else None
log.info("begins")  # expect: DST517
dist.destroy_process_group()
""",
        ),
        Example(
            title="A directory that only rank 0 knows",
            effect="fail",
            code="""\
import os
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    run_dir = "run-1"
path = os.path.join(run_dir, "last.pt")  # expect: DST517
dist.destroy_process_group()
""",
        ),
        Example(
            title="A module that only one rank imports",
            effect="fail",
            code="""\
import torch.distributed as dist


def train(rank):
    if rank == 0:
        import json

        print(json.dumps({"rank": rank}))
    for step in range(2):
        dist.barrier()
        print(json.dumps({"step": step}))  # expect: DST517


dist.init_process_group("gloo")
train(dist.get_rank())
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        guards = guards_of(module, catalogue)
        yield from self._none_on_others(guards, module, catalogue, locators)
        if not may_name_rank(module.tokens):
            return
        locator = locators.of(module.key)
        for scope in guards.objects.names.scopes:
            for each in _unbound(guards, scope):
                if not _is_run_by_all(guards, scope, _DEPTH):
                    continue
                yield self.finding(
                    message=f"`{each.name}` is bound on one rank only",
                    severity=Severity.ERROR if each.is_certain else Severity.WARNING,
                    place=locator.place(each.use.statement.site),
                    related=(
                        Related(
                            "bound under a rank check", locator.place(each.binding.statement.site)
                        ),
                    ),
                    effect="the other ranks fail with `NameError`, and this one waits for them",
                    help="Bind it on all ranks, or send it with `broadcast_object_list`",
                )

    def _none_on_others(
        self, guards: Guards, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterator[Finding]:
        """The first use of each variable that is None on the other ranks."""
        objects, locator = objects_across(module, catalogue), locators.of(module.key)
        known = set[int]()
        for scope in objects.names.scopes:
            for point, each in _none_used(guards, objects, scope):
                if id(each.made.node) in known:
                    continue
                known.add(id(each.made.node))
                made = each.made.point
                there = locators.of(made.scope.module.key)
                yield self.finding(
                    message=f"`{each.name}` is None on all ranks but one",
                    severity=Severity.ERROR if _adds_no_test(point, made) else Severity.WARNING,
                    place=locator.place(point.statement.site),
                    related=(Related("made under a rank check", there.place(made.statement.site)),),
                    effect="the other ranks fail here, and this one waits for them",
                    help="Make it on all ranks, or use it under the same check",
                )


def _none_used(guards: Guards, objects: Objects, scope: Scope) -> Iterator[tuple[Point, Missing]]:
    """The statements of a scope that all ranks run, with what is None there on some."""
    differing: frozenset[str] | None = None
    is_run: bool | None = None
    for point in objects.points_in(scope):
        for each in missing(objects, _evaluated(point.statement), point):
            if is_run is None:
                is_run = leads_here(guards, scope) and _is_run_by_all(guards, scope, _DEPTH)
                differing = _differing(guards.objects)
            if not is_run or differing is None:
                return
            if is_tested(point, each.node) or _is_caught(point):
                continue
            if not _is_kept_from_some(guards, point, differing):
                if not guards.may_be_some_ranks(point):
                    yield point, each


def _unbound(guards: Guards, scope: Scope) -> Iterator[Unbound]:
    """The first use of each variable of a scope that other ranks have not bound."""
    objects, function = guards.objects, scope.function
    words = function.tokens if function is not None else objects.module.tokens
    points = sorted(objects.points_in(scope), key=lambda each: each.statement.site)
    if not _ASKS.isdisjoint(words) or not any(isinstance(e.statement, ir.If) for e in points):
        return
    bound = _bound_on_some(guards, scope, points)
    differing = _differing(objects) if bound else frozenset[str]()
    for point in points if bound else ():
        for name in sorted(_read(point.statement) & set(bound)):
            if _is_kept_from_some(guards, point, differing) or _is_caught(point):
                continue
            found, complete = Search((name,), scope).before(point.around)
            if found and not complete:
                yield Unbound(name, point, found[0].point, _adds_no_test(point, found[0].point))
                del bound[name]


def _bound_on_some(guards: Guards, scope: Scope, points: Iterable[Point]) -> dict[str, Gate]:
    """The variables that are bound under one test of the rank only, each with the test."""
    objects, function = guards.objects, scope.function
    if function is None and objects.module.star_imports:
        return {}
    gates: dict[str, Gate | None] = {}
    for point in points:
        names = set(names_given(point.statement))
        gate = selecting_gate(objects, point) if names else None
        for name in names:
            known = gates.setdefault(name, gate)
            if known is None or gate is None or not _is_same(known, gate):
                gates[name] = None
    others = set(objects.index.global_writers) if function is None else set()
    return {
        name: gate
        for name, gate in gates.items()
        if gate is not None
        and name not in others
        and (function is None or name in function.locals)
        and not scope.has_param(name)
    }


def _is_same(one: Gate, two: Gate) -> bool:
    return one.wanted is two.wanted and same(one.test, two.test)


@lru_cache(maxsize=8)
def _differing(objects: Objects) -> frozenset[str]:
    """The variables and attributes of a file that may have another value on some ranks."""
    return frozenset(
        name
        for point in objects.points
        if any(may_name_rank(ir.tokens_of(each)) for each in expressions_of(point.statement))
        or selecting_gate(objects, point)
        for name in (*names_given(point.statement), *_attributes_set(point.statement))
    )


def _attributes_set(statement: ir.Stmt) -> Iterator[str]:
    for target in _targets(statement):
        if isinstance(target, ir.Attribute):
            yield target.attr


def _is_kept_from_some(guards: Guards, point: Point, differing: frozenset[str]) -> bool:
    """May a test or a context keep ranks from a statement, also by what some ranks have set?"""
    if selecting_gate(guards.objects, point):
        return True
    function = point.scope.function
    asked = [gate.test for gate in gates_before(point)]
    asked += [h.owner.context for h in point.around if isinstance(h.owner, ir.With)]
    asked += function.decorators if function is not None else ()
    words = frozenset[str]().union(*map(ir.tokens_of, asked))
    return may_name_rank(words) or not words.isdisjoint(differing)


def _is_run_by_all(guards: Guards, scope: Scope, depth: int) -> bool:
    """Do all ranks run a scope, by what the calls of it show?"""
    callers = list(guards.all_callers(scope)) if depth and scope.function is not None else []
    return not callers or any(
        not _is_kept_from_some(there, site.point, _differing(there.objects))
        and _is_run_by_all(there, site.point.scope, depth - 1)
        for there, site in callers
    )


def _is_caught(point: Point) -> bool:
    """Does a handler go on after whatever fails: ``except Exception: pass``?"""
    return any(
        isinstance(here.owner, ir.Try)
        and here.block is here.owner.body
        and any(not ir.is_left(each.body) for each in here.owner.handlers)
        for here in point.around
    )


def _adds_no_test(use: Point, binding: Point) -> bool:
    """Is each test on the way to the use also on the way to the binding?"""
    passed = {id(gate.test) for gate in gates_before(binding)}
    return all(id(gate.test) in passed for gate in gates_before(use))


def _read(statement: ir.Stmt) -> set[str]:
    """The variables that a statement reads whenever it is run."""
    found: set[str] = set()
    for each in _evaluated(statement):
        if isinstance(each, ir.Name):
            found.add(each.id)
        elif isinstance(each, ir.Comprehension):
            own = frozenset[str]().union(*(ir.names_in(target) for target, _, _ in each.clauses))
            found |= ir.names_in(each) - own
    return found


def _evaluated(statement: ir.Stmt) -> list[ir.Expr]:
    """The expressions that a statement evaluates whenever it is run; comprehensions as a whole."""
    targets = _targets(statement)
    bound = set(map(id, targets))
    roots: list[ir.Expr] = [
        each for each in targets if isinstance(each, (ir.Attribute, ir.Subscript))
    ]
    roots += [
        child
        for child in ir.children(statement)
        if isinstance(child, ir.Expr) and id(child) not in bound
    ]
    return [each for root in roots for each in _evaluated_by(root)]


def _targets(statement: ir.Stmt) -> tuple[ir.Expr, ...]:
    if isinstance(statement, (ir.Assign, ir.Delete)):
        return statement.targets
    if isinstance(statement, ir.For):
        return (statement.target,)
    if isinstance(statement, ir.With) and statement.target is not None:
        return (statement.target,)
    return ()


def _evaluated_by(node: ir.Expr) -> Iterator[ir.Expr]:
    """The parts of an expression that are evaluated in any case: not on one side of a test."""
    waiting: list[object] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (ir.Lambda, ir.Function)):
            continue
        if isinstance(each, ir.Expr):
            yield each
        if isinstance(each, ir.BoolOp):
            waiting.append(each.values[0])
        elif isinstance(each, ir.Conditional):
            waiting.append(each.test)
        elif not isinstance(each, ir.Comprehension):
            waiting += ir.children(each)
