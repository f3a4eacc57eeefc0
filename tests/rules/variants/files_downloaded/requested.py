"""By requests, with the content or with its blocks."""

import os
import shutil
import urllib.request
from urllib.request import urlopen

import requests
import torch.distributed as dist


def main(url, folder):
    dist.init_process_group("nccl")
    answer = requests.get(url, timeout=10)
    with open(os.path.join(folder, "a.bin"), "wb") as out:
        out.write(answer.content)  # expect: DST415
    with open(os.path.join(folder, "b.bin"), "wb") as out:
        out.write(requests.get(url).content)  # expect: DST415
    stream = requests.get(url, stream=True)
    with open(os.path.join(folder, "c.bin"), "wb") as out:
        for block in stream.iter_content(8192):
            out.write(block)  # expect: DST415
