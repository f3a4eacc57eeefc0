import os


def main(gpus):
    os.system(f"torchrun --nproc_per_node={gpus} --master_port 29500 train.py")  # expect: DST506
