import subprocess

NODES = 2


def main(args):
    subprocess.Popen(
        ["torchrun", f"--nnodes={NODES}"]  # expect: DST824
        + ["--nproc_per_node=8", "train.py"]
        + args
    )
