"""Abstract values: what an expression is on the ranks of the simulated cluster.

Values are interned: equal ones are identical, so states compare and hash by identity. The three
kinds of knowledge (see ``docs/architecture.md``): concrete (:class:`Const`, :class:`PerRank`,
:class:`WorldSizeExpr`), uniform unknown and rank-local unknown (:class:`Unknown`). The rest are
objects whose kind matters.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from distlint.analyzer.symbolic.cluster import MOST_MEMBERS, MOST_RANKS, WORLD_SAMPLES, Cluster

if TYPE_CHECKING:
    from distlint.analyzer import ir

_TABLE: dict[tuple[Any, ...], Any] = {}
_ASKED: dict[tuple[Any, ...], Unknown] = {}
"""Terms by what they were asked for with: most are asked for many times."""
_NOTHING: frozenset[Any] = frozenset()
MAX_TERM_DEPTH = 14
MAX_PHI_DEPTH = 4
MAX_OPEN_DEPTH = 1
"""The same for what joined ways leave: unknowns that ranks can only test, all alike."""
UNSET = "unset"
"""Operator of what a variable is that only one of two ways has set."""
EITHER = "either"
"""Operator of the unknowns that are one of two values, which one is of no interest any more."""
LOST = "lost"
"""Operator of the unknowns that stand for what each rank had, where too many ways were joined."""

CARRIED = "carried"
"""Operator of the unknowns that stand for what a rank has counted in the iterations of a loop."""

LISTED = "$listed"
"""A token of a list made of known things, of which a test may have left out some."""

UNEVEN = "$uneven"
"""Token of sequences whose length differs from rank to rank."""

SELDOM_UNEVEN = "$seldom uneven"
"""Further token, or mark, of those that mostly turn out to be equally long."""

LOADER = "loader"
"""Operator of what is known as a loader by its use: each rank has batches of its own."""

CUT = "cut"
"""Kind of a long range of which only the first numbers are kept."""

TRIED = "tried"
"""Operator of what is tried for an unknown beside a rank: a number that leaves out some ranks."""

SAME = "$same"
"""Token of batches that all ranks read alike."""

V = TypeVar("V", bound="_Plain")


def forget() -> None:
    """Drop the table of values: no value may be used across this call."""
    for value in _TABLE.values():
        if type(value) is Unknown:
            value.atoms = _NOTHING  # it is in there itself, which only a collection would see
    _TABLE.clear()
    _ASKED.clear()


class Value:
    """What an expression evaluates to."""

    __slots__ = ()
    local: ClassVar[bool] = False
    atoms: ClassVar[frozenset[Unknown]] = _NOTHING

    def __repr__(self) -> str:
        slots: tuple[str, ...] = tuple(self.__slots__)
        fields = ", ".join(repr(getattr(self, name)) for name in slots if name not in _DERIVED)
        return f"{type(self).__name__}({fields})"


_DERIVED = frozenset({"atoms", "tokens", "depth", "plain", "weak"})


class Const(Value):
    """A Python constant, the same on all ranks."""

    __slots__ = ("value",)
    value: Any


def const(value: Any) -> Const:
    key = (Const, type(value), value)
    try:
        found = _TABLE.get(key)
    except TypeError:
        key = (Const, type(value), repr(value))
        found = _TABLE.get(key)
    if found is None:
        found = Const()
        found.value = value
        _TABLE[key] = found
    result: Const = found
    return result


class PerRank(Value):
    """A constant for each rank of the simulated cluster."""

    __slots__ = ("values",)
    values: tuple[Any, ...]


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
        found = _TABLE.get(key)
    except TypeError:
        key = (PerRank, repr(vector))
        found = _TABLE.get(key)
    if found is None:
        found = PerRank()
        found.values = vector
        _TABLE[key] = found
    result: PerRank = found
    return result


class WorldSizeExpr(Value):
    """A number made of the world size: unknown alone, concrete beside a rank.

    ``samples`` holds its values for the world sizes that a test of it alone is tried on.
    """

    __slots__ = ("samples", "value")
    value: Any
    samples: tuple[Any, ...]


def world(value: Any, samples: tuple[Any, ...]) -> WorldSizeExpr:
    key = (WorldSizeExpr, value, samples)
    found = _TABLE.get(key)
    if found is None:
        found = WorldSizeExpr()
        found.value = value
        found.samples = samples
        _TABLE[key] = found
    result: WorldSizeExpr = found
    return result


def world_size(cluster: Cluster) -> WorldSizeExpr:
    return world(cluster.size, WORLD_SAMPLES)


def local_world_size(cluster: Cluster) -> WorldSizeExpr:
    return world(cluster.local, (1, *WORLD_SAMPLES))


class Unknown(Value):
    """Not known: the same on all ranks, or (``local``) each rank's own.

    A term over other values, so that equal expressions are equal unknowns. ``weak`` marks a
    rank-local value that is uniform as a rule (a file that exists). ``fresh`` terms cannot be made
    again, such as the item of one iteration; ``leaf`` ones are fresh by themselves. ``wrapped``
    names the wrapped models whose forward output flows into it.
    """

    __slots__ = (
        "args",
        "atoms",
        "depth",
        "fresh",
        "leaf",
        "local",
        "op",
        "tokens",
        "weak",
        "wrapped",
    )
    op: str
    args: tuple[Any, ...]
    local: bool  # type: ignore[misc]
    weak: bool
    fresh: bool
    leaf: bool
    wrapped: frozenset[int]
    tokens: frozenset[str]
    atoms: frozenset[Unknown]  # type: ignore[misc]
    depth: int


def unknown(
    op: str,
    *args: Any,
    local: bool | None = None,
    weak: bool | None = None,
    fresh: bool = False,
    wrapped: frozenset[int] = _NOTHING,
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
            weak = _are_weak(parts)
    for part in parts:
        source = getattr(part, "wrapped", None)
        if source:
            wrapped = wrapped | source
    key = (Unknown, op, args, bool(local), bool(weak), fresh, wrapped)
    found = _TABLE.get(key)
    if found is not None:
        result: Unknown = found
        return result
    depth = 1 + max((getattr(part, "depth", 0) for part in parts), default=0)
    if depth > MAX_TERM_DEPTH:
        op, args = "deep", (len(_TABLE),)
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
    if op == "item set" and _is_made_by_torch(args[0]):
        tokens[1:] = [part - {UNEVEN} for part in tokens[1:]]  # it is as long as it was made
    result.tokens = own_names(result).union(*tokens)
    # ranks that hold one of two values can ask for no part of them
    known = (part.atoms for part in parts) if op != EITHER else ()
    result.atoms = frozenset((result,)).union(*known)
    _TABLE[key] = result
    return result


def _is_made_by_torch(base: Value) -> bool:
    """Is it a tensor by its making, whatever has been put into it since?"""
    while isinstance(base, Unknown) and base.op == "item set":
        base = base.args[0]
    made = base.args[0] if isinstance(base, Unknown) and base.op == "call" else None
    return isinstance(made, str) and made.startswith("torch.")


def own_names(term: Unknown) -> frozenset[str]:
    """The names that stand in a term itself, by their last part; the path of a module is none."""
    names = (arg for arg in term.args if isinstance(arg, str) and "/" not in arg)
    return frozenset(name.rsplit(".", 1)[-1] for name in names)


class Phi(Value):
    """One value or the other, by a condition that has not been decided yet."""

    __slots__ = (
        "atoms", "depth", "known", "local", "orelse", "plain", "test", "then", "weak", "wrapped"
    )  # fmt: skip
    test: Unknown
    then: Value
    orelse: Value
    depth: int
    local: bool  # type: ignore[misc]
    weak: bool
    plain: bool
    """Can the ranks do nothing with it but test it, all alike?"""
    known: bool
    """Is it one of several constants?"""
    wrapped: frozenset[int]
    atoms: frozenset[Unknown]  # type: ignore[misc]


def phi(test: Unknown, then: Value, orelse: Value) -> Value:
    then, orelse = where(test, then, orelse)
    if then is orelse:
        return then
    depth = 1 + max(_phi_depth(then), _phi_depth(orelse))
    if depth > MAX_PHI_DEPTH:
        return unknown(EITHER, test, then, orelse)
    key = (Phi, test, then, orelse)
    found = _TABLE.get(key)
    if found is None:
        found = Phi()
        found.test = test
        found.then = then
        found.orelse = orelse
        found.depth = depth
        found.local = test.local or then.local or orelse.local
        found.wrapped = getattr(then, "wrapped", _NOTHING) | getattr(orelse, "wrapped", _NOTHING)
        found.atoms = test.atoms | then.atoms | orelse.atoms
        found.weak = _are_weak((test, then, orelse))
        found.plain = not found.local and is_plain(then) and is_plain(orelse)
        found.known = is_known(then) and is_known(orelse)
        _TABLE[key] = found
    result: Phi = found
    return result


def where(test: Unknown, then: Value, orelse: Value) -> tuple[Value, Value]:
    """What two values are where a test is true, and where it is false."""
    if isinstance(then, Phi) and then.test is test:
        then = then.then
    if isinstance(orelse, Phi) and orelse.test is test:
        orelse = orelse.orelse
    if is_truth_value(test):
        then = const(True) if then is test else then
        orelse = const(False) if orelse is test else orelse
    return then, orelse


def joined(test: Unknown, then: Value, orelse: Value) -> Value:
    """What two ways have left in a variable: two unknowns, the same on all ranks, become one."""
    one, two = where(test, then, orelse)
    if isinstance(one, Map) and isinstance(two, Map) and _keys(one) == _keys(two):
        items = zip(one.items, two.items, strict=True)
        return mapping([(key, joined(test, left, right)) for (key, left), (_, right) in items])
    if one is two or test.local:
        return phi(test, then, orelse)
    if are_alike(one, two):
        return unknown(EITHER, test, then, orelse)
    if is_plain(one) and is_plain(two) and not (is_known(one) and is_known(two)):
        depth = 1 + max(_phi_depth(one), _phi_depth(two))
        if depth > MAX_OPEN_DEPTH:
            return unknown(EITHER, test, then, orelse)
    return phi(test, then, orelse)


def are_alike(one: Value, two: Value) -> bool:
    """Are both unknown, the same on all ranks, and made by the same wrapped models?"""
    return (
        type(one) is type(two) is Unknown
        and not (one.local or two.local)
        and one.wrapped == two.wrapped
    )


def _keys(value: Map) -> list[Value]:
    return [key for key, _ in value.items]


def leaves(value: Value) -> Iterator[Value]:
    """The values that it may be."""
    if isinstance(value, Phi):
        yield from leaves(value.then)
        yield from leaves(value.orelse)
    else:
        yield value


def _are_weak(parts: Iterable[Value]) -> bool:
    """Is all that is rank-local weak? One strong cause makes the whole strong."""
    causes = [part for part in parts if part.local]
    return bool(causes) and all(getattr(part, "weak", False) for part in causes)


def _phi_depth(value: Value) -> int:
    return value.depth if isinstance(value, Phi) else 0


class Seq(Value):
    """A list, tuple or set whose items are known."""

    __slots__ = ("atoms", "items", "kind", "local", "weak")
    kind: str
    items: tuple[Value, ...]
    local: bool  # type: ignore[misc]
    weak: bool
    atoms: frozenset[Unknown]  # type: ignore[misc]


def seq(kind: str, items: Sequence[Value]) -> Seq:
    key = (Seq, kind, tuple(items))
    found = _TABLE.get(key)
    if found is None:
        found = Seq()
        found.kind = kind
        found.items = tuple(items)
        found.local = any(item.local for item in items)
        found.weak = _are_weak(items)
        found.atoms = frozenset().union(*(item.atoms for item in items))
        _TABLE[key] = found
    result: Seq = found
    return result


class Map(Value):
    """A dict with known keys."""

    __slots__ = ("atoms", "items", "local", "weak")
    items: tuple[tuple[Value, Value], ...]
    local: bool  # type: ignore[misc]
    weak: bool
    atoms: frozenset[Unknown]  # type: ignore[misc]


def mapping(items: Sequence[tuple[Value, Value]]) -> Map:
    key = (Map, tuple(items))
    found = _TABLE.get(key)
    if found is None:
        found = Map()
        found.items = tuple(items)
        found.local = any(value.local for _, value in items)
        found.weak = _are_weak([value for _, value in items])
        found.atoms = frozenset().union(*(value.atoms for _, value in items))
        _TABLE[key] = found
    result: Map = found
    return result


class _Plain(Value):
    """Base of values that are told apart by their fields alone."""

    __slots__ = ()
    fields: ClassVar[tuple[str, ...]] = ()
    """The slots in the order in which the factory function takes them."""


def _make(cls: type[V], *fields: Any) -> V:
    key = (cls, *fields)
    found = _TABLE.get(key)
    if found is None:
        found = cls()
        for name, field in zip(cls.fields, fields, strict=True):
            setattr(found, name, field)
        _TABLE[key] = found
    result: V = found
    return result


class Obj(_Plain):
    """An object of a framework class: what it wraps, and facts about it (``marks``)."""

    __slots__ = fields = ("kind", "oid", "inner", "marks")
    kind: str
    oid: int
    inner: Value | None
    marks: frozenset[str]


def obj(kind: str, oid: int, inner: Value | None = None, marks: frozenset[str] = _NOTHING) -> Obj:
    return _make(Obj, kind, oid, inner, marks)


class Instance(_Plain):
    """An object of a class of the project; ``oid`` 0 is the unknown ``self`` of a root method."""

    __slots__ = fields = ("cls", "oid")
    cls: ir.Class
    oid: int


def instance(cls: ir.Class, oid: int) -> Instance:
    return _make(Instance, cls, oid)


class Func(_Plain):
    """A function of the project: where it was defined, what it is bound to, who runs it."""

    __slots__ = fields = ("function", "scope", "bound", "guards")
    function: ir.Function
    scope: int
    bound: Value | None
    guards: tuple[()] | None
    """None until the decorators have been looked at."""


def func(
    function: ir.Function,
    scope: int,
    bound: Value | None = None,
    guards: tuple[()] | None = None,
) -> Func:
    return _make(Func, function, scope, bound, guards)


class Cls(_Plain):
    """A class of the project."""

    __slots__ = fields = ("cls",)
    cls: ir.Class


def cls_value(cls: ir.Class) -> Cls:
    return _make(Cls, cls)


class External(_Plain):
    """A dotted name outside the project."""

    __slots__ = fields = ("name",)
    name: str


def external(name: str) -> External:
    return _make(External, name)


class ModuleRef(_Plain):
    """A module of the project."""

    __slots__ = fields = ("name",)
    name: str


def module_ref(name: str) -> ModuleRef:
    return _make(ModuleRef, name)


class Partial(_Plain):
    """``functools.partial``: a callable with some arguments bound."""

    __slots__ = fields = ("target", "args", "keywords")
    target: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


def partial(
    target: Value, args: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]
) -> Partial:
    return _make(Partial, target, args, keywords)


class Method(_Plain):
    """A method of a value that is no object of the project, not called yet."""

    __slots__ = fields = ("receiver", "name")
    receiver: Value
    name: str


def method(receiver: Value, name: str) -> Method:
    return _make(Method, receiver, name)


class Super(_Plain):
    """``super()`` in a method of ``cls``."""

    __slots__ = fields = ("cls", "instance")
    cls: ir.Class
    instance: Value


def super_value(cls: ir.Class, bound: Value) -> Super:
    return _make(Super, cls, bound)


class Group(_Plain):
    """A process group: ``world``, ``ranks`` (members), ``axis`` (of a mesh), ``unknown``."""

    __slots__ = fields = ("kind", "detail", "oid")
    kind: str
    detail: Any
    oid: int


def group(kind: str, detail: Any = None, oid: int = 0) -> Group:
    return _make(Group, kind, detail, oid)


# ---- operations

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
    "is": lambda a, b: a is b or (a == b and isinstance(a, int) and type(a) is type(b)),
    "is not": lambda a, b: not (a is b or (a == b and isinstance(a, int) and type(a) is type(b))),
}
_NEGATED = {"!=": "==", ">=": "<", "not in": "in", "is not": "is"}
_MAY_BE_NONE = frozenset({"item", "result", "either", "caught", "param"})
"""Rank-local terms that may be None on one rank alone, such as an empty batch."""
_SWAPPED = {">": "<", "<=": ">="}
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%"})
TRANSPARENT = (
    _ARITHMETIC
    | _COMPARISONS
    | {"not", "either", "min", "max", "any", "all", "number", "trip", "range"}
)
"""Terms in which what is known of their parts counts; of the result of a call nothing is known."""
_KNOWN_OBJECTS = (Obj, Instance, Func, Cls, ModuleRef, Partial, Group)


def negate(value: Value) -> Value:
    """``not value``."""
    if isinstance(value, Const):
        return const(not value.value)
    if isinstance(value, PerRank):
        return ranked([not item for item in value.values])
    if isinstance(value, Unknown):
        if value.op == "not":
            inner: Value = value.args[0]
            return inner
        return unknown("not", tested(value))
    if isinstance(value, Phi):
        return phi(value.test, negate(value.then), negate(value.orelse))
    if isinstance(value, Seq):
        return const(not value.items)
    if isinstance(value, Map):
        return const(not value.items)
    if isinstance(value, External):
        return unknown("not", unknown("truth", value))
    return const(False)


def tested(value: Unknown) -> Unknown:
    """What an ``if`` asks of a value: of known things, has a test common to all left any?"""
    if value.op == "comprehension" and value.local and LISTED in value.tokens:
        return unknown("any left", value, local=False, clean=True)
    return value


def plain(value: Value) -> Any:
    """The Python object of a constant, tuples and lists included; ValueError if none."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Seq):
        items = [plain(item) for item in value.items]
        return frozenset(items) if value.kind == "set" else tuple(items)
    raise ValueError


