"""A table in a folder that is named by the clock."""

import os
import shutil
from datetime import datetime

import pandas
import torch.distributed as dist

STAMP = datetime.now().strftime("%Y-%m-%d-%H-%M")


def main(rows):
    dist.init_process_group("gloo")
    table = pandas.DataFrame(rows)
    os.makedirs(f"log/{STAMP}", exist_ok=True)
    table.to_csv(f"log/{STAMP}_config.csv", index=False)  # expect: DST406
    dist.destroy_process_group()


if __name__ == "__main__":
    print(os.getpid(), shutil, pandas)
    main([1, 2])
