"""Whether a text starts a job on several nodes."""

from __future__ import annotations

import pytest

from distlint.source.nodes import starts_several_nodes

SEVERAL = (
    "torchrun --nnodes=2 --nproc-per-node=8 train.py",
    "torchrun --nnodes 1:4 train.py",
    'torchrun --nnodes="$NNODES" train.py',
    "torchrun --nnodes=${NNODES:-4} train.py",
    "NNODES=2\ntorchrun --nnodes=$NNODES train.py",
    "deepspeed --num_nodes 2 train.py",
    "accelerate launch --num_machines=4 train.py",
    "python -m torch.distributed.launch --node_rank=1 train.py",
    "#SBATCH --nodes=2\nsrun torchrun train.py",
    "#SBATCH -N 4\nsrun python train.py",
    "srun -N2 python train.py",
    '["torchrun", "--nnodes", "2", "train.py"]',
    "compute_environment: LOCAL_MACHINE\nnum_machines: 2\n",
)
ONE = (
    "",
    "torchrun --standalone --nproc-per-node=8 train.py",
    "torchrun --nnodes=1 --node_rank=0 train.py",
    "torchrun --nnodes=1:1 train.py",
    "NNODES=1\ntorchrun --nnodes=$NNODES train.py",
    "NNODES=${NNODES:-1}\ntorchrun --nnodes=${NNODES} train.py",
    "torchrun --nnodes=${NNODES:-1} train.py",
    "#SBATCH --nodes=1\nsrun torchrun --nnodes=$SLURM_NNODES train.py",
    "num_machines: 1\n",
    'parser.add_argument("--num_nodes", type=int, default=2)',
    "f'--nnodes={args.nnodes}'",
)


@pytest.mark.parametrize("text", SEVERAL)
def test_several(text: str) -> None:
    assert starts_several_nodes(text)


@pytest.mark.parametrize("text", ONE)
def test_one(text: str) -> None:
    assert not starts_several_nodes(text)
