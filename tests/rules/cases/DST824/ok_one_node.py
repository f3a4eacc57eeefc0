import os
import subprocess
import sys


def main(gpus, port):
    subprocess.run(["torchrun", "--standalone", f"--nproc_per_node={gpus}", "train.py"])
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "1", "train.py"]
    subprocess.run(command)
    os.system(f"torchrun --nnodes=1 --nproc_per_node={gpus} train.py --port {port}")
