"""The calls that several ranks make and nothing keeps to one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.process_groups import starts_many
from distlint.analyzer.static.guards.rank_tests import WAITS
from distlint.analyzer.static.hooks import LIGHTNING
from distlint.fixers import agree, imports, names, ranks, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.setup._order import tests_around

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.finding import Fix


LOOKS_FOR_FILE = frozenset({"exists", "isfile", "is_file"})
LOOKS = LOOKS_FOR_FILE | {"isdir", "is_dir"}
"""Calls that tell whether a file, or a folder, is there."""


def on_all_ranks(
    module: Module,
    catalogue: Catalogue,
    wanted: frozenset[str],
    no_guard: Callable[[Point], ir.Stmt | None] = lambda point: None,
    fits: Callable[[Guards, CallSite], object] = lambda guards, site: True,
) -> Iterator[tuple[CallSite, Guards]]:
    """The calls of these last names that every rank comes to, as far as the project shows.

    ``no_guard`` names a statement around a place whose test does not count as a guard, and
    ``fits`` says of a call by itself whether it is one of them.
    """
    if wanted.isdisjoint(module.tokens | set(module.aliases.values())):
        return
    guards = guards_of(module, catalogue)
    for site in guards.objects.calls(wanted):
        if not fits(guards, site):
            continue
        if guards.may_be_some_ranks(site.point, no_guard(site.point), site.call):
            continue
        if guards.only_some_lead_to(site):
            continue
        if guards.on_many_ranks(site.point.scope, site):
            yield site, guards


def is_looked_for(site: CallSite) -> bool:
    """Is it behind a test whether the file or folder is there?"""
    return any(not LOOKS.isdisjoint(ir.tokens_of(test)) for test in tests_around(site.point))


def is_done_first(guards: Guards, site: CallSite) -> bool:
    """Does one rank call the function around it first, while the others wait?

    Then what is looked for is there when they come.
    """
    callers = list(guards.callers(site.point.scope))
    first = [each for each in callers if guards.leads_some(each, site)]
    rest = [each for each in callers if each not in first]
    waits = list(guards.objects.calls(WAITS))
    return bool(rest) and all(
        any(
            one.point.scope is wait.point.scope is other.point.scope
            and one.call.site < wait.call.site < other.call.site
            for one in first
            for wait in waits
        )
        for other in rest
    )


def is_done_by_parent(guards: Guards, site: CallSite) -> bool:
    """Is the function called in the same way by the process that starts the others, before that?"""
    callers = list(guards.all_callers(site.point.scope))
    first = [_arguments(each) for where, each in callers if where.launchers.starts_after(each)]
    return bool(first) and all(
        where.launchers.starts_after(each)
        or _arguments(each) in first
        or not where.on_many_ranks(each.point.scope, each)
        for where, each in callers
    )


def _arguments(site: CallSite) -> list[frozenset[str]]:
    """The words of what a call is given."""
    return [ir.tokens_of(argument.value) for argument in site.call.args]


def is_before_others(guards: Guards, site: CallSite) -> bool:
    """Does Lightning's Trainer start the other processes, behind what the script itself does?"""
    led = guards.led_from(site.point.scope, site)
    shown = [(each, scope) for each, scope in led if each.is_shown(scope)]
    if any(each is guards for each, _ in shown):
        shown = [(guards, site.point.scope)]
    return bool(shown) and all(_is_before_fit(*each) for each in shown)


def _is_before_fit(guards: Guards, scope: Scope) -> bool:
    """Is it code of a script in which Lightning starts the other processes?"""
    module, function = guards.objects.module, scope.function
    return (
        not LIGHTNING.isdisjoint(module.imported_roots)
        and "Fabric" not in module.words
        and not starts_many(module)
        and (function is None or not function.owner)  # hooks run on all ranks at once
    )


def on_rank_0_only(site: CallSite, draft: Draft, opened: bool = False) -> Fix:
    """Put the statement that a call is under a test of the rank.

    With ``opened`` it is a block that opens the file, and has nothing else in it.
    """
    if not isinstance(site.point.statement, ir.Evaluate):
        raise CannotFix("the statement does more than the call")
    call = draft.node(site.call.site, cst.Call)
    statement = statements.statement_of(draft, call)
    if opened:
        block = next((node for node in draft.ancestors(call) if isinstance(node, cst.With)), None)
        if block is None or len(block.items) > 1 or len(site.point.around[-1].block) > 1:
            raise CannotFix("more is done while the file is open")
        statement = block
    statements.wrap(draft, f"if {_is_rank_0(draft, call)}:", statement)
    return draft.fix("unsafe", "Run this on rank 0 only")


def _is_rank_0(draft: Draft, at: cst.CSTNode) -> str:
    """A test that this is rank 0, in the words of the script."""
    for node in names.inside(names.scope_of(draft, at)):
        for test in ranks.operands(node.test) if isinstance(node, cst.If) else ():
            if _needs_the_rest(draft, node, test):
                continue
            if ranks.is_main_test(draft, test) or _is_first_or_alone(draft, test):
                if all(names.available(draft, name, at) for name in names.read(draft, test)):
                    return draft.text(test)
    helper = agree.accelerator_at(draft, at)
    if helper is not None and not _is_made_behind(draft, helper, at):
        return f"{helper}.is_main_process"
    if ranks.joins_later(draft, statements.statement_of(draft, at)):
        raise CannotFix("the process group does not exist yet")
    first = f"{imports.imported(draft, 'torch.distributed', 'get_rank', at)}() == 0"
    if ranks.joined_before(draft, at):
        return first
    alone = f"not {imports.imported(draft, 'torch.distributed', 'is_initialized', at)}()"
    return f"{alone} or {first}"  # a run of one process may have no group


def _needs_the_rest(draft: Draft, branch: cst.CSTNode, test: cst.CSTNode) -> bool:
    """Is it ``get_rank() == 0`` behind ``is_initialized() and``, without which it may raise?"""
    return (
        isinstance(branch, cst.If)
        and "get_rank" in draft.text(test)
        and "is_initialized" in draft.text(branch.test)
        and "is_initialized" not in draft.text(test)
    )


def _is_first_or_alone(draft: Draft, test: cst.BaseExpression) -> bool:
    """``rank in [-1, 0]``, where -1 stands for a run of one process."""
    if not isinstance(test, cst.Comparison) or not ranks.asks_rank(draft, test):
        return False
    target = test.comparisons[0]
    values = "".join(draft.text(target.comparator).split()).strip("[](){}")
    return isinstance(target.operator, cst.In) and values in ("-1,0", "0,-1")


def _is_made_behind(draft: Draft, name: str, place: cst.CSTNode) -> bool:
    """Does the function around a place give a name its value behind it only?"""
    scope = names.scope_of(draft, place)
    made = [
        draft.bounds(node)[0] > draft.bounds(place)[0]
        for node in names.inside(scope)
        if isinstance(node, cst.Assign) and names.scope_of(draft, node) is scope
        if any(names.dotted(target.target) == name for target in node.targets)
    ]
    return bool(made) and all(made)
