"""Who gets which samples, and whether the ranks' shards overlap."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import torch
import torch.distributed as dist

from distlint.runtime._world import (
    Group,
    Timeout,
    agree,
    member,
    rank_and_size,
)
from distlint.runtime.data import gathered_parts

T = TypeVar("T")


def shard_iter(
    items: Iterable[T], *, rank: int | None = None, world_size: int | None = None
) -> Iterator[T]:
    """Iterate over every n-th item, where n is the number of ranks times DataLoader workers.

    Use it in ``IterableDataset.__iter__``: without it, each worker of each rank yields the whole
    stream. In a DataLoader worker, which may have been started without a process group, rank and
    world size are read from the environment of the launcher. Not collective. The lengths of the
    shards can differ by one; see :func:`equal_steps`.

    Args:
        items: the whole stream, in the same order on all ranks.
        rank: rank of the shard; defaults to this rank.
        world_size: number of ranks.

    Example:
        >>> from distlint.runtime import shard_iter
        >>> list(shard_iter(range(10), rank=1, world_size=4))
        [1, 5, 9]
    """
    worker = torch.utils.data.get_worker_info()
    here = rank_and_size() if worker is not None or dist.is_initialized() else (0, 1)
    rank = here[0] if rank is None else rank
    world_size = here[1] if world_size is None else world_size
    if not 0 <= rank < world_size:
        raise ValueError(f"{rank=} must be less than {world_size=}")
    workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)
    return islice(items, rank * workers + number, None, world_size * workers)


@dataclass(frozen=True)
class ShardReport:
    """Samples that the ranks see in one epoch; the same on all ranks.

    Attributes:
        per_rank: number of samples per rank.
        distinct: number of distinct samples over all ranks.
        repeated: number of samples that more than one rank sees.
        missing: number of samples of the dataset that no rank sees, if its length is known.
        padding: number of repetitions that a sampler may need to give all ranks the same number of
            samples, or Accelerate to give them the same number of full batches.
    """

    per_rank: tuple[int, ...]
    distinct: int
    repeated: int
    missing: int | None
    padding: int

    @property
    def ok(self) -> bool:
        """Return whether each sample belongs to one rank, except for padding."""
        return self.repeated <= self.padding and not self.missing

    def __str__(self) -> str:
        text = f"{self.distinct} distinct samples of {sum(self.per_rank)} {list(self.per_rank)}"
        if self.repeated:
            text += f", {self.repeated} on more than one rank"
        if self.missing:
            text += f", {self.missing} on no rank"
        return text + (": sharded" if self.ok else ": NOT sharded correctly")


def check_shards(
    loader: Any,
    key: Callable[[Any], object] | None = None,
    *,
    limit: int | None = None,
    group: Group = None,
    timeout: Timeout = None,
) -> ShardReport:
    """Check whether the shards of the ranks overlap, and whether they cover the dataset.

    Detects a missing sampler (all ranks see everything), sharding that is applied twice (most of
    the data is never seen), and samplers with different seeds. For a map-style loader, only the
    indices are drawn and no sample is loaded; this consumes one epoch of a sampler that counts its
    epochs. For a stream, or if the first rank reads for all ranks (Accelerate), samples are read
    and identified by ``key`` or by their bytes. Indices refer to the dataset inside any ``Subset``.
    If each rank has a different dataset of the same length, pass a ``key``. Collective.

    Args:
        loader: a DataLoader, a sampler, or any iterable of samples.
        key: function that returns the identity of a sample, such as ``lambda sample:
            sample["id"]``.
        limit: maximum number of samples to read per rank; coverage is not checked then.
        group: process group; defaults to all ranks.
        timeout: how long ranks wait for each other, in seconds or as timedelta; defaults to the
            timeout of the group.

    Raises:
        PeerFailedError: on the other ranks, if the loader of one rank raises.
        CollectiveError, MissingRanksError: if a rank is missing.

    Example:
        >>> from distlint.runtime import check_shards, shard_iter
        >>> report = check_shards(shard_iter(range(100)))
        >>> report.distinct, report.repeated, report.ok
        (100, 0, True)
    """
    me = member(group)
    error: Exception | None = None
    own = torch.zeros(0, dtype=torch.int64, device="cpu")
    length: int | None = None
    try:
        identities, length = _identities(loader, key)
        own = torch.tensor(list(islice(identities, limit)), dtype=torch.int64, device="cpu")
    except Exception as caught:
        error = caught
    answers = agree("check_shards", error, group, timeout, (length, _filled_up_by(loader)))
    lengths = [length for length, _ in answers]
    if key is None and len(set(lengths)) > 1:
        own = own * me.size + me.rank  # each rank has data of its own, with the same numbers
    total = None if limit is not None else _total(lengths)
    parts = gathered_parts(own, 0, "check_shards", group)
    seen = Counter(identity for part in parts for identity in set(part.tolist()))
    result = ShardReport(
        per_rank=tuple(len(part) for part in parts),
        distinct=len(seen),
        repeated=sum(count > 1 for count in seen.values()),
        missing=None if total is None else max(0, total - len(seen)),
        padding=me.size * max(unit for _, unit in answers) - 1,
    )
    if not result.ok and me.rank == 0:
        logging.getLogger("distlint.runtime").warning("check_shards: %s", result)
    return result


def _filled_up_by(loader: Any) -> int:
    """What evens out the shards: a sample for each rank, or a batch as Accelerate does it."""
    if _is_dispatched(loader):
        return int(getattr(loader.batch_sampler, "batch_size", None) or 1)
    for part in (getattr(loader, "batch_sampler", None), getattr(loader, "dataset", None)):
        if getattr(part, "even_batches", type(part).__name__ == "IterableDatasetShard"):
            return int(getattr(part, "batch_size", None) or 1)
    return 1


def _is_dispatched(loader: Any) -> bool:
    """Does it read on the first rank and hand out the parts? Its sampler then tells nothing."""
    return any(kind.__name__ == "DataLoaderDispatcher" for kind in type(loader).__mro__)


def _total(lengths: Sequence[int | None]) -> int | None:
    """How many samples there are: of the one data set, or of all when they differ."""
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return None
    return known[0] if len(set(known)) == 1 else sum(known)


def _identities(
    loader: Any, key: Callable[[Any], object] | None
) -> tuple[Iterator[int], int | None]:
    """Numbers that tell samples apart, and how many there are in all."""
    dataset = getattr(loader, "dataset", None)
    stream = isinstance(dataset, torch.utils.data.IterableDataset) or _is_dispatched(loader)
    total = len(dataset) if not stream and isinstance(dataset, Sized) else None
    batches = getattr(loader, "batch_sampler", None)
    if key is None and not stream and batches is not None:
        whole, number = _root(dataset)
        total = len(whole) if isinstance(whole, Sized) else total
        return (number(int(index)) for batch in batches for index in batch), total
    if key is None and isinstance(loader, torch.utils.data.Sampler):
        source = getattr(loader, "data_source", getattr(loader, "dataset", None))
        return map(int, loader), len(source) if isinstance(source, Sized) else None
    return (_identity(key(s) if key else s) for s in _samples(loader)), total


def _root(dataset: Any) -> tuple[Any, Callable[[int], int]]:
    """The data set that a Subset (of a Subset) is taken from, and numbers in there."""
    indices: list[Any] = []
    while isinstance(dataset, torch.utils.data.Subset):
        indices.append(dataset.indices)
        dataset = dataset.dataset

    def number(index: int) -> int:
        for each in indices:
            index = int(each[index])
        return index

    return dataset, number


def _samples(loader: Any) -> Iterator[Any]:
    """One by one, also from a loader that puts them together into batches."""
    batched = getattr(loader, "batch_size", None) is not None
    for item in loader:
        yield from _unbatched(item) if batched else (item,)


def _unbatched(batch: Any) -> Iterator[Any]:
    if isinstance(batch, Mapping):
        columns = [list(column) for column in batch.values()]
        return (dict(zip(batch, row, strict=False)) for row in zip(*columns, strict=False))
    if isinstance(batch, (tuple, list)) and batch and isinstance(batch[0], torch.Tensor):
        return zip(*batch, strict=False)
    return iter(batch)


def _identity(sample: Any) -> int:
    if isinstance(sample, int):
        return sample
    digest = hashlib.sha256()
    _feed(digest, sample)
    return int.from_bytes(digest.digest()[:8], "big", signed=True)


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, torch.Tensor):
        digest.update(str(tuple(value.shape)).encode())
        digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    elif isinstance(value, Mapping):
        for name in sorted(value, key=repr):
            _feed(digest, name)
            _feed(digest, value[name])
    elif isinstance(value, (tuple, list)):
        for item in value:
            _feed(digest, item)
    elif hasattr(value, "tobytes"):
        digest.update(value.tobytes())
    else:
        digest.update(repr(value).encode())
