"""Where ranks leave word for one another: a store client of the watch's own.

A client of torch's stores holds a lock while it waits for a key, so the program's client cannot be
shared with a thread: it is cloned, or a second connection is made.
"""

from __future__ import annotations

import datetime
import socket
import threading
from typing import Any

from torch.distributed import DistStoreError

from distlint.runtime.collective_watch.errors import WatchError

_TIMEOUT = datetime.timedelta(seconds=5)
_MEETING = datetime.timedelta(seconds=60)  # for a rank that is slow to start


class Board:
    """Keys and values under a prefix; every call returns within seconds or raises RuntimeError."""

    def __init__(self, store: Any, prefix: str) -> None:
        self._store = store
        self._prefix = prefix
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def set(self, key: str, text: str) -> None:
        """Write a value."""
        with self._lock:
            self._store.set(self._prefix + key, text)

    def set_unless_busy(self, key: str, text: str) -> None:
        """Write a value, but do not wait while another thread uses the board."""
        if self._lock.acquire(timeout=0.001):
            try:
                self._store.set(self._prefix + key, text)
            finally:
                self._lock.release()

    def get(self, key: str) -> str | None:
        """The value, or None where there is none yet."""
        with self._lock:
            name = self._prefix + key
            if key not in self._known:
                if not self._store.check([name]):
                    return None
                self._known.add(key)
            value: bytes = self._store.get(name)
            return value.decode()

    def add(self, key: str, amount: int) -> int:
        """Add to a number, which starts at 0."""
        with self._lock:
            return int(self._store.add(self._prefix + key, amount))

    def delete(self, key: str) -> None:
        """Forget a value."""
        with self._lock:
            self._store.delete_key(self._prefix + key)

    def wait_for(self, key: str) -> str | None:
        """The value as soon as there is one; None if the client's patience is at its end."""
        with self._lock:
            try:
                value: bytes = self._store.get(self._prefix + key)
            except DistStoreError:
                return None
            return value.decode()

    def meet(self, key: str) -> str:
        """Wait for a value that another rank is about to write."""
        with self._lock:
            self._store.wait([self._prefix + key], _MEETING)
            value: bytes = self._store.get(self._prefix + key)
            return value.decode()


def bottom(store: Any) -> Any:
    """The store below all prefixes."""
    while True:
        below = getattr(store, "underlying_store", None)
        if below is None:
            return store
        store = below


def second_client(store: Any) -> Any:
    """A client of the same store that shares no lock with it, where such a thing exists."""
    from torch._C._distributed_c10d import FileStore, TCPStore

    if isinstance(store, TCPStore):
        client = _second_tcp(store)
    elif isinstance(store, FileStore):
        client = store.clone() if hasattr(store, "clone") else _second_file(store)
        _kept.append(client)  # its end would count as that of a rank, and remove the file
    else:
        return store
    client.set_timeout(_TIMEOUT)
    return client


_kept: list[Any] = []


def _second_file(store: Any) -> Any:
    from torch._C._distributed_c10d import FileStore

    return FileStore(store.path, -1)


def _second_tcp(store: Any) -> Any:
    from torch._C._distributed_c10d import TCPStore

    if hasattr(store, "clone"):
        return store.clone()
    return TCPStore(store.host, store.port, is_master=False, wait_for_workers=False)


def for_waiting(store: Any, seconds: float) -> Any:
    """The client, which from now on waits for so long."""
    store.set_timeout(datetime.timedelta(seconds=seconds))
    return store


def quick_store(store: Any, board: Board, rank: int, world: int) -> Any:
    """A store that answers within microseconds: the program's own if it is a TCPStore.

    Otherwise rank 0 opens one and leaves its address on the board.
    """
    from torch._C._distributed_c10d import FileStore, TCPStore

    if isinstance(store, TCPStore):
        return second_client(store)
    if not isinstance(store, FileStore):
        return store
    board.set(f"host/{rank}", socket.gethostname())
    if rank == 0:
        hosts = {board.meet(f"host/{each}") for each in range(world)}
        host = "127.0.0.1" if len(hosts) == 1 else socket.gethostname()
        server = TCPStore(host, 0, is_master=True, wait_for_workers=False, timeout=_TIMEOUT)
        board.set("quick", f"{host}:{server.port}")
        _kept.append(server)
        return _second_tcp(server)
    host, _, port = board.meet("quick").rpartition(":")
    if not host:
        raise WatchError("rank 0 published no address", rank=rank)
    return TCPStore(host, int(port), is_master=False, wait_for_workers=False, timeout=_TIMEOUT)
