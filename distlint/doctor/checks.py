"""The checks of a machine that need nothing but a look."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from distlint.doctor import network, variables
from distlint.doctor.machine import TIMEOUT, Check, Gpu, Machine, python
from distlint.source.numbers import version_numbers, whole_number

_GIB = 1 << 30
_LEAST_KERNEL = (5, 5)
_SLOW_REASONS = {
    0x8: "slowed down by the hardware",
    0x20: "hot (software)",
    0x40: "hot (hardware)",
    0x80: "power brake",
}
_REMOTE = ("nfs", "nfs4", "lustre", "cifs", "smb3", "fuse.sshfs", "beegfs", "gpfs", "ceph", "9p")


def checks(machine: Machine) -> list[Check]:
    """All checks that need no option, in order."""
    every: Sequence[Callable[[Machine], list[Check]]] = (
        kernel,
        versions,
        gpu,
        gpu_uniform,
        throttle,
        driver_errors,
        topology,
        shared_memory,
        limits,
        launch,
        network.rendezvous,
        network.port,
        network.interfaces,
        fabric,
        lambda m: variables.check(m.environment, _nccl_files(m)),
    )
    return [row for check in every for row in check(machine)]


def kernel(machine: Machine) -> list[Check]:
    looked = "the kernel's release"
    if machine.system != "Linux":
        return [Check("kernel", "skipped", looked, f"{machine.system}, not Linux")]
    numbers = version_numbers(machine.release)[:2]
    if numbers < _LEAST_KERNEL:
        found = f"{machine.release}; below 5.5 processes may hang (Accelerate warns of it)"
        return [
            Check("kernel", "warning", looked, found, "a newer kernel, if hangs stay unexplained")
        ]
    return [Check("kernel", "ok", looked, machine.release)]


def versions(machine: Machine) -> list[Check]:
    packages, build = machine.packages, machine.torch_build
    shown = ", ".join(f"{name} {version}" for name, version in packages.items())
    looked = "metadata of installed packages"
    if "torch" not in packages:
        found = f"torch is not installed for {python()} ({shown or 'nothing else of it either'})"
        return [Check("versions", "info", looked, found, "pip install torch")]
    found = f"Python {python()}, {shown}; torch is built for {machine.built_for}"
    rows = [Check("versions", "ok", looked, found)]
    nccl = [name for name in packages if name.startswith("nvidia-nccl-")]
    if len(nccl) > 1:
        found = f"{' and '.join(nccl)} are both installed, into the same folder"
        rows.append(Check("versions", "warning", looked, found, _one_nccl(nccl, machine)))
    rows += _cuda(machine, build)
    return rows


def _one_nccl(names: Sequence[str], machine: Machine) -> str:
    """Keep the one that belongs to torch; uninstalling another takes its files away, too."""
    wanted = f"nvidia-nccl-cu{machine.torch_build.get('cuda', '').partition('.')[0]}"
    kept = wanted if wanted in names else names[-1]
    others = " ".join(name for name in names if name != kept)
    again = f"pip install --force-reinstall --no-deps {kept}=={machine.packages[kept]}"
    return f"pip uninstall {others}; {again}"


def _cuda(machine: Machine, build: dict[str, str]) -> Iterator[Check]:
    """torch's build against the driver, and the toolkit that DeepSpeed compiles with."""
    if machine.gpus and not build.get("cuda") and not build.get("hip"):
        found = "there is a GPU, and torch is built without one"
        mend = "install a CUDA build of torch: https://pytorch.org/get-started/locally"
        yield Check("versions", "error", "torch/version.py", found, mend)
    home = machine.environment.get("CUDA_HOME") or "/usr/local/cuda"
    match = re.search(
        r'"cuda"\s*:\s*{[^}]*"version"\s*:\s*"(\d+\.\d+)', machine.text(f"{home}/version.json")
    )
    if match and build.get("cuda") and "deepspeed" in machine.packages:
        if match[1].split(".")[0] != build["cuda"].split(".")[0]:
            found = (
                f"toolkit {match[1]}, torch {build['cuda']}: DeepSpeed's kernels will not compile"
            )
            mend = f"install CUDA toolkit {build['cuda']} and set CUDA_HOME"
            yield Check("versions", "warning", f"{home}/version.json", found, mend)


