"""The fix of a write by all ranks: only rank 0 writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.checkpoints._all_ranks import on_rank_0_only

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.rules.checkpoints._written_text import Written
    from distlint.source.finding import Fix

_TAKES = frozenset(
    {
        "copy2", "copyfile", "getsize", "hardlink_to", "move", "rename", "renames", "stat",
        "symlink", "symlink_to",
    }
)  # fmt: skip
"""Functions and methods that fail where the file is not there."""
_READS = frozenset({"load", "open", "load_file", "from_pretrained", "read_text"})


def fix_of(guards: Guards, site: CallSite, written: Written, draft: Draft) -> Fix:
    """A rank check around a write, where no other rank needs the file afterwards."""
    path = written.file
    if written.point.statement is not site.point.statement:
        raise CannotFix("the other ranks have already emptied the file")
    if site.name == "save_pretrained":
        raise CannotFix("all ranks gather a model whose weights are sharded")
    for read in guards.objects.calls(_READS):
        if read.point.scope is site.point.scope and read.call.site > site.call.site:
            if any(path_of(a.value) == path_of(path) is not None for a in read.call.args):
                raise CannotFix("the other ranks would read it before it is written")
    if any(_takes_file(use, site, path) for use in guards.objects.calls(_TAKES)):
        raise CannotFix("the other ranks would look for the file before it is written")
    if path_of(path) is not None and _is_opened_before(guards, site, path):
        raise CannotFix("the other ranks have already emptied the file")
    return on_rank_0_only(site, draft, _is_opened_around(site, path))


def _takes_file(use: CallSite, site: CallSite, path: ir.Expr) -> bool:
    """Does a call afterwards take a file whose name is made of the same variables?"""
    if use.point.scope is not site.point.scope or use.call.site <= site.call.site:
        return False
    names = {each.id for each in expressions_in(path) if isinstance(each, ir.Name)}
    used = {each.id for each in expressions_in(use.call) if isinstance(each, ir.Name)}
    return bool(names & used)


def _is_opened_around(site: CallSite, file: ir.Expr) -> bool:
    """``with open(path, "wb") as file: save(state, file)``."""
    owner = site.point.around[-1].owner if site.point.around else None
    return (
        isinstance(owner, ir.With)
        and isinstance(file, ir.Name)
        and file.id in ir.tokens_of(owner.target or ir.Literal(None))
    )


def _is_opened_before(guards: Guards, site: CallSite, file: ir.Expr) -> bool:
    """Is it a file that a statement before has opened, or a block further around?"""
    return not _is_opened_around(site, file) and any(
        origin.site is not None and ir.last_name(origin.site.call.func) == "open"
        for origin in guards.objects.origins(file, site.point)
    )
