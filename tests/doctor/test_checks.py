"""The checks of ``distlint doctor`` on machines that the tests describe."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from distlint.doctor import checks, network, variables
from distlint.doctor.machine import Check, Gpu, Machine


class Described(Machine):
    """A machine with these answers to programs, and nothing installed but what is named."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        root: Path = Path("/nowhere"),
        programs: Mapping[str, str] | None = None,
        release: str = "6.1.0",
        packages: Mapping[str, str] | None = None,
        build: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(environment or {}, root, "Linux", release)
        self.programs = programs or {}
        self.__dict__["packages"] = dict(packages or {})
        self.__dict__["torch_build"] = dict(build or {})

    def run(self, command: Sequence[str], timeout: float = 5.0) -> str | None:
        line = " ".join(command)
        return next((text for start, text in self.programs.items() if line.startswith(start)), None)

    def has(self, program: str) -> bool:
        return any(start.startswith(program) for start in self.programs)


def verdicts(rows: Sequence[Check]) -> list[tuple[str, str]]:
    return [(row.name, row.verdict) for row in rows]


def smi(*rows: str) -> dict[str, str]:
    return {"nvidia-smi --query-gpu": "\n".join(rows)}


GPU = "{}, NVIDIA H100, 81559, {}, 700.00, 0x0000000000000000"


@pytest.mark.parametrize(
    ("release", "verdict"),
    [
        ("5.4.0-150-generic", "warning"),
        ("5.5.0", "ok"),
        ("4.18.0-513.el8", "warning"),
        ("6.1", "ok"),
    ],
)
def test_the_kernel(release: str, verdict: str) -> None:
    assert verdicts(checks.kernel(Described(release=release))) == [("kernel", verdict)]


def test_without_torch() -> None:
    (row,) = checks.versions(Described())
    assert row.verdict == "info"
    assert "torch is not installed" in row.found
    assert row.fix == "pip install torch"


def test_two_builds_of_nccl() -> None:
    packages = {"torch": "2.13.0", "nvidia-nccl-cu12": "2.27.7", "nvidia-nccl-cu13": "2.29.7"}
    rows = checks.versions(Described(packages=packages, build={"cuda": "13.0"}))
    assert [row.verdict for row in rows] == ["ok", "warning"]
    again = "pip install --force-reinstall --no-deps nvidia-nccl-cu13==2.29.7"
    assert rows[1].fix == f"pip uninstall nvidia-nccl-cu12; {again}"
    rows = checks.versions(Described(packages=packages, build={"cuda": "12.8"}))
    assert rows[1].fix.startswith("pip uninstall nvidia-nccl-cu13; ")


def test_a_gpu_and_a_torch_without() -> None:
    machine = Described(packages={"torch": "2.13.0"}, programs=smi(GPU.format(0, 0)))
    assert [row.verdict for row in checks.versions(machine)] == ["ok", "error"]


def test_the_toolkit_of_another_version(tmp_path: Path) -> None:
    (tmp_path / "usr/local/cuda").mkdir(parents=True)
    (tmp_path / "usr/local/cuda/version.json").write_text('{"cuda" : {"version" : "12.4.1"}}')
    packages = {"torch": "2.13.0", "deepspeed": "0.19.8"}
    machine = Described(root=tmp_path, packages=packages, build={"cuda": "13.0"})
    rows = checks.versions(machine)
    assert rows[1].verdict == "warning"
    assert "toolkit 12.4, torch built with 13.0" in rows[1].found


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, []),
        ({"LOCAL_WORLD_SIZE": "4"}, ["LOCAL_WORLD_SIZE is 4, but the number of visible GPUs is 2"]),
        ({"LOCAL_RANK": "2"}, ["LOCAL_RANK is 2, but the number of visible GPUs is 2"]),
        ({"LOCAL_RANK": "1"}, []),
        (
            {"LOCAL_RANK": "1", "CUDA_VISIBLE_DEVICES": "1"},
            ["LOCAL_RANK is 1, but the number of visible GPUs is 1"],
        ),
        ({"CUDA_VISIBLE_DEVICES": "0,5"}, ["GPU 5 does not exist; this machine has 2"]),
        (
            {"LOCAL_RANK": "0", "CUDA_VISIBLE_DEVICES": "-1"},
            ["LOCAL_RANK is 0, but the number of visible GPUs is 0"],
        ),
        ({"LOCAL_RANK": "1", "CUDA_VISIBLE_DEVICES": "GPU-8a1b,GPU-9c2d"}, []),
    ],
)
def test_more_processes_than_gpus(environment: dict[str, str], found: list[str]) -> None:
    machine = Described(environment, programs=smi(GPU.format(0, 0), GPU.format(1, 0)))
    rows = checks.gpu(machine)
    assert [row.found for row in rows if row.verdict == "error"] == found


