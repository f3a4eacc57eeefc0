import subprocess


def main(lr):
    command = (
        "CUDA_VISIBLE_DEVICES=0,1 "
        "torchrun --nproc_per_node=4 "  # expect: DST824
        f"train.py --lr {lr}"
    )
    subprocess.run(command, shell=True)
