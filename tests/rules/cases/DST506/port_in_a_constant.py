import subprocess

PORT = 29500


def main():
    cmd = [
        "torchrun",
        "--nproc_per_node=8",
        "--master-port",  # expect: DST506
        str(PORT),
        "train.py",
    ]
    subprocess.run(cmd)
