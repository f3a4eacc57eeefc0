"""What there is to look at: environment, files of the system, packages, programs.

Everything that a check learns comes through here, so that tests can say what a machine is like.
Nothing here changes anything.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from distlint.source.numbers import whole_number

Verdict = Literal["ok", "info", "warning", "error", "skipped"]

TIMEOUT = 5.0
"""Seconds for a program that is only asked something."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    ``looked`` is where, ``found`` what is there, ``fix`` the command or change that helps.
    """

    name: str
    verdict: Verdict
    looked: str
    found: str
    fix: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gpu:
    """A row of nvidia-smi; memory in MiB, power in watts."""

    index: int
    name: str
    total: float
    used: float
    power_limit: float | None
    reasons: int | None
    """The bits of what slows the clocks down."""


@dataclass
class Machine:
    """This machine, or one that a test describes."""

    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    root: Path = Path("/")
    system: str = platform.system()
    release: str = platform.release()
    slow: set[str] = field(default_factory=set)
    """Programs that gave no answer in time; they are not asked again."""

    def run(self, command: Sequence[str], timeout: float = TIMEOUT) -> str | None:
        """What a program prints; None if it is not there, fails or takes too long."""
        if command[0] in self.slow or not self.has(command[0]):
            return None
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                errors="replace",
                env=dict(self.environment),
            )
        except OSError:
            return None
        try:
            text = process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            self.slow.add(command[0])
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=1)  # what hangs in a driver does not end even so
            return None
        return text if process.returncode == 0 else None

    def has(self, program: str) -> bool:
        return shutil.which(program, path=self.environment.get("PATH")) is not None

    def text(self, path: str) -> str:
        """The content of a file of the system, or nothing."""
        try:
            return (self.root / path.lstrip("/")).read_text(errors="replace")
        except OSError:
            return ""

    def version(self, package: str) -> str | None:
        """The version of an installed package, from its metadata."""
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return None

    @cached_property
    def packages(self) -> dict[str, str]:
        """Versions of what matters to distributed training, as far as installed."""
        names = (
            *("torch", "triton", "numpy", "accelerate", "deepspeed", "transformers", "lightning"),
            *("pytorch-lightning", "datasets", "mpi4py", "horovod", "distlint"),
            *("nvidia-nccl-cu11", "nvidia-nccl-cu12", "nvidia-nccl-cu13"),
            *("nvidia-cuda-runtime-cu11", "nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime"),
        )
        found = ((name, self.version(name)) for name in names)
        return {name: version for name, version in found if version is not None}

    @cached_property
    def torch_build(self) -> dict[str, str]:
        """``version``, ``cuda`` and ``hip`` as in ``torch/version.py``, without importing torch."""
        spec = importlib.util.find_spec("torch")
        if spec is None or spec.origin is None:
            return {}
        try:
            text = Path(spec.origin).with_name("version.py").read_text()
        except OSError:
            return {}
        rows = re.findall(r"^(?:__)?(version|cuda|hip)(?:__)?\b[^=\n]*= '([^']+)'", text, re.M)
        return dict(rows)

    @property
    def built_for(self) -> str:
        """The version of CUDA or ROCm that torch was built with."""
        return self.torch_build.get("cuda") or self.torch_build.get("hip") or "CPU only"

    @cached_property
    def gpus(self) -> list[Gpu] | None:
        """The GPUs that nvidia-smi lists; None without nvidia-smi."""
        fields = "index,name,memory.total,memory.used,power.limit"
        for reasons in ("clocks_event_reasons.active", "clocks_throttle_reasons.active"):
            query = f"--query-gpu={fields},{reasons}"
            text = self.run(["nvidia-smi", query, "--format=csv,noheader,nounits"])
            if text is not None:
                return [gpu for line in text.splitlines() if (gpu := _gpu(line)) is not None]
        return None

    @property
    def interfaces(self) -> dict[str, str]:
        """The network interfaces, and whether each is up."""
        names = [name for _, name in socket.if_nameindex()]
        states = {name: self.text(f"/sys/class/net/{name}/operstate").strip() for name in names}
        return {name: state or "unknown" for name, state in states.items()}

    @property
    def in_container(self) -> bool:
        marks = ("/.dockerenv", "/run/.containerenv")
        if any((self.root / mark.lstrip("/")).exists() for mark in marks):
            return True
        return any(word in self.text("/proc/1/cgroup") for word in ("docker", "kubepods", "lxc"))


def _gpu(line: str) -> Gpu | None:
    parts = [part.strip() for part in line.split(",")]
    index = whole_number(parts[0])
    if len(parts) < 6 or index is None:
        return None
    total, used = _number(parts[2]), _number(parts[3])
    if total is None or used is None:
        return None
    reasons = whole_number(parts[5], 16)
    return Gpu(index, parts[1], total, used, _number(parts[4]), reasons)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def python() -> str:
    return ".".join(map(str, sys.version_info[:3]))
