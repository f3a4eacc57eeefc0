"""The twin: rank 0 alone writes them."""

import json

import torch
import torch.distributed as dist


def collect(model, loader, path):
    found = []
    with torch.no_grad():
        for names, images in loader:
            for name, value in zip(names, model(images)):
                found.append({"name": name, "value": value.item()})
    if dist.get_rank() == 0:
        with open(path, "w") as out:
            for entry in found:
                out.write(json.dumps(entry) + "\n")


def main(model, loader):
    dist.init_process_group("nccl")
    collect(model, loader, "results.jsonl")
    dist.destroy_process_group()
