"""What is known of a tensor that has just been made: its dtype, and its shape.

The functions are those of the package that the collective belongs to.
"""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown

_OF_SIZES = frozenset({"zeros", "ones", "empty", "rand", "randn"})
"""Functions whose first arguments are the sizes of what they make; numbers are floats."""

_OF_DATA = "tensor"

_OTHER_NAMES = {"float": "float32", "double": "float64", "half": "float16", "int": "int32"}
_OTHER_NAMES |= {"short": "int16", "long": "int64"}
_DTYPES = {
    name: _OTHER_NAMES.get(name, name)
    for name in (*_OTHER_NAMES, *_OTHER_NAMES.values(), "bfloat16", "uint8", "int8", "bool")
}


def dtype_of(tensor: Value | None, package: str) -> Value:
    """The dtype, by its shorter name; an unknown where the call does not tell it."""
    made = _made(tensor, package)
    if made is not None:
        maker, args = made
        for arg in args:
            name = _member(arg.name, package) if isinstance(arg, v.External) else ""
            if name in _DTYPES:
                return const(_DTYPES[name])
        if any(isinstance(arg, Unknown) for arg in args[1:]):
            return unknown("dtype", tensor)
        if maker in _OF_SIZES:
            return const("float32")
        if maker == _OF_DATA and args:
            return _dtype_of_data(args[0])
    return unknown("dtype", tensor) if tensor is not None else unknown("dtype")


def shape_of(tensor: Value | None, package: str) -> Value:
    """The shape as a tuple of sizes; an unknown where the call does not tell it."""
    made = _made(tensor, package)
    if made is not None and made[1]:
        maker, (first, *rest) = made
        if maker == _OF_DATA and isinstance(first, Const):
            if type(first.value) in (int, float, bool):
                return const(())
        if maker in _OF_SIZES:
            sizes = first.items if isinstance(first, v.Seq) else _leading_numbers([first, *rest])
            numbers = tuple(size.value for size in sizes if isinstance(size, Const))
            if numbers and len(numbers) == len(sizes):
                if all(type(each) is int for each in numbers):
                    return const(numbers)
    return unknown("shape", tensor) if tensor is not None else unknown("shape")


def _made(tensor: Value | None, package: str) -> tuple[str, list[Value]] | None:
    """The function of a package that made a tensor, by its last name, and its arguments."""
    if isinstance(tensor, Unknown) and tensor.op == "call":
        maker, *args = tensor.args
        if isinstance(maker, str) and _member(maker, package):
            return _member(maker, package), args
    return None


def _member(name: str, package: str) -> str:
    """``zeros`` of ``torch.zeros``; empty for what is no member of the package itself."""
    owner, _, last = name.rpartition(".")
    return last if owner == package else ""


def _dtype_of_data(data: Value) -> Value:
    """What a tensor of numbers is: bool, int64 or float32."""
    items = data.items if isinstance(data, v.Seq) else (data,)
    kinds = {type(item.value) if isinstance(item, Const) else None for item in items}
    for kind, name in ((float, "float32"), (int, "int64"), (bool, "bool")):
        if kind in kinds and kinds <= {float, int, bool}:
            return const(name)
    return unknown("dtype", data)


def _leading_numbers(args: list[Value]) -> list[Value]:
    found: list[Value] = []
    for arg in args:
        if not (isinstance(arg, Const) and type(arg.value) is int):
            break
        found.append(arg)
    return found