def gpu(machine: Machine) -> list[Check]:
    looked = "nvidia-smi"
    gpus = machine.gpus
    if looked in machine.slow:
        found = f"no answer within {TIMEOUT:.0f} s: the driver or a GPU hangs"
        mend = "dmesg | grep -i nvrm; restart the node"
        return [Check("gpu", "error", looked, found, mend)]
    if gpus is None:
        found = "not installed, or it fails: no NVIDIA GPU to be seen from here"
        mend = "docker run --gpus all" if machine.in_container else ""
        return [Check("gpu", "info", looked, found, mend)]
    if not gpus:
        return [Check("gpu", "warning", looked, "it lists no GPU", "nvidia-smi")]
    shown = ", ".join(f"{g.index}: {g.name}, {g.used:.0f} of {g.total:.0f} MiB used" for g in gpus)
    rows = [Check("gpu", "ok", looked, shown)]
    visible = _visible(machine, gpus)
    for name in ("LOCAL_WORLD_SIZE", "LOCAL_RANK"):
        value = machine.environment.get(name, "")
        needed = (whole_number(value) or 0) + (name == "LOCAL_RANK") if value.isdecimal() else 0
        if needed > len(visible):
            found = f"{name} is {value}, and {len(visible)} GPUs are visible"
            mend = f"start {len(visible)} processes on this node, or widen CUDA_VISIBLE_DEVICES"
            rows.append(Check("gpu", "error", f"{looked} and {name}", found, mend))
    rows += _bad_visible(machine, gpus)
    full = [g for g in visible if g.used > 0.2 * g.total]
    if full:
        names = ", ".join(str(g.index) for g in full)
        found = f"GPU {names}: more than a fifth of the memory is used already"
        mend = "nvidia-smi --query-compute-apps=pid,used_memory --format=csv names the owners"
        rows.append(Check("gpu", "warning", looked, found, mend))
    return rows


def _visible(machine: Machine, gpus: Sequence[Gpu]) -> list[Gpu]:
    value = machine.environment.get("CUDA_VISIBLE_DEVICES")
    parts = [part.strip() for part in (value or "").split(",")]
    if value is None or any(part.startswith(("GPU-", "MIG-")) for part in parts):
        return list(gpus)
    wanted = itertools.takewhile(str.isdecimal, parts)  # CUDA stops at what is none of them
    return [g for number in wanted for g in gpus if g.index == whole_number(number)]


def _bad_visible(machine: Machine, gpus: Sequence[Gpu]) -> Iterator[Check]:
    value = machine.environment.get("CUDA_VISIBLE_DEVICES", "")
    numbers = [part.strip() for part in value.split(",") if part.strip()]
    known = range(len(gpus))
    unknown = [n for n in numbers if n.isdecimal() and whole_number(n) not in known]
    if unknown:
        found = f"it names GPU {', '.join(unknown)}; there are {len(gpus)}"
        mend = "unset CUDA_VISIBLE_DEVICES"
        yield Check("gpu", "error", "CUDA_VISIBLE_DEVICES", found, mend)


def gpu_uniform(machine: Machine) -> list[Check]:
    gpus = machine.gpus or []
    if len(gpus) < 2:
        return []
    looked = "names, memory and power limits of the GPUs"
    kinds = {(g.name, g.total, g.power_limit) for g in gpus}
    if len(kinds) == 1:
        return [Check("gpu-uniform", "ok", looked, "all alike")]
    shown = "; ".join(
        f"{name}, {total:.0f} MiB, {power} W" for name, total, power in sorted(kinds, key=str)
    )
    found = f"{shown}: the slowest sets the pace, the smallest the batch size"
    return [
        Check("gpu-uniform", "warning", looked, found, "CUDA_VISIBLE_DEVICES with GPUs of one kind")
    ]


