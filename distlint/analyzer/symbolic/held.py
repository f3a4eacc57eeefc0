"""Objects in collections of which not all is known: one of them stands for any."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.values import Unknown, Value

BY_KEY = "by key"
"""The mark of a comprehension that makes a dict."""
_CHANGED = frozenset({"item set", "changed"})
_FILLED = _CHANGED | {"comprehension"}
"""Operators of collections, with what they were made of and what was put into them."""
_DEPTH = 8
"""How many changes of a collection are looked back."""


def held_object(machine: Interpreter, collection: Value) -> v.Obj | None:
    """The framework object that stands for any item, if all that are known are of one class."""
    found = list(_items(machine, collection, _DEPTH))
    kinds = {each.kind if isinstance(each, v.Obj) else None for each in found}
    first = found[0] if len(kinds) == 1 else None
    return first if isinstance(first, v.Obj) else None


def is_dict(collection: Value) -> bool:
    """Does iterating give keys, as far as is known?"""
    while isinstance(collection, Unknown) and collection.op in {*_CHANGED, v.EITHER}:
        collection = collection.args[-1 if collection.op == v.EITHER else 0]
    return isinstance(collection, v.Map) or (
        isinstance(collection, Unknown) and collection.args[-1:] == (BY_KEY,)
    )


def _items(machine: Interpreter, collection: Value, depth: int) -> Iterator[Value]:
    if isinstance(collection, v.Map):
        yield from (value for _, value in collection.items)
    elif isinstance(collection, v.Seq):
        yield from collection.items
    elif isinstance(collection, v.Phi) and depth:
        yield from _items(machine, collection.then, depth - 1)
        yield from _items(machine, collection.orelse, depth - 1)
    elif isinstance(collection, Unknown) and depth:
        yield from _stored(machine, collection)
        parts: tuple[Value, ...] = ()
        if collection.op == v.EITHER:
            parts = collection.args[1:]
        elif collection.op in _CHANGED:
            parts = collection.args[:1]
        for part in parts:
            yield from _items(machine, part, depth - 1)
        if collection.op in _FILLED:
            yield from (each for each in collection.args if isinstance(each, v.Obj))


def _stored(machine: Interpreter, collection: Unknown) -> Iterator[Value]:
    """The objects that were put into an unknown collection by their keys."""
    for key, value in machine.store.items():
        if key[0] is collection and isinstance(value, v.Obj):
            if isinstance(key[1], str) and key[1].startswith("["):
                yield value
