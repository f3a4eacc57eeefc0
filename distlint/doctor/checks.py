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
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake slowdown",
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
    looked = "kernel version"
    if machine.system != "Linux":
        return [Check("kernel", "skipped", looked, f"{machine.system}, not Linux")]
    numbers = version_numbers(machine.release)[:2]
    if numbers < _LEAST_KERNEL:
        found = (
            f"{machine.release}: processes may hang on kernels older than 5.5 (according to "
            "Accelerate)"
        )
        return [
            Check(
                "kernel",
                "warning",
                looked,
                found,
                "try a newer kernel if hangs have no other explanation",
            )
        ]
    return [Check("kernel", "ok", looked, machine.release)]


def versions(machine: Machine) -> list[Check]:
    packages, build = machine.packages, machine.torch_build
    shown = ", ".join(f"{name} {version}" for name, version in packages.items())
    looked = "installed packages"
    if "torch" not in packages:
        found = (
            f"torch is not installed for Python {python()} "
            f"({shown or 'no related packages either'})"
        )
        return [Check("versions", "info", looked, found, "pip install torch")]
    found = f"Python {python()}, {shown}; torch built for {machine.built_for}"
    rows = [Check("versions", "ok", looked, found)]
    nccl = [name for name in packages if name.startswith("nvidia-nccl-")]
    if len(nccl) > 1:
        found = f"{' and '.join(nccl)} are both installed and share a directory"
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
        found = "this machine has a GPU, but torch was built without GPU support"
        fix = "install a CUDA build of torch: https://pytorch.org/get-started/locally"
        yield Check("versions", "error", "torch/version.py", found, fix)
    home = machine.environment.get("CUDA_HOME") or "/usr/local/cuda"
    match = re.search(
        r'"cuda"\s*:\s*{[^}]*"version"\s*:\s*"(\d+\.\d+)', machine.text(f"{home}/version.json")
    )
    if match and build.get("cuda") and "deepspeed" in machine.packages:
        if match[1].split(".")[0] != build["cuda"].split(".")[0]:
            found = (
                f"toolkit {match[1]}, torch built with {build['cuda']}: DeepSpeed cannot compile "
                "its kernels"
            )
            fix = f"install CUDA toolkit {build['cuda']} and set CUDA_HOME"
            yield Check("versions", "warning", f"{home}/version.json", found, fix)


def gpu(machine: Machine) -> list[Check]:
    looked = "nvidia-smi"
    gpus = machine.gpus
    if looked in machine.slow:
        found = f"no response within {TIMEOUT:.0f} s: the driver or a GPU hangs"
        fix = "check `dmesg | grep -i nvrm`, and reboot the node"
        return [Check("gpu", "error", looked, found, fix)]
    if gpus is None:
        found = "no NVIDIA GPU found (nvidia-smi is missing or fails)"
        fix = "start the container with --gpus all" if machine.in_container else ""
        return [Check("gpu", "info", looked, found, fix)]
    if not gpus:
        return [
            Check(
                "gpu",
                "warning",
                looked,
                "nvidia-smi lists no GPU",
                "check the output of nvidia-smi",
            )
        ]
    shown = ", ".join(f"{g.index}: {g.name}, {g.used:.0f} of {g.total:.0f} MiB used" for g in gpus)
    rows = [Check("gpu", "ok", looked, shown)]
    visible = _visible(machine, gpus)
    for name in ("LOCAL_WORLD_SIZE", "LOCAL_RANK"):
        value = machine.environment.get(name, "")
        needed = (whole_number(value) or 0) + (name == "LOCAL_RANK") if value.isdecimal() else 0
        if needed > len(visible):
            found = f"{name} is {value}, but the number of visible GPUs is {len(visible)}"
            fix = (
                f"start {len(visible)} processes on this node, or add GPUs to CUDA_VISIBLE_DEVICES"
            )
            rows.append(Check("gpu", "error", f"{looked} and {name}", found, fix))
    rows += _bad_visible(machine, gpus)
    full = [g for g in visible if g.used > 0.2 * g.total]
    if full:
        names = ", ".join(str(g.index) for g in full)
        found = f"GPU {names}: more than 20% of the memory is already in use"
        fix = "find the processes with nvidia-smi --query-compute-apps=pid,used_memory --format=csv"
        rows.append(Check("gpu", "warning", looked, found, fix))
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
        found = f"GPU {', '.join(unknown)} does not exist; this machine has {len(gpus)}"
        fix = "unset CUDA_VISIBLE_DEVICES"
        yield Check("gpu", "error", "CUDA_VISIBLE_DEVICES", found, fix)


def gpu_uniform(machine: Machine) -> list[Check]:
    gpus = machine.gpus or []
    if len(gpus) < 2:
        return []
    looked = "names, memory and power limits of the GPUs"
    kinds = {(g.name, g.total, g.power_limit) for g in gpus}
    if len(kinds) == 1:
        return [Check("gpu-uniform", "ok", looked, "all GPUs are identical")]
    shown = "; ".join(
        f"{name}, {total:.0f} MiB, {power} W" for name, total, power in sorted(kinds, key=str)
    )
    found = f"{shown}: the slowest GPU limits the speed, the smallest the batch size"
    return [
        Check(
            "gpu-uniform", "warning", looked, found, "set CUDA_VISIBLE_DEVICES to GPUs of one kind"
        )
    ]


