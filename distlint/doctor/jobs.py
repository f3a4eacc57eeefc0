"""What runs several processes, or inside of a job: in child processes, which alone import torch."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from distlint.doctor.machine import Check, Machine, python

LIMIT = 30.0
"""Seconds for the processes of ``--smoke`` to meet; they have to import torch first."""

_IMPORT = 60.0  # seconds that the import of torch may take on a slow file system
_LAST = 15  # lines of output that are shown
_BY_RANK = re.compile(r"\[rank\d+\]: ?(.*)")

_SMOKE = """\
import datetime, json, os, sys, time
import torch
import torch.distributed as dist

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
backend, bench = sys.argv[1], sys.argv[2] == "bench"
if backend == "nccl":
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
device = "cuda" if backend == "nccl" else "cpu"
start = time.perf_counter()
try:
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=float(sys.argv[3])))
    value = torch.full((1024,), float(rank + 1), device=device)
    dist.all_reduce(value)
    wanted = size * (size + 1) / 2
    if not bool((value == wanted).all()):
        sys.exit(f"[rank{rank}]: all_reduce returned {value[0].item()}, expected {wanted}")
    seconds = time.perf_counter() - start
    rate = None
    if bench:
        data = torch.ones(4 * 2**20 if device == "cpu" else 64 * 2**20, device=device)
        for turn in range(2):
            if device == "cuda":
                torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(5):
                dist.all_reduce(data)
            if device == "cuda":
                torch.cuda.synchronize()
        each = (time.perf_counter() - start) / 5
        rate = 2 * (size - 1) / size * data.numel() * 4 / each / 1e9
    if rank == 0:
        print(json.dumps({"seconds": seconds, "rate": rate}), flush=True)
except Exception as error:
    sys.exit(f"[rank{rank}]: {type(error).__name__}: {error}")
finally:
    if dist.is_initialized():
        dist.destroy_process_group()
"""

_EXCHANGE = """\
import datetime, json, os, sys, time
import torch.distributed as dist

mine, limit = json.dumps(json.load(sys.stdin)), float(sys.argv[1])
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
hosts = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
store = dist.TCPStore(
    os.environ["MASTER_ADDR"],
    int(os.environ["MASTER_PORT"]),
    is_master=hosts,
    timeout=datetime.timedelta(seconds=limit),
    wait_for_workers=False,
)
attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
store = dist.PrefixStore(f"distlint/doctor/{attempt}", store)
store.set(str(rank), mine)
store.get(str(rank))  # it has arrived
found = {}
deadline = time.monotonic() + limit
for name in map(str, range(size if rank == 0 else 0)):
    left = max(0.05, deadline - time.monotonic())
    try:
        store.wait([name], datetime.timedelta(seconds=left))
        found[name] = json.loads(store.get(name))
    except Exception:
        found[name] = None
print(json.dumps({"rank": rank, "found": found}))
"""


def smoke(
    machine: Machine, processes: int, limit: float = LIMIT, *, bench: bool = False
) -> list[Check]:
    """Start processes that reduce one tensor, and end them if they do not come back in time."""
    looked = f"all_reduce on {processes} processes"
    if "torch" not in machine.packages:
        return [Check("smoke", "skipped", looked, "torch is not installed", "pip install torch")]
    backend = "nccl" if machine.gpus and len(machine.gpus) >= processes else "gloo"
    backend = backend if machine.torch_build.get("cuda") else "gloo"
    looked += f", {backend}"
    with tempfile.TemporaryDirectory(prefix="distlint-doctor-") as folder:
        script = Path(folder, "smoke.py")
        script.write_text(_SMOKE)
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        command += [f"--nproc-per-node={processes}", str(script), backend]
        command += ["bench" if bench else "once", str(limit)]
        start = time.monotonic()
        status, output = _bounded(command, limit + _IMPORT, _without_launcher(machine.environment))
        seconds = time.monotonic() - start
    answer = next((line for line in output.splitlines() if line.startswith('{"seconds"')), None)
    if status == 0 and answer is not None:
        return _smoke_rows(looked, json.loads(answer), seconds)
    if status is None:
        found = f"not finished within {limit + _IMPORT:.0f} s; the processes were terminated"
    else:
        found = f"failed with exit status {status}"
    fix = "fix the problems above; otherwise unset NCCL_*, GLOO_* and TORCH_* and try again"
    return [Check("smoke", "error", looked, f"{found}\n{_said(output)}".rstrip(), fix)]


def _said(output: str) -> str:
    """What the ranks said, without repetitions; else the end of it all."""
    lines = output.splitlines()
    said = dict.fromkeys(match[1] for line in lines if (match := _BY_RANK.match(line)))
    return "\n".join([*said, *([] if said else lines)][-_LAST:])


def _smoke_rows(looked: str, answer: Mapping[str, Any], seconds: float) -> list[Check]:
    found = (
        f"smoke test passed in {seconds:.1f} s ({answer['seconds']:.1f} s for setup and all_reduce)"
    )
    rows = [Check("smoke", "ok", looked, found)]
    if answer["rate"] is not None:
        found = f"{answer['rate']:.2f} GB/s bus bandwidth"
        rows.append(Check("bench", "info", looked, found))
    return rows


def _without_launcher(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what a job around us has set."""
    ours = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    kept = {name: value for name, value in environment.items() if name not in ours}
    theirs = ("TORCHELASTIC_", "PET_")  # PET_NNODES and the like are options of torchrun
    kept = {name: value for name, value in kept.items() if not name.startswith(theirs)}
    kept.setdefault("OMP_NUM_THREADS", "1")
    return kept


