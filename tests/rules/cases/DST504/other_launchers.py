import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl", rank=int(os.environ["SLURM_PROCID"]), world_size=16)


def of_slurm():
    torch.cuda.set_device(int(os.environ["SLURM_PROCID"]))  # expect: DST504


def of_mpi():
    torch.cuda.set_device(int(os.environ["OMPI_COMM_WORLD_RANK"]))  # expect: DST504


def right():
    torch.cuda.set_device(int(os.environ["SLURM_LOCALID"]))
    torch.cuda.set_device(int(os.environ["OMPI_COMM_WORLD_LOCAL_RANK"]))
