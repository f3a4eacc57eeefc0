"""Programs begin on their own device and end without waiting for each other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from distlint.harness.cluster import missing
from tests.runtime.conftest import Ranks
from tests.support import ROOT

needs_torch = pytest.mark.skipif(missing() is not None, reason="needs torch")


def test_success_takes_the_world_down(ranks: Ranks, source: str) -> None:
    ranks(
        """
        with rt.distributed(timeout=20, device="cpu") as world:
            assert (world.rank, world.world_size) == (dist.get_rank(), 2)
            assert world.backend == "gloo" and world.device.type == "cpu"
            assert world.is_main == (world.rank == 0) and world.local_rank == world.rank
            assert rt.any_rank(world.rank == 1)
        assert not dist.is_initialized()
        """,
        init=False,
    )


def test_a_function_in_a_world(ranks: Ranks) -> None:
    outcome = ranks(
        """
        @rt.distributed()
        def main(value):
            rt.named_barrier("all here")
            if dist.get_rank() == 0:
                return value
            sys.exit(0)

        print("main", main(3))
        """,
        init=False,
    )
    assert "main 3" in outcome.ranks[0].out


def test_failure_prints_the_rank_and_waits_for_nobody(ranks: Ranks, source: str) -> None:
    outcome = ranks(
        """
        def main():
            with rt.distributed(device="cpu"):
                rt.named_barrier("all here")
                if int(os.environ["RANK"]) == 1:
                    raise KeyError("mine")
                time.sleep(1)

        try:
            main()
        finally:
            assert dist.is_initialized() == (os.environ["RANK"] == "1")
        """,
        init=False,
        exits=(0, 1),
    )
    assert outcome.seconds < 10
    lines = outcome.ranks[1].err.splitlines()
    assert "[rank 1] Traceback (most recent call last):" in lines
    assert "[rank 1] KeyError: 'mine'" in lines


def test_a_process_group_of_somebody_else_is_left_alone(ranks: Ranks) -> None:
    ranks(
        """
        with raises(KeyError):
            with rt.distributed(device="cpu") as world:
                assert world.rank == rank
                raise KeyError
        with rt.distributed(device="cpu"):
            pass
        assert rt.any_rank(rank == 1)
        """
    )


def test_a_signal_to_one_rank_stops_all_in_the_same_step(ranks: Ranks) -> None:
    ranks(
        """
        import signal
        steps = 0
        with rt.distributed(device="cpu") as world:
            while not world.stop_requested():
                steps += 1
                if rank == 1 and steps == 3:
                    os.kill(os.getpid(), signal.SIGTERM)
        assert steps == 3
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        """
    )


def test_without_a_launcher_the_world_is_one(ranks: Ranks) -> None:
    ranks(
        """
        for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
            del os.environ[name]
        with rt.distributed(device="cpu") as world:
            assert (world.rank, world.world_size) == (0, 1)
            x = torch.ones(1)
            dist.all_reduce(x)
            assert x.item() == 1 and not world.stop_requested()
            assert rt.from_main(4) == 4
            assert rt.main_call(lambda: 5) == 5
            assert rt.gather_with_grad(torch.ones(2, requires_grad=True)).sum().item() == 2
        """,
        1,
        init=False,
    )


def test_a_device_is_given_by_its_type() -> None:
    pytest.importorskip("torch")
    from distlint.runtime import distributed

    for wrong in ("cuda:1", "gpu"):
        with pytest.raises(ValueError, match="without an index"):
            distributed(device=wrong).__enter__()


def test_a_rank_without_a_device_is_refused(ranks: Ranks) -> None:
    outcome = ranks(
        """
        import types
        torch.fake = types.SimpleNamespace(device_count=lambda: 2, set_device=lambda index: None)
        os.environ["LOCAL_RANK"] = "5"
        with raises(rt.DeviceError, match="local rank 5 has no device: only 2"):
            with rt.distributed(device="fake"):
                pass
        assert not dist.is_initialized()
        """,
        1,
        init=False,
    )
    assert "[rank 0] " in outcome.ranks[0].err


def test_two_ranks_on_one_gpu_are_refused_everywhere(ranks: Ranks) -> None:
    ranks(
        """
        import types
        from distlint.runtime import setup
        gpu = "GPU-7" if rank in (1, 3) else f"GPU-{rank}"
        torch.cuda.get_device_properties = lambda device: types.SimpleNamespace(uuid=gpu)
        with raises(rt.DeviceError, match="ranks 1 and 3 use the same GPU GPU-7"):
            setup._refuse_shared_devices(torch.device("cuda", 0))
        gpu = f"GPU-{rank}"
        setup._refuse_shared_devices(torch.device("cuda", 0))
        """,
        4,
    )


PROGRAM = """
import os, sys
import torch
from distlint.runtime import any_rank, distributed, find_executable_batch_size, from_main
import torch.distributed as dist

@find_executable_batch_size(starting_batch_size=4, factor=0.5)
def train(batch_size):
    mine = torch.full((1,), float(batch_size))
    if batch_size > 2 and dist.get_rank() == 1:
        raise torch.OutOfMemoryError("CUDA out of memory.")
    dist.all_reduce(mine)
    return mine.item()

@distributed(timeout=30, device="cpu")
def main():
    assert from_main(dist.get_rank()) == 0
    assert train() == 2 * dist.get_world_size()
    assert any_rank(dist.get_rank() == 1)
    if len(sys.argv) > 1 and dist.get_rank() == 1:
        raise RuntimeError("a fault of its own")
    sys.stdout.write("done\\n")

if __name__ == "__main__":
    main()
"""


@needs_torch
@pytest.mark.campaign
def test_under_torchrun(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, str(script)], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 2


def _spawned(rank: int, port: int) -> None:
    os.environ.update(
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE="2",
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(port),
    )
    import torch.distributed as dist

    from distlint.runtime import distributed, same_on_all_ranks

    with distributed(device="cpu", timeout=30):
        same_on_all_ranks(port)
        if dist.get_rank() == 1:
            raise RuntimeError("a fault of its own")


@needs_torch
@pytest.mark.campaign
def test_under_spawn(capfd: pytest.CaptureFixture[str]) -> None:
    import torch.multiprocessing as mp

    from distlint.runtime import free_port

    with pytest.raises(mp.ProcessExitedException) as caught:
        mp.spawn(_spawned, args=(free_port(),), nprocs=2)
    assert (caught.value.error_index, caught.value.exit_code) == (1, 1)
    assert "[rank 1] RuntimeError: a fault of its own" in capfd.readouterr().err
