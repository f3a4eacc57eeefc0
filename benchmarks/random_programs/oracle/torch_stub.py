"""As much of ``torch`` as decides which way a script goes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class Tensor:
    """A flat list of numbers."""

    __slots__ = ("data",)

    def __init__(self, data: list[Any]) -> None:
        self.data = data

    def item(self) -> Any:
        return self.data[0]

    def tolist(self) -> list[Any]:
        return list(self.data)

    def any(self) -> Tensor:
        return Tensor([any(self.data)])

    def all(self) -> Tensor:
        return Tensor([all(self.data)])

    def sum(self) -> Tensor:
        return Tensor([sum(self.data)])

    def max(self) -> Tensor:
        return Tensor([max(self.data)])

    def clone(self) -> Tensor:
        return Tensor(list(self.data))

    def fill_(self, value: Any) -> Tensor:
        self.data[:] = [value] * len(self.data)
        return self

    def to(self, *_args: Any, **_kwargs: Any) -> Tensor:
        return self

    cpu = cuda = detach = long = to

    def __bool__(self) -> bool:
        return bool(self.data[0])

    def __int__(self) -> Any:
        return int(self.data[0])

    def __getitem__(self, index: int) -> Tensor:
        return Tensor([self.data[index]])

    def __setitem__(self, index: int, value: Any) -> None:
        self.data[index] = value.item() if isinstance(value, Tensor) else value

    def __iter__(self) -> Iterator[Tensor]:
        return (Tensor([value]) for value in self.data)

    def _number(self, other: Any) -> Any:
        return other.data[0] if isinstance(other, Tensor) else other

    def __gt__(self, other: Any) -> Tensor:
        return Tensor([self.data[0] > self._number(other)])

    def __lt__(self, other: Any) -> Tensor:
        return Tensor([self.data[0] < self._number(other)])

    def __eq__(self, other: object) -> Any:
        return Tensor([self.data[0] == self._number(other)])

    def __ne__(self, other: object) -> Any:
        return Tensor([self.data[0] != self._number(other)])

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> Tensor:
        return Tensor([value + self._number(other) for value in self.data])

    def __mul__(self, other: Any) -> Tensor:
        return Tensor([value * self._number(other) for value in self.data])

    def __truediv__(self, other: Any) -> Tensor:
        return Tensor([value / self._number(other) for value in self.data])


class Cuda:
    """``torch.cuda`` on a machine without one."""

    def is_available(self) -> bool:
        return False

    def set_device(self, device: Any) -> None: ...

    def empty_cache(self) -> None: ...


class Torch:
    """The module ``torch``, one per rank because of its submodule ``distributed``."""

    float32 = "float32"
    int32 = "int32"
    int64 = "int64"

    def __init__(self, distributed: object, may_fail: Callable[[], None]) -> None:
        self.distributed = distributed
        self._may_fail = may_fail
        self.cuda = Cuda()

    def tensor(self, data: Any, **_kwargs: Any) -> Tensor:
        return Tensor(list(data) if isinstance(data, list | tuple) else [data])

    def zeros(self, size: int = 1, **_kwargs: Any) -> Tensor:
        return Tensor([0] * size)

    empty = zeros

    def ones(self, size: int = 1, **_kwargs: Any) -> Tensor:
        return Tensor([1] * size)

    def full(self, size: tuple[int, ...], value: Any, **_kwargs: Any) -> Tensor:
        return Tensor([value] * size[0])

    def zeros_like(self, other: Tensor) -> Tensor:
        return Tensor([0] * len(other.data))

    empty_like = zeros_like

    def device(self, *args: Any) -> str:
        return "cpu"

    def save(self, value: Any, path: Any) -> None:
        self._may_fail()

    def manual_seed(self, seed: int) -> None: ...

    def no_grad(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()
