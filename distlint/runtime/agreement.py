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
    """Return True on all ranks if the flag is true on at least one rank.

    One all_reduce (MAX) of one int32 on the device of the group. Collective: every rank of the
    group must call it. Without a process group, or with a single rank, the result is the flag
    itself.

    Args:
        flag: any value with a truth value; a tensor must have one element, on any device.
        group: process group; defaults to all ranks.

    Raises:
        CollectiveError: if the reduction fails or times out; ``missing`` contains the ranks that
            exited.
        GroupError: if the group is unknown or does not contain this rank.
        OrderError: if the result is neither 0 nor 1, because another rank is in a different
            collective.
        PeerFailedError: on the other ranks, if the flag of one rank has no truth value; that rank
            raises the original exception.

    Example:
        >>> from distlint.runtime import any_rank
        >>> loss = float("inf")
        >>> any_rank(loss > 1e4)  # every rank leaves the loop in the same step
        True
    """
    return _reduced(flag, dist.ReduceOp.MAX, "any_rank", group)


def all_ranks(flag: object, group: Group = None) -> bool:
    """Return True on all ranks if the flag is true on every rank.

    One all_reduce (MIN) of one int32 on the device of the group; otherwise like :func:`any_rank`.

    Raises:
        CollectiveError, GroupError, PeerFailedError: see :func:`any_rank`.

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
    """A flag that any rank can set and that all ranks check together.

    ``set`` is local and can be called anywhere, including in a signal handler. ``check`` is
    collective: on every rank, it returns whether any rank set the flag since the last check, and
    clears it.

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
        """Set the flag on this rank. Not collective."""
        self._set = True

    def check(self) -> bool:
        """Return whether any rank set the flag, and clear it on all ranks. Collective."""
        mine, self._set = self._set, False  # a signal may set it anew from here on
        return any_rank(mine, self._group)


class EarlyStopper:
    """Early stopping that stops all ranks in the same step.

    The value is averaged over the ranks before it is compared, so that no rank continues alone
    because its own shard still improves. NaN counts as no improvement.

    Args:
        patience: number of consecutive calls without improvement to tolerate; the next one stops.
        mode: "min" if smaller values are better, "max" if larger values are better.
        min_delta: minimum change that counts as an improvement.
        group: process group; defaults to all ranks.

    Attributes:
        best: best average so far.
        bad: number of calls since then.
        should_stop: last result of ``step``.

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
            raise ValueError(f'mode must be "min" or "max", not {mode!r}')
        self.patience = patience
        self.mode = mode
        self.min_delta = min_delta
        self.best = math.inf if mode == "min" else -math.inf
        self.bad = 0
        self.should_stop = False
        self._group = group

    def step(self, value: float | torch.Tensor) -> bool:
        """Record a value; return True on all ranks when patience is exhausted.

        Collective: one all_reduce (SUM) of three float64.

        Args:
            value: value of this rank: a number, or a tensor with one element on any device.

        Raises:
            CollectiveError: if the reduction fails or times out.
            OrderError: if the result shows that another rank is in a different collective.
            PeerFailedError: on the other ranks, if the value of one rank is not a number; that rank
                raises TypeError, ValueError or RuntimeError.
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
        """Return the state to save in a checkpoint."""
        return {"best": self.best, "bad": self.bad}

    def load_state_dict(self, state: Mapping[str, float]) -> None:
        """Restore the state from a checkpoint."""
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
    """Return True on all ranks if every rank can take this step.

    Call it before ``backward``, on every rank in every step: if a single rank skips one backward,
    the following steps silently combine gradients of different batches. If the result is False, the
    gradients of ``optimizer`` are cleared, and :func:`skipped_steps` is incremented.

    One all_reduce of one int32. Collective.

    Args:
        ok: whether this rank can take the step; any value with a truth value.
        optimizer: optimizer whose gradients are cleared if the step is skipped.
        group: process group; defaults to all ranks.

    Raises:
        CollectiveError, PeerFailedError: see :func:`any_rank`.

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
    """Return the number of steps that :func:`agreed_step` skipped. Not collective.

    Example:
        >>> from distlint.runtime import skipped_steps
        >>> skipped_steps() >= 0
        True
    """
    return _Skips.count


def same_on_all_ranks(
    value: T, name: str = "value", *, group: Group = None, timeout: Timeout = None
) -> T:
    """Return the value if it is the same on all ranks, otherwise raise.

    Numbers, strings, containers, dataclasses, namespaces, tensors and arrays are compared by
    content (tensors by dtype, shape and bytes, regardless of the device), other objects by their
    pickled form. Only a digest is exchanged unless there is a difference. Collective, through the
    store, without using a GPU.

    Args:
        value: value of this rank, such as a configuration, a list of files or a vocabulary.
        name: name of the value in error messages.
        group: process group; defaults to all ranks.
        timeout: seconds or timedelta; defaults to the timeout of the group.

    Raises:
        DisagreementError: on every rank, with the differing parts of the value of each rank.
        NotPicklableError: on every rank, if one of the values cannot be compared.
        MissingRanksError: if a rank does not call it within the timeout.

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
            raise failure(
                NotPicklableError,
                me,
                f"{kind}: the value of rank {peer} cannot be compared: {text}",
            )
    if any(digest != whole for digest, _ in answers):
        everyone = exchange(kind, parts, group, timeout)
        differing = _differing(everyone)
        values = {
            me.ranks[rank]: "; ".join(
                f"{path} = {parts[path][1] if path in parts else '(missing)'}" for path in differing
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
    """Return the value of the first rank of the group on all ranks.

    The value must be picklable, and should be small (decisions, paths, configurations, metrics),
    not weights. Tensors arrive on the device of the receiving rank, of the same type. Values passed
    by the other ranks are ignored. Collective, through the store; the first rank does not wait.

    Args:
        value: on the first rank, the value to send; ignored on the other ranks.
        group: process group; defaults to all ranks.
        timeout: how long the other ranks wait, in seconds or as timedelta; defaults to the timeout
            of the group.

    Raises:
        NotPicklableError: on every rank, if the value cannot be sent.
        MissingRanksError: if the first rank does not call it within the timeout.

    Example:
        >>> from distlint.runtime import from_main
        >>> from_main({"resume": "step-100.pt"})
        {'resume': 'step-100.pt'}
    """
    result: T = hand_out("from_main", value, group, timeout)
    return result


def agreed_seed(seed: int | None = None, *, group: Group = None, timeout: Timeout = None) -> int:
    """Return one seed for all ranks: that of the first rank, or a random one.

    Use it for shuffling and splitting that must be the same on all ranks. Collective, through the
    store.

    Args:
        seed: seed of the first rank; None draws 32 random bits.
        group: process group; defaults to all ranks.
        timeout: seconds or timedelta; defaults to the timeout of the group.

    Raises:
        MissingRanksError: if the first rank does not call it within the timeout.

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
    """Return one run directory, the same on all ranks.

    If each rank derives the name from the clock, there are as many directories as ranks. Here, the
    first rank chooses the name and creates the directory before the other ranks receive it.
    Collective, through the store.

    Args:
        root: parent directory; only that of the first rank is used.
        name: name of the directory; defaults to the date, the time and four random letters.
        create: create the directory and its parents.
        group: process group; defaults to all ranks.
        timeout: seconds or timedelta; defaults to the timeout of the group.

    Raises:
        PeerFailedError: on the other ranks, if the first rank cannot create the directory; the
            first rank raises the OSError.
        MissingRanksError: if the first rank does not call it within the timeout.

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
