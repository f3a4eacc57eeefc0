"""The twin: one process."""

import os
import shutil
import urllib.request
from urllib.request import urlopen

import requests
import torch.distributed as dist


def fetch(url, path):
    with open(path, "wb") as out:
        out.write(requests.get(url).content)
