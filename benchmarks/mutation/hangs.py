"""Operators that part the ranks: what a rule of the family DST1xx has to find.

The ``..._call`` operators do the same to calls of functions that do the collective in another file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from benchmarks.mutation.operators import Operator, Site, one_line
from benchmarks.mutation.repository import Repository
from benchmarks.mutation.source import RANK_WORDS, Source, last_name, names_in, walk_own

_WRAPS = re.compile(
    r"DistributedDataParallel\(|\bDDP\(|FullyShardedDataParallel\(|\bFSDP\(|accelerator\.prepare"
    r"|fabric\.setup|fully_shard\("
)
_BARRIERS = frozenset({"barrier", "wait_for_everyone", "synchronize"})

Event = tuple[ast.stmt, ast.Call]
"""A statement that does a collective, and the call in it."""


def own_events(source: Source, repository: Repository) -> Iterator[Event]:
    """The collectives that a file does itself."""
    for statement in source.statements:
        if found := source.collective_in(statement):
            yield statement, found[1]


def far_events(source: Source, repository: Repository) -> Iterator[Event]:
    """The calls of functions of other files that do a collective."""
    if source not in repository.far_events:
        repository.far_events[source] = list(_far_events(source, repository))
    yield from repository.far_events[source]


def _far_events(source: Source, repository: Repository) -> Iterator[Event]:
    for statement in source.statements:
        if isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call):
            call = statement.value
            if source.collective(call):
                continue
            found = repository.callee(source, call)
            if found and found[0] is not source and repository.meets(*found):
                yield statement, call


def why_equivalent(source: Source, node: ast.AST) -> str:
    """Why ranks that part at a node make no difference."""
    return source.rank_guard(node) or source.unusual(node)


def negated(test: str) -> str:
    if " == 0" in test:
        return test.replace(" == 0", " != 0")
    if " in " in test:
        return test.replace(" in ", " not in ")
    return f"not ({test})" if " " in test else f"not {test}"


def _wrapped(source: Source, statement: ast.stmt, call: ast.Call) -> Iterator[Site]:
    if isinstance(statement, ast.Assign):
        given = names_in(*call.args, *(each.value for each in call.keywords))
        if not names_in(*statement.targets) <= given:
            return  # the other ranks would fail at the next line
    if why := why_equivalent(source, statement):
        yield Site(statement.lineno, one_line(statement), equivalent=why)
        return
    test, deeper = source.rank_0(statement, call), source.deeper(statement)
    if test and deeper:
        rows = [f"{source.indent(statement)}if {test}:\n", *deeper]
        what = f"`{one_line(statement)}` under `if {test}:`"
        yield Site(statement.lineno, what, source.replaced(statement, statement, rows))


def wrap(source: Source, repository: Repository) -> Iterator[Site]:
    """Do a collective on rank 0 only."""
    for event in own_events(source, repository):
        yield from _wrapped(source, *event)


def wrap_call(source: Source, repository: Repository) -> Iterator[Site]:
    """Call a function that does a collective on rank 0 only."""
    for event in far_events(source, repository):
        yield from _wrapped(source, *event)


def _returning(source: Source, statement: ast.stmt, call: ast.Call) -> Iterator[Site]:
    function = source.function_of(statement)
    if function is None or _gives_back(function):
        return
    top = statement
    while source.parents[top] is not function:
        above = source.parents[top]
        if not isinstance(above, ast.stmt):
            return
        top = above
    if why := why_equivalent(source, statement):
        yield Site(statement.lineno, one_line(statement), equivalent=why)
        return
    test = source.rank_0(top, call)
    if test and not names_in(ast.parse(test)) - _known(source, function, top):
        what = f"`if {negated(test)}: return` before `{one_line(statement)}`"
        rows = (f"if {negated(test)}:", f"{source.step}return")
        yield Site(statement.lineno, what, source.inserted(top, *rows))


def _gives_back(function: ast.AST) -> bool:
    """Does a function return a value, or is it a generator? Callers fail without it."""
    return any(
        isinstance(node, ast.Yield | ast.YieldFrom)
        or (isinstance(node, ast.Return) and node.value is not None)
        for node in walk_own(function)
    )


def _known(source: Source, function: ast.AST, before: ast.stmt) -> set[str]:
    """Names that have a value before a statement of a function's body, or are the module's."""
    own = {
        node.id: node.lineno
        for node in walk_own(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    late = {name for name, row in own.items() if row >= before.lineno}
    mentioned = names_in(source.tree) | set(source.imports)
    return (mentioned | {"self"}) - late


def early_return(source: Source, repository: Repository) -> Iterator[Site]:
    """Leave a function before its collective on all ranks but 0."""
    for event in own_events(source, repository):
        yield from _returning(source, *event)


def early_return_call(source: Source, repository: Repository) -> Iterator[Site]:
    """Leave a function on all ranks but 0 before it calls one that does a collective."""
    for event in far_events(source, repository):
        yield from _returning(source, *event)


def delete_paired_barrier(source: Source, repository: Repository) -> Iterator[Site]:
    """Delete the barrier of some ranks which those of the others meets."""
    for statement, place in source.places.items():
        if not _is_barrier_of_some(source, statement):
            continue
        for other in place.block[place.index + 1 :]:
            if _is_barrier_of_some(source, other) and source.is_alone(statement):
                assert isinstance(statement, ast.If)
                assert isinstance(other, ast.If)
                if ast.dump(statement.test) == ast.dump(other.test):
                    break  # the same ranks wait twice
                for branch in (statement, other):
                    barrier = _barrier_in(source, branch)
                    if barrier is not None and source.is_alone(barrier):
                        what = f"no `{one_line(barrier)}` under `if {one_line(branch.test)}:`"
                        yield Site(barrier.lineno, what, source.without(barrier))
                break


def _is_barrier_of_some(source: Source, statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.If)
        and not statement.orelse
        and RANK_WORDS.search(ast.unparse(statement.test)) is not None
        and _barrier_in(source, statement) is not None
    )


def _barrier_in(source: Source, branch: ast.If) -> ast.stmt | None:
    for statement in branch.body:
        found = source.collective_in(statement)
        if found and found[0] in _BARRIERS:
            return statement
    return None


def _loss(statement: ast.stmt) -> ast.expr | None:
    """The loss whose gradients a statement computes."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    func = statement.value.func
    if not isinstance(func, ast.Attribute) or func.attr != "backward":
        return None
    if last_name(func.value) in ("accelerator", "fabric") and statement.value.args:
        return statement.value.args[0]
    if isinstance(func.value, ast.Name):
        return func.value
    if isinstance(func.value, ast.Call) and last_name(func.value.func) == "scale":
        return func.value.args[0] if func.value.args else None  # scaler.scale(loss).backward()
    return None


