"""All ranks open the file, and one writes."""

import os
import shutil
from datetime import datetime

import pandas
import torch.distributed as dist

STAMP = datetime.now().strftime("%Y-%m-%d-%H-%M")


def main(rows):
    dist.init_process_group("gloo")
    with open("out.txt", "w") as file:  # expect: DST406
        for row in rows:
            if dist.get_rank() == 0:
                file.write(f"{row}\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    print(os.getpid(), shutil, pandas)
    main([1, 2])
