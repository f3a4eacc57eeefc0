"""Calls whose meaning is Python's own, and of what libraries have in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.collection_functions import (
    call_all,
    call_any,
    call_dict,
    call_divmod,
    call_enumerate,
    call_islice,
    call_len,
    call_list,
    call_max,
    call_min,
    call_next,
    call_range,
    call_set,
    call_sorted,
    call_sum,
    call_tuple,
    call_zip,
    make_range,
)
from distlint.analyzer.symbolic.converting import convert
from distlint.analyzer.symbolic.environment import environment
from distlint.analyzer.symbolic.expressions import Expressions
from distlint.analyzer.symbolic.generators import differs_by_rank
from distlint.analyzer.symbolic.introspection import (
    call_dtype_test,
    call_getattr,
    call_hasattr,
    call_is_tensor,
    call_isinstance,
    call_setattr,
    call_type,
)
from distlint.analyzer.symbolic.picked import OWN_FILE
from distlint.analyzer.symbolic.processes import call_fork, call_process, call_spawn
from distlint.analyzer.symbolic.state import Exit
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": str,
    "builtins.bool": bool,
    "builtins.abs": abs,
    "builtins.round": round,
}

_EMPTY: dict[str, Any] = {
    "builtins.int": 0,
    "builtins.float": 0.0,
    "builtins.str": "",
    "builtins.bool": False,
}

_AT_ONCE = frozenset({"os._exit", "os.abort"})

_EXITS = _AT_ONCE | {"sys.exit", "builtins.exit", "builtins.quit"}

_TRANSPARENT = frozenset(
    {
        "builtins.iter",
        "builtins.reversed",
        "torch.as_tensor",
        "torch.autograd.Variable",
        "copy.copy",
        "copy.deepcopy",
        "itertools.cycle",
        "typing.cast",
    }
)

_PROGRESS = frozenset(
    {"tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.trange", "tqdm.auto.trange"}
)

_NAMESPACE = ir.Class("SimpleNamespace", "", (), {}, {}, (), -1)


def call_builtin(
    machine: Expressions,
    name: str,
    args: list[Value],
    keywords: dict[str, Value],
    site: int,
    node: ir.Call | None,
) -> Value | None:
    if name in _CONVERSIONS:
        return conversion(machine, name, args)
    if name in _EXITS:
        raise Exit(exit_is_success(machine, name, args), site, at_once=name in _AT_ONCE)
    if name in _TRANSPARENT:
        return args[-1 if name == "typing.cast" else 0] if args else None
    if name in _PROGRESS or name.lower().endswith(".tqdm"):
        return progress_bar(machine, name, args, keywords, site)
    handler = _BUILTIN.get(name)
    return handler(machine, args, keywords, site, node) if handler is not None else None


def conversion(machine: Expressions, name: str, args: list[Value]) -> Value:
    if not args:
        return const(_EMPTY[name]) if name in _EMPTY else unknown("converted")
    value = args[0]
    if name == "builtins.bool" and isinstance(value, (v.Seq, v.Map)):
        return const(bool(value.items))
    if name in {"builtins.int", "builtins.float"} and _may_fail_alone(name, value):
        machine.may_fail(machine.site)
    if name in {"builtins.int", "builtins.float", "builtins.bool"} and isinstance(value, Unknown):
        # the number keeps the identity of what it was made from
        return value if name == "builtins.bool" else unknown("number", value)
    return convert(machine, _CONVERSIONS[name], value)


def _may_fail_alone(name: str, value: Value) -> bool:
    """May a conversion to a number raise on one rank, and not on another?"""
    if isinstance(value, v.PerRank):
        return not all(_converts(name, mine) for mine in value.values)
    if isinstance(value, Const):  # what this rank has, perhaps after a rank test
        return not _converts(name, value.value)
    return value.local and not v.is_comparison(value)


def _converts(name: str, value: object) -> bool:
    try:
        _CONVERSIONS[name](value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def exit_is_success(machine: Expressions, name: str, args: list[Value]) -> bool:
    if name == "os.abort":
        return False
    if not args:
        return True
    status = args[0]
    if not isinstance(status, Const):
        machine.context.ends = True  # perhaps well
    return isinstance(status, Const) and status.value in {None, 0}


def progress_bar(
    machine: Expressions, name: str, args: list[Value], keywords: dict[str, Value], site: int
) -> Value:
    iterable = args[0] if args else keywords.get("iterable", const(None))
    disable = keywords.get("disable")
    if disable is not None and v.is_ranked(disable):
        bar = v.obj("tqdm.tqdm", machine.number("new", machine.here(site)), iterable)
        if iterable is not const(None):
            machine.store[(bar.oid, "[disabled]")] = disable
        return bar
    if name.endswith("trange"):
        return make_range(machine, args)
    return iterable


def call_print(*_: object) -> Value:
    return const(None)


def call_partial(
    _machine: object, args: list[Value], keywords: dict[str, Value], *_: object
) -> Value | None:
    if not args or "*" in keywords or "**" in keywords:
        return None
    return v.partial(args[0], tuple(args[1:]), tuple(keywords.items()))


def call_namespace(
    machine: Expressions, args: list[Value], keywords: dict[str, Value], site: int, *_: object
) -> Value | None:
    """An object that holds what is assigned to it, as that of a class without methods does."""
    if args or "**" in keywords:
        return None
    made = v.instance(_NAMESPACE, machine.number("new", machine.here(site), "namespace"))
    for name, value in keywords.items():
        machine.store[(made.oid, name)] = value
    return made


def call_getenv(
    machine: Expressions, args: list[Value], keywords: dict[str, Value], *_: object
) -> Value | None:
    if not args:
        return None
    default = args[1] if len(args) > 1 else keywords.get("default")
    return environment(machine, args[0], default)


def call_setenv(_machine: object, args: list[Value], *_: object) -> Value:
    return args[1] if len(args) > 1 else const(None)


def call_open(
    _machine: object, args: list[Value], keywords: dict[str, Value], *_: object
) -> Value | None:
    """A text that is read, and that is another one on each rank."""
    mode = args[1] if len(args) > 1 else keywords.get("mode", const("r"))
    is_text = isinstance(mode, Const) and mode.value in {"r", "rt"}
    return unknown(OWN_FILE, args[0]) if args and is_text and differs_by_rank(args[0]) else None


def call_floor(machine: Expressions, args: list[Value], *_: object) -> Value | None:
    return convert(machine, int, args[0]) if args else None


Handler = Callable[[Expressions, list[Value], dict[str, Value], int, ir.Call | None], Value | None]
"""What a call with arguments and keywords at a site returns; None where that is not known."""

_BUILTIN: dict[str, Handler] = {
    "builtins.range": call_range,
    "builtins.len": call_len,
    "builtins.divmod": call_divmod,
    "builtins.min": call_min,
    "builtins.max": call_max,
    "builtins.sum": call_sum,
    "builtins.any": call_any,
    "builtins.all": call_all,
    "builtins.list": call_list,
    "builtins.tuple": call_tuple,
    "builtins.set": call_set,
    "builtins.frozenset": call_set,
    "builtins.sorted": call_sorted,
    "builtins.dict": call_dict,
    "builtins.enumerate": call_enumerate,
    "builtins.zip": call_zip,
    "builtins.next": call_next,
    "itertools.islice": call_islice,
    "builtins.isinstance": call_isinstance,
    "builtins.getattr": call_getattr,
    "builtins.hasattr": call_hasattr,
    "builtins.setattr": call_setattr,
    "builtins.type": call_type,
    "torch.is_tensor": call_is_tensor,
    "torch.is_floating_point": call_dtype_test,
    "torch.is_complex": call_dtype_test,
    "builtins.print": call_print,
    "functools.partial": call_partial,
    "types.SimpleNamespace": call_namespace,
    "argparse.Namespace": call_namespace,
    "os.getenv": call_getenv,
    "os.environ.get": call_getenv,
    "os.environ.setdefault": call_setenv,
    "builtins.open": call_open,
    "math.floor": call_floor,
    "torch.multiprocessing.spawn": call_spawn,
    "torch.multiprocessing.start_processes": call_spawn,
    "accelerate.notebook_launcher": call_fork,
    "accelerate.debug_launcher": call_fork,
    "torch.multiprocessing.Process": call_process,
    "multiprocessing.Process": call_process,
}
