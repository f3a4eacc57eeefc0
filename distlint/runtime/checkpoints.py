"""Checkpoints that survive a crash at any moment, and keys that fit whatever wraps the model."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import time
import zipfile
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from distlint.runtime._world import LONG, Group, Member, Report, Timeout, failure, member
from distlint.runtime.errors import CheckpointError

PREFIXES = ("module.", "_orig_mod.", "_fsdp_wrapped_module.", "_forward_module.")
MODEL_KEYS = ("model", "state_dict", "model_state_dict", "module")
ABANDONED = 86400.0  # seconds after which a temporary file of another machine has no owner
SHOWN_KEYS = 5

_WRAPPERS = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "module",
    "OptimizedModule": "_orig_mod",
    "DeepSpeedEngine": "module",
    "PipelineEngine": "module",
    "_FabricModule": "_original_module",
}


def unwrap(model: nn.Module) -> nn.Module:
    """Return the model inside DDP, DataParallel, FSDP, torch.compile, a DeepSpeed engine or Fabric.

    Nested wrappers are all removed. A custom module that has an attribute named ``module`` is not a
    wrapper. Not collective; copies nothing.

    Args:
        model: wrapped or not, on any device.

    Example:
        >>> import torch
        >>> from distlint.runtime import unwrap
        >>> net = torch.nn.Linear(2, 2)
        >>> unwrap(torch.nn.DataParallel(net)) is net
        True
    """
    while True:
        inner = _inside(model)
        if inner is None:
            return model
        model = inner


def _inside(model: nn.Module) -> nn.Module | None:
    for kind in type(model).__mro__:
        foreign = kind.__module__.partition(".")[0] in (
            "torch",
            "deepspeed",
            "lightning",
            "lightning_fabric",
        )
        if foreign and kind.__name__ in _WRAPPERS:
            inner = getattr(model, _WRAPPERS[kind.__name__], None)
            return inner if isinstance(inner, nn.Module) and inner is not model else None
    return None


def is_sharded(model: nn.Module) -> bool:
    """Return whether the parameters are sharded (FSDP, tensor parallelism, ZeRO-3).

    Not collective.

    Example:
        >>> import torch
        >>> from distlint.runtime import is_sharded
        >>> is_sharded(torch.nn.Linear(2, 2))
        False
    """
    if any(_is_named(part, "FullyShardedDataParallel") for part in model.modules()):
        return True
    return any(_is_named(p, "DTensor") or hasattr(p, "ds_id") for p in model.parameters())


def _is_named(value: object, name: str) -> bool:
    return any(kind.__name__ == name for kind in type(value).__mro__)


def strip_prefixes(state_dict: Mapping[str, Any], model: nn.Module | None = None) -> dict[str, Any]:
    """Remove the key prefixes that DDP, FSDP or torch.compile add.

    A prefix is removed if every key starts with it, repeatedly; the same text elsewhere in a key is
    kept. If the only child of the model is really called ``module``, its keys look the same: pass
    the model, and only prefixes that its keys do not have are removed.

    Not collective. The values are not copied or moved; the result is a new dict with the type and
    the version metadata of a ``state_dict()``.

    Args:
        state_dict: state dict to clean up.
        model: model that the keys are for, wrapped or not.

    Example:
        >>> from distlint.runtime import strip_prefixes
        >>> strip_prefixes({"module._orig_mod.weight": 1, "module._orig_mod.sub_module.bias": 2})
        OrderedDict([('weight', 1), ('sub_module.bias', 2)])
    """
    keys = list(state_dict)
    own = set(unwrap(model).state_dict()) if model is not None else set()
    cut = 0
    while keys and not (own and own.issuperset(keys)):
        prefix = next((p for p in PREFIXES if all(k.startswith(p) for k in keys)), None)
        if prefix is None or not all(len(key) > len(prefix) for key in keys):
            break
        keys = [key[len(prefix) :] for key in keys]
        cut += len(prefix)
    result = OrderedDict(zip(keys, state_dict.values(), strict=True))
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        result._metadata = OrderedDict(  # type: ignore[attr-defined]
            (key[cut:] if cut and key else key, value)
            for key, value in metadata.items()
            if not key or len(key) >= cut - 1
        )
    return result


def save_checkpoint(
    path: str | os.PathLike[str],
    model: nn.Module | None = None,
    *,
    keep: int | None = None,
    group: Group = None,
    timeout: Timeout = LONG,
    **state: Any,
) -> Path:
    """Save a checkpoint atomically: after a crash at any time, the previous one is still readable.

    Collective: the shards of a sharded model are gathered on all ranks. The first rank writes to a
    temporary file in the same directory, flushes it to disk, renames it, and flushes the directory.
    All ranks return when the file is in place. The unwrapped model is saved as "model", so its keys
    have no prefix; objects with a ``state_dict()`` are saved by their state dict.

    Args:
        path: file to write; parent directories are created. Only the path of the first rank is
            used.
        model: wrapped or not, on any device. FSDP and DTensor parameters are gathered on the CPU.
        keep: number of checkpoints of this name to keep; names are the same if they differ in their
            last number only (``step-100.pt``, ``step-200.pt``), and the largest numbers are kept.
        group: process group; defaults to all ranks.
        timeout: how long ranks wait for the first rank to write, in seconds or as timedelta.
        state: further entries: an optimizer, a scheduler, the step, the epoch of the sampler.

    Returns:
        The path of the first rank.

    Raises:
        CheckpointError: on every rank, if the checkpoint could not be written. Existing files are
            unchanged.
        ValueError: if ``keep`` is given and the name has no number.
        MissingRanksError: if a rank does not call it within the timeout.

    Example:
        >>> import tempfile, torch
        >>> from distlint.runtime import from_main, load_checkpoint, save_checkpoint
        >>> net = torch.nn.Linear(2, 1)
        >>> folder = from_main(tempfile.mkdtemp())
        >>> path = save_checkpoint(f"{folder}/step-1.pt", net, step=1, keep=3)
        >>> load_checkpoint(path, net).state["step"]
        1
    """
    path = Path(path)
    if keep is not None and (keep < 1 or _number(path.name) is None):
        raise ValueError(f"keep={keep} must be at least 1, and {path.name!r} must contain a number")
    me = member(group)
    error: BaseException | None = None
    try:
        content = _content(me, model, state)
        if me.rank == 0:
            _write(content, path)
            _remove_abandoned(path)
            if keep is not None:
                _retain(path, keep)
    except BaseException as caught:
        error = caught
    return Path(_agree(me, f"save_checkpoint({str(path)!r})", error, timeout, str(path))[0])


def _agree(
    me: Member, kind: str, error: BaseException | None, timeout: Timeout, value: object = None
) -> list[Any]:
    """Every rank's value; raises on all of them what has happened on the first one that failed."""
    name = kind.partition("(")[0]  # paths may differ
    own = None if error is None else Report.of(error)
    answers = [(own, value)]
    if not me.alone:
        answers = me.channel(name, timeout).exchange(name, (own, value), timeout)
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        raise error
    if own is not None:
        raise failure(CheckpointError, me, f"{kind}: {own.summary}") from error
    for rank, (report, _) in zip(me.ranks, answers, strict=True):
        if report is not None:
            message = f"{kind}: rank {rank} failed: {report.summary}"
            raise failure(CheckpointError, me, message)
    return [value for _, value in answers]