def test_memory_that_somebody_uses() -> None:
    machine = Described(programs=smi(GPU.format(0, 70_000)))
    assert verdicts(checks.gpu(machine)) == [("gpu", "ok"), ("gpu", "warning")]


def test_programs_that_hang_or_print_anything(tmp_path: Path) -> None:
    """A driver that hangs is told once, in bounded time; bytes of any encoding are read."""
    for name, code in (("nvidia-smi", "exec sleep 30"), ("dmesg", r"printf 'a\377b'")):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{code}\n")
        program.chmod(0o755)
    machine = Machine({"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert machine.run(["dmesg"]) == "a\ufffdb"
    start = time.monotonic()
    assert machine.run(["nvidia-smi"], timeout=0.5) is None
    (row,) = checks.gpu(machine)
    assert time.monotonic() - start < 4
    assert (row.verdict, "hangs" in row.found) == ("error", True)


def test_gpus_that_differ() -> None:
    other = "1, NVIDIA A100, 40960, 0, 400.00, 0x0"
    alike = Described(programs=smi(GPU.format(0, 0), GPU.format(1, 0)))
    differ = Described(programs=smi(GPU.format(0, 0), other))
    assert verdicts(checks.gpu_uniform(alike)) == [("gpu-uniform", "ok")]
    assert verdicts(checks.gpu_uniform(differ)) == [("gpu-uniform", "warning")]


def test_a_gpu_that_is_hot() -> None:
    hot = "0, NVIDIA H100, 81559, 0, 700.00, 0x0000000000000048"
    (row,) = checks.throttle(Described(programs=smi(hot)))
    assert row.verdict == "warning"
    assert row.found == "GPU 0: hardware slowdown, hardware thermal slowdown"


def test_old_drivers_have_another_name_for_it() -> None:
    class Old(Described):
        def run(self, command: Sequence[str], timeout: float = 5.0) -> str | None:
            return None if "clocks_event_reasons" in command[1] else GPU.format(0, 0)

    assert Old().gpus == [Gpu(0, "NVIDIA H100", 81559.0, 0.0, 700.0, 0)]


def test_the_topology() -> None:
    topology = (
        "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV18\tSYS\nGPU1\tNV18\t X \tSYS\nGPU2\tSYS\tSYS\t X \n"
    )
    rows = [GPU.format(n, 0) for n in range(3)]
    (row,) = checks.topology(Described(programs=smi(*rows) | {"nvidia-smi topo": topology}))
    assert row.verdict == "info"
    assert row.found.startswith("1 pairs via NV18, 2 pairs via SYS")


@pytest.mark.parametrize(
    ("size", "free", "verdict"), [(64 << 20, 64 << 20, "warning"), (32 << 30, 1 << 20, "warning"),
                                  (32 << 30, 30 << 30, "ok")]
)  # fmt: skip
def test_shared_memory(size: int, free: int, verdict: str) -> None:
    (row,) = checks._shm(size, free)
    assert row.verdict == verdict
    assert row.fix or verdict == "ok"


def test_limits() -> None:
    assert verdicts(checks._limits(1024, -1, False, "")) == [("limits", "warning")]
    assert verdicts(checks._limits(65536, 65536, True, "")) == [("limits", "error")]
    (row,) = checks._limits(65536, -1, True, "8589934592")
    assert (row.verdict, "8.0 GiB" in row.found) == ("ok", True)


GOOD = {
    "RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "node0", "MASTER_PORT": "29500",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"RANK": "4"}, "RANK is not less than WORLD_SIZE"),
        ({"LOCAL_RANK": "2"}, "LOCAL_RANK is not less than LOCAL_WORLD_SIZE"),
        ({"WORLD_SIZE": "four"}, "WORLD_SIZE is not a number"),
        ({"MASTER_PORT": None}, "MASTER_PORT not set"),
        ({"MASTER_PORT": "99999"}, "MASTER_PORT is not between 1 and 65535"),
        ({"MASTER_ADDR": "localhost"}, "MASTER_ADDR is localhost"),
        ({"MASTER_ADDR": "localhost", "LOCAL_WORLD_SIZE": "4"}, None),
    ],
)
def test_what_a_launcher_sets(change: dict[str, str | None], problem: str | None) -> None:
    merged = {**GOOD, **change}
    rows = checks.launch(Described({n: v for n, v in merged.items() if v is not None}))
    if problem is None:
        assert verdicts(rows) == [("launch", "ok")]
    else:
        assert rows[0].verdict == "error"
        assert rows[0].found.startswith(problem)


def test_outside_of_a_job() -> None:
    assert verdicts(checks.launch(Described())) == [("launch", "info")]


def test_the_master_address() -> None:
    assert verdicts(network.rendezvous(Described())) == [("rendezvous", "skipped")]
    here = network.rendezvous(Described({"MASTER_ADDR": "127.0.0.1"}))
    assert verdicts(here) == [("rendezvous", "ok")]
    nowhere = network.rendezvous(Described({"MASTER_ADDR": "no-such-host.invalid"}))
    assert verdicts(nowhere) == [("rendezvous", "error")]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux")
def test_the_owner_of_the_port() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        number = taken.getsockname()[1]
        machine = Machine({"MASTER_PORT": str(number)})
        assert verdicts(network.port(machine)) == [("port", "ok")]
        taken.listen()
        (row,) = network.port(machine)
        assert row.verdict == "warning"
        assert f"process {os.getpid()} (" in row.found
        inside = Machine({"MASTER_PORT": str(number), "RANK": "1"})
        assert verdicts(network.port(inside)) == [("port", "ok")]


class Wired(Described):
    @property
    def interfaces(self) -> dict[str, str]:
        return {"lo": "unknown", "eth0": "up", "eth1": "down", "ib0": "up"}


@pytest.mark.parametrize(
    ("environment", "verdict"),
    [
        ({}, "ok"),
        ({"NCCL_SOCKET_IFNAME": "eth"}, "ok"),
        ({"NCCL_SOCKET_IFNAME": "eth1"}, "error"),
        ({"NCCL_SOCKET_IFNAME": "=eth"}, "error"),
        ({"NCCL_SOCKET_IFNAME": "^lo,docker"}, "ok"),
        ({"NCCL_SOCKET_IFNAME": "ens"}, "error"),
        ({"GLOO_SOCKET_IFNAME": "eth"}, "error"),
        ({"GLOO_SOCKET_IFNAME": "ib0"}, "ok"),
        ({"GLOO_SOCKET_IFNAME": "ib0,ib9"}, "error"),
    ],
)
def test_interfaces(environment: dict[str, str], verdict: str) -> None:
    assert verdicts(network.interfaces(Wired(environment))) == [("ifname", verdict)]


def test_connections_are_made_only_where_told() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        target = f"127.0.0.1:{server.getsockname()[1]}"
        (row,) = network.connections([target])
        assert (row.verdict, row.found.partition(":")[0]) == ("error", "connection refused")
        server.listen()
        assert verdicts(network.connections([target])) == [("network", "ok")]
    assert verdicts(network.connections(["nonsense"])) == [("network", "error")]


def test_hosts(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("node0 slots=8\nnode1 slots=8  # spare\n-oProxyCommand=x\n")
    programs = {"ssh -o BatchMode=yes -o ConnectTimeout=3 -o StrictHostKeyChecking=yes node0": "",
                "mpirun --version": "mpirun (Open MPI) 5.0.5\n"}  # fmt: skip
    rows = network.hosts(Described(programs=programs), file)
    assert [row.verdict for row in rows] == ["ok", "error", "error", "info"]
    assert "--map-by ppr:1:node" in rows[-1].fix
    programs["mpirun --version"] = "Intel(R) MPI Library for Linux"
    assert "-ppn 1" in network.hosts(Described(programs=programs), file)[-1].fix


def test_where_data_lies(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/mounts").write_text(f"x / ext4 rw 0 0\ny {tmp_path.resolve()} nfs4 rw 0 0\n")
    (row,) = checks.data(Described(root=tmp_path), tmp_path)
    assert (row.verdict, row.found.partition(",")[0]) == ("info", "nfs4")
    assert checks.data(Described(), tmp_path / "none")[0].verdict == "error"


def deepspeed(folder: Path, ranks: Sequence[int], latest: str | None = "step7") -> Path:
    (folder / "step7").mkdir()
    (folder / "step7/mp_rank_00_model_states.pt").write_text("x")
    for rank in ranks:
        (folder / f"step7/zero_pp_rank_{rank}_mp_rank_00_optim_states.pt").write_text("x")
    if latest is not None:
        (folder / "latest").write_text(latest)
    return folder


@pytest.mark.parametrize(
    ("ranks", "latest", "world", "verdict"),
    [
        ([0, 1], "step7", "2", "ok"),
        ([0, 1], "step7", "4", "error"),
        ([0, 2], "step7", "", "error"),
        ([0, 1], "step8", "", "error"),
        ([0, 1], "", "", "error"),
        ([0, 1], None, "", "error"),
    ],
)
def test_deepspeed_checkpoints(
    ranks: list[int], latest: str | None, world: str, verdict: str, tmp_path: Path
) -> None:
    machine = Described({"WORLD_SIZE": world} if world else {})
    rows = checks.checkpoint(machine, deepspeed(tmp_path, ranks, latest))
    assert verdicts(rows) == [("checkpoint", verdict)]


def test_sharded_checkpoints(tmp_path: Path) -> None:
    (tmp_path / "__0_0.distcp").write_text("x")
    assert verdicts(checks.checkpoint(Described(), tmp_path)) == [("checkpoint", "error")]
    (tmp_path / ".metadata").write_text("x")
    assert verdicts(checks.checkpoint(Described(), tmp_path)) == [("checkpoint", "ok")]


def test_a_sharded_checkpoint_that_was_not_finished(tmp_path: Path) -> None:
    (tmp_path / ".metadata").touch()
    assert verdicts(checks.checkpoint(Described(), tmp_path)) == [("checkpoint", "error")]


def test_a_rank_that_had_nothing_to_write_leaves_an_empty_part(tmp_path: Path) -> None:
    (tmp_path / ".metadata").write_text("x")
    (tmp_path / "__1_0.distcp").touch()
    assert verdicts(checks.checkpoint(Described(), tmp_path)) == [("checkpoint", "ok")]


def test_a_deepspeed_checkpoint_that_was_not_finished(tmp_path: Path) -> None:
    deepspeed(tmp_path, [0, 1])
    (tmp_path / "step7/zero_pp_rank_1_mp_rank_00_optim_states.pt").write_text("")
    (row,) = checks.checkpoint(Described(), tmp_path)
    assert (row.verdict, "zero_pp_rank_1" in row.found) == ("error", True)


def test_a_deepspeed_checkpoint_of_a_model_in_parts(tmp_path: Path) -> None:
    """Two data-parallel ranks, each of two processes: four in all."""
    deepspeed(tmp_path, [0, 1])
    for rank in (0, 1):
        (tmp_path / f"step7/zero_pp_rank_{rank}_mp_rank_01_optim_states.pt").write_text("x")
    (row,) = checks.checkpoint(Described({"WORLD_SIZE": "4"}), tmp_path)
    assert (row.verdict, "4 ranks" in row.found) == ("ok", True)


def test_empty_files_of_a_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "model.pt").touch()
    (row,) = checks.checkpoint(Described(), tmp_path)
    assert (row.verdict, "model.pt" in row.found) == ("error", True)


@pytest.mark.parametrize(
    ("name", "value", "verdict", "rule"),
    [
        ("NCCL_TIMEOUT", "300", "error", "DST820"),
        ("CUDA_MEMORY_FRACTION", "0.9", "error", "DST820"),
        ("DS_ACCELERATORATOR", "cuda", "error", "DST820"),
        ("NCCL_SOCKET_IFNME", "eth0", "warning", "DST820"),
        ("NCCL_OF_MY_OWN", "1", "info", "DST820"),
        ("NCCL_ASYNC_ERROR_HANDLING", "1", "warning", "DST821"),
        ("NCCL_BLOCKING_WAIT", "1", "warning", "DST821"),
        ("NCCL_MIN_NRINGS", "4", "warning", "DST821"),
        ("TORCH_NCCL_TRACE_BUFFER_SIZE", "2000", "warning", "DST821"),
        ("NCCL_IB_TIMEOUT", "1000", "error", "DST822"),
        ("NCCL_IB_DISABLE", "true", "error", "DST822"),
        ("TORCH_DISTRIBUTED_DEBUG", "verbose", "error", "DST822"),
        ("ACCELERATE_LOG_LEVEL", "LOUD", "error", "DST822"),
        ("PYTORCH_ALLOC_CONF", "expandable_segments:true", "error", "DST823"),
        ("PYTORCH_ALLOC_CONF", "max_split_size_mb:8", "error", "DST823"),
        ("PYTORCH_CUDA_ALLOC_CONF", "max_split:128", "error", "DST823"),
    ],
)
def test_variables(name: str, value: str, verdict: str, rule: str) -> None:
    (row,) = variables.check({name: value})
    assert (row.verdict, row.rules) == (verdict, (rule,))
    assert row.found.startswith(name)
    assert row.fix


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_DEBUG", "warn"),
        ("NCCL_DEBUG_SUBSYS", "INIT,^COLL"),
        ("NCCL_IB_HCA", "mlx5"),
        ("NCCL_IB_TIMEOUT", "22"),
        ("NCCL_SOCKET_IFNAME", "eth0"),
        ("NCCL_NET_PLUGIN", "none"),
        ("NCCL_OFI_USE_GDR", "1"),
        ("TORCH_DISTRIBUTED_DEBUG", "off"),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"),
        ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:128,expandable_segments:True"),
        ("CUDA_VISIBLE_DEVICES", "0,1"),
        ("TORCH_CPP_LOG_LEVEL", "0"),
        ("TORCH_HOME", "/data"),
        ("DEEPSPEED_TIMEOUT", "30"),
    ],
)
def test_variables_that_are_right(name: str, value: str) -> None:
    (row,) = variables.check({name: value})
    assert row.verdict == "ok", row


