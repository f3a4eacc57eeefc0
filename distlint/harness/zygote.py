"""The server: a process that has loaded torch and forks the ranks of one script after another.

``python -m distlint.harness.zygote`` loads torch, then reads jobs as JSON lines from its standard
input and answers each with a JSON line when all its ranks have ended. A framework is loaded when
the first job needs it. Several jobs run at a time; a job that outlives its limit has its remaining
ranks killed. When the input ends, so does the server.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from distlint.harness import rank as rank_module
from distlint.harness import recorder

_PRELOAD = {
    "torch": (
        "torch._dynamo",  # the first DDP or optimizer step imports it: one CPU second
        "torch.distributed.algorithms.ddp_comm_hooks",
        "torch.distributed.checkpoint",
        "torch.distributed.checkpoint.state_dict",
        "torch.distributed.device_mesh",
        "torch.distributed.fsdp",
        "torch.distributed.optim",
        "torch.nn.parallel",
        "torch.utils.data",
    ),
    "accelerate": ("accelerate", "accelerate.logging", "accelerate.utils"),
    "lightning": ("lightning", "lightning.pytorch.callbacks", "lightning.pytorch.utilities"),
    "torchmetrics": ("torchmetrics", "torchmetrics.classification"),
}


@dataclass
class _Job:
    number: int
    folder: str
    deadline: float
    started: float
    ranks: dict[int, int]  # pid -> rank
    status: dict[int, int | None] = field(default_factory=dict)


class _Server:
    def __init__(self, answers: TextIO, at_once: int) -> None:
        self.answers = answers
        self.at_once = at_once
        self.waiting: list[dict[str, Any]] = []
        self.running: list[_Job] = []
        self.loaded: set[str] = set()

    def serve(self, requests: int) -> None:
        buffer = b""
        open_input = True
        while open_input or self.waiting or self.running:
            busy = bool(self.running or self.waiting)
            readable, _, _ = select.select(
                [requests] if open_input else [], [], [], 0.01 if busy else None
            )
            if readable:
                data = os.read(requests, 65536)
                if not data:  # the client is gone
                    open_input = False
                    self.waiting.clear()
                *lines, buffer = (buffer + data).split(b"\n")
                self.waiting += [json.loads(line) for line in lines]
            while self.waiting and len(self.running) < self.at_once:
                self.running.append(self._start(self.waiting.pop(0)))
            self.running = [job for job in self.running if not self._finished(job)]

    def load(self, framework: str) -> None:
        if framework not in self.loaded:
            self.loaded.add(framework)
            for module in _PRELOAD.get(framework, ()):
                importlib.import_module(module)
            gc.collect()
            gc.freeze()  # else a collection in a rank copies all pages that modules are on

    def _start(self, request: dict[str, Any]) -> _Job:
        for framework in request["needs"]:
            self.load(framework)
        folder = tempfile.mkdtemp(prefix="distlint-run-")
        os.mkdir(f"{folder}/work")
        script = request["script"]
        if request["source"] is not None:
            script = f"{folder}/{request['name']}.py"
            Path(script).write_text(request["source"])
        ranks = {}
        for rank in range(request["ranks"]):
            pid = os.fork()
            if pid == 0:
                try:
                    os.close(self.answers.fileno())
                    rank_module.run(script, request["arguments"], folder, rank, request["ranks"])
                finally:
                    os._exit(70)
            ranks[pid] = rank
        now = time.monotonic()
        return _Job(request["number"], folder, now + request["limit"], now, ranks)

    def _finished(self, job: _Job) -> bool:
        late = time.monotonic() > job.deadline
        for pid, rank in list(job.ranks.items()):
            if late:
                _kill(pid)
            done, status = os.waitpid(pid, 0 if late else os.WNOHANG)
            if done:
                del job.ranks[pid]
                code = os.waitstatus_to_exitcode(status)
                job.status[rank] = None if late and code == -signal.SIGKILL else code
        if job.ranks:
            return False
        answer = {
            "number": job.number,
            "seconds": time.monotonic() - job.started,
            "ranks": [
                {"exit": job.status[rank]}
                | {name: _read(f"{job.folder}/{name}{rank}") for name in ("out", "err", "log")}
                for rank in sorted(job.status)
            ],
        }
        shutil.rmtree(job.folder, ignore_errors=True)
        self.answers.write(json.dumps(answer) + "\n")
        self.answers.flush()
        return True


def _kill(pid: int) -> None:
    """Kill a rank with all that it has started."""
    with contextlib.suppress(ProcessLookupError):  # the rank has no session of its own yet
        os.killpg(pid, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)  # not waited for yet, so the number is still its own


def _read(path: str) -> str:
    return Path(path).read_text(errors="replace") if os.path.exists(path) else ""


def main() -> None:
    # What the ranks print must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    recorder.install()
    rank_module.shorten_timeouts()
    server = _Server(answers, at_once=2 * (os.cpu_count() or 1))
    server.load("torch")
    server.serve(0)


if __name__ == "__main__":
    main()
