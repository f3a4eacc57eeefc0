"""How serious a local rank in place of the rank is: does the project start several nodes?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.one_rule import asked

SCRIPT = """\
import os

import torch.distributed as dist

size = int(os.environ["WORLD_SIZE"])
dist.init_process_group("nccl", rank=int(os.environ["LOCAL_RANK"]), world_size=size)
"""


@pytest.mark.parametrize(
    ("name", "text", "severity"),
    [
        ("README.md", "torchrun --nproc-per-node=8 train.py", "info"),
        ("README.md", "torchrun --nnodes=2 --nproc-per-node=8 train.py", "warning"),
        ("scripts/run.sh", "torchrun --nnodes=1 train.py", "info"),
        ("scripts/run.sh", "NNODES=4\ntorchrun --nnodes=$NNODES train.py", "warning"),
        ("slurm/job.sbatch", "#SBATCH --nodes=2\nsrun python train.py", "warning"),
        ("configs/accelerate.yaml", "num_machines: 2\n", "warning"),
        ("run.py", 'run(["torchrun", "--nnodes", "2", "train.py"])', "warning"),
        ("data.json", '{"--nnodes": 2}', "info"),
    ],
)
def test_severity(tmp_path: Path, name: str, text: str, severity: str) -> None:
    (tmp_path / ".git").mkdir()
    path = tmp_path / "src" / "train.py"
    other = path.parent / name if name.endswith(".py") else tmp_path / name
    for each in (path, other):
        each.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SCRIPT, "utf-8")
    other.write_text(text, "utf-8")
    assert [each.severity.value for each in asked(SCRIPT, "DST518", path)] == [severity]


def test_the_script_may_say_so_itself() -> None:
    said = f'"""torchrun --nnodes=2 --nproc-per-node=8 train.py"""\n{SCRIPT}'
    assert [each.severity.value for each in asked(said, "DST518")] == ["warning"]
