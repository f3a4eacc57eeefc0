"""Which branches are for a run of one process: another arm asks for the rank instead, or the
settings that lead there are refused where there are several."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank, under_rank_test
from distlint.analyzer.static.names import Around, calls_of, expressions_in, placed
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, path_of

_PROGRESS = re.compile(
    r"best|improv|epoch|step|iter|last|final|resum|exist|interval", re.IGNORECASE
)
"""Words of a test that comes out differently in the course of one run."""
_ASKS_FOR_MODE = frozenset({"isinstance", "hasattr", "getattr", "get"})


def is_for_one_process(site: CallSite) -> bool:
    """Does another arm of a branch around a call make the same one, under a test of the rank?

    ``if distributed: if rank == 0: save()``, ``else: save()``.
    """
    for here in site.point.around:
        if isinstance(here.owner, ir.If) and _is_mode(here.owner.test):
            arms = (here.owner.body, here.owner.orelse)
            if _asks_for_rank(arms[here.block is arms[0]], site.call):
                return True
    return False


def _asks_for_rank(block: ir.Block, wanted: ir.Call) -> bool:
    """Does a block make such a call, and only under a test of the rank?"""
    path = path_of(wanted.func)
    tested = [
        under_rank_test(around)
        for statement, around in placed(block)
        for call in calls_of(statement)
        if path is not None and path_of(call.func) == path
    ]
    return bool(tested) and all(tested)


def _is_mode(test: ir.Expr) -> bool:
    """Is it a setting of the run, and nothing that changes with its progress?"""
    if any(map(_PROGRESS.search, ir.tokens_of(test))):
        return False
    return not any(
        (isinstance(node, ir.Compare) and not all(map(_may_be_setting, node.rights)))
        or (isinstance(node, ir.Call) and ir.last_name(node.func) not in _ASKS_FOR_MODE)
        for node in expressions_in(test)
    )


def _may_be_setting(value: ir.Expr) -> bool:
    """Is it no number with which something counted or computed is compared?"""
    return not isinstance(value, ir.Literal) or type(value.value) not in (int, float)


def is_refused(around: tuple[Around, ...]) -> bool:
    """Is a branch for a setting that a run of several processes refuses before?

    ``if rank != -1: assert not options.search``, and then ``if options.search:``.
    """
    for depth, here in enumerate(around):
        if isinstance(here.owner, ir.If):
            wanted = _setting(here.owner.test, here.block is here.owner.body)
            if wanted is not None and wanted in _refused_before(around[:depth]):
                return True
    return False


def _refused_before(around: tuple[Around, ...]) -> Iterator[tuple[Path, bool]]:
    """The settings that a statement before does not let pass where there is a rank."""
    for here in around:
        for statement in here.block[: here.index]:
            if isinstance(statement, ir.If) and asks_rank(statement.test):
                for each in statement.body:
                    refused = _refused_by(each)
                    if refused is not None:
                        yield refused


def _refused_by(statement: ir.Stmt) -> tuple[Path, bool] | None:
    if isinstance(statement, ir.Assert):
        return _setting(statement.test, False)
    if isinstance(statement, ir.If) and any(isinstance(each, ir.Raise) for each in statement.body):
        return _setting(statement.test, True)
    return None


def _setting(test: ir.Expr, holds: bool) -> tuple[Path, bool] | None:
    """The setting that a test takes for true or false, and what it is where the test holds."""
    while isinstance(test, ir.Not):
        test, holds = test.value, not holds
    path = path_of(test)
    return (path, holds) if path is not None else None
