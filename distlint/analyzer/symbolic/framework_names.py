"""Names of frameworks that the analysis itself has to know; all others are in the catalogue."""

from __future__ import annotations

BACKWARD = "torch.Tensor.backward"
DATA_LOADER = "torch.utils.data.DataLoader"
DEVICE_MESH = "torch.distributed.device_mesh.DeviceMesh"
DISTRIBUTED = "torch.distributed."
DISTRIBUTED_SAMPLER = "torch.utils.data.DistributedSampler"
ITERABLE_DATASET = "torch.utils.data.IterableDataset"
JOIN = "torch.distributed.algorithms.Join"
MODULE = "torch.nn.Module"
CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
MODULES = "torch.nn."
PATH = "pathlib.Path"
PROCESS_GROUP = "torch.distributed.ProcessGroup"
READY_MODELS = "torchvision.models"
SAMPLERS = ("torch.utils.data.Sampler", "torch.utils.data.BatchSampler")
SUM = "torch.distributed.ReduceOp.SUM"
TENSOR = "torch.Tensor"

PARALLEL_WORDS = frozenset({"ddp", "fsdp", "deepspeed", "strategy", "torchrun"})
"""Words of a module that trains on many ranks."""

COMPUTING = frozenset({"torch", "numpy", "jax", "tensorflow", "einops", "functools", "scipy"})
"""Packages whose functions work on what one process has."""

SELF_RETURNING = frozenset(
    [
        "to",
        "cuda",
        "cpu",
        "train",
        "eval",
        "half",
        "float",
        "double",
        "bfloat16",
        "requires_grad_",
        "type",
        "apply",
        "compile",
    ]
)
"""Methods of a module that return the module."""
