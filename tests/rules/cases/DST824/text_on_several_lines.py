import subprocess


def main(gpus):
    subprocess.run(
        f"""
        torchrun --nproc_per_node={gpus} \\
            --nnodes=2 train.py  # expect: DST824
        """,
        shell=True,
    )
