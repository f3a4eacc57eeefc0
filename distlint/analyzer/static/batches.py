"""Which loops go over batches: what they go over is fed to a model, and so differs by rank.

A loader that is a parameter says nothing of itself. It is known by its use: what is taken from it
flows into something that goes backward, or is computed with and put together over the ranks, or
through a model in a function that puts together what they have found. An evaluation that does not
may read the same on all ranks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.static.call_names import MODEL_NAMES

Names = frozenset[str]
Loop = ir.For | ir.While

_AGREES = re.compile(
    r"all_?reduce|all_?gather|(^|_)gather(?!_(csr|coo))|broadcast|(?<![af])(?<!no_)sync(?!ed|_?(batch|bn))"
    r"|across"
    r"|reduce_?(mean|sum|dict|tensor|loss|value|metric|scalar)|(average|mean|sum)_(over|all)",
    re.IGNORECASE,
)
_LOADERS = re.compile(r"load|batch|data|iter(ator)?$|(^|_)dl$|samples", re.IGNORECASE)

_WRAPPERS = frozenset({"enumerate", "tqdm", "zip", "iter", "islice", "cycle", "list", "prefetch"})


def is_agreement(name: str) -> bool:
    """Does a function from outside the project, by its full name, seem to ask all ranks?"""
    return bool(_AGREES.search(name.rpartition(".")[2]))


def puts_together(function: ir.Function) -> bool:
    """Does a function mention a reduction or a gathering of what the ranks have?"""
    return any(_AGREES.search(each) and "broadcast" not in each for each in function.tokens)


def over_batches(
    body: ir.Block, called: Callable[[str], Iterable[ir.Function]] = lambda name: ()
) -> frozenset[ir.For | ir.Call]:
    """The loops over batches in the body of a function, and the calls that fetch one.

    ``called`` returns the functions of the project that a name may stand for.
    """
    loops = list(_loops(body))
    if not loops:
        return frozenset()
    names = {ir.last_name(n.func) for n in ir.own_nodes(body) if isinstance(n, ir.Call)}
    agrees = any(map(_AGREES.search, names)) or any(
        any(map(puts_together, called(name))) for name in sorted(_called_outside(body))
    )
    found: dict[ir.For | ir.Call, Names] = {}
    inside: dict[Loop, list[str]] = defaultdict(list)
    for loop, around in sorted(loops, key=lambda each: -each[0].site):  # those inside come first
        for source, taken in _sources(loop):
            derived = _derived(loop.body, taken)
            if any(base and base not in derived for base in inside[loop]):
                continue  # it is a loop inside that goes over the batches
            if _is_named_so(source) and (
                _goes_backward(loop.body, derived)
                or (agrees and (_feeds(loop, derived) or _is_reduced(loop.body, derived - taken)))
            ):
                found[source] = derived
                for each in around:
                    inside[each].append(_base(_iterable(source)))
    return frozenset(found)


def _called_outside(body: ir.Block) -> set[str]:
    """The names of what is called outside the loops: there, what they gave is complete."""
    found = set[str]()
    stack: list[Any] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Call):
            found.add(ir.last_name(node.func))
        if not isinstance(node, (ir.For, ir.While, ir.Function, ir.Class)):
            stack.extend(ir.children(node))
    return found


def _loops(body: ir.Block) -> Iterator[tuple[Loop, tuple[Loop, ...]]]:
    """The loops in a body, each with those around it."""
    stack: list[tuple[Any, tuple[Loop, ...]]] = [(node, ()) for node in body]
    while stack:
        node, around = stack.pop()
        if isinstance(node, (ir.For, ir.While)):
            yield node, around
            around = (*around, node)
        if not isinstance(node, (ir.Function, ir.Class)):
            stack.extend((child, around) for child in ir.children(node))


def _sources(loop: Loop) -> Iterator[tuple[ir.For | ir.Call, Names]]:
    """What a loop may take batches from, and the variables that then hold one."""
    if isinstance(loop, ir.For) and not _counts(loop.iterable):
        yield loop, _items(loop.target, loop.iterable)
    for statement in loop.body:
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Call):
            if ir.last_name(statement.value.func) == "next" and statement.value.args:
                taken = frozenset[str]().union(*map(ir.names_bound, statement.targets))
                yield statement.value, taken


def _items(target: ir.Expr, iterable: ir.Expr) -> Names:
    """The variables of a loop but the one that ``enumerate`` counts in."""
    while isinstance(iterable, ir.Call) and ir.last_name(iterable.func) == "tqdm" and iterable.args:
        iterable = iterable.args[0].value
    is_counted = isinstance(iterable, ir.Call) and ir.last_name(iterable.func) == "enumerate"
    if is_counted and isinstance(target, ir.Display) and len(target.items) == 2:
        target = target.items[1]
    return ir.names_bound(target)


def _counts(iterable: ir.Expr) -> bool:
    """Does it go over numbers, or over the parts of something?"""
    name = ir.last_name(iterable.func) if isinstance(iterable, ir.Call) else ""
    return name in {"range", "trange", "items", "keys", "parameters", "named_parameters"}


def _iterable(source: ir.For | ir.Call) -> ir.Expr:
    return source.iterable if isinstance(source, ir.For) else source.args[0].value


def _is_named_so(source: ir.For | ir.Call) -> bool:
    """Has it the name of a loader? Of what `zip` puts together, only the first is taken for one."""
    node = _iterable(source)
    while isinstance(node, ir.Call) and ir.last_name(node.func) in _WRAPPERS and node.args:
        node = node.args[0].value
    return any(_LOADERS.search(name) for name in ir.tokens_of(node))


def _base(node: ir.Expr) -> str:
    """The variable that holds what is gone over."""
    while True:
        if isinstance(node, (ir.Attribute, ir.Subscript)):
            node = node.value
        elif isinstance(node, ir.Call):
            is_wrapper = not isinstance(node.func, ir.Attribute) or (
                ir.last_name(node.func) in _WRAPPERS
            )
            if is_wrapper and not node.args:
                return ""
            node = node.args[0].value if is_wrapper else node.func
        else:
            return node.id if isinstance(node, ir.Name) else ""


def _derived(body: ir.Block, taken: Names) -> Names:
    """The variables of a loop that hold what was taken, or what came of it."""
    found = set(taken)
    statements = sorted(_statements(body), key=lambda each: each.site)
    for statement in statements:
        if isinstance(statement, (ir.Assign, ir.AugAssign)):
            if not found.isdisjoint(ir.names_in(statement.value)):
                targets = (
                    statement.targets if isinstance(statement, ir.Assign) else (statement.target,)
                )
                found.update(*map(ir.names_bound, targets))
        elif isinstance(statement, ir.For):
            if not found.isdisjoint(ir.names_in(statement.iterable)):
                found |= _items(statement.target, statement.iterable)
    return frozenset(found)


def _goes_backward(body: ir.Block, derived: Names) -> bool:
    """Does the backward pass begin at something that came of the batch?"""
    return any(
        isinstance(node, ir.Call)
        and ir.last_name(node.func) == "backward"
        and not derived.isdisjoint(ir.names_in(node))
        for node in ir.own_nodes(body)
    )


def _is_reduced(body: ir.Block, computed: Names) -> bool:
    """Do the ranks put together what was computed from the batch?"""
    return any(
        isinstance(node, ir.Call)
        and "broadcast" not in ir.last_name(node.func)
        and _AGREES.search(ir.last_name(node.func))
        and any(not computed.isdisjoint(ir.names_in(each.value)) for each in node.args)
        for node in ir.own_nodes(body)
    )


def _feeds(loop: Loop, derived: Names) -> bool:
    """Is a model called with it, by its name?"""
    return any(
        isinstance(node, ir.Call)
        and ir.last_name(node.func).lower().endswith(MODEL_NAMES)
        and any(not derived.isdisjoint(ir.names_in(each.value)) for each in node.args)
        for node in ir.own_nodes(loop.body)
    )


def _statements(block: ir.Block) -> Iterable[ir.Stmt]:
    return (node for node in ir.own_nodes(block) if isinstance(node, ir.Stmt))
