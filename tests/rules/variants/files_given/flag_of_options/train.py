"""The flag is an option, which is the same on all ranks."""

import argparse

import torch.distributed as dist
from basis import read


OPTIONS = argparse.Namespace()


def main():
    dist.init_process_group("gloo")
    read("d", savefile=OPTIONS.save)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