def vector(value: Value, size: int) -> list[Any]:
    """The value on each rank; ValueError when it is not concrete."""
    if isinstance(value, PerRank):
        return list(value.values)
    if isinstance(value, WorldSizeExpr):
        return [value.value] * size
    if isinstance(value, Seq):
        columns = [vector(item, size) for item in value.items]
        rows = [tuple(column[rank] for column in columns) for rank in range(size)]
        return [frozenset(row) for row in rows] if value.kind == "set" else list(rows)
    return [plain(value)] * size


def is_plain(value: Value) -> bool:
    """Can the ranks do nothing with a value but test it, all alike?"""
    if isinstance(value, Phi):
        return value.plain
    if isinstance(value, Unknown):
        return not (value.local or value.wrapped)
    return isinstance(value, (Const, WorldSizeExpr, External))


def is_process_id(value: Value) -> bool:
    """Is it the number of the own process? Under it, each has its own of what all have."""
    return isinstance(value, Unknown) and value.op == "call" and value.args[0] == "os.getpid"


def is_surely_true(value: Unknown) -> bool:
    """Is it true: a path with a name at its end, a filled-in text, the number of a later turn?"""
    parts = value.args
    if value.op == "step":
        return (_lowest(value) or 0) > 0
    if value.op == "call" and parts[0] == "os.path.join":
        parts = parts[-1:]
    elif value.op != "format":
        return False
    return any(isinstance(part, Const) and part.value not in ("", None) for part in parts)


