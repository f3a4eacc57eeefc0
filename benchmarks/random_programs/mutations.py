"""One wrong step in a correct script, of the kinds that people make.

A mutant may happen to be correct all the same: the oracle says.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

from benchmarks.random_programs.trees import (
    Body,
    bodies,
    collective,
    fill_empty,
    prune_uncalled,
    unparse,
)

Mutation = Callable[[ast.Module, random.Random], bool]
"""Changes the tree in place; False when it found no place to."""

RANK_TESTS = (
    "dist.get_rank() == 0",
    "dist.get_rank() == 0",
    "dist.get_rank() != 0",
    "dist.get_rank() % 2",
    "dist.get_rank() < 2",
)
LOCAL_TEST = "random.random() < 0.5"


def _statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _test(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _collectives(tree: ast.Module) -> list[tuple[Body, int]]:
    return [
        (statements, place)
        for statements in bodies(tree)
        for place, statement in enumerate(statements)
        if collective(statement)
    ]


def _inside(tree: ast.Module, kinds: tuple[type[ast.AST], ...]) -> list[Body]:
    """List the bodies that lie inside a node of these kinds, up to the next function."""
    found: list[Body] = []

    def visit(node: ast.AST, inside: bool) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inside = isinstance(node, kinds)
        elif isinstance(node, kinds):
            inside = True
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                if statements and inside:
                    found.append(statements)
                for child in statements:
                    visit(child, inside)
        for handler in getattr(node, "handlers", ()):
            visit(handler, inside)

    visit(tree, False)
    return found


def _guard(rng: random.Random) -> str:
    return LOCAL_TEST if rng.random() < 0.25 else rng.choice(RANK_TESTS)


def delete(tree: ast.Module, rng: random.Random) -> bool:
    """Forget a collective."""
    if not (sites := _collectives(tree)):
        return False
    statements, place = rng.choice(sites)
    del statements[place]
    return True


def guard(tree: ast.Module, rng: random.Random) -> bool:
    """Do a collective on some ranks only."""
    if not (sites := _collectives(tree)):
        return False
    statements, place = rng.choice(sites)
    statements[place] = ast.If(_test(_guard(rng)), [statements[place]], [])
    return True


def move(tree: ast.Module, rng: random.Random) -> bool:
    """Do a collective somewhere else."""
    if not (sites := _collectives(tree)):
        return False
    statements, place = rng.choice(sites)
    taken = statements.pop(place)
    target = rng.choice([each for each in bodies(tree) if each is not tree.body] or [statements])
    target.insert(rng.randint(0, len(target)), taken)
    return True


def swap(tree: ast.Module, rng: random.Random) -> bool:
    """Do two collectives in the other order."""
    sites = [
        (statements, places)
        for statements in bodies(tree)
        if len(places := [n for n, each in enumerate(statements) if collective(each)]) > 1
    ]
    if not sites:
        return False
    statements, places = rng.choice(sites)
    first, second = rng.sample(places, 2)
    statements[first], statements[second] = statements[second], statements[first]
    return True


def return_before(tree: ast.Module, rng: random.Random) -> bool:
    """Leave a function on some ranks."""
    inside = _inside(tree, (ast.FunctionDef,))
    sites = [(b, n) for b, n in _collectives(tree) if any(b is each for each in inside)]
    if not sites:
        return False
    statements, place = rng.choice(sites)
    statements.insert(place, _statement(f"if {_guard(rng)}:\n    return"))
    return True


def leave_loop(tree: ast.Module, rng: random.Random) -> bool:
    """Break out of a loop, or skip the rest of an iteration, on some ranks."""
    if not (sites := _inside(tree, (ast.For, ast.While))):
        return False
    statements = rng.choice(sites)
    how = rng.choice(("break", "continue"))
    place = rng.randint(0, len(statements))
    statements.insert(place, _statement(f"if {_guard(rng)}:\n    {how}"))
    return True


def exit_early(tree: ast.Module, rng: random.Random) -> bool:
    """End the process on some ranks as if all were well."""
    if not (sites := _collectives(tree)):
        return False
    statements, place = rng.choice(sites)
    statements.insert(place, _statement(f"if {_guard(rng)}:\n    exit(0)"))
    return True


def wrong_comparison(tree: ast.Module, rng: random.Random) -> bool:
    """Test the wrong rank."""
    sites = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and "rank" in ast.unparse(node.left)
        and isinstance(node.ops[0], ast.Eq | ast.NotEq)
    ]
    if not sites:
        return False
    node = rng.choice(sites)
    kind = rng.random()
    if kind < 0.4:
        node.ops[0] = ast.NotEq() if isinstance(node.ops[0], ast.Eq) else ast.Eq()
    elif kind < 0.7:
        node.left = _test("dist.get_rank()")
    else:
        node.comparators[0] = ast.Constant(1)
    return True


def negate(tree: ast.Module, rng: random.Random) -> bool:
    """Take the wrong arm."""
    sites = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    sites = [node for node in sites if "__name__" not in ast.unparse(node.test)]
    if not sites:
        return False
    node = rng.choice(sites)
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return True


def swallow(tree: ast.Module, rng: random.Random) -> bool:
    """Go on after an exception as if nothing had happened."""
    sites = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    if not sites:
        return False
    rng.choice(sites).body = [ast.Pass()]
    return True


def wrong_argument(tree: ast.Module, rng: random.Random) -> bool:
    """Disagree about the root, the group or the reduction."""
    calls = [call for node in ast.walk(tree) if (call := collective(node)) and call.keywords]
    if not calls:
        return False
    call = rng.choice(calls)
    keyword = rng.choice(call.keywords)
    if keyword.arg in ("src", "dst"):
        keyword.value = _test("dist.get_rank()")
    elif keyword.arg == "op":
        keyword.value = _test("dist.ReduceOp.MIN if dist.get_rank() == 0 else dist.ReduceOp.SUM")
    else:
        call.keywords.remove(keyword)
    return True


def uneven_loop(tree: ast.Module, rng: random.Random) -> bool:
    """Loop more often on some ranks."""
    sites = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    if not sites:
        return False
    rng.choice(sites).iter = _test(
        rng.choice(("range(dist.get_rank() % 2)", "range(1 + dist.get_rank() % 2)"))
    )
    return True


def pull_in(tree: ast.Module, rng: random.Random) -> bool:
    """Indent a statement into the branch above it."""
    sites = [
        (statements, place)
        for statements in bodies(tree)
        for place in range(len(statements) - 1)
        if isinstance(statements[place], ast.If) and statements is not tree.body
    ]
    if not sites:
        return False
    statements, place = rng.choice(sites)
    branch = statements[place]
    assert isinstance(branch, ast.If)
    branch.body.append(statements.pop(place + 1))
    return True


def push_out(tree: ast.Module, rng: random.Random) -> bool:
    """Move the last statement of a branch out of it."""
    sites = [
        (statements, place, branch)
        for statements in bodies(tree)
        for place, branch in enumerate(statements)
        if isinstance(branch, ast.If) and statements is not tree.body
    ]
    if not sites:
        return False
    statements, place, branch = rng.choice(sites)
    statements.insert(place + 1, branch.body.pop())
    return True


MUTATIONS: tuple[Mutation, ...] = (
    delete,
    delete,
    guard,
    guard,
    move,
    swap,
    return_before,
    return_before,
    leave_loop,
    exit_early,
    wrong_comparison,
    negate,
    swallow,
    wrong_argument,
    uneven_loop,
    pull_in,
    push_out,
)


def mutate(source: str, rng: random.Random) -> tuple[str, str]:
    """Apply one mutation; give the new source and the mutation's name."""
    for mutation in rng.sample(MUTATIONS, len(MUTATIONS)):
        tree = ast.parse(source)
        if mutation(tree, rng):
            fill_empty(tree)
            prune_uncalled(tree)
            if LOCAL_TEST in ast.unparse(tree) and "import random" not in source:
                tree.body.insert(0, _statement("import random"))
            return unparse(tree), mutation.__name__
    return source, "none"
