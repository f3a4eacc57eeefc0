"""Who is missing where a collective has failed: its own error names an address at best.

Each rank leaves its process id in the store. When a collective fails, a rank looks whether the
processes on its machine still run, and says in the store that it has failed and what it has seen.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterable, Sequence

from torch._C._distributed_c10d import PrefixStore, Store

from distlint.runtime._store import wait_until

ROLL_CALL = 2.0  # seconds for ranks that have failed in the same collective to say so


def is_running(pid: int) -> bool:
    """Is a process of this machine running? One that only waits to be reaped is not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


class Presence:
    """The processes of a group's ranks, as they have left them in the store.

    Args:
        store: that of the world.
        group: the name of the group.
        rank: the global rank of this process.
        ranks: the global ranks of the group.
    """

    def __init__(self, store: Store, group: str, rank: int, ranks: Sequence[int]) -> None:
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")  # its processes are others
        self._store: Store = PrefixStore(f"distlint/presence/{attempt}", store)
        self._group, self._rank, self._ranks = group, rank, ranks
        self._failures = 0
        with contextlib.suppress(RuntimeError):  # whoever needs the store will say so
            self._store.set(f"process/{rank}", json.dumps([socket.gethostname(), os.getpid()]))

    def missing(self) -> tuple[list[int], list[int]]:
        """After a collective has failed here: ranks that have ended, and ranks that are elsewhere.

        Elsewhere are those that do not report a failure within seconds; only looked for where no
        rank has ended. Both are global ranks.

        Raises:
            RuntimeError: if the store cannot be reached.
            Interrupted: if another rank asks this one to come back.
        """
        self._failures += 1
        others = [rank for rank in self._ranks if rank != self._rank]
        ended: list[int] = []
        self._report(ended)

        def known() -> bool:
            # One that has reported a failure may have ended since: that is not what others lack.
            silent = self._silent(others)
            ended[:] = sorted({*self._ended_here(silent), *self._reported(others)})
            return bool(ended) or not silent

        wait_until(known, ROLL_CALL)
        if ended:
            self._report(ended)
            return ended, []
        return [], self._silent(others)

    def _key(self, rank: int) -> str:
        return f"failure/{self._group}/{self._failures}/{rank}"

    def _report(self, ended: Sequence[int]) -> None:
        self._store.set(self._key(self._rank), json.dumps(ended))

    def _silent(self, ranks: Iterable[int]) -> list[int]:
        return [rank for rank in ranks if not self._store.check([self._key(rank)])]

    def _reported(self, ranks: Iterable[int]) -> Iterable[int]:
        """Ranks of which others say that they have ended."""
        for rank in ranks:
            if self._store.check([self._key(rank)]):
                yield from json.loads(self._store.get(self._key(rank)))

    def _ended_here(self, ranks: Iterable[int]) -> Iterable[int]:
        """Ranks of this machine whose processes have ended."""
        for rank in ranks:
            if self._store.check([f"process/{rank}"]):
                host, pid = json.loads(self._store.get(f"process/{rank}"))
                if host == socket.gethostname() and not is_running(pid):
                    yield rank