def throttle(machine: Machine) -> list[Check]:
    gpus = [g for g in machine.gpus or [] if g.reasons is not None]
    if not gpus:
        return []
    looked = "nvidia-smi, what slows the clocks"
    slow = []
    for each in gpus:
        why = [text for bit, text in _SLOW_REASONS.items() if (each.reasons or 0) & bit]
        if why:
            slow.append(f"GPU {each.index}: {', '.join(why)}")
    if not slow:
        return [Check("throttle", "ok", looked, "nothing")]
    mend = "nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER; cooling and power supply"
    return [Check("throttle", "warning", looked, "; ".join(slow), mend)]


def driver_errors(machine: Machine) -> list[Check]:
    """What the driver wrote to the kernel's log, where that may be read."""
    if not machine.gpus:
        return []
    text = machine.run(["dmesg"])
    if text is None:
        return [Check("xid", "skipped", "dmesg", "the kernel's log may not be read here")]
    lines = [line for line in text.splitlines() if "NVRM: Xid" in line]
    if not lines:
        return [Check("xid", "ok", "dmesg", "no Xid of the NVIDIA driver")]
    found = f"{len(lines)} errors of the NVIDIA driver, the last: {lines[-1][-160:].strip()}"
    mend = "look the number up: https://docs.nvidia.com/deploy/xid-errors"
    return [Check("xid", "error", "dmesg", found, mend)]


def fabric(machine: Machine) -> list[Check]:
    """NCCL_IB_HCA against the adapters of this node; names are prefixes unless after ``=``."""
    value = machine.environment.get("NCCL_IB_HCA", "")
    if not value or value.startswith("^"):
        return []
    folder = machine.root / "sys/class/infiniband"
    known = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
    words = [word.partition(":")[0] for word in value.lstrip("=").split(",") if word]
    exact = value.startswith("=")
    used = [k for k in known if any(k == w if exact else k.startswith(w) for w in words)]
    if used:
        return [Check("hca", "ok", "NCCL_IB_HCA", f"`{value}` is {', '.join(used)}")]
    found = f"`{value}` is none of this node's adapters: {', '.join(known) or 'there are none'}"
    return [Check("hca", "error", "NCCL_IB_HCA", found, "unset NCCL_IB_HCA", ("DST826",))]


def _nccl_files(machine: Machine) -> dict[str, str]:
    named = machine.environment.get("NCCL_CONF_FILE", "")
    home = machine.environment.get("HOME", "")
    names = ["/etc/nccl.conf", named or (f"{home}/.nccl.conf" if home else "")]
    return {name: text for name in names if name and (text := machine.text(name))}


def topology(machine: Machine) -> list[Check]:
    if len(machine.gpus or []) < 2:
        return []
    text = machine.run(["nvidia-smi", "topo", "-m"]) or ""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    links: dict[str, int] = {}
    for row, line in enumerate(line for line in text.splitlines() if re.match(r"GPU\d+\s", line)):
        cells = line.split()[1:]
        for cell in cells[row + 1 : len(machine.gpus or [])]:
            links[cell] = links.get(cell, 0) + 1
    if not links:
        return [Check("topo", "skipped", "nvidia-smi topo -m", "cannot be read")]
    shown = ", ".join(f"{count} pairs by {kind}" for kind, count in sorted(links.items()))
    slow = [kind for kind in links if kind in ("SYS", "NODE")]
    if slow and len(links) > 1:
        found = f"{shown}: some pairs go through the CPU's bus, and every ring with them"
        mend = "CUDA_VISIBLE_DEVICES with GPUs that are linked directly"
        return [Check("topo", "info", "nvidia-smi topo -m", found, mend)]
    return [Check("topo", "ok", "nvidia-smi topo -m", shown)]


def shared_memory(machine: Machine) -> list[Check]:
    folder = machine.root / "dev/shm"
    if machine.system != "Linux":
        return []
    try:
        status = os.statvfs(folder)
    except OSError:
        return [
            Check("shm", "warning", "/dev/shm", "it is not there", "mount -t tmpfs tmpfs /dev/shm")
        ]
    return _shm(status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize)


