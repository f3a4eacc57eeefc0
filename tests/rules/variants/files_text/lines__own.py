"""The twin: a file for each rank."""

import os
import shutil
from datetime import datetime

import pandas
import torch.distributed as dist

STAMP = datetime.now().strftime("%Y-%m-%d-%H-%M")


def main(rows):
    dist.init_process_group("gloo")
    with open(f"out{dist.get_rank()}.txt", "w") as file:
        for row in rows:
            file.write(f"{row}\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    print(os.getpid(), shutil, pandas)
    main([1, 2])
