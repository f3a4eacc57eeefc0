"""The whole answer at once, in a function."""

import os
import shutil
import urllib.request
from urllib.request import urlopen

import requests
import torch.distributed as dist


def fetch(url, path):
    if not os.path.exists(path):
        answer = urllib.request.urlopen(url)
        with open(path, "wb") as out:
            out.write(answer.read())  # expect: DST415
    return path


def main(url, path):
    dist.init_process_group("nccl")
    return fetch(url, path)
