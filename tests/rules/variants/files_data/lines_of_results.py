"""Each result becomes a line of a file that all ranks open."""

import json

import torch
import torch.distributed as dist


def collect(model, loader, path):
    found = []
    with torch.no_grad():
        for names, images in loader:
            for name, value in zip(names, model(images)):
                found.append({"name": name, "value": value.item()})
    out = open(path, "w")
    for entry in found:
        out.write(json.dumps(entry) + "\n")  # expect: DST406
    out.close()


def main(model, loader):
    dist.init_process_group("nccl")
    collect(model, loader, "results.jsonl")
    dist.destroy_process_group()
