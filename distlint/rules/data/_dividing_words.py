"""Words of a file that say that it may divide the data in a way that is not followed."""

from __future__ import annotations

import re

from distlint.analyzer.project.module import Module
from distlint.analyzer.static.callers import objects_in

DIVIDES = re.compile(
    r"sampler|shard|split_|_split|^chunk$|^scatter$|webdataset|wds|streaming|get_worker_info", re.I
)
"""Words of files that divide the data in some way, which is not followed here."""

TORCH_NAMES = frozenset(
    {
        "sampler", "Sampler", "DistributedSampler", "RandomSampler", "SequentialSampler",
        "BatchSampler", "SubsetRandomSampler", "WeightedRandomSampler",
    }
)  # fmt: skip
"""Names of torch that say nothing where they are only imported."""

_OF_MODELS = re.compile(
    r"FullySharded|fully_?shard|fsdp|Sharding|sharding_strategy|Sharded(?:State|Optim|Grad)"
    r"|sharded_(?:state|optim)|_?(?:full|hybrid|no)_shard|shard_grad_op|reshard|unshard",
    re.IGNORECASE,
)
"""Words for the shards of models: FSDP divides no data."""

_SHARES = re.compile(
    r"(?:tensor|context|sequence|seq|pipeline|model)_?parallel(?!ism$)|parallelize_module|ulysses"
    r"|PipelineStage|^(?:tp|cp|sp)_|_(?:tp|cp|sp)$|^(?:tp|cp|sp)$",
    re.IGNORECASE,
)
"""Words for ranks that compute parts of one batch, and need the same data."""

_CALLS = frozenset({"chunk", "scatter"})
"""What divides data as a function, and may be a variable for a part of a sample."""

_WHOLE = frozenset({"RandomSampler", "SequentialSampler"})


def divides(module: Module) -> bool:
    """May a file divide the data?"""
    words = module.words - (TORCH_NAMES - module.tokens)
    if not _CALLS.isdisjoint(words):
        words -= _CALLS - set(objects_in(module).called_names)
    if not _WHOLE.isdisjoint(words):
        words -= _of_whole_samplers(module)
    return any(
        _SHARES.search(word) or (DIVIDES.search(word) and not _OF_MODELS.match(word))
        for word in words
    )


def _of_whole_samplers(module: Module) -> frozenset[str]:
    """The words for samplers in a file that has only those of torch that go through all data."""
    words = frozenset(word for word in module.words if "sampler" in word.lower())
    known = {*objects_in(module).called_names, *module.definitions, *module.classes}
    known |= {function.name for function in module.functions}
    variables = {word for word in words - known if word == word.lower()}
    return frozenset() if words - variables - _WHOLE - {"Sampler"} else words


def divides_near(module: Module) -> bool:
    """May a file or one that it imports divide the data?"""
    return any(map(divides, module.import_closure()))
