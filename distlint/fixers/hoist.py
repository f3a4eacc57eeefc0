"""Move calls that all ranks have to make out of code that some ranks run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from distlint.fixers import names, ranks, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.fixers.statements import Statement

_LOCAL_METHODS = frozenset(
    "bool clone contiguous cpu detach double dim float format get half int item items join keys "
    "lower long max mean min new_tensor norm numel numpy reshape size split squeeze std strip sum "
    "to tolist type unsqueeze values view".split()
)
_LOCAL_FUNCTIONS = frozenset(
    "abs bool dict enumerate float format int len list max min range repr round set sorted str sum "
    "tuple zip".split()
)
_LOCAL_TORCH = frozenset(
    "as_tensor arange cat clone device empty empty_like full full_like isfinite isinf isnan "
    "no_grad ones ones_like stack tensor zeros zeros_like".split()
)
_RANK_TESTS = frozenset(
    "environ get get_global_rank get_local_rank get_node_local_rank get_rank get_world_size getenv "
    "int is_available is_initialized is_local_main_process is_main_process is_world_process_zero "
    "local_rank rank process_index".split()
)
_HELPERS = frozenset({"accelerator", "fabric", "trainer"})
"""What stands for the framework: calls of it do not matter to each other here."""
_NOUNS = {
    "all_gather_object": "gathered",
    "compute": "computed",
    "gather": "gathered",
    "gather_for_metrics": "gathered",
    "new_group": "group",
    "reduce": "reduced",
    "state_dict": "state_dict",
}

IsCollective = Callable[[cst.Call], bool]


def out_of_branch(draft: Draft, branch: cst.If, call: cst.Call, needed: IsCollective) -> None:
    """Let every rank make a call that stands in an arm of a branch.

    Of an ``and``, only what asks for the rank is left behind: ``if rank == 0 and step % 5 == 0:``
    becomes ``if step % 5 == 0:`` around the call. The call moves with its whole statement if that
    does nothing else, otherwise only its value is computed outside. It goes before the branch, or
    behind it when nothing of the arm follows. Other calls of the arm for which ``needed`` says so
    come along, and so do the assignments that they take their operands from, when those do nothing
    but compute.

    Raises:
        CannotFix: if an operand exists on some ranks only, or the order of the rest would change.
    """
    statements.block_of(draft, branch)
    ranks.require_all(draft, branch)
    arm = _arm(draft, branch, call)
    if isinstance(branch.orelse, cst.If):
        raise CannotFix("an elif decides as well")
    work = statements.siblings(draft, arm[0])
    found = [c for s in work for c in _calls(s) if c is call or needed(c)]
    if call not in found:
        raise CannotFix("the call is not made for certain")
    if _jumps(draft, arm) and found != [call]:
        raise CannotFix("the arm ends with a jump")
    parts = [_part(draft, work, c) for c in found]
    guard = _guard(draft, branch) if arm[0] in _body(branch) else _no_guard(branch)
    if all(part.whole for part in parts):
        moved = _with_operands(draft, branch, work, [part.statement for part in parts])
        _move(draft, branch, work, moved, call, guard)
    elif len(parts) == 1:
        _extract(draft, branch, work, parts[0], guard)
    else:
        raise CannotFix("several calls inside other statements")


def out_of_with(draft: Draft, region: cst.With, call: cst.Call) -> None:
    """Move a call that ends the body of a ``with`` behind it."""
    ranks.require_all(draft, region)
    statement = statements.statement_of(draft, call)
    work = statements.siblings(draft, statement)
    part = _part(draft, work, call)
    if draft.parent(statements.block_of(draft, statement)) is not region or not part.whole:
        raise CannotFix("the call is part of something else")
    if work[-1] is not statement or len(work) == 1:
        raise CannotFix("the region goes on")
    text = statements.moved_text(
        draft,
        statement,
        statements.indent_of(draft, statement),
        statements.indent_of(draft, region),
    )
    statements.remove(draft, statement, comments=True)
    statements.append(draft, region, text)


def past_exit(draft: Draft, exit_: cst.If, call: cst.Call, needed: IsCollective) -> None:
    """Let ranks that leave early make a call that the others make behind the exit.

    ``if rank != 0: return`` becomes a guard around the work before and behind the call when that is
    a statement of its own; otherwise the value of the call is computed before the exit.
    """
    ranks.require_all(draft, exit_)
    block = statements.siblings(draft, exit_)
    rest = block[block.index(exit_) + 1 :]
    leaving = statements.siblings(draft, _body(exit_)[0])
    jump = leaving[-1]
    if exit_.orelse is not None or len(leaving) != 1:
        raise CannotFix("the exit does more than to leave")
    _no_guard(exit_)
    if isinstance(jump, cst.Return) and jump.value is not None:
        raise CannotFix("the exit has a result")
    if not isinstance(jump, (cst.Return, cst.Continue)):
        raise CannotFix("not an exit from here")
    statement = next((s for s in rest if any(c is call for c in _calls(s))), None)
    if statement is None:
        raise CannotFix("the call is somewhere else")
    part = _part(draft, rest, call)
    if not part.whole:
        if _touches(draft, rest[: rest.index(statement)], statement):
            raise CannotFix("what comes before the call may matter to it")
        name = _name_for(draft, call)
        _require(draft, call, exit_)
        statements.insert_before(draft, exit_, f"{name} = {draft.text(call)}")
        draft.replace(call, name)
        return
    _require_exit_from(draft, exit_, jump)
    shared = _shared(draft, rest, statement, needed)
    if not _only_asks_rank(exit_.test) or names.stored(draft, *rest) & names.read(
        draft, exit_.test
    ):
        raise CannotFix("the condition may come out otherwise behind the call")
    header = f"if {negated(draft, exit_.test)}:"
    for index, run in enumerate(_runs(rest, shared)):
        if index == 0 and run[0] is rest[0]:
            statements.guard(draft, exit_, header, *run)
        else:
            statements.wrap(draft, header, *run)
    if rest[0] in shared:
        statements.put_in_place(draft, exit_, "")


def _require_exit_from(draft: Draft, exit_: cst.If, jump: Statement) -> None:
    """The exit has to end the very block that it stands in."""
    owner = draft.parent(statements.block_of(draft, exit_))
    if isinstance(jump, cst.Return) and owner is not names.scope_of(draft, exit_):
        raise CannotFix("the exit leaves more than this block")
    if isinstance(jump, cst.Continue) and not isinstance(owner, (cst.For, cst.While)):
        raise CannotFix("the exit leaves more than this block")


def _shared(
    draft: Draft, rest: list[Statement], statement: Statement, needed: IsCollective
) -> set[Statement]:
    """What all ranks have to run: the collectives, and the assignments that make their operands."""
    found = {statement}
    for other in rest:
        for call in _calls(other):
            if needed(call) and _part(draft, rest, call).whole:
                found.add(other)
    queue = list(found)
    while queue:
        user = queue.pop()
        for maker in rest[: rest.index(user)]:
            if maker in found or not names.stored(draft, maker) & names.read(draft, user):
                continue
            if not isinstance(maker, cst.Assign) or not all(map(_is_local, _calls(maker))):
                raise CannotFix("an operand is made on some ranks only")
            found.add(maker)
            queue.append(maker)
    return found


def _runs(rest: list[Statement], shared: set[Statement]) -> list[list[Statement]]:
    """The neighbouring statements between those that are shared."""
    runs: list[list[Statement]] = [[]]
    for statement in rest:
        if statement in shared:
            runs.append([])
        else:
            runs[-1].append(statement)
    return [run for run in runs if run]


def to_front(draft: Draft, call: cst.Call) -> None:
    """Move the operand with a call to the front of its ``and``, so that nothing decides over it."""
    ranks.require_all(draft, statements.statement_of(draft, call))
    operand: cst.CSTNode = call
    chain: cst.BooleanOperation | None = None
    for node in draft.ancestors(call):
        if isinstance(node, cst.BooleanOperation):
            if not isinstance(node.operator, cst.And):
                raise CannotFix("an or decides")
            if chain is None and node.left is operand:
                operand = node
                continue
            chain = node
            break
        if not isinstance(node, (cst.BaseExpression, cst.Arg)):
            break
        operand = node
    if chain is None:
        raise CannotFix("no and around the call")
    operands = ranks.operands(chain)
    index = next((i for i, item in enumerate(operands) if item is operand), 0)
    if not index:
        raise CannotFix("the call stands in front")
    callee = names.root_of(call.func)
    if (names.read(draft, *operands[:index]) & names.read(draft, operand)) - {callee}:
        raise CannotFix("an earlier operand may protect the call")
    texts = [draft.text(item) for item in operands]
    for item, text in zip(operands[: index + 1], [texts[index], *texts[:index]], strict=True):
        draft.replace(item, text)


def decides_late(draft: Draft, test: cst.BaseExpression) -> cst.Call:
    """The call in an operand behind the first of an ``and`` that may be more than a question."""
    for operand in ranks.operands(test)[1:]:
        for node in names.inside(operand):
            if isinstance(node, cst.Call):
                if not _is_local(node) and not ranks.asks_rank(draft, node):
                    return node
    raise CannotFix("no call behind another operand")


def negated(draft: Draft, test: cst.BaseExpression) -> str:
    """The opposite of a condition, as one would write it."""
    text = draft.text(test)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = draft.text(test.expression, brackets=False)
        return inner if len(inner.splitlines()) == 1 else draft.text(test.expression)
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        target = test.comparisons[0]
        opposite = _OPPOSITES.get(type(target.operator))
        if opposite is not None:
            return f"{draft.text(test.left)} {opposite} {draft.text(target.comparator)}"
    if isinstance(test, (cst.Name, cst.Attribute, cst.Call)):
        return f"not {text}"
    return f"not {text}" if test.lpar else f"not ({text})"


_OPPOSITES: dict[type, str] = {
    cst.Equal: "!=",
    cst.NotEqual: "==",
    cst.LessThan: ">=",
    cst.LessThanEqual: ">",
    cst.GreaterThan: "<=",
    cst.GreaterThanEqual: "<",
    cst.In: "not in",
    cst.NotIn: "in",
    cst.Is: "is not",
    cst.IsNot: "is",
}


class _Part:
    """A call in a statement of a block; ``whole`` when the statement does nothing else."""

    def __init__(self, statement: Statement, call: cst.Call, whole: bool) -> None:
        self.statement = statement
        self.call = call
        self.whole = whole


def _arm(draft: Draft, branch: cst.If, call: cst.Call) -> list[Statement]:
    """The statements of the arm that a call stands in."""
    arms = [_body(branch)]
    if isinstance(branch.orelse, cst.Else):
        arms.append(_body(branch.orelse))
    around = {*draft.ancestors(call)}
    for arm in arms:
        if any(statement in around for statement in arm):
            return arm
    raise CannotFix("the call is somewhere else")


def _body(node: cst.If | cst.Else) -> list[Statement]:
    found: list[Statement] = []
    for row in node.body.body:
        found.extend(row.body if isinstance(row, cst.SimpleStatementLine) else [row])  # type: ignore[list-item]
    return found


def _calls(statement: Statement) -> list[cst.Call]:
    """The calls that a simple statement makes for certain, in the order of the text."""
    if isinstance(statement, cst.BaseCompoundStatement):
        return []
    found: list[cst.Call] = []

    def visit(node: cst.CSTNode) -> None:
        if isinstance(node, (cst.Lambda, cst.BaseComp, cst.IfExp)):
            return
        if isinstance(node, cst.BooleanOperation):
            visit(node.left)
            return
        for child in node.children:
            visit(child)
        if isinstance(node, cst.Call):
            found.append(node)

    visit(statement)
    return found


def _part(draft: Draft, work: Sequence[Statement], call: cst.Call) -> _Part:
    for statement in work:
        calls = _calls(statement)
        if call not in calls:
            continue
        if any(isinstance(node, (cst.Await, cst.Yield)) for node in names.inside(statement)):
            raise CannotFix("the statement waits for something else")
        if isinstance(statement, cst.Expr):
            return _Part(statement, call, statement.value is call)
        inner = _calls_in(call)
        alone = all(other is call or _is_local(other) or other in inner for other in calls)
        return _Part(statement, call, alone and isinstance(statement, (cst.Assign, cst.AnnAssign)))
    raise CannotFix("the call is not made for certain")


def _calls_in(call: cst.Call) -> set[cst.CSTNode]:
    return {node for arg in call.args for node in names.inside(arg)}


def _is_local(call: cst.Call) -> bool:
    """Does a call do nothing but compute?"""
    func = call.func
    if isinstance(func, cst.Name):
        return func.value in _LOCAL_FUNCTIONS
    if isinstance(func, cst.Attribute):
        if names.root_of(func) == "torch":
            return func.attr.value in _LOCAL_TORCH | _LOCAL_METHODS
        return func.attr.value in _LOCAL_METHODS
    return False


def _with_operands(
    draft: Draft, branch: cst.If, work: list[Statement], moved: list[Statement]
) -> list[Statement]:
    """The statements to move, with the assignments of the arm that their operands come from."""
    chosen = set(moved)
    queue = list(moved)
    while queue:
        statement = queue.pop()
        position = work.index(statement)
        for name in sorted(names.read(draft, statement)):
            makers = [
                s for s in work[:position] if name in names.bound(draft, s) and s not in chosen
            ]
            if not makers:
                if name not in names.bound(draft, *work[:position]):
                    if not names.available(draft, name, branch):
                        raise CannotFix(f"{name} may not exist on all ranks")
                continue
            if not all(
                isinstance(s, cst.Assign) and all(map(_is_local, _calls(s))) for s in makers
            ):
                raise CannotFix(f"{name} is made on some ranks only")
            chosen.update(makers)
            queue += makers
    return [statement for statement in work if statement in chosen]


def _move(
    draft: Draft,
    branch: cst.If,
    work: list[Statement],
    moved: list[Statement],
    call: cst.Call,
    guard: list[cst.BaseExpression],
) -> None:
    left = [statement for statement in work if statement not in moved]
    if not left and branch.orelse is None:
        if not _only_asks_rank(branch.test):
            raise CannotFix("the condition may do more than to ask")
        if guard:
            draft.replace(branch.test, _conjunction(draft, guard))
        else:
            statements.put_in_place(draft, branch, _text(draft, branch, moved, guard))
        return
    first, last = work.index(moved[0]), work.index(moved[-1])
    text = _text(draft, branch, moved, guard)
    if not [s for s in work[first:] if s in left]:
        if names.stored(draft, *work) & names.read(draft, *guard):
            raise CannotFix("the branch changes what the condition reads")
        statements.remove(draft, *moved, comments=True)
        statements.append(draft, branch, text)
        return
    ahead = [s for s in work[:last] if s in left]
    if _is_barrier(call) and ahead:
        raise CannotFix("the barrier stands between two pieces of work")
    if any(_touches(draft, ahead, statement) for statement in moved):
        raise CannotFix("what comes before the call may matter to it")
    if names.stored(draft, *moved) & names.read(draft, branch.test):
        raise CannotFix("the call changes what the condition reads")
    statements.prepend(draft, branch, text)
    statements.remove(draft, *moved, comments=True)


def _text(
    draft: Draft, branch: cst.If, moved: list[Statement], guard: list[cst.BaseExpression]
) -> str:
    """Statements of the branch as they read outside it, under what is left of its condition."""
    inner, outer = statements.indent_of(draft, moved[0]), statements.indent_of(draft, branch)
    if not guard:
        return "".join(statements.moved_text(draft, s, inner, outer) for s in moved)
    header = f"{outer}if {_conjunction(draft, guard)}:{draft.newline(draft.bounds(branch)[0])}"
    deeper = outer + draft.tree.default_indent
    return header + "".join(statements.moved_text(draft, s, inner, deeper) for s in moved)


def _extract(
    draft: Draft,
    branch: cst.If,
    work: list[Statement],
    part: _Part,
    guard: list[cst.BaseExpression],
) -> None:
    position = work.index(part.statement)
    if _touches(draft, work[:position], part.statement, part.call):
        raise CannotFix("what comes before the call may matter to it")
    _require(draft, part.call, branch)
    name = _name_for(draft, part.call)
    lines = [f"{name} = {draft.text(part.call)}"]
    if guard:
        lines = [f"if {_conjunction(draft, guard)}:", f"    {lines[0]}"]
    statements.insert_before(draft, branch, *lines)
    draft.replace(part.call, name)


def _guard(draft: Draft, branch: cst.If) -> list[cst.BaseExpression]:
    """The operands of a condition that are the same on all ranks, and go on to decide."""
    operands = ranks.operands(branch.test)
    if len(operands) == 1:
        return _no_guard(branch)
    guard = [operand for operand in operands if not ranks.asks_rank(draft, operand)]
    if len(guard) == len(operands):
        raise CannotFix("it is not clear what asks for the rank")
    return guard


def _no_guard(branch: cst.If) -> list[cst.BaseExpression]:
    if any(isinstance(node, cst.BooleanOperation) for node in names.inside(branch.test)):
        raise CannotFix("the condition is about more than the rank")
    return []


def _conjunction(draft: Draft, operands: Sequence[cst.BaseExpression]) -> str:
    return " and ".join(draft.text(operand) for operand in operands)


def _require(draft: Draft, node: cst.CSTNode, at: Statement) -> None:
    """Every name in a node has to exist on all ranks that come to a place."""
    for name in names.read(draft, node):
        if not names.available(draft, name, at):
            raise CannotFix(f"{name} may not exist on all ranks")


def _touches(
    draft: Draft,
    before: Sequence[Statement],
    statement: Statement,
    node: cst.CSTNode | None = None,
) -> bool:
    """May statements change what another reads, or look at what it changes?"""
    own = names.read(draft, node or statement)
    if names.stored(draft, *before) & own:
        return True
    functions = {
        call.func.value
        for part in (*before, statement)
        for call in _every_call(part)
        if isinstance(call.func, cst.Name)
    }
    shared = names.read(draft, *before) & own - functions - draft.once(_modules) - _HELPERS
    return bool(shared) or bool(names.stored(draft, statement) & names.read(draft, *before))


def _every_call(statement: Statement) -> list[cst.Call]:
    return [node for node in names.inside(statement) if isinstance(node, cst.Call)]


def _modules(draft: Draft) -> frozenset[str]:
    """Names that imports bind."""
    return frozenset(
        name.value
        for node in (*draft.nodes(cst.Import), *draft.nodes(cst.ImportFrom))
        for name in names.used(draft, node)
    )


def _jumps(draft: Draft, arm: Sequence[Statement]) -> bool:
    return isinstance(arm[-1], (cst.Break, cst.Continue, cst.Return, cst.Raise))


def _is_barrier(call: cst.Call) -> bool:
    name = names.dotted(call.func) or ""
    return name.rpartition(".")[2] in ("barrier", "monitored_barrier", "wait_for_everyone")


def _only_asks_rank(test: cst.BaseExpression) -> bool:
    """Is nothing lost when the condition is not asked any more?"""
    for node in names.inside(test):
        if isinstance(node, (cst.NamedExpr, cst.Await, cst.Yield)):
            return False
        if isinstance(node, cst.Call):
            name = (names.dotted(node.func) or "?").rpartition(".")[2]
            if name not in _RANK_TESTS and not _is_local(node):
                return False
    return True


def _name_for(draft: Draft, call: cst.Call) -> str:
    """A name for the value of a call."""
    last = (names.dotted(call.func) or "value").rpartition(".")[2]
    noun = _NOUNS.get(last, f"{last}_result")
    return names.free_name(draft, noun, f"{noun}_everywhere", f"shared_{noun}")