def local_break(source: Source, repository: Repository) -> Iterator[Site]:
    """Leave a training loop when the loss of this rank is bad."""
    if not _WRAPS.search(source.text):
        return
    for statement in source.statements:
        loss = _loss(statement)
        if isinstance(loss, ast.Name):
            yield from _breaking(source, statement, f"{loss.id}.item() > 1e4", loss.id)


def _breaking(source: Source, before: ast.stmt, test: str, name: str) -> Iterator[Site]:
    loop = next(source.loops_around(before), None)
    if loop is None or before.lineno > (loop.body[-1].end_lineno or 0):
        return
    why = why_equivalent(source, before)
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and "reduce" in last_name(node.func):
            if name in names_in(node) and node.lineno < before.lineno:
                why = why or "the loss is that of all ranks"
    if why:
        yield Site(before.lineno, f"break if {test}", equivalent=why)
        return
    what = f"`if {test}: break` before `{one_line(before)}`"
    text = source.inserted(before, f"if {test}:", f"{source.step}break")
    yield Site(before.lineno, what, text)


def local_break_call(source: Source, repository: Repository) -> Iterator[Site]:
    """Leave a loop by the clock of this rank, before a function that does a collective."""
    if not source.has_clock:
        return
    for statement, _ in far_events(source, repository):
        yield from _breaking(source, statement, "time.time() > 2e9", "time")


def clock_break(source: Source, repository: Repository) -> Iterator[Site]:
    """Leave a loop by the clock of this rank, before a collective."""
    if not source.has_clock:
        return
    for statement, _ in own_events(source, repository):
        yield from _breaking(source, statement, "time.time() > 2e9", "time")


