import argparse

import torch
import torch.distributed as dist
from data import get_data


class Trainer:
    def __init__(self, data):
        dist.init_process_group("nccl")
        self.data = data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--distributed", action="store_true")
    args = parser.parse_args()
    data = get_data("root")
    if args.distributed:
        Trainer(data)