def _shm(size: int, free: int) -> list[Check]:
    found = f"{size / _GIB:.1f} GiB, {free / _GIB:.1f} free"
    if size < _GIB:
        found += ": DataLoader workers and NCCL on one node may end with a bus error"
        mend = "docker run --shm-size=16g (Kubernetes: an emptyDir with medium: Memory)"
        return [Check("shm", "warning", "/dev/shm", found, mend)]
    if free < size // 20:
        mend = "ls -l /dev/shm names what fills it"
        return [Check("shm", "warning", "/dev/shm", f"{found}: almost full", mend)]
    return [Check("shm", "ok", "/dev/shm", found)]


def limits(machine: Machine) -> list[Check]:
    try:
        import resource
    except ImportError:  # Windows
        return []
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    locked = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    fabric = (machine.root / "sys/class/infiniband").is_dir()
    return _limits(files, locked, fabric, machine.text("/sys/fs/cgroup/memory.max").strip())


def _limits(files: int, locked: int, fabric: bool, memory: str) -> list[Check]:
    rows = []
    if 0 <= files < 4096:
        found = (
            f"{files} open files; DataLoader workers and NCCL's sockets need more on large nodes"
        )
        rows.append(Check("limits", "warning", "ulimit -n", found, "ulimit -n 65536"))
    if fabric and 0 <= locked < 1 << 30:
        found = f"{locked >> 10} KiB may be locked; InfiniBand needs it unlimited"
        mend = "ulimit -l unlimited (docker run --ulimit memlock=-1)"
        rows.append(Check("limits", "error", "ulimit -l", found, mend))
    allowed = whole_number(memory)
    note = f"; the container may use {allowed / _GIB:.1f} GiB" if allowed is not None else ""
    if not rows:
        rows.append(Check("limits", "ok", "ulimit -n, ulimit -l", f"{files} open files{note}"))
    return rows


def launch(machine: Machine) -> list[Check]:
    """The variables that a launcher sets: all of them, numbers, and in range."""
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    given = {name: machine.environment[name] for name in names if name in machine.environment}
    looked = ", ".join(names)
    if not given:
        found = "none is set: this is not inside of a job"
        return [
            Check(
                "launch", "info", looked, found, "torchrun --standalone --nproc-per-node=N train.py"
            )
        ]
    shown = ", ".join(f"{name}={value}" for name, value in given.items())
    problems = list(_launch_problems(given))
    if not problems:
        return [Check("launch", "ok", looked, shown)]
    mend = "let torchrun, accelerate or deepspeed set them; unset what a shell profile sets"
    return [Check("launch", "error", looked, f"{text} ({shown})", mend) for text in problems]


def _launch_problems(given: dict[str, str]) -> Iterator[str]:
    needed = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    missing = [name for name in needed if name not in given]
    if missing and len(missing) < len(needed):
        yield f"{', '.join(missing)} not set, so init_process_group fails"
    numbers: dict[str, int] = {}
    for name, value in given.items():
        if name == "MASTER_ADDR":
            continue
        if value.isdecimal():
            numbers[name] = whole_number(value) or 0
        else:
            yield f"{name} is not a number"
    if not 0 < numbers.get("MASTER_PORT", 1) < 65536:
        yield "MASTER_PORT is not in 1 to 65535"
    for inner, outer in (("RANK", "WORLD_SIZE"), ("LOCAL_RANK", "LOCAL_WORLD_SIZE")):
        if inner in numbers and outer in numbers and numbers[inner] >= numbers[outer]:
            yield f"{inner} is not below {outer}"
    world, here = numbers.get("WORLD_SIZE", 0), numbers.get("LOCAL_WORLD_SIZE", 0)
    if here and world > here and given.get("MASTER_ADDR", "") in ("localhost", "127.0.0.1", "::1"):
        yield "several nodes, and MASTER_ADDR is this one on each of them"


def data(machine: Machine, path: Path) -> list[Check]:
    """What file system training data lies on."""
    if not path.exists():
        return [Check("data", "error", str(path), "it does not exist here")]
    kind = _file_system(machine, path.resolve())
    free = shutil.disk_usage(path).free
    found = f"{kind or 'an unknown file system'}, {free / _GIB:.0f} GiB free"
    if kind in _REMOTE or kind.startswith("fuse"):
        found += ": many small reads by many workers are slow there"
        mend = "copy the data to a local disk at the start of the job"
        return [Check("data", "info", str(path), found, mend)]
    return [Check("data", "ok", str(path), found)]


