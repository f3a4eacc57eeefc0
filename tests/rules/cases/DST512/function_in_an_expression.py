import os

import torch.distributed as dist
from tqdm import tqdm


def is_main_process():
    return dist.get_rank() == 0


def loop(loader):
    for batch in tqdm(loader, disable=not is_main_process):  # expect: DST512
        print(batch)
    while is_main_process:  # expect: DST512
        break
