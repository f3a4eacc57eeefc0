"""The constructor that Python writes for a dataclass or a named tuple, from its fields."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.analyzer.ir.expressions import Attribute, Call, Expr, Literal, Name
from distlint.analyzer.ir.functions import Function, Param
from distlint.analyzer.ir.statements import Assign, Evaluate, Stmt

DECORATOR = "dataclass"
BASE = "NamedTuple"
_PLAIN_BASES = frozenset({"object", "ABC", "Generic", "Protocol", BASE})
_AFTER_INIT = "__post_init__"

Field = tuple[str, Expr | None]
"""The name of a field, and its default."""


def is_record(decorators: Iterable[str], bases: Iterable[str]) -> bool:
    """Has a class the constructor of its own fields, by the last names above it?

    Not where it derives from another class, whose fields come first.
    """
    bases = frozenset(bases)
    return (DECORATOR in decorators or BASE in bases) and bases <= _PLAIN_BASES


def constructor(
    owner: str, module: str, fields: list[Field], *, calls_back: bool, nested: bool, site: int
) -> Function:
    """``__init__``, which stands at the class; ``calls_back`` if there is a ``__post_init__``."""
    defaults = dict(fields)
    this = Name("self")
    body: list[Stmt] = [
        Assign((Attribute(this, name, site),), Name(name), site) for name in defaults
    ]
    if calls_back:
        called = Call(Attribute(this, _AFTER_INIT, site), (), site)
        body.append(Evaluate(called, site))
    return Function(
        "__init__",
        module,
        (Param("self"), *(Param(name, _seen(owner, name, defaults, site)) for name in defaults)),
        tuple(body),
        (),
        site,
        owner=owner,
        nested=nested,
        locals=frozenset({"self", *defaults}),
    )


def has_after_init(methods: Iterable[str]) -> bool:
    return _AFTER_INIT in methods


def _seen(owner: str, name: str, defaults: dict[str, Expr | None], site: int) -> Expr | None:
    """A default as it is seen from outside the class: a literal, or an attribute of the class."""
    default = defaults[name]
    if default is None or isinstance(default, Literal):
        return default
    return Attribute(Name(owner), name, site)
