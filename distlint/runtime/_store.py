"""The store that ranks talk through: waits that can be ended, values of any size."""

from __future__ import annotations

import contextlib
import pickle
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from torch._C._distributed_c10d import Store

FIRST_PAUSE, LONGEST_PAUSE = 0.0005, 0.1  # seconds between two looks at the store
PIECE = 4 << 20  # bytes; the server of a TCPStore drops a connection that sends more than 8 MiB

_PIECES = b"pieces:"  # pickles begin with another byte


class Interrupted(Exception):
    """A wait was ended from outside: another rank has asked everybody to come back."""


class _Interruption(threading.local):
    event: threading.Event | None = None


interruption = _Interruption()


def wait_until(ready: Callable[[], bool], seconds: float) -> bool:
    """Look until it is so, ever less often; False when the time is up.

    Raises:
        Interrupted: if another rank asks this one to come back.
    """
    end = time.monotonic() + seconds
    pause = FIRST_PAUSE
    while not ready():
        if interruption.event is not None and interruption.event.is_set():
            raise Interrupted
        left = end - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(LONGEST_PAUSE, pause * 1.5)
    return True


def post(store: Store, key: str, value: object) -> None:
    """Leave a value of this package's own under a key."""
    put(store, key, pickle.dumps(value))


def put(store: Store, key: str, payload: bytes) -> list[str]:
    """Leave a pickle under a key; the result is all keys that it takes, that one last."""
    if len(payload) <= PIECE:
        store.set(key, payload)  # type: ignore[arg-type]
        return [key]
    pieces = [payload[start : start + PIECE] for start in range(0, len(payload), PIECE)]
    keys = [f"{key}/{number}" for number in range(len(pieces))]
    for name, piece in zip(keys, pieces, strict=True):
        store.set(name, piece)  # type: ignore[arg-type]
    store.set(key, _PIECES + str(len(pieces)).encode())  # type: ignore[arg-type]
    return [*keys, key]


def read(store: Store, keys: Sequence[str]) -> list[bytes]:
    """The values of keys that are there."""
    several: Any = store
    if len(keys) > 2 and several.has_extended_api():
        values = [bytes(value) for value in several.multi_get(list(keys))]
    else:
        values = [store.get(key) for key in keys]
    return [_whole(store, key, value) for key, value in zip(keys, values, strict=True)]


def _whole(store: Store, key: str, value: bytes) -> bytes:
    if not value.startswith(_PIECES):
        return value
    count = int(value.removeprefix(_PIECES))
    return b"".join(store.get(f"{key}/{number}") for number in range(count))


def take(store: Store, key: str) -> bytes:
    """The value of a key that is there; nothing is left of it."""
    value = store.get(key)
    whole = _whole(store, key, value)
    if whole is not value:
        for number in range(int(value.removeprefix(_PIECES))):
            delete(store, f"{key}/{number}")
    delete(store, key)
    return whole


def delete(store: Store, key: str) -> None:
    """Forget a key, where the store can."""
    with contextlib.suppress(RuntimeError, NotImplementedError):
        store.delete_key(key)