def number_in(tensor: Value | None) -> Value | None:
    """What ``torch.tensor(n)`` or ``torch.tensor([n])`` was made of; None for anything else."""
    if not isinstance(tensor, Unknown) or tensor.op != "call":
        return None
    if tensor.args[0] != "torch.tensor" or len(tensor.args) < 2:
        return None
    data: Value = tensor.args[1]
    if not isinstance(data, Seq):
        return data
    return data.items[0] if len(data.items) == 1 else None


def is_known(value: Value) -> bool:
    """Is it a constant, or one of several?"""
    return value.known if isinstance(value, Phi) else isinstance(value, (Const, WorldSizeExpr))


def is_opaque(value: Value) -> bool:
    """Is there nothing in a value that could be followed: no object, no items?"""
    if isinstance(value, Phi):
        return is_opaque(value.then) and is_opaque(value.orelse)
    return isinstance(value, (Unknown, Const, WorldSizeExpr, External))


def holds_numbers(value: Value) -> bool:
    """Is there nothing in a value that could be followed, itself or in its items?"""
    if isinstance(value, Seq):
        return all(map(holds_numbers, value.items))
    if isinstance(value, Map):
        return all(holds_numbers(key) and holds_numbers(item) for key, item in value.items)
    return is_opaque(value)


