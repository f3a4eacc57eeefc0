"""The table of values, and the functions that make them: equal values are one object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from distlint.analyzer.symbolic.cluster import JOBS, Cluster
from distlint.analyzer.symbolic.values.facts import are_weak, is_made_as_tensor
from distlint.analyzer.symbolic.values.operators import EITHER, MERGED, UNEVEN
from distlint.analyzer.symbolic.values.types import (
    NOTHING,
    ByFields,
    Cls,
    Const,
    External,
    Func,
    Group,
    Instance,
    Map,
    Method,
    ModuleRef,
    Obj,
    Partial,
    PerRank,
    Seq,
    Super,
    Unknown,
    Value,
    WorldSizeExpr,
)

if TYPE_CHECKING:
    from distlint.analyzer import ir

TABLE: dict[tuple[Any, ...], Any] = {}
"""Every value, by its type and what it is made of."""
_ASKED: dict[tuple[Any, ...], Unknown] = {}
"""Terms by what they were asked for with: most are asked for many times."""
MAX_TERM_DEPTH = 14

V = TypeVar("V", bound=ByFields)


def forget() -> None:
    """Drop the table of values: no value may be used across this call."""
    for value in TABLE.values():
        if type(value) is Unknown:
            value.atoms = NOTHING  # it is in there itself, which only a collection would see
    TABLE.clear()
    _ASKED.clear()


def const(value: Any) -> Const:
    key = (Const, type(value), value)
    try:
        found = TABLE.get(key)
    except TypeError:
        key = (Const, type(value), repr(value))
        found = TABLE.get(key)
    if found is None:
        found = Const()
        found.value = value
        TABLE[key] = found
    result: Const = found
    return result


def ranked(values: Sequence[Any]) -> Const | PerRank:
    """A value per rank; the same on all ranks is a constant."""
    first = values[0]
    kind = type(first)
    if all(type(value) is kind and value == first for value in values):
        return const(first)
    vector = tuple(values)
    key: tuple[Any, ...]
    try:
        key = (PerRank, vector, tuple(map(type, vector)))
        found = TABLE.get(key)
    except TypeError:
        key = (PerRank, repr(vector))
        found = TABLE.get(key)
    if found is None:
        found = PerRank()
        found.values = vector
        TABLE[key] = found
    result: PerRank = found
    return result


def world(value: Any, samples: tuple[Any, ...]) -> WorldSizeExpr:
    key = (WorldSizeExpr, value, samples)
    found = TABLE.get(key)
    if found is None:
        found = WorldSizeExpr()
        found.value = value
        found.samples = samples
        TABLE[key] = found
    result: WorldSizeExpr = found
    return result


def world_size(cluster: Cluster) -> WorldSizeExpr:
    return world(cluster.size, tuple(size for size, _ in JOBS))


def local_world_size(cluster: Cluster) -> WorldSizeExpr:
    return world(cluster.local, tuple(local for _, local in JOBS))


def node_count(cluster: Cluster) -> WorldSizeExpr:
    return world(cluster.nodes, tuple(size // local for size, local in JOBS))


def unknown(
    op: str,
    *args: Any,
    local: bool | None = None,
    weak: bool | None = None,
    fresh: bool = False,
    wrapped: frozenset[int] = NOTHING,
    clean: bool = False,
) -> Unknown:
    """Make a term. It is rank-local when told so or when an argument is.

    ``clean`` says that rank-local arguments do not make the term rank-local.
    """
    asked = (op, args, local, weak, fresh, wrapped, clean)
    try:
        known: Unknown | None = _ASKED.get(asked)
    except TypeError:
        args = tuple(arg if isinstance(arg, Value) else repr(arg) for arg in args)
        asked = (op, args, local, weak, fresh, wrapped, clean)
        known = _ASKED.get(asked)
    if known is None:
        known = _ASKED[asked] = _made(*asked)
    return known


def _made(
    op: str,
    args: tuple[Any, ...],
    local: bool | None,
    weak: bool | None,
    fresh: bool,
    wrapped: frozenset[int],
    clean: bool,
) -> Unknown:
    parts = [arg for arg in args if isinstance(arg, Value)]
    if not clean:
        local = bool(local) or any(part.local for part in parts)
        if local and weak is None:
            weak = are_weak(parts)
    for part in parts:
        source = getattr(part, "wrapped", None)
        if source:
            wrapped = wrapped | source
    key = (Unknown, op, args, bool(local), bool(weak), fresh, wrapped)
    found = TABLE.get(key)
    if found is not None:
        result: Unknown = found
        return result
    depth = 1 + max((getattr(part, "depth", 0) for part in parts), default=0)
    if depth > MAX_TERM_DEPTH:
        op, args = "deep", (len(TABLE),)
        fresh = True
        depth = 1
    result = Unknown()
    result.op = op
    result.args = args
    result.local = bool(local)
    result.weak = bool(weak)
    result.leaf = fresh
    result.fresh = fresh or any(getattr(part, "fresh", False) for part in parts)
    result.wrapped = wrapped
    result.depth = depth
    tokens = [arg.tokens for arg in args if isinstance(arg, Unknown)]
    if op == "item set" and is_made_as_tensor(args[0]):
        tokens[1:] = [part - {UNEVEN} for part in tokens[1:]]  # it is as long as it was made
    result.tokens = own_names(result).union(*tokens)
    # ranks that hold one of two values can ask for no part of them
    known = (part.atoms for part in parts) if op != EITHER else ()
    result.atoms = frozenset((result,)).union(*known)
    TABLE[key] = result
    return result


def own_names(term: Unknown) -> frozenset[str]:
    """The names that stand in a term itself, by their last part; the path of a module is none."""
    names = (arg for arg in term.args if isinstance(arg, str) and "/" not in arg)
    return frozenset(name.rsplit(".", 1)[-1] for name in names)


def seq(kind: str, items: Sequence[Value]) -> Seq:
    key = (Seq, kind, tuple(items))
    found = TABLE.get(key)
    if found is None:
        found = Seq()
        found.kind = kind
        found.items = tuple(items)
        found.local = any(item.local for item in items)
        found.weak = are_weak(items)
        found.atoms = frozenset().union(*(item.atoms for item in items))
        TABLE[key] = found
    result: Seq = found
    return result


def mapping(items: Sequence[tuple[Value, Value]]) -> Map:
    key = (Map, tuple(items))
    found = TABLE.get(key)
    if found is None:
        found = Map()
        found.items = tuple(items)
        found.local = any(value.local for _, value in items)
        found.weak = are_weak([value for _, value in items])
        found.atoms = frozenset().union(*(value.atoms for _, value in items))
        TABLE[key] = found
    result: Map = found
    return result


def merged(parts: Sequence[Value]) -> Value:
    """The dict that dicts were put into, one after the other."""
    flat: list[Value] = []
    for part in parts:
        for each in part.args if isinstance(part, Unknown) and part.op == MERGED else (part,):
            if flat and isinstance(each, Map) and isinstance(before := flat[-1], Map):
                flat[-1] = mapping(list((dict(before.items) | dict(each.items)).items()))
            else:
                flat.append(each)
    return flat[0] if len(flat) == 1 and isinstance(flat[0], Map) else unknown(MERGED, *flat)


def _make(cls: type[V], *fields: Any) -> V:
    key = (cls, *fields)
    found = TABLE.get(key)
    if found is None:
        found = cls()
        for name, field in zip(cls.fields, fields, strict=True):
            setattr(found, name, field)
        TABLE[key] = found
    result: V = found
    return result


def obj(kind: str, oid: int, inner: Value | None = None, marks: frozenset[str] = NOTHING) -> Obj:
    return _make(Obj, kind, oid, inner, marks)


def instance(cls: ir.Class, oid: int) -> Instance:
    return _make(Instance, cls, oid)


def func(
    function: ir.Function,
    scope: int,
    bound: Value | None = None,
    guards: tuple[()] | None = None,
) -> Func:
    return _make(Func, function, scope, bound, guards)


def cls_value(cls: ir.Class) -> Cls:
    return _make(Cls, cls)


def external(name: str) -> External:
    return _make(External, name)


def module_ref(name: str) -> ModuleRef:
    return _make(ModuleRef, name)


def partial(
    target: Value, args: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]
) -> Partial:
    return _make(Partial, target, args, keywords)


def method(receiver: Value, name: str) -> Method:
    return _make(Method, receiver, name)


def super_value(cls: ir.Class, bound: Value) -> Super:
    return _make(Super, cls, bound)


def group(kind: str, detail: Any = None, oid: int = 0) -> Group:
    return _make(Group, kind, detail, oid)
