"""Programs that fail, run for real on CPU: is what they print diagnosed rightly?

Each is started as its user would, mostly by torchrun on two processes under gloo, and all that it
prints is handed to ``distlint diagnose``. ``--record`` keeps the output for the tests.

    python -m benchmarks.failing_jobs [NAME ...] [--record]
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

RECORDED = Path(__file__).parent.parent / "tests" / "diagnose" / "recorded"
SET_UP = """\
import datetime, os, sys, time
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=3))
rank = dist.get_rank()
x = torch.ones(3)
"""
_ALONE = "import torch\nfrom torch import nn\n"
_LOADER = "from torch.utils.data import DataLoader\n"
_ACCELERATE = "import torch\nfrom accelerate import Accelerator\n"


@dataclass(frozen=True)
class Job:
    """A program, how it is started, and what is to be found.

    ``launch`` is ``torchrun``, ``python``, or a command; ``where`` names the list of the answer
    that holds ``expected``, and ``ranks`` those that the cause has to name.
    """

    expected: str
    code: str
    launch: str | tuple[str, ...] = "torchrun"
    environment: dict[str, str] = field(default_factory=dict)
    ranks: tuple[int, ...] | None = None
    where: str = "cause"
    busy_port: bool = False
    files: dict[str, str] = field(default_factory=dict)


JOBS: dict[str, Job] = {
    "rank_branch": Job(
        "gloo-timeout",
        SET_UP + "if rank == 0:\n    dist.all_reduce(x)\nelse:\n    time.sleep(8)\n",
        ranks=(1,),
    ),
    "different_collectives": Job(
        "gloo-timeout",
        SET_UP + "if rank == 0:\n    dist.all_reduce(x)\nelse:\n    dist.broadcast(x, 0)\n",
    ),
    "fewer_batches": Job(
        "gloo-peer-closed",
        SET_UP + "for step in range(5 + (rank == 0)):\n    dist.all_reduce(x)\n",
        ranks=(1,),
    ),
    "one_rank_raises": Job(
        "KeyError",
        SET_UP + "if rank == 1:\n    print({'train': 1}['valid'])\ndist.all_reduce(x)\n",
        ranks=(1,),
    ),
    "checked_mismatch": Job(
        "collective-mismatch",
        SET_UP + "if rank == 0:\n    dist.all_reduce(x)\nelse:\n    dist.broadcast(x, 0)\n",
        environment={"TORCH_DISTRIBUTED_DEBUG": "DETAIL"},
    ),
    "monitored_barrier": Job(
        "monitored-barrier",
        SET_UP
        + "if rank == 0:\n    dist.monitored_barrier(timeout=datetime.timedelta(seconds=2))\n"
        "else:\n    time.sleep(6)\n",
        ranks=(1,),
    ),
    "unused_parameters": Job(
        "ddp-unused-params",
        SET_UP + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a, self.b = nn.Linear(3, 1), nn.Linear(3, 1)\n"
        "    def forward(self, x):\n        return self.a(x)\n"
        "net = DDP(Net())\nfor _ in range(2):\n    net(x).sum().backward()\n",
    ),
    "shapes_differ": Job(
        "ddp-param-shape", SET_UP + "DDP(nn.Linear(2, 3 + rank, bias=False))\n", ranks=(1,)
    ),
    "numbers_differ": Job(
        "ddp-model-differs", SET_UP + "DDP(nn.Linear(2, 3, bias=rank == 0))\n", ranks=(0, 1)
    ),
    "before_init": Job(
        "pg-not-initialized",
        "import torch\nimport torch.distributed as dist\ndist.all_reduce(torch.ones(1))\n",
    ),
    "init_twice": Job("pg-twice", SET_UP + 'dist.init_process_group("gloo")\n', ranks=(0, 1)),
    "no_launcher": Job("env-rendezvous", SET_UP, "python"),
    "busy_port": Job(
        "addr-in-use",
        SET_UP,
        "python",
        {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"},
        busy_port=True,
    ),
    "no_master": Job(
        "store-connect-timeout",
        SET_UP,
        "python",
        {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"},
    ),
    "too_few": Job(
        "store-wait-clients",
        SET_UP,
        "python",
        {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "{port}"},
    ),
    "key_never_set": Job(
        "store-wait-timeout",
        "import datetime\nimport torch.distributed as dist\n"
        "store = dist.TCPStore('127.0.0.1', 0, 1, True)\n"
        "store.wait(['checkpoint/ready'], datetime.timedelta(seconds=1))\n",
        "python",
    ),
    "killed": Job(
        "exit-9",
        SET_UP + "if rank == 1:\n    os.kill(os.getpid(), 9)\ntime.sleep(1)\ndist.all_reduce(x)\n",
        ranks=(1,),
    ),
    "segfault": Job(
        "python-fatal",
        SET_UP + "import faulthandler\nfaulthandler.enable()\n"
        "if rank == 1:\n    faulthandler._sigsegv()\ndist.all_reduce(x)\n",
    ),
    "exits_with_3": Job(
        "exit", SET_UP + "if rank == 1:\n    os._exit(3)\ntime.sleep(20)\n", ranks=(1,)
    ),
    "torchrun_c": Job(
        "torchrun-unrecognized",
        "",
        ("{torchrun}", "--standalone", "-c", "print(1)"),
    ),
    "nodes_missing": Job(
        "rdzv-timeout",
        SET_UP,
        (
            *("{python}", "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1"),
            *("--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:{port}"),
            *("--rdzv-conf=join_timeout=3", "{script}"),
        ),
    ),
    "debug_value": Job(
        "dist-debug-value", SET_UP, "python", {"TORCH_DISTRIBUTED_DEBUG": "verbose"}
    ),
    "allocator": Job(
        "alloc-conf",
        _ALONE + "torch._C._accelerator_setAllocatorSettings('expandable_segments:true')\n",
        "python",
    ),
    "nccl_on_cpu": Job(
        "nccl-not-built",
        "import torch.distributed as dist\ndist.init_process_group('nccl')\n",
    ),
    "prefetch": Job(
        "prefetch-no-workers", _LOADER + "DataLoader([1, 2], prefetch_factor=2)\n", "python"
    ),
    "persistent": Job(
        "persistent-no-workers", _LOADER + "DataLoader([1], persistent_workers=True)\n", "python"
    ),
    "sampler_and_shuffle": Job(
        "sampler-shuffle",
        SET_UP + _LOADER + "from torch.utils.data import DistributedSampler\n"
        "DataLoader([1, 2], sampler=DistributedSampler([1, 2]), shuffle=True)\n",
        ranks=(0, 1),
    ),
    "worker_killed": Job(
        "dataloader-worker-dead",
        "import os\n" + _LOADER + "class Data:\n    def __len__(self):\n        return 4\n"
        "    def __getitem__(self, i):\n        os.kill(os.getpid(), 9)\n"
        "list(DataLoader(Data(), num_workers=1))\n",
        "python",
    ),
    "prefixed_checkpoint": Job(
        "state-dict-module-prefix",
        SET_UP
        + "net = nn.Linear(2, 2)\nstate = DDP(net).state_dict()\nnet.load_state_dict(state)\n",
        ranks=(0, 1),
    ),
    "plain_checkpoint": Job(
        "state-dict-module-missing",
        SET_UP + "net = nn.Linear(2, 2)\nDDP(net).load_state_dict(net.state_dict())\n",
        ranks=(0, 1),
    ),
    "other_architecture": Job(
        "state-dict-size",
        _ALONE + "nn.Linear(2, 2).load_state_dict(nn.Linear(2, 3).state_dict())\n",
        "python",
    ),
    "compiled_checkpoint": Job(
        "state-dict-orig-mod",
        _ALONE + "net = nn.Linear(2, 2)\nstate = torch.compile(net).state_dict()\n"
        "net.load_state_dict(state)\n",
        "python",
    ),
    "custom_class": Job(
        "weights-only",
        _ALONE + "import argparse, io\nfile = io.BytesIO()\n"
        "torch.save({'args': argparse.Namespace(lr=1)}, file)\nfile.seek(0)\ntorch.load(file)\n",
        "python",
    ),
    "graph_kept": Job(
        "backward-twice",
        _ALONE + "total = 0\nw = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n"
        "    total = total + (w * w).sum()\n    total.backward()\n",
        "python",
    ),
    "nan_gradient": Job(
        "anomaly-nan",
        _ALONE + "torch.autograd.set_detect_anomaly(True)\n"
        "w = torch.zeros(1, requires_grad=True)\n(torch.sqrt(w) * 0).sum().backward()\n",
        "python",
    ),
    "clip_nan": Job(
        "clip-nonfinite",
        _ALONE + "w = nn.Parameter(torch.ones(1))\nw.grad = torch.tensor([float('nan')])\n"
        "nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=True)\n",
        "python",
    ),
    "unscale_twice": Job(
        "scaler-unscale",
        _ALONE + "w = nn.Parameter(torch.ones(1))\nopt = torch.optim.SGD([w], 0.1)\n"
        "scaler = torch.amp.GradScaler('cpu')\nscaler.scale(w.sum()).backward()\n"
        "scaler.unscale_(opt)\nscaler.unscale_(opt)\n",
        "python",
    ),
    "step_without_backward": Job(
        "scaler-no-inf",
        _ALONE + "w = nn.Parameter(torch.ones(1))\nopt = torch.optim.SGD([w], 0.1)\n"
        "scaler = torch.amp.GradScaler('cpu')\nscaler.scale(torch.ones(1))\nscaler.step(opt)\n",
        "python",
    ),
    "old_amp": Job(
        "cuda-amp-deprecated", _ALONE + "torch.cuda.amp.GradScaler()\n", "python", where="notices"
    ),
    "outside_of_group": Job(
        "not-in-group",
        SET_UP + "group = dist.new_group([0])\ndist.all_reduce(x, group=group)\n",
        where="notices",
    ),
    "recompiles": Job(
        "recompile-limit",
        _ALONE + "@torch.compile(backend='eager', dynamic=False)\ndef h(x):\n    return x + 1\n"
        "for n in range(2, 14):\n    h(torch.ones(n))\n",
        "python",
        where="notices",
    ),
    "graph_breaks": Job(
        "graph-break",
        _ALONE + "@torch.compile(backend='eager')\ndef f(x):\n    x = x + 1\n"
        "    if x.sum() > 0:\n        x = x * 2\n    return x\nf(torch.ones(2))\n",
        "python",
        {"TORCH_LOGS": "graph_breaks"},
        where="notices",
    ),
    "full_disk": Job(
        "no-space",
        _ALONE + "with open('/dev/full', 'wb') as file:\n    file.write(b'x' * 100_000)\n",
        "python",
    ),
    "reentrant_checkpoint": Job(
        "ddp-ready-twice",
        SET_UP + "from torch.utils.checkpoint import checkpoint\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Linear(3, 3)\n"
        "    def forward(self, x):\n        x = checkpoint(self.a, x, use_reentrant=True)\n"
        "        return checkpoint(self.a, x, use_reentrant=True)\n"
        "net = DDP(Net(), find_unused_parameters=True)\n"
        "net(x.requires_grad_()).sum().backward()\n",
    ),
    "accelerate_shapes": Job(
        "acc-shape-mismatch",
        _ACCELERATE + "a = Accelerator(cpu=True)\na.gather(torch.ones(2 + a.process_index))\n",
        environment={"ACCELERATE_DEBUG_MODE": "1", "ACCELERATE_USE_CPU": "true"},
        ranks=(0, 1),
    ),
    "accelerate_logger": Job(
        "acc-logger-before-state",
        "from accelerate.logging import get_logger\nget_logger(__name__).warning('hello')\n",
        "python",
    ),
    "accelerate_batch_size": Job(
        "acc-bs-passed",
        "from accelerate.utils import find_executable_batch_size\n"
        "@find_executable_batch_size(starting_batch_size=8)\ndef train(batch_size):\n    pass\n"
        "train(8)\n",
        "python",
    ),
    "accelerate_zero": Job(
        "acc-bs-zero",
        "from accelerate.utils import find_executable_batch_size\n"
        "@find_executable_batch_size(starting_batch_size=2)\ndef train(batch_size):\n"
        "    raise RuntimeError('CUDA out of memory.')\ntrain()\n",
        "python",
    ),
    "accelerate_breakpoint": Job(
        "acc-missing-attr",
        _ACCELERATE + "Accelerator(cpu=True).check_breakpoint()\n",
        "python",
    ),
    "accelerate_config": Job(
        "acc-unknown-key",
        "",
        (
            *("{python}", "-m", "accelerate.commands.launch", "--cpu"),
            *("--config_file", "bad.yaml", "{script}"),
        ),
        files={"bad.yaml": "distributed_type: MULTI_CPU\nnum_machine: 2\n"},
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What was printed, and what was made of it."""

    text: str
    answer: dict[str, object]
    seconds: float

    def right(self, job: Job) -> bool:
        return matches(job, self.answer)