def test_allocator_settings_that_contradict() -> None:
    given = {
        "PYTORCH_ALLOC_CONF": "backend:native",
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    }
    assert [row.verdict for row in variables.check(given)] == ["warning"]


def test_all_checks_on_an_empty_machine() -> None:
    """Nothing is there, nothing is installed: every check says so, and none fails."""
    rows = checks.checks(Described())
    assert {"kernel", "versions", "gpu", "shm", "limits", "launch", "port", "env"} <= {
        row.name for row in rows
    }


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("NCCL_DEBUG", "info", "DST825"),
        ("TORCH_DISTRIBUTED_DEBUG", "detail", "DST825"),
        ("CUDA_LAUNCH_BLOCKING", "1", "DST825"),
        ("NCCL_P2P_DISABLE", "1", "DST826"),
        ("NCCL_IB_TIMEOUT", "20", "DST827"),
    ],
)
def test_variables_that_may_not_be_meant(name: str, value: str, rule: str) -> None:
    (row,) = variables.check({name: value})
    assert (row.verdict, row.rules) == ("info", (rule,))


def test_variables_in_the_files_of_nccl(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/nccl.conf").write_text("NCCL_IB_TIMEOUT = 1000\n# NCCL_TIMEOUT=3\n")
    (row,) = [r for r in checks.checks(Described(root=tmp_path)) if r.name == "env"]
    assert row.verdict == "error"
    assert row.found.startswith("NCCL_IB_TIMEOUT in /etc/nccl.conf")


@pytest.mark.parametrize(
    ("value", "verdict"),
    [("mlx5", "ok"), ("=mlx5", "error"), ("=mlx5_0:1", "ok"), ("bnxt", "error")],
)
def test_adapters(value: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "sys/class/infiniband/mlx5_0").mkdir(parents=True)
    machine = Described({"NCCL_IB_HCA": value}, root=tmp_path)
    assert verdicts(checks.fabric(machine)) == [("hca", verdict)]


def test_errors_of_the_driver() -> None:
    line = "[ 88.1] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
    gpu = smi(GPU.format(0, 0))
    assert verdicts(checks.driver_errors(Described(programs=gpu))) == [("xid", "skipped")]
    assert verdicts(checks.driver_errors(Described(programs=gpu | {"dmesg": "fine"}))) == [
        ("xid", "ok")
    ]
    (row,) = checks.driver_errors(Described(programs=gpu | {"dmesg": f"fine\n{line}\n"}))
    assert (row.verdict, "79" in row.found) == ("error", True)
    assert checks.driver_errors(Described()) == []
