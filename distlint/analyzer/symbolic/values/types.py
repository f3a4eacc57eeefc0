"""The types of values; ``interning`` makes them, ``joins`` makes a :class:`Phi`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from distlint.analyzer import ir

NOTHING: frozenset[Any] = frozenset()


class Value:
    """What an expression evaluates to."""

    __slots__ = ()
    local: ClassVar[bool] = False
    atoms: ClassVar[frozenset[Unknown]] = NOTHING

    def __repr__(self) -> str:
        slots: tuple[str, ...] = tuple(self.__slots__)
        fields = ", ".join(repr(getattr(self, name)) for name in slots if name not in _DERIVED)
        return f"{type(self).__name__}({fields})"


_DERIVED = frozenset({"atoms", "tokens", "depth", "plain", "weak"})


class Const(Value):
    """A Python constant, the same on all ranks."""

    __slots__ = ("value",)
    value: Any


class PerRank(Value):
    """A constant for each rank of the simulated cluster."""

    __slots__ = ("values",)
    values: tuple[Any, ...]


class WorldSizeExpr(Value):
    """A number made of the world size: unknown alone, concrete beside a rank.

    ``samples`` holds its values for the world sizes that a test of it alone is tried on.
    """

    __slots__ = ("samples", "value")
    value: Any
    samples: tuple[Any, ...]


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


class Seq(Value):
    """A list, tuple or set whose items are known."""

    __slots__ = ("atoms", "items", "kind", "local", "weak")
    kind: str
    items: tuple[Value, ...]
    local: bool  # type: ignore[misc]
    weak: bool
    atoms: frozenset[Unknown]  # type: ignore[misc]


class Map(Value):
    """A dict with known keys."""

    __slots__ = ("atoms", "items", "local", "weak")
    items: tuple[tuple[Value, Value], ...]
    local: bool  # type: ignore[misc]
    weak: bool
    atoms: frozenset[Unknown]  # type: ignore[misc]


class ByFields(Value):
    """Base of values that are told apart by their fields alone."""

    __slots__ = ()
    fields: ClassVar[tuple[str, ...]] = ()
    """The slots in the order in which the factory function takes them."""


class Obj(ByFields):
    """An object of a framework class: what it wraps, and facts about it (``marks``)."""

    __slots__ = fields = ("kind", "oid", "inner", "marks")
    kind: str
    oid: int
    inner: Value | None
    marks: frozenset[str]


class Instance(ByFields):
    """An object of a class of the project; ``oid`` 0 is the unknown ``self`` of a root method."""

    __slots__ = fields = ("cls", "oid")
    cls: ir.Class
    oid: int


class Func(ByFields):
    """A function of the project: where it was defined, what it is bound to, who runs it."""

    __slots__ = fields = ("function", "scope", "bound", "guards")
    function: ir.Function
    scope: int
    bound: Value | None
    guards: tuple[()] | None
    """None until the decorators have been looked at."""


class Cls(ByFields):
    """A class of the project."""

    __slots__ = fields = ("cls",)
    cls: ir.Class


class External(ByFields):
    """A dotted name outside the project."""

    __slots__ = fields = ("name",)
    name: str


class ModuleRef(ByFields):
    """A module of the project."""

    __slots__ = fields = ("name",)
    name: str


class Partial(ByFields):
    """``functools.partial``: a callable with some arguments bound."""

    __slots__ = fields = ("target", "args", "keywords")
    target: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


class Method(ByFields):
    """A method of a value that is no object of the project, not called yet."""

    __slots__ = fields = ("receiver", "name")
    receiver: Value
    name: str


class Super(ByFields):
    """``super()`` in a method of ``cls``."""

    __slots__ = fields = ("cls", "instance")
    cls: ir.Class
    instance: Value


class Group(ByFields):
    """A process group: ``world``, ``ranks`` (members), ``axis`` (of a mesh), ``unknown``."""

    __slots__ = fields = ("kind", "detail", "oid")
    kind: str
    detail: Any
    oid: int


OBJECTS = (Obj, Instance, Func, Cls, ModuleRef, Partial, Group)
"""Types of what is certainly an object, and so never None."""
