"""The twin: one after another, under a lock."""

import os
import shutil
from datetime import datetime

import pandas
import torch.distributed as dist

STAMP = datetime.now().strftime("%Y-%m-%d-%H-%M")


def main(rows):
    dist.init_process_group("gloo")
    from filelock import FileLock

    with FileLock("out.lock"):
        with open("out.txt", "w") as file:
            file.write(str(rows))
    dist.destroy_process_group()


if __name__ == "__main__":
    print(os.getpid(), shutil, pandas)
    main([1, 2])
