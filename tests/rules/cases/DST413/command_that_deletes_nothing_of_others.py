import os
import shutil
import subprocess

import torch
import torch.distributed as dist


def made_behind_a_barrier(folder):
    dist.barrier()
    os.system(f"rm -rf {folder}")
    dist.barrier()
    if dist.get_rank() == 0:
        os.makedirs(folder, exist_ok=True)


def on_rank_0(folder):
    if dist.get_rank() == 0:
        os.system(f"rm -rf {folder}")
        os.makedirs(folder)


def not_made_again(folder):
    dist.barrier()
    os.system(f"rm -rf {folder}")
    shutil.rmtree("left-over", ignore_errors=True)


def own_folder(folder):
    folder = f"{folder}/rank{dist.get_rank()}"
    os.system(f"rm -rf {folder}")
    os.makedirs(folder)
    subprocess.run(["rm", "-r", "/tmp/%d" % os.getpid()])


def no_deletion(folder):
    dist.barrier()
    os.system(f"rmmod {folder}")
    subprocess.run(["ls", folder])
    os.system("mkdir -p %s" % folder)
    os.makedirs(folder, exist_ok=True)


def another_folder(folder, out):
    dist.barrier()
    os.system(f"rm -rf {folder}")
    os.makedirs(out, exist_ok=True)
