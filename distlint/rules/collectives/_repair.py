"""The fixes of witnesses: what several rules of this family propose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from distlint.fixers import agree, calls, hoist, imports, names, ranks
from distlint.fixers.draft import CannotFix

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import EventFact, Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix

_DDP = "torch.nn.parallel.DistributedDataParallel"
_SHARDED = re.compile(r"fsdp|FSDP|FullySharded|fully_shard|deepspeed|DeepSpeed|zero3")
_TRACE = re.compile(r"print|open|save|write|dump|log|info|warn|debug|mkdir|makedirs|remove|add_")
_DONE = re.compile(r"\.all\(|eos|done|finish|pending|queue|complete|exhaust")
_PRESENCE = re.compile(r"(^|\.)(len|any|numel|nelement|hasattr|get)$")
_REFERENCE = (cst.Name, cst.Attribute)
_ROLES = frozenset({"gather", "scatter"})
"""Kinds whose arguments differ between the ranks by design."""


def hoisted(witness: Witness, draft: Draft) -> Fix:
    """Let all ranks make the call that some make: out of the branch, or in front of an exit."""
    decision = draft.locator.node(witness.cause.site)
    test = decision.test if isinstance(decision, cst.If) else decision
    call = _own_call(witness, draft, decision)
    if call is None and isinstance(decision, cst.If):
        call = _computing_call(draft, decision)
    if call is None or (isinstance(test, cst.BaseExpression) and test in _around(draft, call)):
        if not isinstance(test, cst.BaseExpression):
            raise CannotFix("no condition to change")
        call = call or hoist.decides_late(draft, test)
        hoist.to_front(draft, call)
        op = _last_name(call)
        return draft.fix("unsafe", f"Call `{op}` first, on all ranks")
    row = draft.collective(call)
    if row is not None and row.kind in _ROLES:
        raise CannotFix("its arguments differ between the ranks")
    if not isinstance(decision, cst.If):
        raise CannotFix("no branch to move the call out of")
    if decision in _around(draft, call):
        hoist.out_of_branch(draft, decision, call, _alike(draft, call))
    else:
        hoist.past_exit(draft, decision, call, _alike(draft, call))
    return draft.fix("unsafe", f"Call `{_last_name(call)}` on all ranks")


def _last_name(call: cst.Call) -> str:
    return (names.dotted(call.func) or "it").rpartition(".")[2]


def _own_call(witness: Witness, draft: Draft, decision: cst.CSTNode) -> cst.Call | None:
    """The call of a collective in the function that the ranks part in; best in the branch."""
    found = []
    for event in (witness.subject, witness.first, witness.second):
        if event is not None and event.place.path == draft.document.path:
            call = draft.locator.node(event.site)
            if isinstance(call, cst.Call):
                if names.scope_of(draft, call) is names.scope_of(draft, decision):
                    found.append(call)
    inside = [call for call in found if decision in draft.ancestors(call)]
    if inside:
        return inside[0]
    return found[0] if found and witness.cause.exit_site is not None else None


def _computing_call(draft: Draft, branch: cst.If) -> cst.Call | None:
    """The call of a function of this file that computes a value for the branch, if that is all."""
    for row in branch.body.body:
        statement = row.body[0] if isinstance(row, cst.SimpleStatementLine) else row
        if not isinstance(statement, cst.Assign) or not isinstance(statement.value, cst.Call):
            continue
        called = _last_name(statement.value)
        found = [node for node in draft.nodes(cst.FunctionDef) if node.name.value == called]
        if len(found) == 1 and not _leaves_traces(found[0]):
            return statement.value
    return None


def _leaves_traces(function: cst.FunctionDef) -> bool:
    """Does a function print or write, which all ranks should not do?"""
    return any(
        isinstance(node, cst.Call) and _TRACE.search(_last_name(node))
        for node in names.inside(function)
    )


def _around(draft: Draft, node: cst.CSTNode) -> list[cst.CSTNode]:
    return [node, *draft.ancestors(node)]


def agreed_exit(witness: Witness, draft: Draft) -> Fix:
    """Let all ranks leave when one does."""
    _require_world(witness)
    branch = draft.node(witness.cause.site, cst.If)
    if witness.cause.exit_site is None:
        raise CannotFix("no exit to agree on")
    exit_ = draft.locator.node(witness.cause.exit_site)
    if not isinstance(exit_, (cst.Break, cst.Continue, cst.Return)):
        raise CannotFix("not an exit from here")
    if branch not in [*draft.ancestors(exit_)]:
        raise CannotFix("the exit is somewhere else")
    if _is_own_end(draft, branch.test):
        raise CannotFix("the others may not be done")
    agree.on_exit(draft, branch, exit_)
    verb = {"Break": "Exit", "Return": "Exit", "Continue": "Skip"}[type(exit_).__name__]
    return draft.fix("unsafe", f"{verb} on all ranks if any rank does")


def agreed_condition(witness: Witness, draft: Draft) -> Fix:
    """Let all ranks take the branch when one does, or ask the collective in it first."""
    _require_world(witness)
    decision = draft.locator.node(witness.cause.site)
    subject = witness.subject
    if subject is not None and subject.place.path == draft.document.path:
        call = draft.locator.node(subject.site)
        if isinstance(call, cst.Call) and _is_in_condition(draft, call, decision):
            if subject.op == "check_trigger":  # which says all that there is to say
                draft.replace(
                    decision.test if isinstance(decision, cst.If) else decision, draft.text(call)
                )
            else:
                hoist.to_front(draft, call)
            return draft.fix("unsafe", f"Call `{subject.op}` first, on all ranks")
    if not isinstance(decision, cst.If):
        raise CannotFix("no branch to agree on")
    if _only_counts(draft, decision.test):
        raise CannotFix("the ranks have diverged before")
    if _protects(draft, decision):
        raise CannotFix("the branch is for ranks that have something")
    if _rests_on_own(draft, decision):
        raise CannotFix("other ranks lack what the branch uses")
    agree.on_condition(draft, decision.test)
    return draft.fix("unsafe", "Take the branch on all ranks if any rank does")


def _is_own_end(draft: Draft, test: cst.BaseExpression) -> bool:
    """Does a rank leave because its own work is done, rather than to stop the job?"""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.expression, _REFERENCE):
        return True
    if isinstance(test, cst.Comparison):
        if isinstance(test.comparisons[0].operator, (cst.In, cst.NotIn, cst.Is, cst.IsNot)):
            return True
    return _DONE.search(draft.text(test)) is not None


def _only_counts(draft: Draft, test: cst.BaseExpression) -> bool:
    """Is the condition about the variable of a loop and nothing else?"""
    counters = {
        name
        for loop in draft.ancestors(test)
        if isinstance(loop, cst.For)
        for name in names.bound(draft, loop.target)
    }
    return bool(counters) and names.read(draft, test) <= counters


def _protects(draft: Draft, branch: cst.If) -> bool:
    """Does the condition ask whether there is something at all, which the branch then uses?"""
    asked: set[str] = set()
    for node in names.inside(branch.test):
        if isinstance(node, cst.Comparison):
            operator = node.comparisons[0].operator
            if isinstance(operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)):
                asked |= names.read(draft, node)
        elif isinstance(node, cst.Call) and _PRESENCE.search(names.dotted(node.func) or ""):
            asked |= names.read(draft, node)
    if isinstance(branch.test, (cst.Name, cst.Attribute)):
        asked |= names.read(draft, branch.test)
    return not asked.isdisjoint(names.read(draft, branch.body))


def _rests_on_own(draft: Draft, branch: cst.If) -> bool:
    """Does a branch use what is made only where a test was true, such as the same test before?

    A rank that takes the branch for the sake of others has not made it.
    """
    scope = names.scope_of(draft, branch)
    used = names.read(draft, branch.body) - names.bound(draft, branch.body)
    around = {branch, *draft.ancestors(branch)}
    before = [
        each
        for each in names.inside(scope)
        if isinstance(each, cst.If)
        and each not in around
        and draft.bounds(each)[0] < draft.bounds(branch)[0]
    ]
    test = draft.text(branch.test)
    for each in before:
        if draft.text(each.test) == test and used & names.stored(draft, each.body):
            return True
    return any(_is_made_in(draft, name, before, scope) for name in used)


def _is_made_in(
    draft: Draft, name: str, branches: list[cst.If], scope: cst.FunctionDef | cst.Module
) -> bool:
    """Is a variable bound in branches alone, and not in both arms of one?"""
    found = names.bound_in(draft, scope, name)
    if not found or any(isinstance(draft.parent(each), cst.Param) for each in found):
        return False
    if any(
        each.orelse is not None and name in names.bound(draft, each.orelse) for each in branches
    ):
        return False
    return all(any(each in {*draft.ancestors(one)} for each in branches) for one in found)


def agreed_skip(witness: Witness, draft: Draft) -> Fix:
    """Let all ranks skip a step when one has to."""
    branch = draft.node(witness.cause.site, cst.If)
    function = draft.around(branch, cst.FunctionDef)
    if function is not None and function.name.value == "training_step":
        raise CannotFix("Lightning takes no None from any rank")
    return agreed_exit(witness, draft)


def agreed_loop(witness: Witness, draft: Draft) -> Fix:
    """Let a loop end on all ranks when it ends on one."""
    _require_world(witness)
    loop = draft.node(witness.cause.site, cst.While)
    if not _compares(draft, loop.test):
        raise CannotFix("the loop may be over rank-local data")
    agree.on_condition(draft, loop.test, "all_ranks")
    return draft.fix("unsafe", "End the loop on all ranks when it ends on one")


def equal_steps(witness: Witness, draft: Draft) -> Fix:
    """Let a loop over batches end on all ranks when the first has none left."""
    _require_world(witness)
    loop = draft.node(witness.cause.site, cst.For)
    ranks.require_all(draft, loop)
    function = imports.imported(draft, draft.catalogue.runtime, "equal_steps", loop.iter)
    draft.replace(loop.iter, f"{function}({draft.text(loop.iter, brackets=False)})")
    return draft.fix("unsafe", "End the loop on all ranks when one of them has no batches left")


def _compares(draft: Draft, test: cst.BaseExpression) -> bool:
    """Is a condition made of comparisons and flags, none of which stands for data?"""
    if isinstance(test, cst.BooleanOperation):
        return _compares(draft, test.left) and _compares(draft, test.right)
    if isinstance(test, cst.Name):
        return _is_flag(draft, test)
    return isinstance(test, (cst.Comparison, cst.UnaryOperation))


def _is_flag(draft: Draft, name: cst.Name) -> bool:
    """Is a variable only ever true or false?"""
    targets = [
        found
        for found in names.used(draft, names.scope_of(draft, name))
        if found.value == name.value and names.binds(draft, found)
    ]
    values = [
        statement.value
        for target in targets
        if isinstance(statement := draft.parent(draft.parent(target)), cst.Assign)
    ]
    return len(values) == len(targets) > 0 and all(
        isinstance(value, (cst.Comparison, cst.UnaryOperation))
        or (isinstance(value, cst.Name) and value.value in ("True", "False"))
        for value in values
    )


def out_of_region(witness: Witness, draft: Draft) -> Fix:
    """Move a collective behind the region that ranks enter in turn."""
    event = witness.region_event
    call = _call(event, draft)
    region = draft.around(call, cst.With)
    if event is None or region is None:
        raise CannotFix("the region is somewhere else")
    hoist.out_of_with(draft, region, call)
    return draft.fix("unsafe", f"Call `{event.op}` after the region")


def bare_forward(witness: Witness, draft: Draft) -> Fix:
    """Let one rank call the module inside the wrapper."""
    call = _call(witness.subject, draft)
    helper = agree.accelerator_at(draft, call)
    if draft.class_of(call.func) != _DDP and (helper is None or _SHARDED.search(draft.source)):
        raise CannotFix("only DDP can be left out")
    branch = draft.node(witness.cause.site, cst.If)
    if branch not in [*draft.ancestors(call)]:
        raise CannotFix("the call is somewhere else")
    if any(name in draft.text(branch) for name in (".backward(", ".step(")):
        raise CannotFix("it may be training")
    wrapper = draft.text(call.func)
    bare = f"{wrapper}.module" if helper is None else f"{helper}.unwrap_model({wrapper})"
    for other in names.inside(branch):
        if isinstance(other, cst.Call) and draft.text(other.func) == wrapper:
            draft.replace(other.func, bare)
    return draft.fix("unsafe", f"Call `{bare}`, which does not synchronize")


def value_from_main(witness: Witness, draft: Draft) -> Fix:
    """Hand the value that rank 0 wrote to all ranks before they test it."""
    _require_world(witness)
    branch = draft.node(witness.cause.site, cst.If)
    writer = next(
        (
            found
            for found in names.inside(draft.tree)
            if isinstance(found, (cst.Assign, cst.AugAssign))
            and witness.cause.written is not None
            and draft.locator.range_of(found).start.line == witness.cause.written.span.row
        ),
        None,
    )
    if writer is None or not _written_by_main(witness, draft, writer):
        raise CannotFix("rank 0 may not know the value")
    target = writer.target if isinstance(writer, cst.AugAssign) else writer.targets[0].target
    written = names.dotted(target)
    mentioned = {names.dotted(n) for n in names.inside(branch.test) if isinstance(n, _REFERENCE)}
    if written is None or written not in mentioned:
        raise CannotFix("the test reads something else")
    agree.on_value(draft, written, branch)
    return draft.fix("unsafe", f"Broadcast `{written}` from rank 0")


def _written_by_main(witness: Witness, draft: Draft, writer: cst.CSTNode) -> bool:
    """Is the assignment in the first arm of a branch that rank 0 takes?"""
    guards = {
        decision.place.span.row: decision.outcome
        for decision in witness.decisions
        if decision.place is not None and decision.place.path == draft.document.path
    }
    node = writer
    for parent in draft.ancestors(writer):
        if isinstance(parent, cst.If):
            outcome = guards.get(draft.locator.range_of(parent).start.line, "")
            if outcome.startswith("true on rank 0") or ranks.is_main_test(draft, parent.test):
                return parent.body is node
        node = parent
    return False


def _is_in_condition(draft: Draft, call: cst.Call, decision: cst.CSTNode) -> bool:
    around = [call, *draft.ancestors(call)]
    if isinstance(decision, cst.If):
        return decision.test in around
    return isinstance(decision, cst.BooleanOperation) and decision in around


def _call(event: EventFact | None, draft: Draft) -> cst.Call:
    if event is None or event.place.path != draft.document.path:
        raise CannotFix("the call is in another file")
    return draft.node(event.site, cst.Call)


def _require_world(witness: Witness) -> None:
    if any(event is not None and event.group for event in (witness.first, witness.second)):
        raise CannotFix("not all ranks take part")


def _alike(draft: Draft, call: cst.Call) -> hoist.IsCollective:
    """Tells the calls that have to come along with a call: collectives on the same group."""
    row = draft.collective(call)

    def group_of(other: cst.Call) -> str:
        known = draft.collective(other)
        if known is None or known.group is None:
            return ""
        given = calls.argument(other, known.group, known.position(known.group))
        return draft.text(given.value) if given else ""

    def needed(other: cst.Call) -> bool:
        known = draft.collective(other)
        if known is None or row is None:
            return False
        creates = "group_creation"
        if creates in (known.kind, row.kind):
            return known.kind == row.kind
        return group_of(other) == group_of(call)

    return needed
