"""The twin: one process of each node does, and the others wait."""

import os
import shutil
import urllib.request
from urllib.request import urlopen

import requests
import torch.distributed as dist


def main(url, path):
    dist.init_process_group("nccl")
    if int(os.environ["LOCAL_RANK"]) == 0:
        with urlopen(url) as answer, open(path, "wb") as out:
            shutil.copyfileobj(answer, out)
    dist.barrier()