def drop_reduce(source: Source, repository: Repository) -> Iterator[Site]:
    """Forget to reduce what a decision rests on."""
    for statement, call in own_events(source, repository):
        if not isinstance(statement, ast.Expr) or source.collective(call) not in (
            "all_reduce", "broadcast", "broadcast_object_list",
        ):  # fmt: skip
            continue
        values = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "tensor")]
        if values and isinstance(values[0], ast.Name):
            decision = _decision(source, statement, values[0].id)
            if decision is None:
                continue
            why = why_equivalent(source, statement)
            what = f"no `{one_line(statement)}` before `{one_line(decision)}` decides"
            text = "" if why else source.without(statement)
            yield Site(statement.lineno, what, text, why)


def _decision(source: Source, after: ast.stmt, name: str) -> ast.expr | None:
    """The condition behind a statement that rests on a variable and parts what ranks do next."""
    held = {name}
    scope = source.scope_of(after)
    later = [
        node
        for node in walk_own(scope)
        if isinstance(node, ast.stmt) and node.lineno > (after.end_lineno or 0)
    ]
    for node in sorted(later, key=lambda each: each.lineno):
        if isinstance(node, ast.Assign) and not held.isdisjoint(names_in(node.value)):
            held |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, ast.If | ast.While) and not held.isdisjoint(names_in(node.test)):
            if not _NO_VALUE.search(ast.unparse(node.test)) and _parts(source, node, scope):
                return node.test
    return None


_NO_VALUE = re.compile(
    r"requires_grad|is_floating_point|dtype|\.shape|\.device|is None|is not None"
)


def _parts(source: Source, branch: ast.If | ast.While, scope: ast.AST) -> bool:
    """Do ranks that take different arms of a branch do different collectives?"""
    nodes = list(walk_own(branch))
    if any(map(source.is_meeting, nodes)):
        return True
    region: ast.AST | None = None
    if any(isinstance(node, ast.Break | ast.Continue) for node in nodes):
        region = next(source.loops_around(branch), None)
    elif any(isinstance(node, ast.Return) for node in nodes):
        region = scope
    if region is None:
        return False
    return any(
        source.is_meeting(node) and (region is not scope or node.lineno > branch.lineno)
        for node in walk_own(region)
        if isinstance(node, ast.Call)
    )


def swap(source: Source, repository: Repository) -> Iterator[Site]:
    """Do two collectives of different kinds in the other order on rank 0.

    In the other order on all ranks they still match; two of one kind match in any order, and only
    their contents are wrong.
    """
    for statement, call in own_events(source, repository):
        place = source.places[statement]
        if place.index + 1 == len(place.block):
            continue
        second = place.block[place.index + 1]
        found = source.collective_in(second)
        if found is None or not source.is_alone(second):
            continue
        if isinstance(statement, ast.Assign) or isinstance(second, ast.Assign):
            continue
        what = f"`{one_line(statement)}` and `{one_line(second)}` change places on rank 0"
        if found[0] == source.collective(call):
            yield Site(statement.lineno, what, equivalent="two of one kind match")
            continue
        if why := why_equivalent(source, statement):
            yield Site(statement.lineno, what, equivalent=why)
            continue
        test = source.rank_0(statement, call)
        one, two = source.deeper(statement), source.deeper(second)
        if test and one and two:
            indent = source.indent(statement)
            rows = [f"{indent}if {test}:\n", *two, *one, f"{indent}else:\n", *one, *two]
            yield Site(statement.lineno, what, source.replaced(statement, second, rows))


_HANGS = ("DST1", "DST407")
_MEET = (b"distributed", b"accelerator", b"fabric", b"comm")

OPERATORS = (
    Operator("collective under a rank test", wrap, _HANGS, _MEET),
    Operator("barrier of a pair deleted", delete_paired_barrier, _HANGS, _MEET),
    Operator("return on other ranks", early_return, _HANGS, _MEET),
    Operator("break on the loss of a rank", local_break, _HANGS, (b"backward",)),
    Operator("break on the clock of a rank", clock_break, _HANGS, _MEET),
    Operator("reduce before a decision dropped", drop_reduce, _HANGS, _MEET),
    Operator("two collectives swapped", swap, _HANGS, _MEET),
    Operator("call under a rank test", wrap_call, _HANGS, (b"import",), "across files"),
    Operator(
        "return on other ranks before a call",
        early_return_call,
        _HANGS,
        (b"import",),
        "across files",
    ),
    Operator("break before a call", local_break_call, _HANGS, (b"time",), "across files"),
)
