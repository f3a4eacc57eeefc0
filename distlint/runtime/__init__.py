"""Correct utilities for distributed training, and a watch over its collectives."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distlint.runtime.collective_watch.api import watch as watch
    from distlint.runtime.collective_watch.errors import CollectiveMismatch as CollectiveMismatch
    from distlint.runtime.collective_watch.errors import RankMissing as RankMissing
    from distlint.runtime.collective_watch.errors import WatchError as WatchError
    from distlint.runtime.replicas import check_finite_grads as check_finite_grads
    from distlint.runtime.replicas import check_replicas as check_replicas

_HOMES = {
    "watch": "distlint.runtime.collective_watch.api",
    "WatchError": "distlint.runtime.collective_watch.errors",
    "CollectiveMismatch": "distlint.runtime.collective_watch.errors",
    "RankMissing": "distlint.runtime.collective_watch.errors",
    "check_replicas": "distlint.runtime.replicas",
    "check_finite_grads": "distlint.runtime.replicas",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


if os.environ.get("DISTLINT_WATCH"):
    from distlint.runtime.collective_watch.environment import start_from_environment

    start_from_environment()
