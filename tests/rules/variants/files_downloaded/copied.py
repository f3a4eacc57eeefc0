"""What is read from the network is copied into a file."""

import os
import shutil
import urllib.request
from urllib.request import urlopen

import requests
import torch.distributed as dist


def main(url, path):
    dist.init_process_group("nccl")
    with urlopen(url) as answer, open(path, "wb") as out:
        shutil.copyfileobj(answer, out)  # expect: DST415
