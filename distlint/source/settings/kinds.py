"""Which kind of document a file is, by its name and first line, and is it about training?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

Kind = Literal["python", "json", "yaml", "shell", "dockerfile", "makefile"]

PYTHON_SUFFIXES = frozenset({".py", ".pyi", ".pyw"})
BY_SUFFIX: dict[str, Kind] = {
    **dict.fromkeys(PYTHON_SUFFIXES, "python"),
    **dict.fromkeys((".json", ".hjson", ".jsonc"), "json"),
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    **dict.fromkeys(
        (".sh", ".bash", ".zsh", ".ksh", ".slurm", ".sbatch", ".sub", ".pbs", ".lsf", ".job"),
        "shell",
    ),
    ".dockerfile": "dockerfile",
    ".containerfile": "dockerfile",
    ".mk": "makefile",
    ".mak": "makefile",
}
BY_NAME: dict[str, Kind] = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "makefile",
    "gnumakefile": "makefile",
}
_SHELL_LINE = re.compile(rb"#!.*\b(?:ba|da|k|z)?sh\b")
_PYTHON_LINE = re.compile(rb"#!.*python")

MAX_SIZE = 300_000
"""Larger files are data: what people write by hand to configure a training is small."""

_LAUNCHERS = rb"torchrun|torch\.distributed\.(?:run|launch)|accelerate[\s\"',]+launch|deepspeed"
_VARIABLES = (
    rb"\b(?:NCCL|TORCH_NCCL|TORCH_DISTRIBUTED|GLOO|ACCELERATE|DEEPSPEED|DS_ACCELERATO|FSDP)_?[A-Z]*"
    rb"|CUDA_(?:VISIBLE_DEVICES|LAUNCH_BLOCKING|MEMORY)|PYTORCH_[A-Z_]*ALLOC_CONF|MASTER_PORT"
)
_JOB = re.compile(rb"^#SBATCH[\s\S]*^[^#\n]*\bsrun\b[^\n]*\.(?:sh|bash)\b", re.MULTILINE)
"""A job of Slurm that runs a script of the shell, which may start a launcher."""
_LAUNCH = re.compile(_LAUNCHERS + rb"|" + _VARIABLES + rb"|\b(?:pkill|killall)\b")
_DEEPSPEED = re.compile(
    rb"[\"']?(?:zero_optimization|train_micro_batch_size_per_gpu|train_batch_size"
    rb"|zero_allow_untested_optimizer|wall_clock_breakdown|steps_per_print)[\"']?\s*:"
)
_ACCELERATE = re.compile(
    rb"^[\"']?(?:distributed_type|compute_environment)[\"']?\s*:", re.MULTILINE
)
_MEANT = re.compile(r"deepspeed|accelerate|^acc|^ds(?:[_.-]|$)|[_.-]ds[_.-]|zero[_-]?\d")
_SIGNS = (
    b"environ",
    b"putenv",
    b"subprocess",
    b"os.system",
    b"deepspeed",
    b"DeepSpeed",
    b"torchrun",
    b"torch.distributed.",
    b"accelerate",
)
_IN_PYTHON = re.compile(
    rb"environ|putenv|torchrun|torch\.distributed\.(?:run|launch)|accelerate\b.{1,8}\blaunch"
    rb"|zero_optimization|train_micro_batch_size_per_gpu|train_batch_size|pkill|killall"
    rb"|\b(?:deepspeed|ds)\.initialize\b|deepspeed\b.{1,8}--"
)


_LAUNCH_WORDS = re.compile(
    r"(?:\S*python[\d.]*\s+(?:-u\s+)?-m\s+)?(?:\S*/)?(?:" + _LAUNCHERS.decode() + r")(?:\s|$)"
)


def starts_launcher(words: Sequence[str]) -> bool:
    """Is it the name of a launcher that a command begins with?"""
    return _LAUNCH_WORDS.match(" ".join(words)) is not None


def kind_of(path: Path, first: bytes = b"") -> Kind | None:
    """The kind of a file by its name, else by its first line."""
    found = BY_SUFFIX.get(path.suffix.lower()) or BY_NAME.get(path.name.lower().split(".")[0])
    if found is not None:
        return found
    if _PYTHON_LINE.match(first):
        return "python"
    return "shell" if _SHELL_LINE.match(first) else None


def may_be_source(name: str) -> bool:
    """May a file of this name be worth a look at its first line?"""
    path = Path(name)
    return kind_of(path) is not None or not path.suffix


def is_workflow(path: Path) -> bool:
    """Is it a GitHub workflow, or an action?"""
    return path.parent.name == "workflows" or path.stem == "action"


def is_about_training(kind: Kind, path: Path, data: bytes) -> bool:
    """Does a file that was not named look as if it configured or started a training?"""
    if len(data) > MAX_SIZE:
        return False
    if kind == "json":
        return _DEEPSPEED.search(data) is not None
    if kind == "yaml":
        if _ACCELERATE.search(data) is not None:
            return True
        return is_workflow(path) and _LAUNCH.search(data) is not None
    if kind == "shell" and _JOB.search(data) is not None:
        return True
    return _LAUNCH.search(data) is not None


def may_be_meant(kind: Kind, path: Path, data: bytes) -> bool:
    """Is a file with a mistake in it meant as a configuration, by its name or its content?"""
    return _MEANT.search(path.name.lower()) is not None or is_about_training(kind, path, data)


def may_set(data: bytes) -> bool:
    """Could a Python file set variables, start launchers or hold a configuration?"""
    if not any(sign in data for sign in _SIGNS):  # far cheaper than an expression
        return False
    return _IN_PYTHON.search(data) is not None and (
        _LAUNCH.search(data) is not None or _DEEPSPEED.search(data) is not None
    )
