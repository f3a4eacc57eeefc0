"""``pytest.raises`` for scripts on ranks, where importing pytest takes longer than the test."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
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


def wait_for(ranks: set[int], rank: int) -> None:
    """Wait until these ranks have come here, by files beside the script: no collective is needed.

    A rank that does not come within 20 seconds is not waited for any longer.
    """
    folder = Path(sys.argv[0]).parent
    (folder / f"came-{rank}").touch()
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        if all((folder / f"came-{each}").exists() for each in ranks):
            return
        time.sleep(0.01)
