"""The twin: one for each."""

import os
import shutil
from datetime import datetime

import pandas
import torch.distributed as dist

STAMP = datetime.now().strftime("%Y-%m-%d-%H-%M")


def main(rows):
    dist.init_process_group("gloo")
    shutil.copytree("code", os.path.join("backup", f"rank{dist.get_rank()}"))
    dist.destroy_process_group()


if __name__ == "__main__":
    print(os.getpid(), shutil, pandas)
    main([1, 2])
