"""On a GPU: real memory, tensors of the device through every utility, no context elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT, Lazy

torch = Lazy("torch")
pytestmark = pytest.mark.usefixtures("gpu")


@pytest.fixture(scope="module")
def gpu() -> None:
    pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")


HEAD = """
import os, sys
import torch, torch.distributed as dist
import distlint.runtime as rt
"""


def run(body: str, tmp_path: Path) -> str:
    script = tmp_path / "script.py"
    script.write_text(HEAD + body)
    variables = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, **variables, "MASTER_PORT": "29555", "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_memory_that_is_really_full(tmp_path: Path) -> None:
    out = run(
        """
free, total = torch.cuda.mem_get_info()
unit = total // 64

@rt.find_executable_batch_size(starting_batch_size=128, factor=0.5)
def train(batch_size):
    held = [torch.empty(unit, dtype=torch.uint8, device="cuda") for _ in range(batch_size)]
    return len(held)

with rt.distributed() as world:
    assert world.backend == "nccl" and world.device == torch.device("cuda", 0)
    fits = train()
    assert 128 in train.tried and fits == train.batch_size < 64, train.tried
    assert torch.cuda.memory_allocated() == 0
    print("fits", fits)
""",
        tmp_path,
    )
    assert "fits" in out


@pytest.mark.parametrize("alone", [True, False])
def test_tensors_of_the_device_through_every_utility(tmp_path: Path, alone: bool) -> None:
    """Alone nothing is sent; told that it is not, a world of one runs each collective of NCCL."""
    run(
        f"""
from distlint.runtime._world import Member
if not {alone}:
    Member.alone = property(lambda me: False)
"""
        """
with rt.distributed() as world:
    device = world.device
    one = torch.ones(3, device=device)
    assert rt.any_rank(one.sum() == 3) and rt.all_ranks(one[0])
    assert rt.from_main(one).device == device
    assert rt.same_on_all_ranks({"x": one})["x"] is one
    assert rt.EarlyStopper(1).step(one[0]) is False
    assert rt.agreed_step(torch.isfinite(one).all())
    assert rt.gather_variable(one).device == device
    assert rt.pad_across_ranks(one).device == device
    rows = one.clone().requires_grad_()
    rt.gather_with_grad(rows).sum().backward()
    assert rows.grad.device == device
    assert rt.reduce_metrics({"loss": one[0], "n": (one.sum(), 6)}) == {"loss": 1.0, "n": 0.5}
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1).to(device))
    for batch, micro in rt.accumulate(rt.equal_steps([one] * 3), 2, model):
        (model(batch).sum() * micro.scale).backward()
    assert rt.main_eval(model, lambda bare: bare(one)).device == device
    path = rt.save_checkpoint("last.pt", model, step=1)
    assert rt.load_checkpoint(path, model).complete
    assert model.module.weight.device == device
    assert rt.main_call(lambda: one).device == device
    assert rt.memory_report().allocated > 0
    assert rt.validate_model(model)["compatible"]
    assert rt.seed_all() >= 0
    assert rt.check_replicas(model, buffers=True) == () == rt.check_finite_grads(model)
    assert rt.check_shards(range(3)).ok
    assert len(list(rt.equal_steps([one], "cycle"))) == 1
    assert rt.main_eval(model, lambda bare: bare(one).item()) == model(one).item()
    rt.named_barrier("end")
""",
        tmp_path,
    )


def test_no_context_on_the_first_device(tmp_path: Path) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    run(
        """
os.environ["LOCAL_RANK"] = "1"
with rt.distributed() as world:
    assert world.device.index == 1
    assert torch.cuda.current_device() == 1
    assert rt.from_main(torch.ones(1, device="cuda")).device.index == 1
    assert torch.cuda.memory_allocated(0) == 0
""",
        tmp_path,
    )
