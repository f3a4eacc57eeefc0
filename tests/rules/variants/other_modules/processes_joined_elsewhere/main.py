import torch
from joining import setup
from u import ensure_dir


def main():
    setup("nccl")
    ensure_dir("saved")


main()
