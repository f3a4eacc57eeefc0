"""The twins: rank 0, a file of each rank, memory, and a local file."""

import os
import shutil
import urllib.request
from urllib.request import urlopen

import requests
import torch.distributed as dist

import io


def main(url, folder):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    if rank == 0:
        with open(os.path.join(folder, "a.bin"), "wb") as out:
            out.write(requests.get(url).content)
    dist.barrier()
    with open(os.path.join(folder, f"{rank}.bin"), "wb") as out:
        out.write(requests.get(url).content)
    memory = io.BytesIO()
    memory.write(requests.get(url).content)
    with open("a", "rb") as source, open(f"b{rank}", "wb") as out:
        shutil.copyfileobj(source, out)
    print(requests.get(url).text)
    return requests.get(url).json()["size"]
