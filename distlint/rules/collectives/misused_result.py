"""DST118: the result of a collective is read where it is not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from distlint.analyzer import ir
from distlint.analyzer.names import blocks_of, expressions_in, expressions_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.collectives._following import Buffer, Sight, Step, following, path_of
from distlint.rules.collectives._issued import Issued, issued
from distlint.source.finding import Explanation, Finding, Related, Severity

if TYPE_CHECKING:
    from distlint.analyzer.positions import Locators
    from distlint.analyzer.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_RETURN_NOTHING = ("torch.distributed", "deepspeed.comm", "composer.utils.dist", "mmengine.dist")
"""Modules whose in-place functions return None, or a handle with ``async_op=True``."""
_KEEPERS = frozenset({"append", "appendleft", "extend", "add", "insert", "put", "assertIsNone"})
_RANK_LIKE = re.compile(r"rank|main|master|root|dst|src|leader|primary|chief|coordinator|head|zero")
Fate = Literal["dropped", "stored", "returned", "kept", "operand"]


class MisusedCollectiveResult(SourceRule):
    """The result of a collective is read from the wrong place or on the wrong rank.

    ## What it finds

    - The return value of a collective that works in place: `x = dist.all_reduce(x)` is `None`.
      So is the value of `broadcast`, `all_gather`, `reduce`, `gather`, `scatter` and the object
      versions of these.
    - The tensor of `dist.reduce`, or the list of `dist.gather`, read on ranks that are not the
      destination. The finding is at the read.

    ## Why it matters

    The first kind fails at the next use, or passes `None` along. The second gives no error: after
    a `reduce` the other ranks hold partial sums that look like results, and a decision based on
    them (is this the best loss?) sends the ranks different ways.

    ## What to do

    Read the tensor that you passed in. Where all ranks need the result, use `all_reduce` and
    `all_gather`; where one does, read it under a test for the destination.

    ## When it is silent

    - The value is read under a test for the destination rank, or was broadcast since.
    - The collective is a functional one that returns its result (`accelerator.reduce`,
      `torch.distributed.nn`, ignite's `idist`).
    - With `async_op=True` the return value is the handle to wait for.
    """

    code = "DST118"
    name = "misused-collective-result"

    good = (
        Example(
            title="The reduced value is read on the destination",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
total = torch.tensor(1.0 + rank)
dist.reduce(total, dst=0)
if rank == 0:
    print(f"mean {total.item() / dist.get_world_size()}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="The tensor that was passed in",
            code="""\
import torch
import torch.distributed as dist


def mean(tensor):
    dist.all_reduce(tensor)
    return tensor / dist.get_world_size()


dist.init_process_group("gloo")
print("mean =", mean(torch.tensor(float(dist.get_rank()))).item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Reduced to one rank, then sent to all",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor(1.0 + dist.get_rank())
dist.reduce(total, dst=0)
dist.broadcast(total, src=0)
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Calls that do return the result",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
value = torch.tensor([1.0 + accelerator.process_index])
value = accelerator.reduce(value, reduction="sum")
parts = accelerator.gather(value)
print("parts =", parts.tolist())
""",
        ),
        Example(
            title="The handle of an asynchronous call",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.ones(1)
work = dist.all_reduce(total, async_op=True)
work.wait()
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="all_reduce returns None",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.tensor(1.0 + dist.get_rank())
loss = dist.all_reduce(loss)  # expect: DST118
print("loss =", loss.item() / dist.get_world_size())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A reduced value, read on every rank",
            effect="wrong data",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor(1.0 + dist.get_rank())
dist.reduce(total, dst=0, op=dist.ReduceOp.SUM)
mean = total.item() / dist.get_world_size()  # expect: DST118
print("mean =", mean)
dist.destroy_process_group()
""",
        ),
        Example(
            title="A gathered list, read on every rank",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
score = torch.tensor([1.0 + rank])
scores = [torch.zeros(1) for _ in range(world)]
dist.gather(score, scores if rank == 0 else None, dst=0)
best = torch.cat(scores).max()  # expect: DST118
print("best =", best.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Objects are broadcast in place too",
            effect="fail",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
config = {"lr": 0.1} if dist.get_rank() == 0 else None
config = dist.broadcast_object_list([config], src=0)  # expect: DST118
print(f"learning rate {config[0]['lr']}")
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        for use in issued(module, catalogue):
            if use.is_async is not False:
                continue
            if _is_none_used(use):
                yield self._nothing_returned(use, module, locators)
            elif use.row.result == "root_only":
                site = _partial_read(use)
                if site is not None:
                    yield self._read_everywhere(use, site, module, locators)

    def _nothing_returned(self, use: Issued, module: Module, locators: Locators) -> Finding:
        param = use.row.result_param
        return Finding(
            code=self.code,
            name=self.name,
            message=f"`{use.op}` returns None: its result is in `{param}`",
            severity=Severity.ERROR,
            place=locators.of(module.key).place(use.call.site),
            explanation=Explanation(
                common=None,
                lanes=(),
                decisions=(),
                effect="every rank goes on with None",
                advice=f"call `{use.op}` on a line of its own and read the tensor passed to it",
            ),
        )

    def _read_everywhere(
        self, use: Issued, site: int, module: Module, locators: Locators
    ) -> Finding:
        locator = locators.of(module.key)
        root = _root_of(use)
        everywhere = "all_reduce" if use.row.kind == "reduce" else "all_gather"
        return Finding(
            code=self.code,
            name=self.name,
            message=f"the result of `{use.op}` is on rank {root} only, and every rank reads it",
            severity=Severity.WARNING,
            place=locator.place(site),
            related=(Related(f"{use.op} to rank {root}", locator.place(use.call.site)),),
            explanation=Explanation(
                common=None,
                lanes=(),
                decisions=(),
                effect="the other ranks go on with what was in the buffer, or a partial result",
                advice=f"use `{everywhere}`, or read it under a test for rank {root}",
            ),
        )


# ---- the value of a call that returns None


def _is_none_used(use: Issued) -> bool:
    """Is the return value of a call used that has none?"""
    module, _, function = use.row.name.rpartition(".")
    if module not in _RETURN_NOTHING or use.row.form != "call" or function.startswith("_"):
        return False
    fate = _fate_in(use.statement, use.call)
    if fate == "stored":
        return _is_stored_and_read(use)
    if fate == "returned":
        return _is_return_wanted(use)
    return fate == "operand"


def _fate_in(statement: ir.Stmt, call: ir.Call) -> Fate:
    """What the statement does with the value of a call that it makes."""
    roots: dict[type, Fate] = {ir.Evaluate: "dropped", ir.Assign: "stored", ir.Return: "returned"}
    value = getattr(statement, "value", None)
    if type(statement) in roots and value is not None:
        return _fate(value, call, roots[type(statement)]) or "kept"
    if isinstance(statement, (ir.If, ir.While, ir.Assert)):
        return _fate(statement.test, call, "kept") or "kept"
    for root in expressions_of(statement):
        fate = _fate(root, call, "operand")
        if fate is not None:
            return fate
    return "kept"


def _fate(node: ir.Expr, call: ir.Call, here: Fate) -> Fate | None:
    """What becomes of the call's value inside an expression whose own value has the fate ``here``.

    ``kept`` is where it cannot be told, or where None is what the author counts on.
    """
    if node is call:
        return here
    for child, fate in _fates_of_parts(node, here):
        found = _fate(child, call, fate)
        if found is not None:
            return found
    return None


def _fates_of_parts(node: ir.Expr, here: Fate) -> Iterator[tuple[ir.Expr, Fate]]:
    if isinstance(node, ir.Conditional):
        yield from ((node.test, "kept"), (node.body, here), (node.orelse, here))
    elif isinstance(node, ir.BoolOp):
        yield from ((value, "kept") for value in node.values[:-1])
        yield node.values[-1], here
    elif isinstance(node, (ir.Not, ir.Display, ir.DictDisplay, ir.Comprehension, ir.Starred)):
        yield from ((child, "kept") for child in ir.children(node) if isinstance(child, ir.Expr))
    elif isinstance(node, (ir.Walrus, ir.Yield, ir.Compare)):
        yield from ((child, "kept") for child in ir.children(node) if isinstance(child, ir.Expr))
    elif isinstance(node, ir.Lambda):
        for statement in node.function.body:
            yield from ((child, "kept") for child in expressions_of(statement))
    elif isinstance(node, ir.Call):
        keeps = isinstance(node.func, ir.Attribute) and node.func.attr in _KEEPERS
        yield node.func, "operand"
        yield from ((argument.value, "kept" if keeps else "operand") for argument in node.args)
    else:
        yield from ((child, "operand") for child in ir.children(node) if isinstance(child, ir.Expr))


def _is_stored_and_read(use: Issued) -> bool:
    statement = use.statement
    assert isinstance(statement, ir.Assign)
    buffer = path_of(use.buffer)
    return any(
        isinstance(target, ir.Display)
        or (buffer is not None and len(buffer) > 1 and path_of(target) == buffer)
        or (isinstance(target, ir.Name) and _is_read_later(use, target.id, buffer))
        or (isinstance(target, ir.Subscript) and _same(target, use.buffer))
        for target in statement.targets
    )


def _same(one: ir.Expr, other: ir.Expr | None) -> bool:
    """Are two subscripts of plain names and literals the same?"""
    if isinstance(one, ir.Subscript) and isinstance(other, ir.Subscript):
        return _same(one.value, other.value) and _same(one.index, other.index)
    if isinstance(one, ir.Literal) and isinstance(other, ir.Literal):
        return bool(one.value == other.value)
    path = path_of(one)
    return path is not None and path == path_of(other)


def _is_read_later(use: Issued, name: str, buffer: tuple[str, ...] | None) -> bool:
    """Is the variable that holds None read, and not merely asked whether it is None?

    Behind a condition of its own only a variable that should hold the tensor is sure to be missed.
    """
    overwritten = buffer is not None and buffer[0] == name
    for step in following(use.around):
        if step.role == "store" and _binds(step.node, name):
            if not step.guards:
                return False
            continue
        if step.role == "define" or not _mentions(step.node, {name}):
            continue
        if step.role == "test" and not _uses(step.node, name, use):
            return False
        if not step.guards or overwritten:
            return True
    return False


def _binds(target: ir.Expr, name: str) -> bool:
    if isinstance(target, ir.Display):
        return any(_binds(item, name) for item in target.items)
    return isinstance(target, ir.Name) and target.id == name


def _uses(test: ir.Expr, name: str, use: Issued) -> bool:
    """Does a test look at more than whether the variable holds anything?"""
    return Buffer((name,), use.reads).seen_in(test) is Sight.READ


def _is_return_wanted(use: Issued) -> bool:
    """Does the caller lose the result, because it does not have the tensor, or expect a value?"""
    function = use.scope.function
    if function is None or function.generator or function.name == "<lambda>":
        return False
    made = isinstance(use.buffer, ir.Call) or (
        isinstance(use.buffer, ir.Name)
        and use.buffer.id in function.locals
        and use.buffer.id not in {param.name for param in function.params}
    )
    return made or _is_called_for_a_value(use, function)


def _is_called_for_a_value(use: Issued, function: ir.Function) -> bool:
    if function.owner or function.nested:
        return False
    for scope in use.names.scopes:
        for statement in scope.body:
            if function.name in ir.tokens_of(statement) and _takes_value(statement, function.name):
                return True
    return False


def _takes_value(statement: ir.Stmt, name: str) -> bool:
    """Does a statement, or one inside it, store what a function of the module returns?"""
    if isinstance(statement, ir.Assign) and any(
        isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == name
        for node in expressions_in(statement.value)
    ):
        return True
    return any(_takes_value(inner, name) for block in blocks_of(statement) for inner in block)


# ---- the buffer of a call that fills it on one rank


def _root_of(use: Issued) -> int | None:
    """The rank that has the result, where the call says so in plain figures."""
    given = use.argument(use.row.root) or use.argument(use.row.group_root)
    if given is None:
        return use.row.root_default
    value = given.value if isinstance(given, ir.Literal) else None
    return value if type(value) is int else None


def _partial_read(use: Issued) -> int | None:
    """The statement in which every rank reads a buffer that only one rank has the result in.

    Only where it matters: the value, or what is made of it, decides a branch or is printed, on
    every rank and in the straight line of the call's own block.
    """
    name = _variable(use.buffer)
    if name is None or _root_of(use) is None or not isinstance(use.statement, ir.Evaluate):
        return None
    if any(_is_rank_test(here.owner.test) for here in use.around if isinstance(here.owner, ir.If)):
        return None
    tainted, first = {name}, None
    for step in following(use.around):
        if step.level or not tainted or _knows_the_rank(step, tainted) or _syncs(step, tainted, use):
            return None
        if step.guards:
            continue
        reads = _reads(step.node, tainted, use)
        if reads and step.role in ("value", "test", "update"):
            first = first if first is not None else step.statement.site
        if reads and _matters(step, use):
            return first
        _spread(step, tainted)
    return None


def _variable(node: ir.Expr | None) -> str | None:
    """The variable that is passed, also as ``x if rank == 0 else None``."""
    if isinstance(node, ir.Conditional):
        return _variable(node.body) or _variable(node.orelse)
    return node.id if isinstance(node, ir.Name) else None


def _is_rank_test(test: ir.Expr) -> bool:
    return any(_RANK_LIKE.search(token.lower()) for token in ir.tokens_of(test))


def _knows_the_rank(step: Step, tainted: set[str]) -> bool:
    """Does the author tell ranks apart: for these values, or for all that follows?"""
    if not any(_is_rank_test(guard) for guard in step.guards) and not (
        step.role == "test" and _is_rank_test(step.node)
    ):
        return False
    return step.role == "leave" or _mentions(step.node, tainted)


def _syncs(step: Step, tainted: set[str], use: Issued) -> bool:
    """Does another collective take the value?"""
    return any(
        isinstance(node, ir.Call)
        and _mentions(node, tainted)
        and (entry := use.names.entry(node.func, use.scope)) is not None
        and entry.collective is not None
        for node in expressions_in(step.node)
    )


def _reads(node: ir.Expr, tainted: set[str], use: Issued) -> bool:
    return any(Buffer((name,), use.reads).seen_in(node) is Sight.READ for name in tainted)


def _matters(step: Step, use: Issued) -> bool:
    """Does reading here change what a rank does or says?"""
    if step.role == "test":
        return True
    node = step.node
    return (
        step.role == "value"
        and isinstance(step.statement, ir.Evaluate)
        and isinstance(node, ir.Call)
        and isinstance(node.func, ir.Name)
        and node.func.id == "print"
        and not _replaces_print(use)
    )


def _replaces_print(use: Issued) -> bool:
    """Does the module bring a print of its own, which may be silent on other ranks?"""
    module = use.names.module
    return "print" in module.definitions or not module.tokens.isdisjoint(
        {"builtins", "__builtin__", "builtin_print"}
    )


def _spread(step: Step, tainted: set[str]) -> None:
    """Names that get their value from a tainted one are tainted, others that are stored are not."""
    if step.role == "store":
        statement = step.statement
        value = statement.value if isinstance(statement, ir.Assign) else None
        spreads = value is not None and _mentions(value, tainted)
        for name in _stored(step.node):
            if spreads:
                tainted.add(name)
            elif isinstance(step.node, (ir.Name, ir.Display)):
                tainted.discard(name)
    elif isinstance(step.statement, ir.AugAssign) and _mentions(step.statement.value, tainted):
        tainted.update(_stored(step.statement.target))


def _stored(target: ir.Expr) -> Iterator[str]:
    if isinstance(target, ir.Display):
        for item in target.items:
            yield from _stored(item)
    elif isinstance(target, ir.Subscript):
        yield from _stored(target.value)
    elif isinstance(target, ir.Name):
        yield target.id


def _mentions(node: ir.Expr, names: set[str]) -> bool:
    return any(isinstance(item, ir.Name) and item.id in names for item in expressions_in(node))
