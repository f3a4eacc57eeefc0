"""A session, and pathlib."""

import os
import shutil
import urllib.request
from urllib.request import urlopen

import requests
import torch.distributed as dist

from pathlib import Path


def main(url, folder):
    dist.init_process_group("nccl")
    session = requests.Session()
    answer = session.get(url)
    Path(folder, "a.bin").write_bytes(answer.content)  # expect: DST415
    Path(folder, "b.txt").write_text(requests.get(url).text)  # expect: DST415
