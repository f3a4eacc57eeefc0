"""What can be said of values as they are: what they may be, and what ranks can do with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from distlint.analyzer.symbolic.values.operators import (
    ARITHMETIC,
    COMPARISONS,
    EITHER,
    FILLED,
    LOADER,
    MERGED,
)
from distlint.analyzer.symbolic.values.types import (
    Const,
    External,
    Map,
    Obj,
    PerRank,
    Phi,
    Seq,
    Unknown,
    Value,
    WorldSizeExpr,
)


def leaves(value: Value) -> Iterator[Value]:
    """The values that it may be."""
    if isinstance(value, Phi):
        yield from leaves(value.then)
        yield from leaves(value.orelse)
    else:
        yield value


def are_weak(parts: Iterable[Value]) -> bool:
    """Is all that is rank-local weak? One strong cause makes the whole strong."""
    causes = [part for part in parts if part.local]
    return bool(causes) and all(getattr(part, "weak", False) for part in causes)


def are_alike(one: Value, two: Value) -> bool:
    """Are both unknown, the same on all ranks, and made by the same wrapped models?"""
    return (
        type(one) is type(two) is Unknown
        and not (one.local or two.local)
        and one.wrapped == two.wrapped
    )


def is_plain(value: Value) -> bool:
    """Can the ranks do nothing with a value but test it, all alike?"""
    if isinstance(value, Phi):
        return value.plain
    if isinstance(value, Unknown):
        return not (value.local or value.wrapped)
    return isinstance(value, (Const, WorldSizeExpr, External))


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
    return isinstance(value, Unknown) and (value.op in COMPARISONS or value.op == "not")


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


def is_process_id(value: Value) -> bool:
    """Is it the number of the own process? Under it, each has its own of what all have."""
    return isinstance(value, Unknown) and value.op == "call" and value.args[0] == "os.getpid"


def is_surely_true(value: Unknown) -> bool:
    """Is it true: a path with a name at its end, a filled-in text, the number of a later turn?"""
    parts = value.args
    if value.op == "step":
        return (lowest(value) or 0) > 0
    if value.op == "call" and parts[0] == "os.path.join":
        parts = parts[-1:]
    elif value.op != "format":
        return False
    return any(isinstance(part, Const) and part.value not in ("", None) for part in parts)


def lowest(value: Value) -> Any:
    """The least that the number of a later turn can be; None for anything else."""
    return value.args[-1].value if isinstance(value, Unknown) and value.op == "step" else None


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


def changed_object(value: Value) -> Value:
    """The object itself, where a value is what in-place changes have made of it."""
    objects = _objects(value)
    return objects.pop() if len(objects) == 1 else value


def _objects(value: Value) -> set[Value]:
    """The objects that a value can be, as they were before any change in place."""
    objects: set[Value] = set()
    seen: set[Value] = set()
    pending = [value]
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        if isinstance(each, Unknown) and each.op == EITHER:
            pending += each.args[1:]
        elif (
            isinstance(each, Unknown) and each.op in _CHANGED and isinstance(each.args[0], Unknown)
        ):
            pending.append(each.args[0])
        else:
            objects.add(each)
    return objects


_CHANGED = frozenset({"changed", "item set"})
"""What changes in place have made of an object."""


def is_made(value: Unknown) -> bool:
    """Is it something in any case, and never None: a sum, a tensor that a call makes?

    What was changed in place is so as much as on a rank that has not changed it.
    """
    return all(isinstance(each, Unknown) and _is_made(each) for each in _objects(value))


def _is_made(value: Unknown) -> bool:
    if value.op in ARITHMETIC or value.op in _MADE:
        return True
    if value.op == "method":
        return value.args[1] in _MAKING
    if value.op == "sync":
        return bool(value.args[-1] == FILLED)
    maker = value.args[0] if value.op == "call" else None
    if not isinstance(maker, str):
        return False
    library, _, function = maker.partition(".")
    return library in {"torch", "numpy"} and function.islower() and function != "load"


_MADE = frozenset(
    {*_CHANGED, "number", "len", "comprehension", "dict", MERGED, "format", "partial"}
)
"""What is changed, counted, put together or gathered is there."""
_MAKING = frozenset(
    """bfloat16 bool clone contiguous cpu cuda detach double expand flatten float half int item long
    mean numel permute reshape size squeeze sum to tolist transpose unsqueeze view""".split()
)
"""Methods of tensors that return something."""


def is_made_as_tensor(base: Value) -> bool:
    """Is it a tensor by its making, whatever has been put into it since?"""
    while isinstance(base, Unknown) and base.op == "item set":
        base = base.args[0]
    made = base.args[0] if isinstance(base, Unknown) and base.op == "call" else None
    return isinstance(made, str) and made.startswith("torch.")


def has_keys_of_all(value: Value) -> bool:
    """Has it the same keys on all ranks, whatever is in it: a batch, a dict with such keys?"""
    while isinstance(value, Unknown) and value.op in {"item", "last", "index", "item set"}:
        if value.op == "item" and (isinstance(value.args[0], Obj) or _is_loader(value.args[0])):
            return True
        if value.op == "item set" and len(value.args) == 3 and value.args[1].local:
            return False
        value = value.args[0]
    if isinstance(value, Map):
        return not any(key.local for key, _ in value.items)
    if isinstance(value, Unknown) and value.op == MERGED:
        return all(not part.local or has_keys_of_all(part) for part in value.args)
    return isinstance(value, Unknown) and (_is_own(value) or _is_output(value))


def _is_own(value: Unknown) -> bool:
    return value.op == "param" and value.local


def _is_output(value: Unknown) -> bool:
    """Has something made it that is called like a model: which outputs it has, the program says."""
    return value.op == "call" and isinstance(value.args[0], Unknown)


def _is_loader(value: object) -> bool:
    return isinstance(value, Unknown) and value.op == LOADER
