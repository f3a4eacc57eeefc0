"""A late rank deletes what the first one has made again."""

import os
import shutil
import subprocess

import torch
import torch.distributed as dist


def main(args):
    dist.init_process_group("nccl")
    if args.overwrite and os.path.exists(args.output_dir):
        os.system(f"rm -rf {args.output_dir}")  # expect: DST413
    if dist.get_rank() == 0:
        os.makedirs(args.output_dir, exist_ok=True)


def by_subprocess(folder):
    dist.barrier()
    subprocess.run(["rm", "-r", folder], check=True)  # expect: DST413


def unforgiving(folder):
    dist.barrier()
    subprocess.check_call("rm %s/*.pt" % folder, shell=True)  # expect: DST413


def made_by_all(folder):
    dist.barrier()
    subprocess.call(["rm", "-rf", folder])  # expect: DST413
    os.makedirs(folder, exist_ok=True)


def below(folder):
    dist.barrier()
    os.system("rm -rf " + folder)  # expect: DST413
    target = os.path.join(folder, "model.pt")
    if dist.get_rank() == 0:
        torch.save({}, target)


def forgiven_in_python(folder):
    dist.barrier()
    shutil.rmtree(folder, ignore_errors=True)  # expect: DST413
    if dist.get_rank() == 0:
        os.makedirs(folder)


def formatted(folder):
    dist.barrier()
    os.system("rm -rf {}".format(folder))  # expect: DST413
    os.mkdir(folder)