def _file_system(machine: Machine, path: Path) -> str:
    best, kind = -1, ""
    for line in machine.text("/proc/mounts").splitlines():
        parts = line.split()
        if len(parts) < 3:
            continue
        mount = parts[1].replace("\\040", " ")
        inside = mount == "/" or path == Path(mount) or Path(mount) in path.parents
        if inside and len(mount) >= best:
            best, kind = len(mount), parts[2]
    return kind


def checkpoint(machine: Machine, folder: Path) -> list[Check]:
    """The layout of a checkpoint of DeepSpeed or torch.distributed.checkpoint."""
    looked = str(folder)
    if not folder.is_dir():
        return [Check("checkpoint", "error", looked, "not a folder")]
    if (folder / ".metadata").exists() or any(folder.glob("__*_*.distcp")):
        return [_distributed_checkpoint(folder)]
    latest = folder / "latest"
    tags = sorted(each.parent for each in folder.glob("*/*model_states.pt"))
    if latest.exists() or tags:
        return [_deepspeed(machine, folder, latest)]
    if empty := _empty(folder):
        return [_unfinished(looked, empty)]
    return [
        Check("checkpoint", "info", looked, "neither DeepSpeed's layout nor torch's sharded one")
    ]


def _empty(folder: Path) -> list[str]:
    return sorted(f.name for f in folder.iterdir() if f.is_file() and f.stat().st_size == 0)


def _unfinished(looked: str, empty: Sequence[str]) -> Check:
    found = f"empty files: {', '.join(empty[:5])}; a save that did not finish"
    return Check("checkpoint", "error", looked, found, "load the checkpoint before")


def _distributed_checkpoint(folder: Path) -> Check:
    parts = len(list(folder.glob("*.distcp")))
    if not (folder / ".metadata").exists():
        found = f"{parts} parts and no .metadata: the save did not finish"
        return Check("checkpoint", "error", str(folder), found, "load the checkpoint before")
    if ".metadata" in _empty(folder):  # parts may be empty: of a rank that had nothing to write
        return _unfinished(str(folder), [".metadata"])
    return Check("checkpoint", "ok", str(folder), f"torch.distributed.checkpoint, {parts} parts")


def _deepspeed(machine: Machine, folder: Path, latest: Path) -> Check:
    looked = str(folder)
    if not latest.exists():
        found = "no file `latest`: load_checkpoint without a tag returns None"
        return Check(
            "checkpoint", "error", looked, found, "pass tag=..., or name the tag in `latest`"
        )
    tag = latest.read_text(errors="replace").strip()
    if not tag or not (folder / tag).is_dir():
        found = f"`latest` names {tag}, which is not there" if tag else "`latest` is empty"
        return Check("checkpoint", "error", looked, found, "pass the tag of a folder that is there")
    if empty := _empty(folder / tag):
        return _unfinished(str(folder / tag), empty)
    shards = {f.name for f in (folder / tag).glob("*zero_pp_rank_*_optim_states.pt")}
    numbers = sorted(
        {int(m[1]) for name in shards if (m := re.search(r"zero_pp_rank_(\d+)_", name))}
    )
    if numbers and numbers != list(range(numbers[-1] + 1)):
        found = f"{tag}: parts of ranks are missing, there are {numbers}"
        return Check("checkpoint", "error", looked, found, "load another tag")
    world = machine.environment.get("WORLD_SIZE", "")
    if shards and world.isdecimal() and whole_number(world) != len(shards):
        found = f"{tag} was saved by {len(shards)} ranks, WORLD_SIZE is {world}"
        mend = "start as many ranks, or convert it: ds_to_universal.py, load_universal"
        return Check("checkpoint", "error", looked, found, mend)
    return Check("checkpoint", "ok", looked, f"{tag}, optimizer parts of {len(shards)} ranks")