def throttle(machine: Machine) -> list[Check]:
    gpus = [g for g in machine.gpus or [] if g.reasons is not None]
    if not gpus:
        return []
    looked = "throttle reasons in nvidia-smi"
    slow = []
    for each in gpus:
        why = [text for bit, text in _SLOW_REASONS.items() if (each.reasons or 0) & bit]
        if why:
            slow.append(f"GPU {each.index}: {', '.join(why)}")
    if not slow:
        return [Check("throttle", "ok", looked, "not throttled")]
    fix = "check nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER, the cooling and the power supply"
    return [Check("throttle", "warning", looked, "; ".join(slow), fix)]


def driver_errors(machine: Machine) -> list[Check]:
    """What the driver wrote to the kernel's log, where that may be read."""
    if not machine.gpus:
        return []
    text = machine.run(["dmesg"])
    if text is None:
        return [Check("xid", "skipped", "dmesg", "no permission to read the kernel log")]
    lines = [line for line in text.splitlines() if "NVRM: Xid" in line]
    if not lines:
        return [Check("xid", "ok", "dmesg", "no Xid errors of the NVIDIA driver")]
    found = f"{len(lines)} errors of the NVIDIA driver; last one: {lines[-1][-160:].strip()}"
    fix = "look up the Xid number: https://docs.nvidia.com/deploy/xid-errors"
    return [Check("xid", "error", "dmesg", found, fix)]


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
        return [Check("hca", "ok", "NCCL_IB_HCA", f"`{value}` matches {', '.join(used)}")]
    found = f"`{value}` matches no adapter of this node ({', '.join(known) or 'there are none'})"
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
        return [Check("topo", "skipped", "nvidia-smi topo -m", "cannot read the output")]
    shown = ", ".join(f"{count} pairs via {kind}" for kind, count in sorted(links.items()))
    slow = [kind for kind in links if kind in ("SYS", "NODE")]
    if slow and len(links) > 1:
        found = f"{shown}: some pairs are connected via the CPU only, which slows down every ring"
        fix = "set CUDA_VISIBLE_DEVICES to GPUs that are directly connected"
        return [Check("topo", "info", "nvidia-smi topo -m", found, fix)]
    return [Check("topo", "ok", "nvidia-smi topo -m", shown)]


def shared_memory(machine: Machine) -> list[Check]:
    folder = machine.root / "dev/shm"
    if machine.system != "Linux":
        return []
    try:
        status = os.statvfs(folder)
    except OSError:
        return [
            Check("shm", "warning", "/dev/shm", "does not exist", "mount -t tmpfs tmpfs /dev/shm")
        ]
    return _shm(status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize)


def _shm(size: int, free: int) -> list[Check]:
    found = f"{size / _GIB:.1f} GiB, {free / _GIB:.1f} free"
    if size < _GIB:
        found += ": DataLoader workers and NCCL within a node may fail with a bus error"
        fix = (
            "start the container with --shm-size=16g (Kubernetes: mount an emptyDir with "
            "medium: Memory)"
        )
        return [Check("shm", "warning", "/dev/shm", found, fix)]
    if free < size // 20:
        fix = "see what fills it with ls -l /dev/shm"
        return [Check("shm", "warning", "/dev/shm", f"{found}: almost full", fix)]
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
            f"{files} open files: DataLoader workers and NCCL's sockets need more on large nodes"
        )
        rows.append(Check("limits", "warning", "ulimit -n", found, "ulimit -n 65536"))
    if fabric and 0 <= locked < 1 << 30:
        found = f"{locked >> 10} KiB of locked memory: InfiniBand requires it to be unlimited"
        fix = "ulimit -l unlimited (docker run --ulimit memlock=-1)"
        rows.append(Check("limits", "error", "ulimit -l", found, fix))
    allowed = whole_number(memory)
    note = (
        f"; memory limit of the container: {allowed / _GIB:.1f} GiB" if allowed is not None else ""
    )
    if not rows:
        rows.append(Check("limits", "ok", "ulimit -n, ulimit -l", f"{files} open files{note}"))
    return rows


def launch(machine: Machine) -> list[Check]:
    """The variables that a launcher sets: all of them, numbers, and in range."""
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    given = {name: machine.environment[name] for name in names if name in machine.environment}
    looked = ", ".join(names)
    if not given:
        found = "none of them is set: not running inside a job"
        return [
            Check(
                "launch",
                "info",
                looked,
                found,
                "launch with torchrun --standalone --nproc-per-node=N train.py",
            )
        ]
    shown = ", ".join(f"{name}={value}" for name, value in given.items())
    problems = list(_launch_problems(given))
    if not problems:
        return [Check("launch", "ok", looked, shown)]
    fix = "let torchrun, accelerate or deepspeed set them; unset them in shell profiles"
    return [Check("launch", "error", looked, f"{text} ({shown})", fix) for text in problems]


