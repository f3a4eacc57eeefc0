"""Correct utilities for distributed PyTorch training.

Names are loaded when they are first used, so that importing this package costs nothing and works
where torch is missing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distlint.runtime.agreement import EarlyStopper as EarlyStopper
    from distlint.runtime.agreement import Trigger as Trigger

EXPORTS = {
    "agreement": (
        "EarlyStopper",
        "Trigger",
        "agreed_path",
        "agreed_seed",
        "agreed_step",
        "all_ranks",
        "any_rank",
        "from_main",
        "same_on_all_ranks",
        "skipped_steps",
    ),
    "checkpoints": (
        "LoadReport",
        "is_sharded",
        "load_checkpoint",
        "save_checkpoint",
        "strip_prefixes",
        "unwrap",
    ),
    "errors": (
        "BatchSizeError",
        "CheckpointError",
        "CollectiveError",
        "DeviceError",
        "DisagreementError",
        "DistributedError",
        "GroupError",
        "MissingRanksError",
        "NotPicklableError",
        "OrderError",
        "PeerFailedError",
        "StaleGroupError",
        "StoreError",
    ),
    "memory": (
        "BatchSizeFinder",
        "find_executable_batch_size",
        "free_memory",
        "is_out_of_memory",
    ),
    "order": (
        "main_call",
        "main_eval",
        "main_process_first",
        "named_barrier",
        "on_main",
    ),
}
_HOME = {name: module for module, names in EXPORTS.items() for name in names}


def __getattr__(name: str) -> object:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