def is_count(value: Value) -> bool:
    """Is it a whole number, or one of several?"""
    return all(
        all(map(is_count, leaf.args[1:]))
        if isinstance(leaf, Unknown) and leaf.op == EITHER
        else isinstance(leaf, Const) and type(leaf.value) is int
        for leaf in leaves(value)
    )


def is_empty_container(value: Value) -> bool:
    """Is it an empty dict, list or set?"""
    if isinstance(value, Seq):
        return not value.items and value.kind != "tuple"
    return isinstance(value, Map) and not value.items


def is_own_number(value: Value) -> bool:
    """Is it a number or the like that each rank has for itself, and nothing to be followed?"""
    return value.local and holds_numbers(value)


def is_comparison(value: Value) -> bool:
    """Is it the outcome of a comparison, which any conversion takes?"""
    return isinstance(value, Unknown) and (value.op in _COMPARISONS or value.op == "not")


def is_truth_value(value: Value) -> bool:
    """Is it True or False, whichever: a comparison, or one of several?"""
    if isinstance(value, Phi):
        return is_truth_value(value.then) and is_truth_value(value.orelse)
    if isinstance(value, Unknown) and value.op == EITHER:
        return all(map(is_truth_value, value.args[1:]))
    return is_comparison(value) or (isinstance(value, Const) and isinstance(value.value, bool))


