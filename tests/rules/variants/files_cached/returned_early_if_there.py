"""The function returns early where the file is there already."""

import os

import torch
import torch.distributed as dist


def anchors(boxes, path):
    if os.path.exists(path):
        return torch.load(path)
    if dist.get_rank() == 0:
        torch.save(boxes.mean(0), path)
    return torch.load(path)  # expect: DST408


def main(boxes):
    dist.init_process_group("gloo")
    anchors(boxes, "anchors.pt")
