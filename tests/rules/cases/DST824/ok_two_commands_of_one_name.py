import subprocess


def one():
    command = ["torchrun", "--nproc_per_node=8", "train.py"]
    subprocess.run(command)


def two(host):
    command = ["torchrun", "--nnodes=2", "--rdzv_endpoint", host, "train.py"]
    subprocess.run(command)
