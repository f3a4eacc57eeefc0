"""Functions that a program runs in processes of its own."""

from __future__ import annotations

from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown
from distlint.analyzer.symbolic.view import IN_PROCESSES, RISKY


def call_spawn(
    machine: Interpreter, args: list[Value], keywords: dict[str, Value], site: int, *_: object
) -> Value:
    """``mp.spawn(fn, args=(...))``: one process per local rank runs ``fn(rank, ...)``."""
    target = args[0] if args else keywords.get("fn")
    rest = keywords.get("args", args[1] if len(args) > 1 else v.seq("tuple", []))
    if not isinstance(target, (v.Func, v.Partial)):
        return const(None)
    extra = list(rest.items) if isinstance(rest, v.Seq) else []
    wide = keywords if not isinstance(rest, v.Seq) else {}
    rank = v.ranked(machine.cluster.coordinates(spawned_scope(target)))
    return run_processes(machine, target, [rank, *extra], {"*": rest} if wide else {}, site)


def call_fork(
    machine: Interpreter, args: list[Value], keywords: dict[str, Value], site: int, *_: object
) -> Value:
    """``notebook_launcher(fn, args, num_processes=n)``: each process runs ``fn(*args)``."""
    target = args[0] if args else keywords.get("function")
    rest = keywords.get("args", args[1] if len(args) > 1 else v.seq("tuple", []))
    count = keywords.get("num_processes", args[2] if len(args) > 2 else None)
    if not isinstance(target, (v.Func, v.Partial)) or count == const(1):
        return const(None)
    if isinstance(rest, v.Seq):
        return run_processes(machine, target, list(rest.items), {}, site)
    return run_processes(machine, target, [], {"*": rest}, site)


def spawned_scope(target: Value) -> str:
    """Is the number that ``mp.spawn`` passes used as the global rank?

    One node is the rule; a function that computes ``node * n + local`` says otherwise.
    """
    function = target.function if isinstance(target, v.Func) else None
    if function is not None and function.params:
        first = function.params[0].name
        stack: list[Any] = list(function.body)
        while stack:
            item = stack.pop()
            if (
                isinstance(item, ir.Binary)
                and item.op == "+"
                and isinstance(item.right, ir.Name)
                and item.right.id == first
                and isinstance(item.left, ir.Binary)
                and item.left.op == "*"
            ):
                return "local"
            stack.extend(ir.children(item))
    return "global"


def call_process(
    machine: Interpreter, args: list[Value], keywords: dict[str, Value], site: int, *_: object
) -> Value:
    """``Process(target=fn, args=(rank, ...))`` in a loop over ranks: an entry point."""
    target = keywords.get("target")
    rest = keywords.get("args")
    mark = ("spawned", str(machine.number("spawned", target)))
    if (
        not isinstance(target, v.Func)
        or not isinstance(rest, v.Seq)
        or not machine.it
        or mark in machine.store
        or not rest.items
        or not machine.context.matters(target.function)
    ):
        return unknown("process", site)
    key = (site, "process")
    if key in machine.results:
        machine.store[mark] = const(True)
        return unknown("process", site)
    first, *others = rest.items
    if not (isinstance(first, Const) and type(first.value) is int) and not isinstance(
        first, Unknown
    ):
        return unknown("process", site)
    return machine.call_function(
        target, [v.ranked(machine.cluster.coordinates("global")), *others], {}, site, key
    )


def run_processes(
    machine: Interpreter, target: Value, args: list[Value], keywords: dict[str, Value], site: int
) -> Value:
    """Run a function in processes of its own: what fails in one of them ends them all."""
    while isinstance(target, v.Partial):
        args = [*target.args, *args]
        keywords = {**dict(target.keywords), **keywords}
        target = machine.resolve(target.target)
    if not isinstance(target, v.Func):
        return machine.call(target, args, keywords, site, None)
    result = machine.call_function(target, args, keywords, site, (site, IN_PROCESSES))
    machine.store.pop(RISKY, None)  # they have all come to their end
    return result
