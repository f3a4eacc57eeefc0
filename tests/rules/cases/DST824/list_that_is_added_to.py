import subprocess
import sys


def main(args):
    command = [sys.executable, "-m", "torch.distributed.run"]
    command += ["--nnodes", "2"]  # expect: DST824
    command.append("--nproc_per_node=8")
    command.extend(["train.py", "--lr", str(args.lr)])
    subprocess.check_call(command)