def _launch_problems(given: dict[str, str]) -> Iterator[str]:
    needed = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    missing = [name for name in needed if name not in given]
    if missing and len(missing) < len(needed):
        yield f"{', '.join(missing)} not set: init_process_group will fail"
    numbers: dict[str, int] = {}
    for name, value in given.items():
        if name == "MASTER_ADDR":
            continue
        if value.isdecimal():
            numbers[name] = whole_number(value) or 0
        else:
            yield f"{name} is not a number"
    if not 0 < numbers.get("MASTER_PORT", 1) < 65536:
        yield "MASTER_PORT is not between 1 and 65535"
    for inner, outer in (("RANK", "WORLD_SIZE"), ("LOCAL_RANK", "LOCAL_WORLD_SIZE")):
        if inner in numbers and outer in numbers and numbers[inner] >= numbers[outer]:
            yield f"{inner} is not less than {outer}"
    world, here = numbers.get("WORLD_SIZE", 0), numbers.get("LOCAL_WORLD_SIZE", 0)
    if here and world > here and given.get("MASTER_ADDR", "") in ("localhost", "127.0.0.1", "::1"):
        yield "MASTER_ADDR is localhost in a job with several nodes"


def data(machine: Machine, path: Path) -> list[Check]:
    """What file system training data lies on."""
    if not path.exists():
        return [Check("data", "error", str(path), "path does not exist")]
    kind = _file_system(machine, path.resolve())
    free = shutil.disk_usage(path).free
    found = f"{kind or 'unknown filesystem'}, {free / _GIB:.0f} GiB free"
    if kind in _REMOTE or kind.startswith("fuse"):
        found += ": many small reads from many workers are slow"
        fix = "copy the data to a local disk at the start of the job"
        return [Check("data", "info", str(path), found, fix)]
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
        return [Check("checkpoint", "error", looked, "not a directory")]
    if (folder / ".metadata").exists() or any(folder.glob("__*_*.distcp")):
        return [_distributed_checkpoint(folder)]
    latest = folder / "latest"
    tags = sorted(each.parent for each in folder.glob("*/*model_states.pt"))
    if latest.exists() or tags:
        return [_deepspeed(machine, folder, latest)]
    if empty := _empty(folder):
        return [_unfinished(looked, empty)]
    return [
        Check(
            "checkpoint",
            "info",
            looked,
            "not a checkpoint of DeepSpeed or torch.distributed.checkpoint",
        )
    ]


def _empty(folder: Path) -> list[str]:
    return sorted(f.name for f in folder.iterdir() if f.is_file() and f.stat().st_size == 0)


def _unfinished(looked: str, empty: Sequence[str]) -> Check:
    found = f"empty files, so the save did not finish: {', '.join(empty[:5])}"
    return Check("checkpoint", "error", looked, found, "load an earlier checkpoint")


def _distributed_checkpoint(folder: Path) -> Check:
    parts = len(list(folder.glob("*.distcp")))
    if not (folder / ".metadata").exists():
        found = f"{parts} shards but no .metadata: the save did not finish"
        return Check("checkpoint", "error", str(folder), found, "load an earlier checkpoint")
    if ".metadata" in _empty(folder):  # parts may be empty: of a rank that had nothing to write
        return _unfinished(str(folder), [".metadata"])
    return Check("checkpoint", "ok", str(folder), f"torch.distributed.checkpoint, {parts} shards")


def _deepspeed(machine: Machine, folder: Path, latest: Path) -> Check:
    looked = str(folder)
    if not latest.exists():
        found = "no file `latest`: load_checkpoint returns None without a tag"
        return Check(
            "checkpoint", "error", looked, found, "pass tag=..., or write the tag to `latest`"
        )
    tag = latest.read_text(errors="replace").strip()
    if not tag or not (folder / tag).is_dir():
        found = f"`latest` contains {tag}, which does not exist" if tag else "`latest` is empty"
        return Check("checkpoint", "error", looked, found, "pass the tag of an existing directory")
    if empty := _empty(folder / tag):
        return _unfinished(str(folder / tag), empty)
    shards = {f.name for f in (folder / tag).glob("*zero_pp_rank_*_optim_states.pt")}
    numbers = sorted(
        {int(m[1]) for name in shards if (m := re.search(r"zero_pp_rank_(\d+)_", name))}
    )
    if numbers and numbers != list(range(numbers[-1] + 1)):
        found = f"{tag}: shards of some ranks are missing; found those of ranks {numbers}"
        return Check("checkpoint", "error", looked, found, "load another tag")
    world = machine.environment.get("WORLD_SIZE", "")
    if shards and world.isdecimal() and whole_number(world) != len(shards):
        found = f"{tag} was saved by {len(shards)} ranks, but WORLD_SIZE is {world}"
        fix = (
            "use the same number of ranks, or convert the checkpoint (ds_to_universal.py, "
            "load_universal)"
        )
        return Check("checkpoint", "error", looked, found, fix)
    return Check("checkpoint", "ok", looked, f"{tag}, optimizer shards of {len(shards)} ranks")