def _content(me: Member, model: nn.Module | None, state: dict[str, Any]) -> dict[str, Any]:
    """What goes into the file; gathered on all ranks where it has to be, else on the first only."""
    sharded = model is not None and is_sharded(model)
    content: dict[str, Any] = {}
    if model is not None:
        if sharded:
            content["model"] = _gathered_model(me, model)
        elif me.rank == 0:
            content["model"] = unwrap(model).state_dict()
    for name, value in state.items():
        if sharded and isinstance(value, torch.optim.Optimizer):
            assert model is not None
            content[name] = _gathered_optimizer(me, model, value)
            continue
        if hasattr(value, "consolidate_state_dict"):  # ZeroRedundancyOptimizer: on all ranks
            value.consolidate_state_dict(to=me.ranks[0])
        if me.rank == 0:
            if isinstance(value, nn.Module):
                value = unwrap(value)
            content[name] = value.state_dict() if hasattr(value, "state_dict") else value
    return content


def _options(me: Member, model: nn.Module) -> Any:
    """How to gather: on the CPU where possible, for the whole may not fit onto a device."""
    from torch.distributed.checkpoint.state_dict import StateDictOptions

    # Offloaded, the whole is given to the first rank of all and to no other. FSDP 1 hands out freed
    # memory when it offloads from the CPU to the CPU.
    first = me.ranks[0] == 0
    cpu = torch.device("cpu")
    fsdp_on_cpu = any(getattr(part, "compute_device", None) == cpu for part in model.modules())
    return StateDictOptions(full_state_dict=True, cpu_offload=first and not fsdp_on_cpu)


