"""What the functions of this package raise.

Each error carries the rank that raises it and the line of the caller's script.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class DistributedError(RuntimeError):
    """Base class of the errors of this package.

    Attributes:
        rank: global rank that raises it.
        site: line that made the call, as ``file.py:12 in train``.
    """

    def __init__(self, message: str, *, rank: int = 0, site: str = "") -> None:
        super().__init__(message)
        self.rank = rank
        self.site = site

    def __str__(self) -> str:
        where = f" at {self.site}" if self.site else ""
        return f"[rank {self.rank}]{where}: {super().__str__()}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, self.__dict__


class GroupError(DistributedError):
    """The process group is unknown, was destroyed, or does not contain this rank."""


class StoreError(DistributedError):
    """The store is unreachable because the process that hosts it exited, or there is no store."""


class MissingRanksError(DistributedError):
    """Some ranks did not arrive within the timeout; ``missing`` contains their global ranks."""

    def __init__(
        self, message: str, *, rank: int = 0, site: str = "", missing: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message, rank=rank, site=site)
        self.missing = missing


class OrderError(DistributedError):
    """Ranks called different functions where all must call the same one."""


class PeerFailedError(DistributedError):
    """Another rank failed; ``peer`` is its global rank, ``trace`` its traceback."""

    def __init__(
        self,
        message: str,
        *,
        rank: int = 0,
        site: str = "",
        peer: int | None = None,
        trace: str = "",
    ) -> None:
        super().__init__(message, rank=rank, site=site)
        self.peer = peer
        self.trace = trace

    def __str__(self) -> str:
        trace = f"\n--- traceback of that rank ---\n{self.trace.rstrip()}" if self.trace else ""
        return super().__str__() + trace


class CollectiveError(DistributedError):
    """A collective of torch.distributed failed or timed out; the original error is the cause.

    ``missing`` contains the global ranks whose process exited, otherwise those that did not take
    part; it is empty if neither is known.
    """

    def __init__(
        self, message: str, *, rank: int = 0, site: str = "", missing: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message, rank=rank, site=site)
        self.missing = missing


class DisagreementError(DistributedError):
    """A value differs between ranks; ``values`` contains the text of each, by global rank."""

    def __init__(
        self,
        message: str,
        *,
        rank: int = 0,
        site: str = "",
        values: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(message, rank=rank, site=site)
        self.values = dict(values or {})


class NotPicklableError(DistributedError):
    """A value cannot be pickled, and therefore not be sent to other ranks."""


class BatchSizeError(DistributedError):
    """No batch size down to ``floor`` fits in memory."""


class StaleGroupError(DistributedError):
    """Process groups had to be re-created, but an older object still uses the previous one."""


class CheckpointError(DistributedError):
    """A checkpoint cannot be written, read or matched with the model."""


class DeviceError(DistributedError):
    """A rank has no separate device, or a tensor is on an unsupported device."""


def in_words(ranks: Iterable[int]) -> str:
    """``rank 3``, ``ranks 1, 3`` or ``ranks 0, 2-63``."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    parts = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ("rank " if sum(map(len, runs)) == 1 else "ranks ") + ", ".join(parts)