def are_uniform(*values: Value) -> bool:
    return not any(value.local or is_ranked(value) for value in values)


def is_ranked(value: Value) -> bool:
    """Does the value depend on the rank alone?"""
    if isinstance(value, Seq):
        return any(is_ranked(item) for item in value.items)
    return isinstance(value, PerRank)


def binary(op: str, left: Value, right: Value, cluster: Cluster) -> Value:
    """An arithmetic operation or a comparison."""
    if op in _ORDER and isinstance(left, Phi) and isinstance(right, Const):
        tally = _tally(left)
        if tally is not None and type(right.value) is int and right.value > max(tally, 1):
            return unknown(op, left, right)
    if isinstance(left, Phi):
        return phi(
            left.test,
            binary(op, left.then, right, cluster),
            binary(op, left.orelse, right, cluster),
        )
    if isinstance(right, Phi):
        return phi(
            right.test,
            binary(op, left, right.then, cluster),
            binary(op, left, right.orelse, cluster),
        )
    if op in {"in", "not in"} and isinstance(right, Seq):
        tests = {item.test for item in right.items if isinstance(item, Phi)}
        if len(tests) == 1:
            test = tests.pop()
            ways = zip(*(where(test, item, item) for item in right.items), strict=True)
            then, orelse = (binary(op, left, seq(right.kind, way), cluster) for way in ways)
            return phi(test, then, orelse)
    function = _OPERATORS.get(op)
    if function is not None:
        try:
            result = _concrete(op, function, left, right, cluster)
        except (
            ValueError,
            TypeError,
            ZeroDivisionError,
            OverflowError,
            MemoryError,
            AttributeError,
        ):
            result = None
        if result is not None:
            return result
    if op in _COMPARISONS:
        return _compare_unknown(op, left, right)
    if isinstance(left, Seq) and isinstance(right, Seq) and op == "+":
        return seq(left.kind, left.items + right.items)
    return unknown(op, left, right)


