"""The twin: read by all."""

import os
import shutil
from datetime import datetime

import pandas
import torch.distributed as dist

STAMP = datetime.now().strftime("%Y-%m-%d-%H-%M")


def main(rows):
    dist.init_process_group("gloo")
    with open("out.txt") as file:
        for row in file:
            if dist.get_rank() == 0:
                print(row)
    dist.destroy_process_group()


if __name__ == "__main__":
    print(os.getpid(), shutil, pandas)
    main([1, 2])
