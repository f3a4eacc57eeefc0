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
    """Every n-th item, where n counts the ranks and the workers of this rank's loader.

    To be used in ``IterableDataset.__iter__``: without it each worker of each rank yields the whole
    stream. In a loader's worker, which may have been started without a process group, rank and
    world size come from the launcher's environment. Not collective. Shards may differ in length by
    one: see :func:`equal_steps`.

    Args:
        items: the whole stream, in the same order everywhere.
        rank: whose shard; this process's by default.
        world_size: how many ranks there are.

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
        raise ValueError(f"{rank=} does not lie below {world_size=}")
    workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)
    return islice(items, rank * workers + number, None, world_size * workers)


@dataclass(frozen=True)
class ShardReport:
    """Which samples the ranks see in one epoch; the same on all ranks.

    Attributes:
        per_rank: how many each rank sees.
        distinct: how many different ones all see together.
        repeated: how many of them more than one rank sees.
        missing: how many of the data set no rank sees, where its length is known.
        padding: how many repetitions a sampler may need to give all ranks equally many samples, or
            Accelerate to give them equally many whole batches.
    """

    per_rank: tuple[int, ...]
    distinct: int
    repeated: int
    missing: int | None
    padding: int

    @property
    def ok(self) -> bool:
        """Does every sample go to one rank, but for what evens out the shards?"""
        return self.repeated <= self.padding and not self.missing

    def __str__(self) -> str:
        text = f"{self.distinct} distinct samples of {sum(self.per_rank)} {list(self.per_rank)}"
        if self.repeated:
            text += f", {self.repeated} on more than one rank"
        if self.missing:
            text += f", {self.missing} on none"
        return text + (": sharded" if self.ok else ": NOT sharded properly")


def check_shards(
    loader: Any,
    key: Callable[[Any], object] | None = None,
    *,
    limit: int | None = None,
    group: Group = None,
    timeout: Timeout = None,
) -> ShardReport:
    """Do the ranks' shards overlap, and do they cover the data?

    Catches a missing sampler (all ranks see everything), one sharding on top of another (most of
    the data is seen by none), and samplers with different seeds. Of a map-style loader only the
    indices are drawn and nothing is loaded; this uses up one epoch of a sampler that counts them by
    itself. Of a stream, or where Accelerate's first rank reads for all, the samples are read and
    told apart by ``key`` or by their bytes. Indices count in the data set below any ``Subset``.
    Where each rank holds a data set of its own of the same length, give a ``key``. Collective.

    Args:
        loader: a DataLoader, a sampler, or anything that yields samples.
        key: the identity of a sample, such as ``lambda sample: sample["id"]``.
        limit: read at most so many samples a rank; coverage is then not judged.
        group: the ranks that take part.
        timeout: seconds or timedelta that ranks wait for each other; that of the group by default.

    Raises:
        PeerFailedError: on the other ranks, if one rank's loader raises.
        CollectiveError, MissingRanksError: if a rank does not come.

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