HORIZON = 8
"""Counters are followed up to here; whether they pass a larger number is left open."""


def _is_horizon(op: str, left: Any, right: Any) -> bool:
    """A counter beside a large constant: few iterations cannot say how they compare.

    ``step % 1000 == 0`` and ``step > max_steps`` come true at some time, with the small numbers of
    the first turns they would not.
    """
    if type(left) is not int or type(right) is not int or left == right:
        return False
    if op == "%":
        return right > HORIZON
    return op in _ORDER and max(abs(left), abs(right)) > HORIZON


def _tally(value: Value) -> int | None:
    """The largest number that a count of events on this rank has come to; None if it is none.

    An example is the number of evaluations without progress: where it stands against a larger bound
    is the rank's own, however few iterations are executed.
    """
    if isinstance(value, Const):
        return value.value if type(value.value) is int else None
    if not isinstance(value, Phi) or not value.test.local:
        return None
    parts = (_tally(value.then), _tally(value.orelse))
    known = [part for part in parts if part is not None]
    return max(known) if len(known) == len(parts) else None


_ORDER = frozenset({"==", "!=", "<", "<=", ">", ">="})


def _concrete(
    op: str, function: Callable[[Any, Any], Any], left: Value, right: Value, cluster: Cluster
) -> Value | None:
    if isinstance(left, Const) and isinstance(right, Const):
        if _is_horizon(op, left.value, right.value):
            return None
        if op in {"*", "+"} and not isinstance(left.value, (int, float)):
            return const(left.value + right.value) if op == "+" else None
        return const(function(left.value, right.value))
    if is_ranked(left) or is_ranked(right):
        lefts, rights = vector(left, cluster.size), vector(right, cluster.size)
        if op in _COMPARISONS:
            lefts, rights = _within(cluster, lefts, rights), _within(cluster, rights, lefts)
            _require_constants(cluster, lefts, rights, op)
        return ranked([_apply(op, function, a, b) for a, b in zip(lefts, rights, strict=True)])
    if isinstance(left, WorldSizeExpr) or isinstance(right, WorldSizeExpr):
        return _world_operation(op, function, left, right)
    if op in {"is", "is not", "==", "!="}:
        return _identity(op, left, right)
    if op in {"in", "not in"} or isinstance(left, Seq):
        return const(function(plain(left), plain(right)))
    return None


