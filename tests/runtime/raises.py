"""``pytest.raises`` for scripts on ranks, where importing pytest takes longer than the test."""

from __future__ import annotations

import re
from types import TracebackType
from typing import TypeAlias

Kind: TypeAlias = "type[BaseException] | tuple[type[BaseException], ...]"


class raises:  # noqa: N801 - reads as pytest's
    """The block has to fail with this error; ``value`` is the one that was raised."""

    value: BaseException

    def __init__(
        self, kind: type[BaseException] | tuple[type[BaseException], ...], match: str = ""
    ):
        self.kind, self.match = kind, match

    def __enter__(self) -> raises:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        assert value is not None, f"did not raise {self.kind}"
        if not isinstance(value, self.kind):
            return False
        assert re.search(self.match, str(value)), f"{self.match!r} does not match {value}"
        self.value = value
        return True
