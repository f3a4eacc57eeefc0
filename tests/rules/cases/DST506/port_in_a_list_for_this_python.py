import subprocess
import sys


def main(gpus):
    cmd = [sys.executable, "-m", "torch.distributed.run"]
    cmd += ["--nproc_per_node", str(gpus)]
    cmd += ["--master_port=29501"]  # expect: DST506
    cmd.append("train.py")
    subprocess.check_call(cmd)
