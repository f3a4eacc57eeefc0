"""The same with a return."""

import json
import os

import torch.distributed as dist


def index_of(names, path):
    if os.path.isfile(path):
        with open(path) as file:  # expect: DST408
            return json.load(file)
    found = {name: number for number, name in enumerate(names)}
    if dist.get_rank() == 0:
        with open(path, "w") as file:
            json.dump(found, file)
    return found


def main(names):
    dist.init_process_group("gloo")
    index_of(names, "index.json")
