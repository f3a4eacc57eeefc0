"""Whether conditions and contexts are about the rank or a device, by their words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from distlint.analyzer import ir
from distlint.analyzer.static.guards.gates import gates_before
from distlint.analyzer.static.names import Around, expressions_in, placed
from distlint.analyzer.static.reaching_definitions import Point

RANK = re.compile(
    r"rank|main_process|main_proc\b|is_main|master(?!_?(addr|port))|global_zero|process_zero|primary"
    r"|chief|process_i|procid|proc_id|coordinator|leader|to_disk|is_first|is_head|is_root|saver"
    r"|^gpu$|gpu_id|on_main|main_only|zero_only|node_id",
    re.IGNORECASE,
)
"""Words that may be about the rank of a process."""
DEED = re.compile(r"to_disk|saver$", re.IGNORECASE)
"""Those of them that say which rank writes as a flag, but not as what is called, or called on."""
_OTHER_RANK = re.compile(r"lora|low_?rank|(?:^|_)re_?rank|ranking|ranked|ranker", re.IGNORECASE)
"""Words with a rank in them that is not that of a process."""
_NAMES_GPU = re.compile(r"^gpu$|gpu_id", re.IGNORECASE)
_DEVICE = re.compile(r"gpu|cuda|device|cpu|distrib|world|\bn_?proc|data_?parallel", re.IGNORECASE)
_IN_TURN = re.compile(r"(?:process|zero|rank_?0|master)_first$|^first_rank_first$")
"""Contexts that all ranks enter, the first one before the others: ``main_process_first()``."""
WAITS = frozenset({"barrier", "wait_for_everyone", "synchronize", "monitored_barrier"})


def may_name_rank(tokens: Iterable[str]) -> bool:
    """May one of these words be about the rank?"""
    return any(RANK.search(token) for token in tokens)


def asks_rank(test: ir.Expr) -> bool:
    """Is a condition about the rank, by its words?"""
    tokens = ir.tokens_of(test)
    if "should_save" in tokens and any(token.endswith("args") for token in tokens):
        return True  # of transformers' arguments; a control's is about the time
    return bool(rank_words(tokens))


def asks_one_process(test: ir.Expr) -> bool:
    """Is a condition true in a single process only, where the rank is -1 or below zero?"""
    if isinstance(test, ir.BoolOp) and test.op == "and":
        return any(map(asks_one_process, test.values))
    if not isinstance(test, ir.Compare) or len(test.ops) != 1 or not asks_rank(test.left):
        return False
    (right,) = test.rights
    if test.ops[0] in {"==", "is"}:
        return isinstance(right, ir.Unary) and right.op == "-" and _is_number(right.value, 1)
    return test.ops[0] == "<" and _is_number(right, 0)


def _is_number(node: ir.Expr, number: int) -> bool:
    return isinstance(node, ir.Literal) and node.value == number


def under_rank_test(around: tuple[Around, ...]) -> bool:
    """Is there a branch around a statement whose condition names the rank?"""
    return any(isinstance(each.owner, ir.If) and asks_rank(each.owner.test) for each in around)


def is_left_to_some(point: Point) -> bool:
    """Does a test that names the rank keep ranks from a statement: around, before or in it?"""
    return any(asks_rank(gate.test) for gate in gates_before(point)) or any(
        isinstance(node, ir.Conditional) and asks_rank(node.test)
        for node in ir.nodes_of(point.statement)
    )


def asks_rank_inside(function: ir.Function) -> bool:
    """Is there a test of the rank in a function?"""
    return any(
        isinstance(statement, ir.If) and asks_rank(statement.test)
        for statement, _ in placed(function.body)
    )


def asserts_rank(block: ir.Block) -> bool:
    """Does a block assert which ranks reach it?"""
    return any(isinstance(each, ir.Assert) and asks_rank(each.test) for each in block)


def shows_ranks(test: ir.Expr) -> bool:
    """Is a condition about the rank, and not ``args.gpu >= 0``, by which one process has a GPU?"""
    words = rank_words(ir.tokens_of(test))
    if not all(map(_NAMES_GPU.search, words)):
        return True
    return any(
        isinstance(node, ir.Compare)
        and not words.isdisjoint(ir.tokens_of(node.left))
        and any(
            op in ("==", "!=", "in", "not in") and _may_be_number(right)
            for op, right in zip(node.ops, node.rights, strict=True)
        )
        for node in expressions_in(test)
    )


def _may_be_number(node: ir.Expr) -> bool:
    """May it be the number of a GPU, or a list of them? None and -1 stand for no GPU."""
    if isinstance(node, ir.Literal):
        return type(node.value) is int and node.value >= 0
    return not isinstance(node, ir.Unary)


def has_gpu(branch: ir.If, block: ir.Block) -> bool:
    """Is it the arm of ``if torch.cuda.is_available()``, or of ``if args.gpu``, with a GPU?"""
    test, arms = branch.test, (branch.body, branch.orelse)
    if isinstance(test, ir.Call) and ir.last_name(test.func) == "is_available":
        return block is arms[0]
    if isinstance(test, ir.Compare) and test.ops in {("is",), ("is not",)}:
        is_none = isinstance(test.rights[0], ir.Literal) and test.rights[0].value is None
        names_gpu = _NAMES_GPU.search(ir.last_name(test.left)) is not None
        return is_none and names_gpu and block is arms[test.ops == ("is",)]
    return False


def in_device_branch(point: Point) -> bool:
    """Does a statement stand in a branch for one device, or for one way to use several?"""
    return any(
        isinstance(here.owner, ir.If)
        and any(_DEVICE.search(token) for token in ir.tokens_of(here.owner.test))
        and not has_gpu(here.owner, here.block)
        for here in point.around
    )


def in_turn(point: Point) -> ir.With | None:
    """The region around a statement that all ranks go through, the first one before the others."""
    for here in reversed(point.around):
        if isinstance(here.owner, ir.With) and isinstance(here.owner.context, ir.Call):
            if _IN_TURN.search(ir.last_name(here.owner.context.func)):
                return here.owner
    return None


def rank_words(tokens: Iterable[str]) -> set[str]:
    """Those of the words that are about the rank of a process."""
    return {token for token in tokens if _is_rank_word(token)}


@lru_cache(maxsize=4096)
def _is_rank_word(token: str) -> bool:
    return bool(RANK.search(token)) and not _OTHER_RANK.search(token)
