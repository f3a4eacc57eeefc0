"""A variable, and a dump."""

import os
import shutil
from datetime import datetime

import pandas
import torch.distributed as dist

STAMP = datetime.now().strftime("%Y-%m-%d-%H-%M")


def main(rows):
    dist.init_process_group("gloo")
    import json

    log = open("log.json", mode="w")  # expect: DST406
    is_main = dist.get_rank() == 0
    if is_main:
        json.dump(rows, log)
    log.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    print(os.getpid(), shutil, pandas)
    main([1, 2])
