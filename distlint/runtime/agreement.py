"""One answer on all ranks: flags, values, seeds, paths, and the decision to stop."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import math
import os
import pickle
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, TypeVar

import torch
import torch.distributed as dist

from distlint.runtime._world import (
    Group,
    Timeout,
    agree,
    exchange,
    failure,
    foreign_data,
    hand_out,
    member,
)
from distlint.runtime.errors import DisagreementError, NotPicklableError

T = TypeVar("T")

SHOWN = 400  # characters of a value in a message


class _Flags(threading.local):
    """One tensor for each device, for an allocation costs as much as the rest of the call."""

    def __init__(self) -> None:
        self.tensors: dict[torch.device, torch.Tensor] = {}


_flags = _Flags()
_FAILED: dict[Any, int] = {dist.ReduceOp.MAX: 2, dist.ReduceOp.MIN: -1}
"""What a rank without an answer gives: it wins over 0 and 1."""


def any_rank(flag: object, group: Group = None) -> bool:
    """Is the flag true on at least one rank?

    One all_reduce (MAX) of one int32 on the group's device. Collective: every rank of the group
    has to call it. Without a process group, or alone in it, the answer is the flag.

    Args:
        flag: anything with a truth value; of a tensor, one element on any device.
        group: the ranks that take part; all of them by default.

    Raises:
        CollectiveError: if the reduction fails or times out; ``missing`` has the ranks that ended.
        GroupError: if the group is unknown or does not hold this rank.
        OrderError: if the result is neither 0 nor 1, since another rank is in another collective.
        PeerFailedError: on the other ranks, if the flag of one has no truth value; that one raises
            what it raised.

    Example:
        >>> from distlint.runtime import any_rank
        >>> loss = float("inf")
        >>> any_rank(loss > 1e4)  # every rank leaves the loop in the same step
        True
    """
    return _reduced(flag, dist.ReduceOp.MAX, "any_rank", group)


def all_ranks(flag: object, group: Group = None) -> bool:
    """Is the flag true on every rank?

    One all_reduce (MIN) of one int32 on the group's device; otherwise as :func:`any_rank`.

    Raises:
        CollectiveError, GroupError, PeerFailedError: as :func:`any_rank`.

    Example:
        >>> from distlint.runtime import all_ranks
        >>> all_ranks(True), all_ranks(False)
        (True, False)
    """
    return _reduced(flag, dist.ReduceOp.MIN, "all_ranks", group)


def _reduced(flag: object, op: Any, kind: str, group: Group) -> bool:
    me = member(group)
    if me.alone:
        return bool(flag)
    error: Exception | None = None
    try:
        number = int(bool(flag))
    except Exception as caught:
        error, number = caught, _FAILED[op]
    device = me.device
    tensor = _flags.tensors.get(device)
    if tensor is None:
        with torch.inference_mode(False):  # it will be written to outside as well
            tensor = _flags.tensors[device] = torch.zeros(1, dtype=torch.int32, device=device)
    tensor.fill_(number)
    answer = me.all_reduce(tensor, op, kind).item()
    if answer == _FAILED[op]:
        agree(kind, error, group)
    if answer not in (0, 1):
        raise foreign_data(me, kind, answer)
    return bool(answer)


class Trigger:
    """A flag that any rank may set and that all ranks look at together.

    ``set`` is local and may be called anywhere, also in a signal handler. ``check`` is collective:
    it tells on every rank whether some rank has set the flag since the last check, and clears it.

    Raises:
        CollectiveError: from ``check``, if the reduction fails or times out.

    Example:
        >>> from distlint.runtime import Trigger
        >>> stop = Trigger()
        >>> stop.check()
        False
        >>> stop.set()
        >>> stop.check(), stop.check()
        (True, False)
    """

    def __init__(self, group: Group = None) -> None:
        self._group = group
        self._set = False

    def set(self) -> None:
        """Raise the flag on this rank. Not collective."""
        self._set = True

    def check(self) -> bool:
        """Has any rank raised it? Collective; clears the flag on all ranks."""
        mine, self._set = self._set, False  # a signal may set it anew from here on
        return any_rank(mine, self._group)


class EarlyStopper:
    """Patience that runs out on all ranks in the same call.

    The value is averaged over the ranks before it is compared and counted, so that a rank whose own
    shard still improves does not go on alone. A value that is not a number is no improvement.

    Args:
        patience: how many calls in a row without an improvement are borne; the next one stops.
        mode: "min" when smaller values are better, "max" when larger ones are.
        min_delta: by how much a value has to be better than the best one.
        group: the ranks that take part.

    Attributes:
        best: the best average so far.
        bad: calls since then.
        should_stop: the last answer of ``step``.

    Example:
        >>> from distlint.runtime import EarlyStopper
        >>> stopper = EarlyStopper(patience=1, mode="min")
        >>> [stopper.step(loss) for loss in (3.0, 2.0, 2.5, 2.4)]
        [False, False, False, True]
    """

    def __init__(
        self,
        patience: int,
        mode: Literal["min", "max"] = "min",
        min_delta: float = 0.0,
        group: Group = None,
    ) -> None:
        if patience < 0 or min_delta < 0:
            raise ValueError("patience and min_delta must not be negative")
        if mode not in ("min", "max"):
            raise ValueError(f'mode is "min" or "max", not {mode!r}')
        self.patience = patience
        self.mode = mode
        self.min_delta = min_delta
        self.best = math.inf if mode == "min" else -math.inf
        self.bad = 0
        self.should_stop = False
        self._group = group

    def step(self, value: float | torch.Tensor) -> bool:
        """Count one value; true on all ranks when patience has run out.

        Collective: one all_reduce (SUM) of three float64.

        Args:
            value: this rank's number, or a tensor with one element on any device.

        Raises:
            CollectiveError: if the reduction fails or times out.
            OrderError: if the result shows that another rank is in another collective.
            PeerFailedError: on the other ranks, if the value of one is no number; that one raises
                TypeError, ValueError or RuntimeError.
        """
        mean = self._mean(value)
        margin = -self.min_delta if self.mode == "min" else self.min_delta
        bar = self.best + margin
        if mean < bar if self.mode == "min" else mean > bar:
            self.best, self.bad = mean, 0
        else:
            self.bad += 1
        self.should_stop = self.bad > self.patience
        return self.should_stop

    def state_dict(self) -> dict[str, float]:
        """What a checkpoint has to hold to go on counting."""
        return {"best": self.best, "bad": self.bad}

    def load_state_dict(self, state: Mapping[str, float]) -> None:
        """Go on from a checkpoint."""
        self.best, self.bad = float(state["best"]), int(state["bad"])

    def _mean(self, value: float | torch.Tensor) -> float:
        me = member(self._group)
        if me.alone:
            return float(value)
        kind = "EarlyStopper.step"
        error: Exception | None = None
        row = [0.0, 1.0, 0.0]  # the value, how many there are, how many ranks have failed
        try:
            row[0] = float(value)
        except Exception as caught:
            error, row[2] = caught, 1.0
        sums = torch.tensor(row, dtype=torch.float64, device=me.device)
        total, count, failed = me.all_reduce(sums, dist.ReduceOp.SUM, kind).tolist()
        if count != me.size:
            raise foreign_data(me, kind, [total, count, failed])
        if failed:
            agree(kind, error, self._group)
        return float(total / count)


class _Skips:
    count = 0


def agreed_step(
    ok: object, optimizer: torch.optim.Optimizer | None = None, *, group: Group = None
) -> bool:
    """May this step be taken? Only when it may on all ranks.

    To be asked before ``backward``, on every rank in every step: a rank that skips one backward
    alone makes later steps pair gradients of different batches, without a message. When the answer
    is no, gradients of the optimizer given are dropped, and :func:`skipped_steps` counts it.

    One all_reduce of one int32. Collective.

    Args:
        ok: this rank's opinion; anything with a truth value.
        optimizer: whose gradients to drop when the step is skipped.
        group: the ranks that take part.

    Raises:
        CollectiveError, PeerFailedError: as :func:`any_rank`.

    Example:
        >>> import torch
        >>> from distlint.runtime import agreed_step, skipped_steps
        >>> before = skipped_steps()
        >>> losses = [torch.tensor(1.0), torch.tensor(float("nan"))]
        >>> [agreed_step(torch.isfinite(loss)) for loss in losses]
        [True, False]
        >>> skipped_steps() - before
        1
    """
    agreed = _reduced(ok, dist.ReduceOp.MIN, "agreed_step", group)
    if not agreed:
        _Skips.count += 1
        if optimizer is not None:
            optimizer.zero_grad(set_to_none=True)
    return agreed


def skipped_steps() -> int:
    """How many steps :func:`agreed_step` has refused in this process. Not collective.

    Example:
        >>> from distlint.runtime import skipped_steps
        >>> skipped_steps() >= 0
        True
    """
    return _Skips.count


def same_on_all_ranks(
    value: T, name: str = "value", *, group: Group = None, timeout: Timeout = None
) -> T:
    """Return the value if every rank has the same one.

    Numbers, strings, containers, dataclasses, namespaces, tensors and arrays are compared by their
    content (tensors by dtype, shape and bytes, wherever they lie), other objects by what pickle
    makes of them. Only a digest travels unless something differs. Collective, through the store: a
    GPU has nothing to do.

    Args:
        value: this rank's value; a configuration, a list of files, a vocabulary.
        name: what the message calls it.
        group: the ranks that take part.
        timeout: seconds or timedelta; that of the group by default.

    Raises:
        DisagreementError: on every rank, with the differing parts of each rank's value.
        NotPicklableError: on every rank, if one of them cannot be compared.
        MissingRanksError: if some rank does not come within the timeout.

    Example:
        >>> from distlint.runtime import same_on_all_ranks
        >>> same_on_all_ranks({"lr": 0.1, "layers": [64, 64]}, "config")
        {'lr': 0.1, 'layers': [64, 64]}
    """
    me = member(group)
    if me.alone:
        return value
    kind = f"same_on_all_ranks({name!r})"
    error: BaseException | None = None
    parts: dict[str, tuple[str, str]] = {}
    try:
        parts = dict(_parts(value, name))
    except Exception as caught:
        error = caught
    whole = _digest(repr([(path, leaf[0]) for path, leaf in parts.items()]).encode())
    answers = exchange(kind, (whole, None if error is None else str(error)), group, timeout)
    for rank, (_, text) in enumerate(answers):
        if text is not None:
            peer = me.ranks[rank]
            raise failure(NotPicklableError, me, f"{kind}: rank {peer} cannot compare it: {text}")
    if any(digest != whole for digest, _ in answers):
        everyone = exchange(kind, parts, group, timeout)
        differing = _differing(everyone)
        values = {
            me.ranks[rank]: "; ".join(
                f"{path} = {parts[path][1] if path in parts else '(absent)'}" for path in differing
            )
            for rank, parts in enumerate(everyone)
        }
        lines = "".join(f"\n  rank {rank}: {text}" for rank, text in values.items())
        raise failure(DisagreementError, me, f"{name} differs between ranks:{lines}", values=values)
    return value


def _differing(parts: list[dict[str, tuple[str, str]]]) -> list[str]:
    paths = {path: None for part in parts for path in part}
    first = parts[0]
    return [
        path
        for path in paths
        if any(part.get(path, ("", ""))[0] != first.get(path, ("", ""))[0] for part in parts)
    ][:8]


def _parts(value: object, path: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """A value as (path, (digest, text)) of its leaves."""
    attributes = _attributes(value)
    if attributes:
        for key in sorted(attributes):
            yield from _parts(attributes[key], f"{path}.{key}")
    elif isinstance(value, Mapping) and value:
        for key in sorted(value, key=repr):
            yield from _parts(value[key], f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)) and value and not hasattr(value, "_fields"):
        yield f"len({path})", (str(len(value)), str(len(value)))
        for index, item in enumerate(value):
            yield from _parts(item, f"{path}[{index}]")
    else:
        yield path, _leaf(value)


def _attributes(value: object) -> dict[str, Any]:
    """Of the usual kinds of configuration."""
    if isinstance(value, (argparse.Namespace, SimpleNamespace)):
        return vars(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {}


def _leaf(value: object) -> tuple[str, str]:
    if isinstance(value, torch.Tensor):
        flat = value.detach().cpu().contiguous()
        raw = flat.reshape(-1).view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        text = f"tensor {tuple(flat.shape)} {flat.dtype}"
        if flat.numel() <= 8:
            text += f" {flat.tolist()}"
        return _digest(f"{tuple(flat.shape)}{flat.dtype}".encode() + raw), text
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        head = f"{getattr(value, 'shape', ())}{value.dtype}"
        return _digest(head.encode() + value.tobytes()), _short(value)
    if isinstance(value, (set, frozenset)):
        return _digest(repr(sorted(value, key=repr)).encode()), _short(sorted(value, key=repr))
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, Path)):
        return f"{type(value).__name__} {value!r}", _short(value)
    return _digest(pickle.dumps(value)), _short(value)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def from_main(value: T, *, group: Group = None, timeout: Timeout = None) -> T:
    """The value of the first rank of the group, on all ranks.

    Anything that can be pickled; meant for small things (decisions, paths, configurations, metrics)
    rather than for weights. Tensors arrive on the receiver's own device of the same kind. What the
    other ranks pass in is ignored. Collective, through the store: the first rank does not wait.

    Args:
        value: on the first rank the value; elsewhere anything.
        group: the ranks that take part.
        timeout: seconds or timedelta that the others wait; that of the group by default.

    Raises:
        NotPicklableError: on every rank, if the value cannot be sent.
        MissingRanksError: if the first rank does not come within the timeout.

    Example:
        >>> from distlint.runtime import from_main
        >>> from_main({"resume": "step-100.pt"})
        {'resume': 'step-100.pt'}
    """
    result: T = hand_out("from_main", value, group, timeout)
    return result


def agreed_seed(seed: int | None = None, *, group: Group = None, timeout: Timeout = None) -> int:
    """One seed for all ranks: the one given on the first rank, or a fresh one.

    For whatever all ranks have to shuffle or split alike. Collective, through the store.

    Args:
        seed: the seed of the first rank; None draws 32 random bits.
        group: the ranks that take part.
        timeout: seconds or timedelta; that of the group by default.

    Raises:
        MissingRanksError: if the first rank does not come within the timeout.

    Example:
        >>> from distlint.runtime import agreed_seed
        >>> agreed_seed(7)
        7
        >>> 0 <= agreed_seed() < 2**32
        True
    """
    mine = secrets.randbits(32) if seed is None else seed
    chosen: int = hand_out("agreed_seed", mine, group, timeout)
    return chosen


def agreed_path(
    root: str | os.PathLike[str] = "runs",
    name: str | None = None,
    *,
    create: bool = True,
    group: Group = None,
    timeout: Timeout = None,
) -> Path:
    """One folder for this run, the same on all ranks.

    A name made from the clock on each rank gives as many folders as there are ranks. Here the first
    rank chooses and makes the folder before the others hear of it. Collective, through the store.

    Args:
        root: the folder in which it lies; that of the first rank counts.
        name: its name; by default the date, the time and four random letters.
        create: make the folder, with its parents.
        group: the ranks that take part.
        timeout: seconds or timedelta; that of the group by default.

    Raises:
        PeerFailedError: on the other ranks, if the first one cannot make the folder, which itself
            raises the OSError.
        MissingRanksError: if the first rank does not come within the timeout.

    Example:
        >>> import tempfile
        >>> from distlint.runtime import agreed_path, from_main
        >>> folder = agreed_path(from_main(tempfile.mkdtemp()), "first-run")
        >>> folder.name, folder.is_dir()
        ('first-run', True)
    """
    error: Exception | None = None
    path = ""
    if member(group).rank == 0:
        try:
            fresh = time.strftime("%Y-%m-%d_%H-%M-%S-") + secrets.token_hex(2)
            folder = Path(root) / (name or fresh)
            if create:
                folder.mkdir(parents=True, exist_ok=True)
            path = str(folder)
        except Exception as caught:
            error = caught
    return Path(agree("agreed_path", error, group, timeout, path)[0])
