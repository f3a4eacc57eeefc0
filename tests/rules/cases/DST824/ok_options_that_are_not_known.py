import os
import subprocess


def main(args, extra):
    subprocess.run(["torchrun", "--nnodes=2", *args, "train.py"])
    os.system(f"torchrun --nnodes=2 {extra} train.py")
    subprocess.run(["torchrun", f"--nnodes={args.nodes}", "--nproc_per_node=8", "train.py"])
    subprocess.run(["torchrun", "--nnodes=2"] + extra + ["train.py"])
    command = ["torchrun", "--nnodes=2"]
    if args.address:
        command += ["--rdzv_endpoint", args.address]
    command.append("train.py")
    subprocess.run(command)
