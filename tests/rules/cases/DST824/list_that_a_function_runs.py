import subprocess


def sh(command, **options):
    print(" ".join(command))
    return subprocess.run(command, check=True, **options)


def main():
    sh(["torchrun", "--nnodes=2", "--nproc_per_node=8", "train.py"])  # expect: DST824
