"""What is known of a tensor that has just been made: its dtype, and its shape."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown

_FLOATS = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn"))


_OF_SIZES = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn"))
"""Functions whose first arguments are the sizes of what they make."""


def dtype_of(tensor: Value | None) -> Value:
    """The dtype of a tensor that has just been made, as far as the call tells."""
    if isinstance(tensor, Unknown) and tensor.op == "call":
        maker, *args = tensor.args
        for arg in args:
            if isinstance(arg, v.External) and arg.name in _DTYPES:
                return const(_DTYPES[arg.name])
        if any(isinstance(arg, Unknown) for arg in args[1:]):
            return unknown("dtype", tensor)
        if maker in _FLOATS:
            return const("torch.float32")
        if maker == "torch.tensor" and args:
            return _dtype_of_data(args[0])
    return unknown("dtype", tensor) if tensor is not None else unknown("dtype")


def _dtype_of_data(data: Value) -> Value:
    """What ``torch.tensor`` makes of numbers: bool, int64 or float32."""
    items = data.items if isinstance(data, v.Seq) else (data,)
    kinds = {type(item.value) if isinstance(item, Const) else None for item in items}
    for kind, name in ((float, "float32"), (int, "int64"), (bool, "bool")):
        if kind in kinds and kinds <= {float, int, bool}:
            return const(f"torch.{name}")
    return unknown("dtype", data)


_OTHER_NAMES = {"float": "float32", "double": "float64", "half": "float16", "int": "int32"}
_OTHER_NAMES |= {"short": "int16", "long": "int64"}
_DTYPES = {
    f"torch.{name}": f"torch.{_OTHER_NAMES.get(name, name)}"
    for name in (*_OTHER_NAMES, *_OTHER_NAMES.values(), "bfloat16", "uint8", "int8", "bool")
}


def shape_of(tensor: Value | None) -> Value:
    """The shape of a tensor that has just been made, as a tuple; an unknown if it is not told."""
    if not (isinstance(tensor, Unknown) and tensor.op == "call" and tensor.args[1:]):
        return unknown("shape", tensor) if tensor is not None else unknown("shape")
    maker, first, *rest = tensor.args
    if maker == "torch.tensor" and isinstance(first, Const):
        return const(())
    if maker in _OF_SIZES:
        sizes = first.items if isinstance(first, v.Seq) else _leading_numbers([first, *rest])
        numbers = tuple(size.value for size in sizes if isinstance(size, Const))
        if numbers and len(numbers) == len(sizes) and all(type(each) is int for each in numbers):
            return const(numbers)
    return unknown("shape", tensor)


def _leading_numbers(args: list[Value]) -> list[Value]:
    found: list[Value] = []
    for arg in args:
        if not (isinstance(arg, Const) and type(arg.value) is int):
            break
        found.append(arg)
    return found
