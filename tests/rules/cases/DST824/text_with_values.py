import os


def main(gpus, lr):
    os.system(f"torchrun --nnodes=2 --nproc_per_node={gpus} train.py --lr {lr}")  # expect: DST824
