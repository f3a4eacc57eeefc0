"""Log each collective that a rank issues: what, on which group, with which arguments, from where.

The functions of ``torch.distributed`` are wrapped once, in the zygote, before any framework is
loaded; nothing is written until a forked rank opens its log. A line is written when a collective
is entered and another when it returns, unbuffered, so that the log of a killed rank shows where it
was stuck. Only outermost calls count: ``all_gather_object`` is one event, not three.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

COLLECTIVES = (
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "gather",
    "gather_object",
    "monitored_barrier",
    "new_group",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
)

_state = threading.local()
_log: int | None = None
_script = ""


def open_log(path: str, script: str) -> None:
    """From here on, write the events of this process to ``path``."""
    global _log, _script
    _log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    _script = script


def install() -> None:
    """Wrap the collectives of torch.distributed."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d

    for name in COLLECTIVES:
        original = getattr(distributed_c10d, name, None)
        if original is None:
            continue
        wrapped = _wrap(name, original)
        setattr(distributed_c10d, name, wrapped)
        if hasattr(dist, name):
            setattr(dist, name, wrapped)


def _wrap(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _log is None or getattr(_state, "inside", False):
            return original(*args, **kwargs)
        try:
            arguments = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return original(*args, **kwargs)
        event = _describe(name, arguments)
        if event is None:
            return original(*args, **kwargs)
        _state.inside = True
        _write({"enter": event})
        try:
            result = original(*args, **kwargs)
            _write({"leave": name})
            return result
        finally:
            _state.inside = False

    return call


def _write(record: object) -> None:
    assert _log is not None
    os.write(_log, json.dumps(record).encode() + b"\n")


def _describe(name: str, arguments: Mapping[str, Any]) -> dict[str, object] | None:
    import torch.distributed as dist

    if not dist.is_initialized():
        return None
    world = list(range(dist.get_world_size()))
    if name == "new_group":
        members = arguments.get("ranks")
        members = world if members is None else [int(rank) for rank in members]
        local = bool(arguments.get("use_local_synchronization"))
        group = sorted(members) if local else world
        # a rank that makes a group of itself waits for nobody, and finds nobody's messages
        detail = "alone" if len(members) == 1 else str(members)
        named = "world" if group == world else "new_group"
    else:
        handle = arguments.get("group")
        if handle is None or handle is dist.group.WORLD:
            group, named = world, "world"
        elif isinstance(handle, dist.ProcessGroup):
            group, named = dist.get_process_group_ranks(handle), handle.group_name
        else:  # this rank is not a member
            return None
        detail = ""
    root = next(
        (
            f"{key} {int(arguments[key])}"
            for key in ("src", "dst", "group_src", "group_dst")
            if arguments.get(key) is not None
        ),
        "",
    )
    return {
        "op": name,
        "group": group,
        "name": named,
        "root": root or _default_root(name),
        "reduce": str(arguments["op"]) if "op" in arguments else "",
        "dtype": _dtype(arguments),
        "detail": detail,
        "line": _line(),
    }


def _default_root(name: str) -> str:
    if name in ("gather", "gather_object"):
        return "dst 0"
    return "src 0" if name in ("scatter", "scatter_object_list") else ""


def _dtype(arguments: Mapping[str, Any]) -> str:
    import torch

    for value in arguments.values():
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, torch.Tensor):
            return str(first.dtype)
    return ""


def _line() -> int:
    """The line of the script that led here (its innermost frame), 0 if none."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == _script:
            return frame.f_lineno
        if frame.f_back is None:
            return 0
        frame = frame.f_back
    return 0