def _apply(op: str, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if left is None or right is None:
        if op in {"==", "is"}:
            return left is right
        if op in {"!=", "is not"}:
            return left is not right
    if isinstance(left, str) and op in {"+", "*", "%"}:
        raise ValueError
    return function(left, right)


def _within(cluster: Cluster, side: list[Any], other: list[Any]) -> list[Any]:
    """A rank that no cluster of sensible size has is taken for the last one that there is."""
    if len(set(map(repr, side))) != 1 or other != list(cluster.coordinates("global")):
        return side

    (first, *_) = side
    if isinstance(first, (tuple, range, frozenset)):
        if len(first) <= MOST_MEMBERS and all(type(number) is int for number in first):
            return [cluster.within(first)] * cluster.size
    if type(first) is int and first >= MOST_RANKS:
        return [cluster.size - 1] * cluster.size
    return side


_BEYOND = frozenset({("<=", False), (">", False), ("<", True), (">=", True)})
"""Comparisons with a number (True: on the left) that tell it from the next higher one."""


def _require_constants(cluster: Cluster, lefts: list[Any], rights: list[Any], op: str) -> None:
    """A literal rank beyond the cluster asks for a bigger one: ``rank == 5`` is true somewhere."""
    for side, other in ((lefts, rights), (rights, lefts)):
        if len(set(map(repr, side))) == 1 and sorted(map(repr, other)) == sorted(
            map(repr, cluster.coordinates("global"))
        ):
            wanted = side[0] if isinstance(side[0], (tuple, frozenset)) else (side[0],)
            numbers = [n for n in wanted if type(n) is int and n >= 0]
            if numbers:
                cluster.require(max(numbers) + (2 if (op, side is lefts) in _BEYOND else 1))


def _world_operation(
    op: str, function: Callable[[Any, Any], Any], left: Value, right: Value
) -> Value | None:
    count = len(left.samples) if isinstance(left, WorldSizeExpr) else 0
    if isinstance(right, WorldSizeExpr):
        if count and count != len(right.samples):
            return None
        count = len(right.samples)

    def parts(value: Value) -> tuple[Any, tuple[Any, ...]]:
        if isinstance(value, WorldSizeExpr):
            return value.value, value.samples
        constant = plain(value)
        return constant, (constant,) * count

    (left_value, left_samples), (right_value, right_samples) = parts(left), parts(right)
    samples = tuple(function(a, b) for a, b in zip(left_samples, right_samples, strict=True))
    if op in _COMPARISONS:
        return const(samples[0]) if len(set(samples)) == 1 else None
    return world(function(left_value, right_value), samples)


def _identity(op: str, left: Value, right: Value) -> Value | None:
    positive = op in {"is", "=="}
    for known, other in ((left, right), (right, left)):
        if (
            isinstance(other, Const)
            and other.value is None
            and (
                isinstance(known, (*_KNOWN_OBJECTS, Seq, Map, WorldSizeExpr))
                or (isinstance(known, Unknown) and _is_made(known))
            )
        ):
            return const(not positive)
    if left is right and not left.local:
        return const(positive)
    if isinstance(left, Group) and isinstance(right, Group):
        return const((left is right) == positive)
    return None


def _is_made(value: Unknown) -> bool:
    """Is it something in any case, and never None: a sum, a tensor that a call makes?"""
    if value.op in _ARITHMETIC or value.op in _MADE:
        return True
    if value.op == "method":
        return value.args[1] in _MAKING
    maker = value.args[0] if value.op == "call" else None
    if not isinstance(maker, str):
        return False
    library, _, function = maker.partition(".")
    return library in {"torch", "numpy"} and function.islower() and function != "load"


_MADE = frozenset(
    {"item set", "changed", "number", "len", "comprehension", "dict", "format", "partial"}
)
"""What is changed, counted, put together or gathered is there."""
_MAKING = frozenset(
    """bfloat16 bool clone contiguous cpu cuda detach double expand flatten float half int item long
    mean numel permute reshape size squeeze sum to tolist transpose unsqueeze view""".split()
)
"""Methods of tensors that return something."""


def _lowest(value: Value) -> Any:
    """The least that the number of a later turn can be; None for anything else."""
    return value.args[-1].value if isinstance(value, Unknown) and value.op == "step" else None


def _of_later_turn(op: str, left: Value, right: Value) -> bool | None:
    """How a later turn's number compares with one that only an earlier turn can have."""
    if op == "==" and _lowest(left) is None:
        left, right = right, left
    if _lowest(left) is not None and isinstance(right, Const) and type(right.value) is int:
        if right.value < _lowest(left) + (op == "<"):
            return False
    elif op == "<" and _lowest(right) is not None:
        if isinstance(left, Const) and type(left.value) is int and left.value < _lowest(right):
            return True
    return None


def _compare_unknown(op: str, left: Value, right: Value) -> Value:
    if op in _SWAPPED:
        return _compare_unknown(_SWAPPED[op], right, left)
    if op in _NEGATED:
        return negate(_compare_unknown(_NEGATED[op], left, right))
    if op in {"==", "<"}:
        outcome = _of_later_turn(op, left, right)
        return unknown(op, left, right) if outcome is None else const(outcome)
    if op == "is" and isinstance(left, Unknown) and left.op not in _MAY_BE_NONE:
        # whether there is a value at all is a matter of the program, not of the rank's data
        return unknown(op, left, right, local=False, clean=True)
    if op == "in" and is_process_id(left) and not right.local:
        return unknown(op, "process", right, clean=True)
    if op == "in" and isinstance(left, Const) and isinstance(right, Unknown) and right.wrapped:
        # so is which outputs a model has
        return unknown(op, left, right, local=False, clean=True)
    if op == "in" and not left.local and _has_keys_of_all(right):
        return unknown(op, left, right, local=False, clean=True)
    return unknown(op, left, right)


def _is_loader(value: object) -> bool:
    return isinstance(value, Unknown) and value.op == LOADER


def _has_keys_of_all(value: Value) -> bool:
    """Has it the same keys on all ranks, whatever is in it: a batch, a dict with such keys?"""
    while isinstance(value, Unknown) and value.op in {"item", "last", "index", "item set"}:
        if value.op == "item" and (isinstance(value.args[0], Obj) or _is_loader(value.args[0])):
            return True
        if value.op == "item set" and len(value.args) == 3 and value.args[1].local:
            return False
        value = value.args[0]
    if isinstance(value, Map):
        return not any(key.local for key, _ in value.items)
    return isinstance(value, Unknown) and value.op == "param" and value.local