def matches(job: Job, answer: dict[str, object]) -> bool:
    """Does the answer say what the job expects?"""
    if job.where != "cause":
        rows = answer[job.where]
        assert isinstance(rows, list)
        return job.expected in {row["id"] for row in rows}
    cause = answer["cause"]
    if not isinstance(cause, dict) or cause["id"] != job.expected:
        return False
    return job.ranks is None or tuple(cause["ranks"]) == job.ranks


def run(job: Job) -> Outcome:
    """Start a job, wait for it to fail, and ask for a diagnosis of its output."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name, socket.socket() as taken:
        folder = Path(name)
        script = folder / "train.py"
        script.write_text(job.code)
        for file, content in job.files.items():
            (folder / file).write_text(content)
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        environment = {k: v.format(port=port) for k, v in job.environment.items()}
        if job.busy_port:
            taken.listen()
            environment["MASTER_PORT"] = str(port)
        else:
            taken.close()
        known = {"python": sys.executable, "script": script, "port": port}
        known["torchrun"] = Path(sys.executable).with_name("torchrun")
        command = [part.format(**known) for part in _command(job)]
        finished = subprocess.run(
            command,
            cwd=folder,
            env=_clean_environment() | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=180,
            check=False,
        )
        text = _neutral(finished.stdout.decode("utf-8", "replace"), folder)
    return Outcome(text, diagnosed(text), time.perf_counter() - start)


def _clean_environment() -> dict[str, str]:
    drop = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "TORCH_LOGS")
    kept = {name: value for name, value in os.environ.items() if name not in drop}
    return kept | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONUNBUFFERED": "1"}


def _command(job: Job) -> tuple[str, ...]:
    if job.launch == "python":
        return ("{python}", "{script}")
    if job.launch == "torchrun":
        run = ("{python}", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
        return (*run, "{script}")
    assert not isinstance(job.launch, str)
    return job.launch


def _neutral(text: str, folder: Path) -> str:
    """The output without the paths of this machine."""
    text = text.replace(str(folder), "/job").replace(sys.prefix, "/venv")
    return re.sub(r"/[^\s\"']*/lib/python3", "/venv/lib/python3", text)


def diagnosed(text: str) -> dict[str, object]:
    """What ``distlint diagnose`` says of a text on standard input."""
    finished = subprocess.run(
        [sys.executable, "-m", "distlint", "diagnose", "--json", "-"],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    answer: dict[str, object] = json.loads(finished.stdout)
    return answer


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--record", action="store_true", help="keep the output for the tests")
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args(arguments)
    names = chosen.names or list(JOBS)
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        for name, outcome in zip(names, pool.map(lambda n: run(JOBS[n]), names), strict=True):
            right = outcome.right(JOBS[name])
            wrong += not right
            cause = outcome.answer["cause"]
            title = cause["title"] if isinstance(cause, dict) else "no cause"
            mark = "right" if right else "WRONG"
            print(
                f"{mark}  {name:22} {outcome.seconds:5.1f} s  {JOBS[name].expected}: {title}",
                flush=True,
            )
            if chosen.record:
                (RECORDED / f"{name}.log").write_text(outcome.text, encoding="utf-8")
    print(f"{len(names) - wrong} of {len(names)} diagnosed rightly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