def _bounded(
    command: list[str], limit: float, environment: Mapping[str, str], data: str = ""
) -> tuple[int | None, str]:
    """Run a command in a session of its own; when time is up, end that session alone."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            cwd=Path(__file__).resolve().parents[2],  # no torch.py of the working one is imported
            start_new_session=True,
            text=True,
        )
        status: int | None = None
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(data, timeout=limit)
                status = process.returncode
        finally:
            if process.returncode is None:
                _end(process)
        output.seek(0)
        return status, output.read()


def _end(process: subprocess.Popen[str]) -> None:
    """End what we have started: the launcher and all of its processes."""
    for descendant in _descendants(process.pid):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(descendant, signal.SIGKILL)
    process.kill()
    process.wait()


def _descendants(pid: int) -> list[int]:
    """The children of a process and theirs, deepest first; torchrun gives each a session."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    found: list[int] = []
    level = [pid]
    while level := [child for parent in level for child in children.get(parent, ())]:
        found = [*level, *found]
    return found


def _parents() -> Iterator[tuple[int, int]]:
    """Every process with its parent."""
    with contextlib.suppress(OSError):
        text = subprocess.run(
            ["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=False
        ).stdout
        for line in text.splitlines():
            child, parent = map(int, line.split())
            yield child, parent
        return
    for file in Path("/proc").glob("[0-9]*/stat"):  # where there is no ps
        with contextlib.suppress(OSError):
            yield int(file.parent.name), int(file.read_text().rpartition(")")[2].split()[1])


# -- what differs between ranks ----------------------------------------------------------------

_FAMILIES = ("NCCL_", "TORCH_", "GLOO_", "CUDA_", "PYTORCH_", "ACCELERATE_", "DS_", "DEEPSPEED_")
_OWN = ("CUDA_VISIBLE_DEVICES", "TORCHELASTIC_ERROR_FILE", "TORCHELASTIC_RESTART_COUNT")


def facts(machine: Machine) -> dict[str, str]:
    """What has to be the same on all ranks of a job."""
    found = {f"package {name}": version for name, version in machine.packages.items()}
    found["python"] = python()
    found["platform"] = f"{platform.machine()}, {machine.system}"
    found["torch built for"] = machine.built_for
    gpus = machine.gpus
    found["GPUs"] = ", ".join(sorted({gpu.name for gpu in gpus})) if gpus else "none found"
    found["driver"] = (
        machine.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]) or ""
    ).partition("\n")[0]
    for name, value in machine.environment.items():
        if name.startswith(_FAMILIES) and name not in _OWN and not name.startswith("TORCHELASTIC_"):
            found[f"${name}"] = value
    return found


def ranks(machine: Machine, limit: float = LIMIT) -> list[Check] | None:
    """Compare this rank with the others through the store of the job; None but on rank 0."""
    looked = "versions and variables of all ranks, via the store of the job"
    needed = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    missing = [name for name in needed if name not in machine.environment]
    if missing:
        found = f"{', '.join(missing)} not set: not running as a rank of a job"
        fix = "launch it like the job, on all nodes: torchrun ... -m distlint doctor --ranks"
        return [Check("ranks", "error", looked, found, fix)]
    if "torch" not in machine.packages:
        found = f"torch is not installed on rank {machine.environment['RANK']}"
        return [Check("ranks", "error", looked, found, "pip install torch")]
    command = [sys.executable, "-c", _EXCHANGE, str(limit)]
    data = json.dumps(facts(machine))
    status, output = _bounded(command, 3 * limit + _IMPORT, machine.environment, data)
    line = next((line for line in output.splitlines() if line.startswith('{"rank"')), None)
    if status != 0 or line is None:
        tail = "\n".join(output.splitlines()[-3:])
        return [Check("ranks", "error", looked, f"cannot connect to the store: {tail}")]
    answer = json.loads(line)
    if answer["rank"] != 0:
        return None
    return compared(answer["found"], looked)


def compared(found: Mapping[str, Mapping[str, str] | None], looked: str) -> list[Check]:
    """What differs between ranks; ``found`` is by rank, None for one that did not answer."""
    rows = []
    silent = sorted(int(rank) for rank, mine in found.items() if mine is None)
    if silent:
        more = f" and {len(silent) - 16} more" if len(silent) > 16 else ""
        text = f"no response from ranks {', '.join(map(str, silent[:16]))}{more}"
        rows.append(Check("ranks", "error", looked, text, "check that these ranks were started"))
    answers = {int(rank): mine for rank, mine in found.items() if mine is not None}
    for name in sorted({name for mine in answers.values() for name in mine}):
        values: dict[str, list[int]] = {}
        for rank, mine in sorted(answers.items()):
            values.setdefault(mine.get(name, "missing"), []).append(rank)
        if len(values) > 1:
            rows.append(_differs(name, values))
    if not rows:
        rows.append(Check("ranks", "ok", looked, f"identical on all {len(answers)} ranks"))
    return rows


def _differs(name: str, values: Mapping[str, list[int]]) -> Check:
    from distlint.doctor.secrets import masked

    parts = [
        f"{masked(name.lstrip('$'), value)} on rank{'s' if len(ranks) > 1 else ''} "
        f"{', '.join(map(str, ranks[:8]))}{' ...' if len(ranks) > 8 else ''}"
        for value, ranks in sorted(values.items(), key=lambda item: -len(item[1]))
    ]
    grave = name in ("package torch", "torch built for") or "nccl" in name
    fix = (
        f"set {name[1:]} to the same value on all nodes"
        if name.startswith("$")
        else "install the same version on all nodes"
    )
    if name in ("GPUs", "platform", "driver"):
        fix = "use nodes of one kind"
    return Check("ranks", "error" if grave else "warning", name, "; ".join(parts), fix)
