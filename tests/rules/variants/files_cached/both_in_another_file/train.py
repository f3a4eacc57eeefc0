import os

import torch.distributed as dist
from caching import fetch, is_main_process, store


def main(samples):
    dist.init_process_group("gloo")
    path = "index.pkl"
    if not os.path.exists(path):
        if is_main_process():
            store(sorted(samples), path)
    return fetch(path)  # expect: DST408
