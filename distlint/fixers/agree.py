"""Let the ranks agree: on a condition, on the end of a loop, on a value that one of them has."""

from __future__ import annotations

from typing import Literal

import libcst as cst

from distlint.fixers import hoist, names, ranks, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.fixers.imports import imported
from distlint.fixers.statements import Statement

ACCELERATOR = "accelerate.Accelerator"

Exit = cst.Break | cst.Continue | cst.Return


def on_condition(
    draft: Draft, test: cst.BaseExpression, when: Literal["any_rank", "all_ranks"] = "any_rank"
) -> None:
    """Ask all ranks instead of one: ``if late:`` becomes ``if any_rank(late):``."""
    ranks.require_all(draft, statements.statement_of(draft, test))
    function = imported(draft, draft.catalogue.runtime, when, test)
    start, end = draft.bounds(test)
    gap = " " if start and (draft.source[start - 1].isalnum()) else ""
    if test.lpar:
        draft.splice(start, start, f"{gap}{function}")
    else:
        draft.splice(start, start, f"{gap}{function}(")
        draft.splice(end, end, ")")


def on_exit(draft: Draft, branch: cst.If, exit_: Exit) -> None:
    """Let all ranks leave when one does.

    ``branch`` is where ranks part, and ``exit_`` stands somewhere in it. When the branch is all
    that decides, its condition is agreed on. When another condition inside decides as well, the
    exit raises a flag, and all ranks look at that behind the branch. Under Accelerate the flag is
    its trigger.
    """
    ranks.require_all(draft, branch)
    if draft.around(exit_, cst.If) is not branch:
        _behind(draft, branch, exit_)
        return
    stays = isinstance(branch.orelse, cst.Else) and branch.orelse in (*draft.ancestors(exit_),)
    helper = accelerator_at(draft, branch)
    if helper is None or isinstance(draft.parent(branch), cst.If):  # an elif has nothing before it
        on_condition(draft, branch.test, "all_ranks" if stays else "any_rank")
        return
    leaves = hoist.negated(draft, branch.test) if stays else draft.text(branch.test)
    statements.insert_before(draft, branch, f"if {leaves}:", f"    {helper}.set_trigger()")
    draft.replace(branch.test, f"{'not ' * stays}{helper}.check_trigger()")


def on_value(draft: Draft, target: str, at: Statement) -> None:
    """Take a value from rank 0 before a statement: ``best = from_main(best)``."""
    ranks.require_all(draft, at)
    function = imported(draft, draft.catalogue.runtime, "from_main", at)
    statements.insert_before(draft, at, f"{target} = {function}({target})")


def accelerator_at(draft: Draft, node: cst.CSTNode) -> str | None:
    """How to write the Accelerator that a place can see, if there is one."""
    function = names.scope_of(draft, node)
    for found in draft.nodes(cst.Attribute):
        text = names.dotted(found.value)
        if text is None or draft.class_of(found.value) != ACCELERATOR:
            continue
        if text.startswith("self."):
            if names.scope_of(draft, found) is function:
                return text
        elif names.available(draft, text, node):
            return text
    return None


def _behind(draft: Draft, branch: cst.If, exit_: Exit) -> None:
    """A flag in the place of the exit, and the exit behind the branch."""
    _require_last(draft, branch, exit_)
    if isinstance(exit_, cst.Return) and exit_.value is not None:
        for name in names.read(draft, exit_.value):
            if not names.available(draft, name, branch):
                raise CannotFix(f"{name} may not exist on all ranks")
    helper = accelerator_at(draft, branch)
    leaving = draft.text(exit_)
    if helper is not None:
        draft.replace(exit_, f"{helper}.set_trigger()")
        statements.insert_after(draft, branch, f"if {helper}.check_trigger():", f"    {leaving}")
        return
    flag = names.free_name(draft, "stop", "stop_now", "leave_loop")
    function = imported(draft, draft.catalogue.runtime, "any_rank", branch)
    statements.insert_before(draft, branch, f"{flag} = False")
    draft.replace(exit_, f"{flag} = True")
    statements.insert_after(draft, branch, f"if {function}({flag}):", f"    {leaving}")


def _require_last(draft: Draft, branch: cst.If, exit_: Exit) -> None:
    """Nothing of the branch may follow the exit, for that would run from now on."""
    statement: Statement = exit_
    while statement is not branch:
        block = statements.block_of(draft, statement)
        if statements.siblings(draft, statement)[-1] is not statement:
            raise CannotFix("the branch goes on behind the exit")
        owner = draft.parent(block)
        while (
            isinstance(owner, (cst.Else, cst.If))
            and isinstance(draft.parent(owner), cst.If)
            and owner is not branch
        ):
            owner = draft.parent(owner)
        if owner is not branch and not isinstance(owner, (cst.If, cst.With)):
            raise CannotFix("the exit leaves something else")
        assert isinstance(owner, cst.BaseCompoundStatement)
        statement = owner
