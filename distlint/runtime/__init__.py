"""Correct utilities for distributed PyTorch training, and a watch over its collectives.

Names are loaded when they are first used, so that importing this package costs nothing and works
where torch is missing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distlint.runtime.agreement import EarlyStopper as EarlyStopper
    from distlint.runtime.agreement import Trigger as Trigger
    from distlint.runtime.agreement import agreed_path as agreed_path
    from distlint.runtime.agreement import agreed_seed as agreed_seed
    from distlint.runtime.agreement import agreed_step as agreed_step
    from distlint.runtime.agreement import all_ranks as all_ranks
    from distlint.runtime.agreement import any_rank as any_rank
    from distlint.runtime.agreement import from_main as from_main
    from distlint.runtime.agreement import same_on_all_ranks as same_on_all_ranks
    from distlint.runtime.agreement import skipped_steps as skipped_steps
    from distlint.runtime.checkpoints import LoadReport as LoadReport
    from distlint.runtime.checkpoints import is_sharded as is_sharded
    from distlint.runtime.checkpoints import load_checkpoint as load_checkpoint
    from distlint.runtime.checkpoints import save_checkpoint as save_checkpoint
    from distlint.runtime.checkpoints import strip_prefixes as strip_prefixes
    from distlint.runtime.checkpoints import unwrap as unwrap
    from distlint.runtime.collective_watch.api import watch as watch
    from distlint.runtime.collective_watch.errors import CollectiveMismatch as CollectiveMismatch
    from distlint.runtime.collective_watch.errors import RankMissing as RankMissing
    from distlint.runtime.collective_watch.errors import WatchError as WatchError
    from distlint.runtime.data import MicroBatch as MicroBatch
    from distlint.runtime.data import accumulate as accumulate
    from distlint.runtime.data import equal_steps as equal_steps
    from distlint.runtime.data import gather_variable as gather_variable
    from distlint.runtime.data import gather_with_grad as gather_with_grad
    from distlint.runtime.data import pad_across_ranks as pad_across_ranks
    from distlint.runtime.data import reduce_metrics as reduce_metrics
    from distlint.runtime.data import seed_all as seed_all
    from distlint.runtime.errors import BatchSizeError as BatchSizeError
    from distlint.runtime.errors import CheckpointError as CheckpointError
    from distlint.runtime.errors import CollectiveError as CollectiveError
    from distlint.runtime.errors import DeviceError as DeviceError
    from distlint.runtime.errors import DisagreementError as DisagreementError
    from distlint.runtime.errors import DistributedError as DistributedError
    from distlint.runtime.errors import GroupError as GroupError
    from distlint.runtime.errors import MissingRanksError as MissingRanksError
    from distlint.runtime.errors import NotPicklableError as NotPicklableError
    from distlint.runtime.errors import OrderError as OrderError
    from distlint.runtime.errors import PeerFailedError as PeerFailedError
    from distlint.runtime.errors import StaleGroupError as StaleGroupError
    from distlint.runtime.errors import StoreError as StoreError
    from distlint.runtime.logging import MemoryReport as MemoryReport
    from distlint.runtime.logging import RankLogger as RankLogger
    from distlint.runtime.logging import effective_batch_size as effective_batch_size
    from distlint.runtime.logging import get_logger as get_logger
    from distlint.runtime.logging import memory_report as memory_report
    from distlint.runtime.logging import validate_model as validate_model
    from distlint.runtime.memory import BatchSizeFinder as BatchSizeFinder
    from distlint.runtime.memory import find_executable_batch_size as find_executable_batch_size
    from distlint.runtime.memory import free_memory as free_memory
    from distlint.runtime.memory import is_out_of_memory as is_out_of_memory
    from distlint.runtime.order import main_call as main_call
    from distlint.runtime.order import main_eval as main_eval
    from distlint.runtime.order import main_process_first as main_process_first
    from distlint.runtime.order import named_barrier as named_barrier
    from distlint.runtime.order import on_main as on_main
    from distlint.runtime.replicas import check_finite_grads as check_finite_grads
    from distlint.runtime.replicas import check_replicas as check_replicas
    from distlint.runtime.setup import World as World
    from distlint.runtime.setup import distributed as distributed
    from distlint.runtime.setup import free_port as free_port
    from distlint.runtime.shards import ShardReport as ShardReport
    from distlint.runtime.shards import check_shards as check_shards
    from distlint.runtime.shards import shard_iter as shard_iter

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
    "data": (
        "MicroBatch",
        "accumulate",
        "equal_steps",
        "gather_variable",
        "gather_with_grad",
        "pad_across_ranks",
        "reduce_metrics",
        "seed_all",
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
    "logging": (
        "MemoryReport",
        "RankLogger",
        "effective_batch_size",
        "get_logger",
        "memory_report",
        "validate_model",
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
    "setup": (
        "World",
        "distributed",
        "free_port",
    ),
    "shards": (
        "ShardReport",
        "check_shards",
        "shard_iter",
    ),
}

WATCH_EXPORTS = {
    "collective_watch.api": ("watch",),
    "collective_watch.errors": ("CollectiveMismatch", "RankMissing", "WatchError"),
    "replicas": ("check_finite_grads", "check_replicas"),
}
"""Instruments: scripts that run do not need them, so they are not vendored."""

_HOME = {
    name: module
    for exports in (EXPORTS, WATCH_EXPORTS)
    for module, names in exports.items()
    for name in names
}


def __getattr__(name: str) -> object:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{module}"), name)
    except ModuleNotFoundError as error:
        if error.name == "torch":
            why = "torch, which is not installed: pip install 'torch>=2.4'"
        elif error.name == "torch._C._distributed_c10d":
            why = "a build of torch that includes torch.distributed"
        else:
            raise
        raise ImportError(f"{__name__}.{name} requires {why}") from error


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])


if os.environ.get("DISTLINT_WATCH"):
    from distlint.runtime.collective_watch.environment import start_from_environment

    start_from_environment()
