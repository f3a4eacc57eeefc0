"""Operators on data, checkpoints and gradient accumulation, for rules about one file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from benchmarks.mutation.hangs import why_equivalent
from benchmarks.mutation.operators import Operator, Site, one_line
from benchmarks.mutation.repository import Repository
from benchmarks.mutation.source import RANK_WORDS, Source, last_name, names_in, walk_own

_EVALUATION = re.compile(r"val|test|eval|infer|pred|dev(?!ice)", re.IGNORECASE)
_TAKEN_OVER = re.compile(r"accelerat|lightning|composer|Trainer\(", re.IGNORECASE)
_DISTRIBUTED = re.compile(
    r"DistributedDataParallel|\bDDP\(|init_process_group|init_distributed|Accelerator\(|LOCAL_RANK"
    r"|FullyShardedDataParallel|\bFSDP\(|deepspeed\.initialize|colossalai\.launch"
)
_TEMPORARY = re.compile(r"te?mp_|_te?mp\b|\btempfile\b")
_PREFIXES = re.compile(r"DistributedDataParallel\(|\bDDP\(|DataParallel\(")


def _calls(source: Source, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and last_name(node.func) in names:
            yield node


def _makes(source: Source, name: str, at: ast.AST) -> list[ast.Call]:
    """The ``DistributedSampler``s that are bound to a name around a node, or to an attribute."""
    found = []
    for call in _calls(source, "DistributedSampler"):
        if source.scope_of(call) is not source.scope_of(at) and source.function_of(call):
            if not any(isinstance(each, ast.ClassDef) for each in source.ancestors(call)):
                continue
        statement = source.statement_of(call)
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(last_name(target) == name for target in targets):
                found.append(call)
    return found


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def drop_set_epoch(source: Source, repository: Repository) -> Iterator[Site]:
    """Never tell the sampler the epoch."""
    for call in _calls(source, "set_epoch"):
        statement = source.statement_of(call)
        if not isinstance(statement, ast.Expr) or not source.is_alone(statement):
            continue
        if not isinstance(call.func, ast.Attribute):
            continue
        held = ast.unparse(call.func.value)
        made = _makes(source, last_name(call.func.value), call)
        made = made or (list(_calls(source, "DistributedSampler")) if "sampler" in held else [])
        if not made:
            continue
        what = f"no `{one_line(statement)}`"
        why = source.unusual(statement)
        if _EVALUATION.search(held):
            why = "a sampler for evaluation"
        elif all(_is_false(_keyword(each, "shuffle")) for each in made):
            why = "the sampler does not shuffle"
        elif _TAKEN_OVER.search(source.text):
            why = "a framework tells the sampler"
        elif not any(True for _ in source.loops_around(statement)):
            why = why or "not in a loop over epochs"
        yield Site(statement.lineno, what, "" if why else source.without(statement), why)


def drop_sampler(source: Source, repository: Repository) -> Iterator[Site]:
    """Give the loader no sampler."""
    for call in _calls(source, "DataLoader"):
        value = _keyword(call, "sampler")
        if not isinstance(value, ast.Name | ast.Attribute | ast.Call):
            continue
        is_made = isinstance(value, ast.Call) and last_name(value.func) == "DistributedSampler"
        if not is_made and not _makes(source, last_name(value), call):
            continue
        statement = source.statement_of(call)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        told = " ".join([ast.unparse(value), *map(ast.unparse, targets)])
        function = source.function_of(call)
        what = f"no `sampler={one_line(value)}`"
        why = source.unusual(call)
        names = [told, function.name if function else ""]
        in_evaluation = source.path.parent.name == "eval" or re.search(
            "eval|infer", source.path.name
        )
        if in_evaluation or any(map(_EVALUATION.search, names)):
            why = "all ranks evaluate all of the data"
        elif ".sampler.set_epoch" in source.text:
            why = "the loader's own sampler has no set_epoch: it fails"
        elif _TAKEN_OVER.search(source.text):
            why = "a framework takes the loader over"
        text = "" if why else source.without_keyword(call, "sampler")
        yield Site(call.lineno, what, text, why)


def drop_map_location(source: Source, repository: Repository) -> Iterator[Site]:
    """Load a checkpoint onto the device that it was saved from."""
    if not _DISTRIBUTED.search(source.text):
        return
    for call in _calls(source, "load"):
        where = _keyword(call, "map_location")
        if where is None or source.dotted(call.func) != "torch.load":
            continue
        what = f"no `map_location={one_line(where)}`"
        why = why_equivalent(source, call)
        scope = source.scope_of(call)
        if not any(
            isinstance(n, ast.Attribute) and n.attr == "load_state_dict" for n in walk_own(scope)
        ):
            why = why or "no state is restored there"
        if isinstance(where, ast.Constant) and where.value is None:
            why = "it says nothing"
        text = "" if why else source.without_keyword(call, "map_location")
        yield Site(call.lineno, what, text, why)


def drop_module(source: Source, repository: Repository) -> Iterator[Site]:
    """Save the state dict of the wrapper."""
    if not _PREFIXES.search(source.text):
        return
    for call in _calls(source, "state_dict"):
        func = call.func
        if call.args or not isinstance(func, ast.Attribute):
            continue
        inner = func.value
        if not isinstance(inner, ast.Attribute) or inner.attr != "module":
            continue
        if not _is_saved(source, call):
            continue
        what = f"`{one_line(inner.value)}.state_dict()` for `{one_line(call)}`"
        why = source.unusual(call)
        text = "" if why else source.with_node(inner, ast.unparse(inner.value))
        yield Site(call.lineno, what, text, why)


def _is_saved(source: Source, call: ast.Call) -> bool:
    """Is a state dict an argument of a save, or bound to a name that is?"""
    saved = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and "save" in last_name(node.func).lower()
    ]
    if any(call in ast.walk(save) for save in saved):
        return True
    statement = source.statement_of(call)
    if not isinstance(statement, ast.Assign):
        return False
    held = names_in(*statement.targets)
    scope = source.scope_of(call)
    return any(held & names_in(save) and source.scope_of(save) is scope for save in saved)


def drop_save_guard(source: Source, repository: Repository) -> Iterator[Site]:
    """Save on all ranks."""
    if not _DISTRIBUTED.search(source.text):
        return
    for branch in source.statements:
        if not isinstance(branch, ast.If) or branch.orelse:
            continue
        save = _save_in(source, branch)
        if save is None:
            continue
        tests = _conjuncts(branch.test)
        rest = [each for each in tests if not RANK_WORDS.search(ast.unparse(each))]
        if len(rest) == len(tests):
            continue
        what = f"`{one_line(save)}` without the rank test of line {branch.lineno}"
        why = why_equivalent(source, branch)
        if any(RANK_WORDS.search(ast.unparse(each)) for each in save.args[1:2]):
            why = "each rank has a file of its own"
        elif _is_in_own_folder(source, save):
            why = "each rank has a temporary folder of its own"
        elif _runs_in_save_of_rank_0(source, save):
            why = "a hook of a save that rank 0 alone calls"
        elif _bound_on_some_ranks(source, branch, save):
            why = "the other ranks lack a name and fail"
        elif any(
            source.collective(node) for node in ast.walk(branch) if isinstance(node, ast.Call)
        ):
            why = "the ranks meet behind it"
        text = "" if why else _unguarded(source, branch, rest)
        if text or why:
            yield Site(save.lineno, what, text, why)


def _is_in_own_folder(source: Source, save: ast.Call) -> bool:
    """Is the path made in a temporary folder of its function?"""
    wanted = names_in(*save.args[1:2])
    return any(
        isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id in wanted for each in node.targets)
        and _TEMPORARY.search(ast.unparse(node.value))
        for node in walk_own(source.scope_of(save))
    )


def _runs_in_save_of_rank_0(source: Source, save: ast.Call) -> bool:
    """Is it in a function that ``save_state`` runs, which only rank 0 calls?"""
    hook = source.function_of(save)
    is_hook = hook is not None and any(
        isinstance(each, ast.Name) and each.id == getattr(hook, "name", "")
        for call in _calls(source, "register_save_state_pre_hook")
        for each in call.args
    )
    saves = list(_calls(source, "save_state"))
    return is_hook and bool(saves) and all(map(source.rank_guard, saves))


def _bound_on_some_ranks(source: Source, branch: ast.If, save: ast.Call) -> bool:
    """Does a save need a name that only rank 0 has given a value before?"""
    inside = list(ast.walk(branch))
    for name in names_in(*inside):
        bound = [
            node
            for node in walk_own(source.scope_of(branch))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name
        ]
        if bound and not any(node in inside or not source.rank_guard(node) for node in bound):
            return True
    return False


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    is_and = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
    return test.values if isinstance(test, ast.BoolOp) and is_and else [test]


def _save_in(source: Source, branch: ast.If) -> ast.Call | None:
    """The ``torch.save`` that a branch guards."""
    for call in _calls_in(branch):
        if source.dotted(call.func) == "torch.save" and len(call.args) > 1:
            within = [each for each in source.ancestors(call) if isinstance(each, ast.If)]
            between = within[: within.index(branch)]
            if not any(RANK_WORDS.search(ast.unparse(each.test)) for each in between):
                return call
    return None


def _calls_in(branch: ast.If) -> Iterator[ast.Call]:
    for statement in branch.body:
        for node in [statement, *walk_own(statement)]:
            if isinstance(node, ast.Call):
                yield node


def _unguarded(source: Source, branch: ast.If, rest: list[ast.expr]) -> str:
    if rest:
        return source.with_node(branch.test, " and ".join(map(ast.unparse, rest)))
    if source.deeper(*branch.body) is None or not source.is_alone(branch.body[0]):
        return ""
    rows = [row.removeprefix(source.step) for row in source.rows(*branch.body)]
    return source.replaced(branch, branch, rows)


def narrow_no_sync(source: Source, repository: Repository) -> Iterator[Site]:
    """Take the forward out of ``no_sync``; without it all would only be slower."""
    for statement in source.statements:
        if not isinstance(statement, ast.With):
            continue
        contexts = [item.context_expr for item in statement.items]
        if not any(isinstance(c, ast.Call) and last_name(c.func) == "no_sync" for c in contexts):
            continue
        what = f"no `{one_line(contexts[0])}`"
        yield Site(statement.lineno, what, equivalent="the gradients are the same, only later")
        last = statement.body[-1]
        if len(contexts) > 1 or len(statement.body) == 1 or "backward" not in ast.unparse(last):
            continue
        if source.deeper(*statement.body) is None:
            continue
        before = [r.removeprefix(source.step) for r in source.rows(*statement.body[:-1])]
        head = source.lines[statement.lineno - 1 : statement.body[0].lineno - 1]
        text = source.replaced(statement, statement, [*before, *head, *source.rows(last)])
        yield Site(statement.lineno, "the forward before `no_sync`", text)


OPERATORS = (
    Operator("`set_epoch` dropped", drop_set_epoch, ("DST203",), (b"set_epoch",), "data"),
    Operator("`sampler=` dropped", drop_sampler, ("DST202",), (b"sampler",), "data"),
    Operator("`map_location` dropped", drop_map_location, ("DST404",), (b"map_location",), "data"),
    Operator("`.module` of a state dict dropped", drop_module, ("DST401",), (b".module",), "data"),
    Operator("rank guard of a save dropped", drop_save_guard, ("DST406",), (b"save",), "data"),
    Operator("forward outside of `no_sync`", narrow_no_sync, ("DST308",), (b"no_sync",), "data"),
)
