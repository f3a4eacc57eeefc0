"""Ending process groups in which ranks wait, and making the world anew."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import socket
import stat
import threading
import time
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import PrefixStore, Store

from distlint.runtime._store import post
from distlint.runtime._world import (
    Member,
    forget,
    groups_here,
    member,
)

SETTLE = 2.0  # seconds for the ranks to tell each other their connections

Address = tuple[str, int]

_retired: list[object] = []
"""Groups of the attempt before. Freed too early, one may wait for ever for a thread of its own;
freed with the interpreter, it aborts the process."""
atexit.register(_retired.clear)


def renew(me: Member, base: Store, number: int) -> Member:
    """End all groups and make the world anew, under keys that no other attempt uses."""
    world = me.pg
    assert world is not None
    name = str(dist.get_backend(world))
    if name in ("undefined", "custom") or ":" in name:
        name = dist.get_backend_config(world)
    more: dict[str, Any] = {}
    bound = getattr(world, "bound_device_id", None)
    if bound is not None:
        more["device_id"] = bound
    groups = list(groups_here())
    forget(groups)
    _retired[:] = groups
    for pg in groups:
        _abort(pg)
    dist.destroy_process_group()
    dist.init_process_group(
        name,
        store=PrefixStore(f"world/{number}", base),
        rank=me.rank,
        world_size=me.size,
        timeout=timedelta(seconds=me.timeout),
        **more,
    )
    return member(None)


def free_ranks(me: Member, store: Store, stopped: threading.Event) -> None:
    """Let go of whoever waits in a collective; to be called on all ranks, and on another thread.

    With NCCL the groups are aborted. gloo has no such thing, but it notices when a connection is
    shut down. Those between two ranks are found by asking both: their ends are each other's.
    """
    for pg in groups_here():
        _abort(pg)
    own = _connections(_store_ports(store))
    post(store, f"connections/{me.rank}", list(own))
    keys = [f"connections/{rank}" for rank in range(me.size)]
    end = time.monotonic() + SETTLE
    while not store.check(keys) and time.monotonic() < end and not stopped.wait(0.01):
        pass
    for key in keys:
        if store.check([key]):
            for local, peer in pickle.loads(store.get(key)):
                if (peer, local) in own:
                    _cut(own[peer, local])


def _abort(pg: dist.ProcessGroup) -> None:
    """End a group of NCCL; gloo cannot."""
    for device in getattr(pg, "_device_types", [torch.device("cuda")]):
        with contextlib.suppress(Exception):
            backend = pg._get_backend(device)
            abort = getattr(backend, "abort", None) or getattr(backend, "_abort", None)
            if abort is not None:
                abort()


def _connections(not_ports: set[int]) -> dict[tuple[Address, Address], int]:
    """TCP connections of this process, by (own end, other end), but for those of the store."""
    found: dict[tuple[Address, Address], int] = {}
    with contextlib.suppress(OSError):
        for number in map(int, os.listdir("/proc/self/fd")):
            with contextlib.suppress(OSError):
                if not stat.S_ISSOCK(os.fstat(number).st_mode):
                    continue
                with socket.socket(fileno=os.dup(number)) as connection:
                    ends = connection.getsockname(), connection.getpeername()
                if all(isinstance(end, tuple) and len(end) >= 2 for end in ends):
                    local, peer = ((end[0].removeprefix("::ffff:"), end[1]) for end in ends)
                    if local[1] not in not_ports and peer[1] not in not_ports:
                        found[local, peer] = number
    return found


def _cut(number: int) -> None:
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as connection:
        connection.shutdown(socket.SHUT_RDWR)


def _store_ports(store: Any) -> set[int]:
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    ports = {os.environ.get("MASTER_PORT"), getattr(store, "port", None)}
    return {int(port) for port in ports if port}
