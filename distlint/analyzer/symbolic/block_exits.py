"""How a block of statements may be left, as far as its shape tells."""

from __future__ import annotations

from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.static import hooks


def aborts(block: ir.Block) -> bool:
    """Does the block end the job with an error, unless it is left before?"""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, ir.Raise):
        return True
    return (
        isinstance(last, ir.Evaluate) and isinstance(last.value, ir.Call) and _is_abort(last.value)
    )


def is_left_by_error_alone(block: ir.Block) -> bool:
    """Does the block end the job with an error, and is there no other way out of it?"""
    return aborts(block) and not _may_be_left(block)


def always_aborts(block: ir.Block) -> bool:
    """Does every way through the block end the job with an error, and after a known time?"""
    return aborts(block) and not leaves(block)


def _is_abort(call: ir.Call) -> bool:
    """``sys.exit(1)``, ``os._exit(1)``, ``os.abort()``, ``pytest.skip()``, ``parser.error()``."""
    name = ir.last_name(call.func)
    if name in {"abort", "skip"}:
        return True
    if name == "error":
        receiver = getattr(call.func, "value", None)
        return isinstance(receiver, ir.Name) and "parser" in receiver.id
    if name not in {"exit", "_exit", "quit"} or not call.args:
        return False
    status = call.args[0].value
    return not (isinstance(status, ir.Literal) and status.value in {0, None})


def has_exit(loop: ir.Stmt) -> bool:
    """Can a loop come to an end, other than by an exception of something that it calls?"""
    return isinstance(loop, ir.While) and (
        not (isinstance(loop.test, ir.Literal) and loop.test.value)
        or any(
            isinstance(node, (ir.Break, ir.Return, ir.Raise)) for node in ir.own_nodes(loop.body)
        )
    )


def _may_be_left(block: ir.Block) -> bool:
    """Is there a way out of a block that is no error: a jump, or an exit with success?"""
    stack: list[tuple[Any, bool]] = [(statement, False) for statement in block]
    while stack:
        node, in_loop = stack.pop()
        if isinstance(node, ir.Return):
            return True
        if isinstance(node, (ir.Break, ir.Continue)) and not in_loop:
            return True
        if isinstance(node, ir.Evaluate) and _is_quiet_exit(node.value):
            return True
        in_loop = in_loop or isinstance(node, (ir.For, ir.While))
        stack.extend(
            (child, in_loop)
            for child in ir.children(node)
            if isinstance(child, (ir.Stmt, ir.Handler))
            and not isinstance(child, (ir.Define, ir.DefineClass))
        )
    return False


def _is_quiet_exit(node: ir.Expr) -> bool:
    """``sys.exit()``, ``os._exit(0)``"""
    return (
        isinstance(node, ir.Call)
        and ir.last_name(node.func) in {"exit", "_exit", "quit"}
        and not _is_abort(node)
    )


def leaves(block: ir.Block, flags: bool = False) -> bool:
    """Is there a jump, a yield or a loop of unknown length in the block? Or a flag that stops?"""
    return any(
        isinstance(node, (ir.Return, ir.Break, ir.Continue, ir.While, ir.Yield))
        or (flags and hooks.sets_stop_flag(node))
        for node in ir.own_nodes(block)
    )
