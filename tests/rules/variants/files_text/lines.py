"""All ranks write lines."""

import os
import shutil
from datetime import datetime

import pandas
import torch.distributed as dist

STAMP = datetime.now().strftime("%Y-%m-%d-%H-%M")


def main(rows):
    dist.init_process_group("gloo")
    with open("out.txt", "w") as file:
        for row in rows:
            file.write(f"{row}\n")  # expect: DST406
        file.write(str(len(rows)))
    dist.destroy_process_group()


if __name__ == "__main__":
    print(os.getpid(), shutil, pandas)
    main([1, 2])
