import os

LAUNCHER = "torchrun --nnodes=2 --nproc_per_node=8"  # expect: DST824


def main(name):
    os.system(LAUNCHER + " train.py --name " + name)