def _gathered_model(me: Member, model: nn.Module) -> dict[str, Any]:
    if any(hasattr(p, "ds_id") for p in model.parameters()):
        raise ValueError(
            "parameters are sharded with ZeRO-3: call save_checkpoint of the engine on all ranks"
        )
    from torch.distributed.checkpoint.state_dict import get_model_state_dict

    return strip_prefixes(get_model_state_dict(model, options=_options(me, model)))


def _gathered_optimizer(
    me: Member, model: nn.Module, optimizer: torch.optim.Optimizer
) -> dict[str, Any]:
    from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict

    return dict(get_optimizer_state_dict(model, optimizer, options=_options(me, model)))


def _write(content: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{socket.gethostname()}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """The rename itself has to reach the disk; not all systems can be asked for it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove_abandoned(path: Path) -> None:
    """Temporary files of writers that were killed."""
    host = re.escape(socket.gethostname())
    pattern = re.compile(rf"\.{_family(path.name).pattern}\.(?P<host>.*)\.(?P<pid>\d+)\.tmp")
    for file in path.parent.iterdir():
        match = pattern.fullmatch(file.name)
        if match is None:
            continue
        with contextlib.suppress(OSError):
            here = re.fullmatch(host, match["host"]) is not None
            old = time.time() - file.stat().st_mtime > ABANDONED
            if old or (here and not _alive(int(match["pid"]))):
                file.unlink()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _last_number(name: str) -> re.Match[str] | None:
    """The last number in a file's name, but for its suffix."""
    return max(re.finditer(r"\d+", Path(name).stem), key=re.Match.start, default=None)


def _number(name: str) -> int | None:
    found = _last_number(name)
    return int(found[0]) if found else None


def _family(name: str) -> re.Pattern[str]:
    """Names that differ from this one in the last number only."""
    found = _last_number(name)
    if not found:
        return re.compile(re.escape(name))
    return re.compile(re.escape(name[: found.start()]) + r"\d+" + re.escape(name[found.end() :]))


def _retain(path: Path, keep: int) -> None:
    family = _family(path.name)
    found = [file for file in path.parent.iterdir() if family.fullmatch(file.name)]
    found.sort(key=lambda file: _number(file.name) or 0, reverse=True)
    for file in found[keep:]:
        if file != path:
            file.unlink(missing_ok=True)


@dataclass(frozen=True)
class LoadReport:
    """Result of loading a checkpoint.

    Attributes:
        path: file that was read.
        matched: number of keys of the model that were loaded.
        missing: keys of the model that are not in the file.
        unexpected: keys of the file that are not in the model.
        mismatched: keys whose shapes differ.
        stripped: whether wrapper prefixes were removed.
        state: other entries of the file.
    """

    path: Path
    matched: int = 0
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    mismatched: tuple[str, ...] = ()
    stripped: bool = False
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Return whether all keys matched."""
        return not (self.missing or self.unexpected or self.mismatched)

    def __str__(self) -> str:
        parts = [f"{self.path}: {self.matched} keys loaded"]
        for what in ("missing", "unexpected", "mismatched"):
            keys = getattr(self, what)
            if keys:
                more = ", ..." if len(keys) > SHOWN_KEYS else ""
                parts.append(f"{len(keys)} {what} ({', '.join(keys[:SHOWN_KEYS])}{more})")
        return "; ".join(parts)


def load_checkpoint(
    path: str | os.PathLike[str],
    model: nn.Module | None = None,
    *,
    strict: bool = True,
    map_location: Any = "cpu",
    weights_only: bool = True,
    group: Group = None,
    timeout: Timeout = LONG,
    **state: Any,
) -> LoadReport:
    """Load a checkpoint on all ranks, or on none; prefixes of wrappers are removed from its keys.

    Supports files of :func:`save_checkpoint` and of ``torch.save(model.state_dict())``, and dicts
    with the weights under "model", "state_dict", "model_state_dict" or "module". Every rank reads
    the file, to the CPU by default, so that no rank allocates memory on the device of another.
    Nothing is loaded before all ranks have read the file and checked that it fits. Collective.

    Args:
        path: a file, or a directory; of a directory, the file with the largest number that is not
            truncated. The first rank chooses it, and all ranks read the file with that name.
        model: wrapped or not, sharded or not, on any device.
        strict: raise for missing, unexpected and mismatched keys. Otherwise, they are logged and
            returned; a file without any matching key is always an error.
        map_location: see ``torch.load``.
        weights_only: see ``torch.load``; False runs code that the file contains.
        group: process group; defaults to all ranks.
        timeout: how long ranks wait for each other, in seconds or as timedelta.
        state: objects with ``load_state_dict`` (an optimizer, a scheduler), by the names under
            which they were saved.

    Returns:
        A report on all ranks; its ``state`` contains the entries that were not loaded.

    Raises:
        CheckpointError: on every rank, if the file is missing, truncated or does not fit.
        MissingRanksError: if a rank does not call it within the timeout.

    Example:
        >>> import tempfile, torch
        >>> from distlint.runtime import from_main, load_checkpoint, save_checkpoint
        >>> net = torch.nn.Linear(2, 1)
        >>> folder = from_main(tempfile.mkdtemp())
        >>> path = save_checkpoint(f"{folder}/last.pt", torch.nn.DataParallel(net), step=7)
        >>> report = load_checkpoint(folder, net)
        >>> report.matched, report.missing, report.state
        (2, (), {'step': 7})
    """
    me = member(group)
    kind = f"load_checkpoint({str(path)!r})"
    chosen = Path(path)
    error: Exception | None = None
    name: str | None = None
    content: Any = None
    try:
        name = _newest(chosen) if me.rank == 0 and chosen.is_dir() else None
    except Exception as caught:
        error = caught
    name = _agree(me, kind, error, timeout, name)[0]
    try:
        chosen = chosen if name is None else chosen / name
        content = torch.load(chosen, map_location=map_location, weights_only=weights_only)
    except Exception as caught:
        error = caught
    _agree(me, kind, error, timeout)
    weights: dict[str, Any] = {}
    report = LoadReport(chosen)
    try:
        weights, report = _matched(chosen, model, content, strict)
        absent = [name for name in state if name not in report.state]
        if absent:
            raise KeyError(
                f"{', '.join(absent)} not found in the file; it contains {', '.join(report.state)}"
            )
    except Exception as caught:
        error = caught
    _agree(me, kind, error, timeout)
    try:
        if model is not None:
            _load_model(model, weights)
        for name, target in state.items():
            _load_other(model, target, report.state.pop(name))
    except Exception as caught:
        error = caught
    _agree(me, kind, error, timeout)
    if not report.complete and me.rank == 0:
        logging.getLogger("distlint.runtime").warning("%s", report)
    return report


def _newest(folder: Path) -> str:
    """The newest file that was written to its end."""
    files = [f for f in folder.iterdir() if f.is_file() and not f.name.startswith(".")]
    files.sort(key=lambda f: (_number(f.name) or 0, f.stat().st_mtime), reverse=True)
    for file in files:
        if zipfile.is_zipfile(file):
            return file.name
    raise FileNotFoundError(f"no complete checkpoint in {folder}")


def _matched(
    path: Path, model: nn.Module | None, content: Any, strict: bool
) -> tuple[dict[str, Any], LoadReport]:
    """The weights under the model's own keys, and what does not fit."""
    if not isinstance(content, Mapping):
        raise TypeError(f"the file contains a {type(content).__name__}, not a dict of weights")
    if model is None:
        return {}, LoadReport(path, state=dict(content))
    found, rest = _weights(content)
    own = _shapes(model)
    bare = strip_prefixes(found)
    stripped = len(own.keys() & bare.keys()) > len(own.keys() & found.keys())
    if stripped:
        found = bare
    report = LoadReport(
        path,
        missing=_sorted(own.keys() - found.keys()),
        unexpected=_sorted(found.keys() - own.keys()),
        mismatched=_sorted(
            key for key in own.keys() & found.keys() if own[key] != _shape(found[key])
        ),
        stripped=stripped,
        state=rest,
        matched=sum(key in own and own[key] == _shape(found[key]) for key in found),
    )
    if own and not report.matched:
        raise ValueError(f"no key matched: {report}")
    if strict and not report.complete:
        raise ValueError(str(report))
    weights = {k: v for k, v in found.items() if k in own and own[k] == _shape(v)}
    return weights, report


def _weights(content: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    for key in MODEL_KEYS:
        inner = content.get(key)
        if isinstance(inner, Mapping):
            return dict(inner), {name: v for name, v in content.items() if name != key}
    return dict(content), {}


def _shapes(model: nn.Module) -> dict[str, tuple[int, ...] | None]:
    if is_sharded(model):
        from torch.distributed.checkpoint.state_dict import get_model_state_dict

        return {key: _shape(value) for key, value in get_model_state_dict(model).items()}
    return {key: _shape(value) for key, value in unwrap(model).state_dict().items()}


def _shape(value: object) -> tuple[int, ...] | None:
    shape = getattr(value, "shape", None)
    return tuple(shape) if isinstance(shape, tuple) else None


def _sorted(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(keys))


def _load_model(model: nn.Module, weights: dict[str, Any]) -> None:
    if is_sharded(model):
        from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict

        options = StateDictOptions(full_state_dict=True, strict=False)
        set_model_state_dict(model, weights, options=options)
    else:
        unwrap(model).load_state_dict(weights, strict=False)


def _load_other(model: nn.Module | None, target: Any, saved: Any) -> None:
    if model is not None and is_sharded(model) and isinstance(target, torch.optim.Optimizer):
        _load_optimizer(model, target, saved)
    else:
        (unwrap(target) if isinstance(target, nn.Module) else target).load_state_dict(saved)


def _load_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, saved: Any) -> None:
    """Load what :func:`_gathered_optimizer` has made, each rank its own part."""
    from torch.distributed.checkpoint.state_dict import StateDictOptions, set_optimizer_state_dict

    if saved["state"]:
        options = StateDictOptions(full_state_dict=True)
        set_optimizer_state_dict(model, optimizer, saved, options=options)
        return
    optimizer.state.clear()  # before the first step, or SGD without momentum: torch refuses it
    for group, other in zip(optimizer.param_groups, saved["param_groups"], strict=True):
        group.update({name: value for name, value in other.items() if name != "params"})
