import subprocess


def main():
    cmd = ["torchrun", "--nnodes=2", "--nproc_per_node=8", "train.py"]  # expect: DST824
    subprocess.run(cmd, check=True)
